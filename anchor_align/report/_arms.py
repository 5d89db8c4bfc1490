"""The arms of a study as reports name, describe and colour them.

What is known of an arm is in its fusion. Only "aligned" and "unaligned", whose difference studies test, have names
elsewhere in reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..fusion import FUSIONS, Fusion
from ..study import StudyResult

THEME_NAMES = ("light", "dark")
# For arms without colours of their own. All kinds of colour vision tell these from each other and from those of this
# package's fusions; text in them is readable.
OTHER_COLOURS = (("#661f00", "#ffe98a"), ("#00504f", "#8af0e0"), ("#141a45", "#6f86c9"))


class _UnknownFusion(Fusion):
    """Stands for a fusion that a result only names."""

    aligns = False

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True)
class Arms:
    """Arms that are shown together, in the order of their fusions; iterates over their names."""

    fusions: tuple[Fusion, ...] = FUSIONS

    @classmethod
    def named(cls, names: Iterable[str], fusions: Sequence[Fusion] = FUSIONS) -> Arms:
        """Every arm once: those with a known fusion in their order, then the others as they come.

        Examples
        --------
        >>> list(Arms.named(["mine", "concat", "aligned", "mine"]))
        ['aligned', 'concat', 'mine']
        """
        found = dict.fromkeys(names)
        known = tuple(fusion for fusion in fusions if fusion.name in found)
        others = found.keys() - {fusion.name for fusion in known}
        return cls((*known, *(_UnknownFusion(name) for name in found if name in others)))

    @classmethod
    def of(cls, result: StudyResult) -> Arms:
        """The arms of a study."""
        return cls.named((record.arm for record in result.records), result.fusions)

    def __iter__(self) -> Iterator[str]:
        return (fusion.name for fusion in self.fusions)

    def depends_on_lam(self, name: str) -> bool:
        return any(fusion.aligns for fusion in self.fusions if fusion.name == name)

    @property
    def without_lam(self) -> tuple[str, ...]:
        """The arms that are the same for every ``lam``."""
        return tuple(fusion.name for fusion in self.fusions if not fusion.aligns)

    @property
    def texts(self) -> list[str]:
        """What each arm does.

        Examples
        --------
        >>> Arms.named(["unaligned", "mine"]).texts
        ['unaligned: the mean of the anchor graphs as they come', 'mine: another way to fuse the graphs']
        """
        return [f"{fusion.name}: {fusion.summary or 'another way to fuse the graphs'}" for fusion in self.fusions]

    def colour(self, theme: str, name: str) -> str:
        """Colour of an arm in a theme ("light" or "dark"); arms without a colour of their own get different ones.

        Examples
        --------
        >>> Arms().colour("light", "aligned"), Arms.named(["aligned", "mine", "yours"]).colour("dark", "yours")
        ('#0069a8', '#8af0e0')
        """
        others = [fusion.name for fusion in self.fusions if fusion.colours is None]
        own = {fusion.name: fusion.colours for fusion in self.fusions if fusion.colours is not None}
        colours = own.get(name) or OTHER_COLOURS[others.index(name) % len(OTHER_COLOURS)]
        return colours[THEME_NAMES.index(theme)]

    def variables(self, theme: str) -> dict[str, str]:
        """Variables of CSS and their values: the colours of the arms."""
        return {arm_class(name): self.colour(theme, name) for name in self}

    @property
    def css(self) -> str:
        """Rules of CSS that give text of an arm's class the arm's colour."""
        return "".join(f".{each} {{ color: var(--{each}); }}\n" for each in map(arm_class, self))


def arm_class(name: str) -> str:
    """Class of an arm in HTML; signs that CSS does not allow in a name are written as codes.

    Examples
    --------
    >>> arm_class("aligned"), arm_class("my arm")
    ('arm-aligned', 'arm-my_20arm')
    """
    return "arm-" + re.sub(r"[^A-Za-z0-9-]", lambda found: f"_{ord(found.group()):x}", name)
