"""Progress of fits: verbose lines on stderr, and the callback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchor_align import AlignedClusterer, FitProgress, InputTypeError
from anchor_align.blocks import map_rows, run_rows, working
from anchor_align.data import make_simulated

VIEWS = make_simulated(0).views


def test_a_callback_sees_every_step_and_the_fraction_never_falls() -> None:
    """Steps come in their order, the last one is "done" with the fraction 1, and the labels do not change."""
    seen: list[FitProgress] = []
    fitted = AlignedClusterer(n_clusters=4, random_state=0, callback=seen.append).fit(VIEWS)
    assert list(dict.fromkeys(each.step for each in seen)) == [
        *("anchors", "graphs", "match", "fuse", "embed", "cluster", "done")
    ]
    fractions = [each.fraction for each in seen]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1], seen[-1].remaining) == (0.0, 1.0, 0.0)
    plain = AlignedClusterer(n_clusters=4, random_state=0).fit(VIEWS)
    np.testing.assert_array_equal(fitted.labels_, plain.labels_)
    seen.clear()
    fitted.predict(VIEWS)
    assert [each.step for each in seen] == ["predict", "done"]


def test_verbose_writes_to_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each step; without verbose, nothing."""
    AlignedClusterer(n_clusters=4, random_state=0, verbose=True).fit(VIEWS)
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(":")[1].split()[0] for line in err.splitlines()] == [
        *("anchors", "graphs", "match", "fuse", "embed", "cluster", "done")
    ]
    AlignedClusterer(n_clusters=4, random_state=0).fit(VIEWS)
    assert capsys.readouterr() == ("", "")


def test_an_exception_of_the_callback_ends_the_fit() -> None:
    """And nothing is fitted."""

    def stop(progress: FitProgress) -> None:
        if progress.step == "fuse":
            raise RuntimeError("enough")

    clusterer = AlignedClusterer(n_clusters=4, random_state=0, callback=stop)
    with pytest.raises(RuntimeError, match="enough"):
        clusterer.fit(VIEWS)
    assert not hasattr(clusterer, "labels_")


@pytest.mark.parametrize(("options", "words"), [({"verbose": "yes"}, "verbose"), ({"callback": 3}, "callback")])
def test_what_is_no_callback_is_refused(options: dict[str, Any], words: str) -> None:
    """One sentence names the parameter."""
    with pytest.raises(InputTypeError, match=words):
        AlignedClusterer(n_clusters=4, **options).fit(VIEWS)


@pytest.mark.parametrize("threads", [1, 2])
def test_passes_report_rows_and_passes_within_passes_do_not(threads: int) -> None:
    """The last report of a pass has all its rows; one report comes after each block."""
    seen: list[tuple[int, int]] = []
    with working(threads=threads, progress=lambda done, total: seen.append((done, total))):
        blocks = list(map_rows(lambda rows: list(map_rows(lambda r: r, 7, width=2**19)), 5, width=2**19))
        run_rows(lambda rows: None, 3, width=1)
    assert len(blocks) == 3
    assert seen == [(2, 5), (4, 5), (5, 5), (3, 3)]
