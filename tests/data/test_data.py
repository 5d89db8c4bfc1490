"""The bundled simulated data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scripts import EXAMPLES, printed_by, run_script
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from anchor_align import InputError
from anchor_align.data import make_simulated


def test_shape_is_the_papers() -> None:
    """Four clusters of fifty points in the plane, seen in two views."""
    data = make_simulated()
    assert [X.shape for X in data.views] == [(200, 2), (200, 2)]
    assert data.labels is not None
    assert np.bincount(data.labels).tolist() == [50] * 4
    assert len(data.names) == 2


@pytest.mark.slow
def test_every_view_shows_the_clusters() -> None:
    """K-means on one view alone finds them, for any seed."""
    for seed in range(5):
        data = make_simulated(seed)
        for X in data.views:
            found = KMeans(4, n_init=10, random_state=0).fit_predict(X)
            assert adjusted_rand_score(data.labels, found) > 0.97


def test_seed_decides() -> None:
    """The same seed gives the same data, another seed other data."""
    a, b, c = make_simulated(1), make_simulated(1), make_simulated(2)
    np.testing.assert_array_equal(a.views[1], b.views[1])
    assert not np.array_equal(a.views[1], c.views[1])


def test_size_can_be_chosen() -> None:
    """And is checked."""
    assert make_simulated(n_per_cluster=3).views[0].shape == (12, 2)
    with pytest.raises(InputError, match="n_per_cluster must be a whole number >= 1, got 0"):
        make_simulated(n_per_cluster=0)


@pytest.mark.slow
def test_data_need_no_extra() -> None:
    """The folder is imported, and a bundled set loaded, without h5py, pandas and pyarrow."""
    script = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['h5py', 'pandas', 'pyarrow']))\n"
        "from anchor_align.data import load_views\n"
        "print(load_views('simulated').n_samples)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == "200\n", run.stderr


@pytest.mark.slow
def test_example_with_data_of_your_own(tmp_path: Path) -> None:
    """Runs on the digits and on a file, whose notes it prints."""
    data = make_simulated(0)
    np.savez(tmp_path / "mine.npz", one=data.views[0], two=np.vstack([data.views[1].T] * 2))
    example = EXAMPLES / "own_data.py"
    assert "strokes: 1797 samples x 77 features" in printed_by(example)
    mine = printed_by(example, "mine.npz", "--clusters", 4, cwd=tmp_path)
    assert "Views are 'one', 'two'." in mine
    assert "aligned: clusters of 5" in mine
    assert run_script(example, "mine.npz", cwd=tmp_path).code == 2
