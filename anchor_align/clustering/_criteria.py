"""How good a setting is, as far as this can be said without labels, and the setting that is chosen.

The agreement of the views' graphs (linear CKA) is the best single criterion for scales and adapters, but it prefers few
anchors, and degenerate graphs agree too: if every view puts nearly all samples into one cluster, the few others are the
same in all views. So the agreement is multiplied by the stability of the clusters over draws of anchors, which prefers
enough anchors, and by the evenness of their sizes:

    score = agreement * stability * evenness.

A setting that leaves most anchors or clusters without samples is degenerate and has the score zero. The first setting
is the default. Another one is chosen only if its score is clearly higher: a default that is good on the mean over many
data sets is worth more than a small difference of scores. docs/settings.md has the measurements.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import IndexArray
from ..graphs import GramMatrices, anchors_in_use, evenness, view_agreement
from ..metrics import ari

CLEARLY = 1.1  # a setting replaces the first one if its score is higher by this factor
# Below one of these a setting is degenerate. Useful settings of real data had about 0.25 and 0.8 at least.
LEAST_IN_USE, LEAST_EVENNESS = 0.2, 0.4


@dataclass(frozen=True)
class Criteria:
    """What is known about one fit without labels; all values are from 0 to 1.

    Attributes
    ----------
    agreement : float or None
        Mean linear CKA of the views' graphs; None for one view.
    anchors_in_use : float
        Evenness of the anchors' column sums: 1 if all anchors are used equally.
    evenness : float
        Evenness of the sizes of the clusters.
    """

    agreement: float | None
    anchors_in_use: float
    evenness: float

    @classmethod
    def of(cls, grams: GramMatrices, labels: IndexArray, n_clusters: int) -> Criteria:
        """Criteria of one fit, from its graphs and its clusters."""
        sizes = np.bincount(labels, minlength=n_clusters)
        return cls(view_agreement(grams), anchors_in_use(grams), evenness(sizes))


@dataclass(frozen=True)
class DrawCriteria:
    """Means of :class:`Criteria` over draws of anchors, and the stability of the clusters over these draws.

    Attributes
    ----------
    agreement, anchors_in_use, evenness : float
    stability : float or None
        Mean adjusted Rand index between the clusters of two draws; None for one draw.
    """

    agreement: float
    anchors_in_use: float
    evenness: float
    stability: float | None

    @classmethod
    def of(cls, draws: Sequence[Criteria], labels: Sequence[IndexArray]) -> DrawCriteria | None:
        """Of several fits of one setting; None if the views cannot agree because there is only one."""
        agreements = [each.agreement for each in draws if each.agreement is not None]
        if not agreements:
            return None
        return cls(
            float(np.mean(agreements)),
            float(np.mean([each.anchors_in_use for each in draws])),
            float(np.mean([each.evenness for each in draws])),
            stability(labels),
        )

    @property
    def degenerate(self) -> bool:
        """Whether most anchors or clusters have hardly any sample."""
        return self.anchors_in_use < LEAST_IN_USE or self.evenness < LEAST_EVENNESS

    @property
    def score(self) -> float:
        """The number that settings are ranked by; higher is better."""
        stable = 1.0 if self.stability is None else max(self.stability, 0.0)
        return 0.0 if self.degenerate else self.agreement * stable * self.evenness


def chosen_setting(scores: Sequence[float]) -> int:
    """Number of the setting to choose: the highest score, but the first setting unless another is clearly better.

    Examples
    --------
    >>> chosen_setting([0.50, 0.53, 0.20]), chosen_setting([0.50, 0.53, 0.60])
    (0, 2)
    """
    # Rounded: the order of additions must not decide.
    best = int(np.argmax(np.round(scores, 12)))
    return best if scores[best] > CLEARLY * scores[0] else 0


def pair_agreements(draws: Sequence[IndexArray]) -> list[float]:
    """Adjusted Rand index between the clusters of two draws, for every pair of draws."""
    return [ari(one, other) for one, other in itertools.combinations(draws, 2)]


def stability(draws: Sequence[IndexArray]) -> float | None:
    """Mean adjusted Rand index between the clusters of all pairs of draws; None for one draw.

    Examples
    --------
    >>> import numpy as np
    >>> stability([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])])
    1.0
    """
    pairs = pair_agreements(draws)
    return float(np.mean(pairs)) if pairs else None
