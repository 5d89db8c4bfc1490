"""Make the bundled file of the UCI multiple features.

    python docs/_tools/bundle_mfeat.py SOURCE TARGET

SOURCE is the folder of the published text files (mfeat-fac, mfeat-fou, mfeat-kar, mfeat-mor, mfeat-pix, mfeat-zer), or
a .mat file with the same six views. TARGET is the file to write: anchor_align/data/mfeat.npz.xz. The samples must be
those of the digits 0 to 9, 200 of each, in this order.
"""

from __future__ import annotations

import argparse
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anchor_align import load_views
from anchor_align.data._catalogue import MFEAT_INTEGERS, MFEAT_SCALE, MFEAT_VIEWS

KINDS = (np.uint8, np.uint16, np.int32, np.int64)


def read(source: Path) -> dict[str, npt.NDArray[np.float64]]:
    """All views by name; those of a .mat file are known by their numbers of features."""
    if source.is_dir():
        return {name: np.loadtxt(source / f"mfeat-{name[:3]}") for name in MFEAT_VIEWS}
    data = load_views(source)
    assert data.labels is not None
    assert np.array_equal(data.labels, np.repeat(np.arange(10), 200)), "the samples are in another order"
    by_width = {X.shape[1]: np.asarray(X, dtype=np.float64) for X in data.views}
    return {name: by_width[width] for name, width in MFEAT_VIEWS.items()}


def whole_numbers(name: str, X: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """The view as whole numbers of the smallest type that holds them; nothing is lost."""
    scale = 1.0 if name in MFEAT_INTEGERS else MFEAT_SCALE
    whole = np.rint(X * scale)
    assert X.shape == (2000, MFEAT_VIEWS[name]), f"{name} has shape {X.shape}"
    assert np.array_equal(whole / scale, X), f"{name} has more than eight decimals"
    return next(whole.astype(kind) for kind in KINDS if np.array_equal(whole.astype(kind), whole))


def main() -> None:
    """Read, check, pack and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    packed = io.BytesIO()
    # By columns: neighbours are then alike, and the file is smaller.
    arrays: dict[str, Any] = {
        name: np.asfortranarray(whole_numbers(name, X)) for name, X in read(arguments.source).items()
    }
    np.savez(packed, **arrays)
    arguments.target.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{arguments.target}: {arguments.target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
