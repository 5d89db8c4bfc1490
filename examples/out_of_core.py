"""Align graphs that do not fit in memory, find ambiguous anchors, and fix them with a known pair.

The graphs of two views are in .npy files; only their Gram matrices are in memory. Two anchors of the second view are
nearly the same, so the choice of their partners is arbitrary. Their margins show this, and a known pair decides it.

    python examples/out_of_core.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from anchor_align import AnchorAligner, GramMatrices

N_SAMPLES, N_ANCHORS, BLOCK = 20_000, 8, 1_000


def write_graphs(folder: Path) -> list[Path]:
    """Two views of one soft clustering, the second with its columns shuffled and columns 2 and 5 blurred together."""
    rng = np.random.default_rng(0)
    Z0 = rng.dirichlet(np.full(N_ANCHORS, 0.2), size=N_SAMPLES)
    Z1 = Z0[:, [6, 3, 1, 7, 0, 4, 2, 5]] + rng.uniform(0, 0.2, size=Z0.shape)
    Z1[:, [2, 5]] = Z1[:, [2, 5]].mean(axis=1, keepdims=True) + rng.uniform(0, 0.1, size=(N_SAMPLES, 2))
    paths = [folder / "view_0.npy", folder / "view_1.npy"]
    for path, Z in zip(paths, (Z0, Z1), strict=True):
        np.save(path, Z / Z.sum(axis=1, keepdims=True))
    return paths


def main() -> None:
    """Add up Gram matrices block by block, align, show the margins, align again with a known pair."""
    with tempfile.TemporaryDirectory() as folder:
        views = [np.load(path, mmap_mode="r") for path in write_graphs(Path(folder))]
        grams = GramMatrices.from_blocks(
            [view[start : start + BLOCK] for view in views] for start in range(0, N_SAMPLES, BLOCK)
        )
        # Each block could come from another process or machine: sums of GramMatrices are GramMatrices.
        del views
    print(f"Gram matrices of {grams.n_samples} samples hold {grams.matrix.size} numbers")
    aligner = AnchorAligner(reference=0).fit(grams)
    print(f"objective {aligner.objective_[1]:.4f}, no permutation exceeds {aligner.upper_bound_[1]:.4f}")
    print("anchor of view 0, its partner in view 1, margin:")
    for anchor, (partner, margin) in enumerate(zip(aligner.permutations_[1], aligner.margins_[1], strict=True)):
        print(f"  {anchor} -> {partner}   {margin:.4f}{'   ambiguous' if margin < 0.002 else ''}")
    known = AnchorAligner(reference=0, seeds=[(4, 2)]).fit(grams)
    print(f"with 4 -> 2 known, the other ambiguous anchor gets {known.permutations_[1][1]}")


if __name__ == "__main__":
    main()
