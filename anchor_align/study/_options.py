"""How the views of a study are used: samples they lack, their weights, anchors without a partner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .._fusion import check_weights
from .._observed import MISSING
from .._validation import check_choice
from ..checks import check_flag
from ..errors import InputError
from ._drop import check_rate
from ._results import LAM_ARMS

Weights: TypeAlias = str | tuple[float, ...] | None
AUTO = "auto"


@dataclass(frozen=True)
class ViewOptions:
    """The same for all runs of a study; by default as if there were no such options.

    Attributes
    ----------
    missing : {"error", "nan"}
    drop : float
        Probability with which each view loses each sample.
    weights : "auto", tuple of float or None
    many_to_one : bool
    """

    missing: str = "error"
    drop: float = 0.0
    weights: Weights = None
    many_to_one: bool = False

    @property
    def given(self) -> tuple[tuple[str, object], ...]:
        """What is not as by default, by name."""
        default = ViewOptions()
        names = ("missing", "drop", "weights", "many_to_one")
        return tuple((name, getattr(self, name)) for name in names if getattr(self, name) != getattr(default, name))

    def identity(self, arm: str) -> dict[str, Any]:
        """What an arm's result depends on, besides the data: nothing where all is as by default.

        ``missing`` says how data are read, and what was read has an identity of its own.
        """
        parts: dict[str, Any] = {"drop": repr(self.drop)} if self.drop else {}
        if self.weights is not None and arm != "concat":
            parts["weights"] = self.weights if isinstance(self.weights, str) else [repr(w) for w in self.weights]
        if self.many_to_one and arm in LAM_ARMS:
            parts["many_to_one"] = True
        return parts

    def check_views(self, data: str, n_views: int) -> None:
        """Refuse weights that are not those of so many views."""
        if isinstance(self.weights, tuple) and len(self.weights) != n_views:
            raise InputError(f"Data {data!r}: got {len(self.weights)} weights for {n_views} views.")


def check_options(missing: str, drop: float, weights: Any, many_to_one: bool) -> ViewOptions:
    """Options that make sense for some data."""
    return ViewOptions(
        check_choice("missing", missing, MISSING),
        check_rate(drop),
        _check_weights(weights),
        check_flag("many_to_one", many_to_one),
    )


def _check_weights(weights: Any) -> Weights:
    if weights is None or (isinstance(weights, str) and weights == AUTO):
        return weights
    if isinstance(weights, str):
        raise InputError(f"weights must be 'auto' or a number for each view, got {weights!r}.")
    values = list(weights) if isinstance(weights, Iterable) else weights
    check_weights(values, len(values) if isinstance(values, list) else 1)
    return tuple(float(each) for each in values)
