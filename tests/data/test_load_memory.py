"""Memory that loading takes: at most twice the arrays, whatever the format."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from mat_files import cell, write_mat73
from scipy.io import savemat

N_SAMPLES = 8_000
MEASURE = """
import json, sys
import h5py, scipy.io
from anchor_align import load_views
load_views("simulated")

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

ratios = {}
for path in sys.argv[1:]:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    before = status("VmRSS")
    data = load_views(path)
    peak = status("VmHWM") - before
    parts = [[X.data, X.indices, X.indptr] if hasattr(X, "indptr") else [X] for X in data.views]
    ratios[path] = peak / sum(array.nbytes for part in parts for array in part)
    del data, parts
print(json.dumps(ratios))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak of memory cannot be reset here")
def test_loading_takes_at_most_twice_the_arrays(tmp_path: Path) -> None:
    """Dense and sparse, compressed or not, in all formats; a sparse view that is alone is at the limit."""
    # Few different values: compressing them is quick.
    rng = np.random.default_rng(0)
    dense = [
        np.tile(rng.random((200, 512)), (N_SAMPLES // 200, 1)),
        np.tile(rng.random((200, 400)), (N_SAMPLES // 200, 1)),
    ]
    sparse: list[Any] = [
        sp.csc_array(rng.random((N_SAMPLES, d), dtype=np.float32) < 0.1).astype(np.float64) for d in (2500, 3000)
    ]
    y = np.arange(N_SAMPLES) % 5
    parts: dict[str, Any] = {"labels": y}
    for i, X in enumerate(map(sp.csr_array, sparse)):
        parts |= {f"v{i}_{part}": getattr(X, part) for part in ("data", "indices", "indptr")}
        parts[f"v{i}_shape"] = np.array(X.shape)
    twice = {"X": cell(sparse), "a": sparse[0], "b": sparse[1], "y": y}
    writers: dict[str, Callable[[Path], object]] = {
        "dense.npz": lambda p: np.savez(p, view_0=dense[0], view_1=dense[1], labels=y),
        "compressed.npz": lambda p: np.savez_compressed(p, view_0=dense[0], view_1=dense[1], labels=y),
        "sparse.npz": lambda p: np.savez(p, **parts),
        "dense5.mat": lambda p: savemat(p, {"X": cell(dense), "y": y}),
        "columns5.mat": lambda p: savemat(p, {"X": cell([X.T for X in dense]), "y": y}),
        "compressed5.mat": lambda p: savemat(p, {"X": cell(dense), "y": y}, do_compression=True),
        "sparse5.mat": lambda p: savemat(p, {"X": cell(sparse), "y": y}),
        "twice5.mat": lambda p: savemat(p, twice),
        "dense73.mat": lambda p: write_mat73(p, {"X": dense, "y": y}),
        "sparse73.mat": lambda p: write_mat73(p, {"X": sparse, "y": y}),
        "alone5.mat": lambda p: savemat(p, {"X": sparse[0], "y": y}),
    }
    for name, write in writers.items():
        write(tmp_path / name)
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, *(str(tmp_path / name) for name in writers)],
        # Memory that is freed goes back at once: what one file leaves behind must not serve the next.
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"},
        capture_output=True,
        text=True,
        check=True,
    )
    ratios = {Path(path).name: ratio for path, ratio in json.loads(run.stdout).items()}
    assert set(ratios) == set(writers)
    for name, ratio in ratios.items():
        # What is measured includes a little that is not arrays.
        assert 0.5 < ratio < (2.1 if name == "alone5.mat" else 2.0), ratios
