"""The settings that :func:`choose` compares: how users give them, what was measured, what it costs."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sklearn.base import clone

from ..checks import is_iterable
from ..errors import InputError, InputTypeError, shown, unknown_name
from ..fusion import Fusion
from ..matching import check_lam
from ..plugins import Adapter, get_adapter
from ._anchor_rules import AnchorRule, anchors_for

# The names in a grid that are no settings of the adapters.
_OWN = ("adapter", "n_anchors", "fusion", "lam")


@dataclass(frozen=True)
class Candidate:
    """A setting of :class:`AlignedClusterer` that :func:`choose` compares with others.

    Parameters
    ----------
    adapter : str or Adapter
        A name or an instance, as for :class:`AlignedClusterer`.
    params : dict, optional
        Settings of an adapter that is given by name; kept as a tuple of pairs.
    n_anchors : int, str or list, optional
        A number, a multiple of the number of clusters such as "10k", or a list with one for each view; by default the
        adapter chooses.
    fusion : str or Fusion, default="aligned"
    lam : float, default=0.1

    Examples
    --------
    >>> Candidate("lmvsc", {"scale": "unit"}, n_anchors="5k")
    Candidate('lmvsc', scale='unit', n_anchors='5k')
    """

    adapter: str | Adapter
    params: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()
    n_anchors: AnchorRule | None = None
    fusion: str | Fusion = "aligned"
    lam: float = 0.1

    def __post_init__(self) -> None:
        """Check the types; what depends on the data is checked later."""
        if not isinstance(self.adapter, str | Adapter):
            raise InputTypeError(f"adapter must be a name or an instance of Adapter, got {shown(self.adapter)}.")
        pairs = tuple(self.params.items()) if isinstance(self.params, Mapping) else self.params
        if not isinstance(pairs, tuple) or not all(
            isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
        ):
            raise InputTypeError(f"Settings of an adapter must be a dict of values by name, got {shown(self.params)}.")
        if pairs and isinstance(self.adapter, Adapter):
            raise InputError("params is for an adapter given by name; set parameters of an instance directly.")
        object.__setattr__(self, "params", pairs)
        if isinstance(self.n_anchors, list):
            object.__setattr__(self, "n_anchors", tuple(self.n_anchors))
        if self.n_anchors is not None:
            anchors_for(self.n_anchors, 1)
        object.__setattr__(self, "lam", check_lam(self.lam))

    def __repr__(self) -> str:
        others = [(each.name, getattr(self, each.name)) for each in fields(self)[2:]]
        usual = [each.default for each in fields(self)[2:]]
        given = [pair for pair, default in zip(others, usual, strict=True) if pair[1] != default]
        return f"Candidate({', '.join([repr(self.adapter), *(f'{name}={v!r}' for name, v in (*self.params, *given))])})"

    def anchors(self, n_clusters: int) -> int | list[int] | None:
        """Number of anchors for a number of clusters; None if the adapter chooses."""
        if self.n_anchors is None:
            return None
        found = anchors_for(self.n_anchors, n_clusters)
        return found if isinstance(found, int) else list(found)

    def settings(self, n_clusters: int) -> dict[str, Any]:
        """The parameters of :class:`AlignedClusterer` that the candidate sets."""
        return {
            "adapter": self.adapter,
            "adapter_params": dict(self.params) or None,
            "n_anchors": self.anchors(n_clusters),
            "fusion": self.fusion,
            "lam": self.lam,
        }

    @property
    def graph_key(self) -> Hashable:
        """Equal for candidates with the same graphs. By repr: values such as lists cannot be hashed."""
        name = self.adapter if isinstance(self.adapter, str) else id(self.adapter)
        return name, repr(self.params), repr(self.n_anchors)

    def make_adapter(self) -> Adapter:
        if isinstance(self.adapter, str):
            return get_adapter(self.adapter, **dict(self.params))
        adapter: Adapter = clone(self.adapter)
        return adapter


@dataclass(frozen=True)
class CandidateResult:
    """A candidate and what was measured without labels, means over the draws.

    Attributes
    ----------
    candidate : Candidate
    score : float
        Agreement times stability times evenness; 0 if the candidate is degenerate or failed.
    agreement : float or None
        Mean linear CKA of the views' graphs; None if the candidate failed.
    stability : float or None
        Mean adjusted Rand index between the clusters of two draws; None for one draw.
    evenness : float or None
        Evenness of the sizes of the clusters: 1 if they are equal.
    anchors_in_use : float or None
        Evenness of the use of the anchors.
    degenerate : bool
        Whether most anchors or clusters have hardly any sample.
    reason : str
        Why the candidate failed; else empty.
    seconds : float
        Time of all draws; graphs that several candidates share count for each of them.
    """

    candidate: Candidate
    score: float = 0.0
    agreement: float | None = None
    stability: float | None = None
    evenness: float | None = None
    anchors_in_use: float | None = None
    degenerate: bool = False
    reason: str = ""
    seconds: float = field(default=0.0, compare=False)

    def __repr__(self) -> str:
        return f"{self.candidate!r}: {self.reason or f'score {self.score:.3f}'}"


@dataclass(frozen=True)
class ChoiceCost:
    """What a choice costs, known before it starts.

    Attributes
    ----------
    n_candidates, n_draws : int
    n_graphs : int
        Sets of anchor graphs that are made: candidates that differ in fusion or ``lam`` only share them.
    n_fits : int
        Fusions and clusterings: candidates times draws.
    n_samples : int
        Samples of each of these fits.
    n_total : int
        Samples of the fit with the chosen candidate.
    """

    n_candidates: int
    n_draws: int
    n_graphs: int
    n_fits: int
    n_samples: int
    n_total: int

    def __str__(self) -> str:
        of = "" if self.n_samples == self.n_total else f" of {self.n_total:,}"
        return (
            f"{self.n_candidates} candidates x {self.n_draws} draws: {self.n_fits} fits, with {self.n_graphs} sets of "
            f"graphs, on {self.n_samples:,}{of} samples; then one fit on all samples"
        )


@dataclass(frozen=True)
class ChoiceProgress:
    """Progress of a choice: ``done`` of ``cost.n_fits`` fits; ``candidate`` is the last one, None at the start."""

    done: int
    cost: ChoiceCost
    candidate: Candidate | None = None


# The candidates of ``AlignedClusterer(adapter="auto")``; the first is the default of the package.
AUTO_CANDIDATES = tuple(Candidate("local", {"scale": scale}) for scale in ("auto", "unit", "standard", None))


def check_candidates(candidates: Any) -> tuple[Candidate, ...]:
    """Candidates from a list of them, or from a grid: a dict of values, or lists of values, by name."""
    if isinstance(candidates, Mapping):
        found = tuple(_combined(candidates))
    elif is_iterable(candidates) and not isinstance(candidates, str):
        found = tuple(candidates)
    else:
        raise InputTypeError(f"candidates must be a list of Candidate or a dict of lists, got {shown(candidates)}.")
    for each in found:
        if not isinstance(each, Candidate):
            raise InputTypeError(
                f"candidates must be a list of Candidate or a dict of lists, got a list with {shown(each)}."
            )
    if not found:
        raise InputError("Got no candidate; expected one or more.")
    return found


def _combined(grid: Mapping[str, Any]) -> Iterable[Candidate]:
    """All combinations; an adapter gets the settings that it has, and each of its combinations once."""
    lists = {name: list(each) if isinstance(each, list | tuple) else [each] for name, each in grid.items()}
    adapters = lists.get("adapter")
    if not adapters:
        raise InputError("A grid of candidates needs the adapters: {'adapter': ['local', 'lmvsc'], ...}.")
    known = {}
    for adapter in adapters:
        if not isinstance(adapter, str):
            raise InputTypeError(f"Adapters of a grid must be names, got {shown(adapter)}; use a list of Candidate.")
        known[adapter] = set(get_adapter(adapter).get_params())
    settings = [name for name in lists if name not in _OWN]
    for name in settings:
        if not any(name in each for each in known.values()):
            raise unknown_name(
                f"setting of {' and '.join(known)}", name, [*_OWN, *sorted(set().union(*known.values()))]
            )
    for adapter in known:
        names = [name for name in settings if name in known[adapter]]
        others = [name for name in _OWN[1:] if name in lists]
        for values in itertools.product(*(lists[name] for name in (*names, *others))):
            yield Candidate(
                adapter,
                dict(zip(names, values, strict=False)),
                **dict(zip(others, values[len(names) :], strict=True)),
            )
