"""What several runs of a study share."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from anchor_align.blocks import Memo, remember, working
from anchor_align.blocks._map_blocks import MOST_SHARED
from anchor_align.kmeans import KMeansResult, fit_kmeans
from anchor_align.study import compare


def test_results_are_made_once_for_the_same_views() -> None:
    """Other views, or no study, make them again."""
    calls: list[int] = []

    def make() -> int:
        calls.append(1)
        return len(calls)

    memo = Memo()
    memo.use("views")
    with working(memo=memo):
        assert [remember("key", make), remember("key", make), remember("other", make)] == [1, 1, 2]
    memo.use("views")
    with working(memo=memo):
        assert remember("key", make) == 1
        assert memo.seconds > 0
    memo.use("other views")
    with working(memo=memo):
        assert remember("key", make) == 3
        assert memo.seconds == 0
    assert [remember("key", make), remember("key", make)] == [4, 5]


def test_warnings_are_given_every_time() -> None:
    """A run that finds the result there warns like the one that made it."""
    memo = Memo()
    for _ in range(2):
        with pytest.warns(UserWarning, match="few samples"):
            memo.get("key", lambda: warnings.warn("few samples", stacklevel=1))


def test_the_oldest_result_goes_first() -> None:
    """No more than a fixed number of results is kept."""
    memo = Memo()
    for number in range(MOST_SHARED + 1):
        memo.get(number, lambda: 0)
    assert memo.get(0, lambda: 1) == 1
    assert memo.get(MOST_SHARED, lambda: 1) == 0


@pytest.mark.slow
def test_a_sweep_over_beta_runs_k_means_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search for anchors in each view serves all values; the scores are those of a study of one value."""
    searches: list[int] = []

    def counted(source: Any, n_clusters: int, **options: Any) -> KMeansResult:
        searches.append(n_clusters)
        return fit_kmeans(source, n_clusters, **options)

    monkeypatch.setattr("anchor_align_adapters._kmeans_anchors.fit_kmeans", counted)
    several = compare("fmvacc", "simulated", params={"beta": [0.01, 1.0, 100.0]}, repeats=2)
    assert len(searches) == 2 * 2  # views and repeats
    for beta in (0.01, 1.0, 100.0):
        alone = compare("fmvacc", "simulated", params={"beta": beta}, repeats=2)
        together = [each for each in several.records if dict(each.setting.params)["beta"] == beta]
        assert [each.scores for each in alone.records] == [each.scores for each in together]
