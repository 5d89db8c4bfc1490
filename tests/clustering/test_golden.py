"""Results of the first implementation, which held everything in memory and used scikit-learn's k-means.

Data with whole numbers in them are left out where ties between equally near centres decide.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from strategies import real_data

from anchor_align import AlignedClusterer
from anchor_align.arrays import is_sparse
from anchor_align.data import load_bundled

# Data, adapter, seed: digest of the labels, norm of the fused graph, objective of the alignment over all views.
GOLDEN: dict[tuple[str, str, int], tuple[str, float, float | None]] = {
    ("digits", "fmvacc", 0): ("336f2ec684df0c55", 30.991105593415696, 4.088426073728549),
    ("digits", "fmvacc", 1): ("9002f1aa3d6227a3", 31.28393891861534, 4.196557290208552),
    ("digits", "sfmc", 0): ("9b4343b7c693228b", 13.223037833392679, None),
    ("breast-cancer", "lmvsc", 0): ("1e744584c2ba0f40", 17.950257503357765, 3.025613387618365),
    ("breast-cancer", "lmvsc", 1): ("fc46644fb472139e", 18.412118693694552, 3.0532808142972376),
    ("breast-cancer", "fmvacc", 0): ("4cd9003561ce75f7", 18.298774173662185, 2.638042093547984),
    ("breast-cancer", "sfmc", 0): ("a3891e275762e066", 5.897670399687505, None),
    ("UCI-Digit_3v", "lmvsc", 0): ("f8fc2f0235eda997", 28.73481271055944, 1.8985141476338359),
    ("UCI-Digit_3v", "lmvsc", 1): ("6ba358ac915bd435", 29.870925364805025, 2.0709001494764663),
    ("UCI-Digit_3v", "fmvacc", 0): ("4a828fb67352da88", 32.51748753735638, 1.5594844293054),
    ("BDGP_3v", "lmvsc", 0): ("98acde5e05876e73", 32.511615750784, 1.227736510027456),
    ("BDGP_3v", "fmvacc", 0): ("07fe715ba175ddac", 35.59918074540143, 1.072239510447659),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "adapter", "seed"), GOLDEN)
def test_results_have_not_changed(name: str, adapter: str, seed: int) -> None:
    """The same labels, and fused graph and objective to 1e-8."""
    if name in ("digits", "breast-cancer"):
        data = load_bundled(name)
        views, labels = data.views, data.labels
    else:
        views, labels = real_data(name)
    assert labels is not None
    fitted = AlignedClusterer(adapter, n_clusters=len(np.unique(labels)), random_state=seed).fit(views)
    digest, norm, objective = GOLDEN[name, adapter, seed]
    graph = fitted.fused_graph_
    assert np.linalg.norm(graph.data if is_sparse(graph) else graph) == pytest.approx(norm, rel=1e-8)
    if objective is not None:
        assert fitted.aligner_ is not None
        assert fitted.aligner_.objective_.sum() == pytest.approx(objective, rel=1e-8)
    assert hashlib.sha256(fitted.labels_.astype("<i8").tobytes()).hexdigest()[:16] == digest
