"""Mutated MATLAB files, loaded in another process: each gives data or one of our errors, and no process dies.

Run it for any number of cases: ``python tests/data/mat_fuzz.py 2000 --seed 1``. It prints how many files were loaded,
how many were refused, and for each failure the number of the case, which repeats it with ``--only``.
"""

from __future__ import annotations

import argparse
import io
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import savemat

# Cases of one process; a process that dies is started again after the case that ended it.
BATCH = 100
WORKER = """
import sys, warnings
from pathlib import Path
from anchor_align import AnchorAlignError, load_views
warnings.simplefilter("ignore")
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        load_views(path)
        outcome = "loaded"
    except AnchorAlignError as error:
        outcome = "refused" if len(str(error).splitlines()) == 1 else "several lines"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {error}".replace(chr(10), " ")
    print(path.name, outcome, flush=True)
"""


def variables(rng: np.random.Generator) -> dict[str, Any]:
    """Data in one of the layouts that people publish."""
    dense, sparse = rng.random((8, 3)), sp.csc_array(rng.random((8, 5)) * (rng.random((8, 5)) < 0.4))
    members = np.empty((1, 3), dtype=object)
    members[0, :] = [dense, sparse, sp.csc_array(dense)]
    words = np.empty((8, 1), dtype=object)
    words[:, 0] = list("abababab")
    layouts: list[dict[str, Any]] = [
        {"X": members, "y": np.arange(8) % 2},
        {"data": {"X1": dense, "X2": sparse}, "labels": words},
        {"X1": dense, "X2": sparse, "X3": dense.astype(np.float32), "y": np.array(list("abababab"))},
    ]
    return layouts[rng.integers(len(layouts))]


def mutated(seed: int) -> bytes:
    """A compressed file with flipped bits, or with changed content that was compressed again, or not at all."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["flip", "recompress", "plain"])
    file: Any = io.BytesIO()
    savemat(file, variables(rng), do_compression=bool(kind == "flip"))
    content = bytearray(file.getvalue())
    if kind == "flip":
        for _ in range(rng.choice([1, 1, 1, 3])):
            content[rng.integers(128, len(content))] ^= 1 << int(rng.integers(8))
        return bytes(content)
    result, at = bytes(content[:128]), 128
    while at < len(content):
        (size,) = struct.unpack_from("<I", content, at + 4)
        variable = content[at : at + 8 + size]
        for _ in range(rng.integers(3)):
            _change(variable, rng)
        packed = zlib.compress(bytes(variable))
        result += bytes(variable) if kind == "plain" else struct.pack("<II", 15, len(packed)) + packed
        at += 8 + size
    return result


def _change(content: bytearray, rng: np.random.Generator) -> None:
    """Change a bit, a byte, or one of the words that tags consist of."""
    how, place = rng.integers(4), int(rng.integers(len(content)))
    if how == 0:
        content[place] ^= 1 << int(rng.integers(8))
    elif how == 1:
        content[place] = rng.integers(256)
    else:
        word = int(rng.choice([0, 1, 5, 6, 8, 9, 14, 15, 16, 17, 18, 19, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1]))
        struct.pack_into("<I", content, min(place // 4 * 4, len(content) - 4), word)
    if rng.random() < 0.05:
        del content[-int(rng.integers(1, 64)) :]


def run(cases: list[int]) -> tuple[Counter[str], dict[int, str]]:
    """Outcomes of the cases, and what happened where it was neither data nor one of our errors."""
    outcomes: Counter[str] = Counter()
    failures: dict[int, str] = {}
    for start in range(0, len(cases), BATCH):
        with tempfile.TemporaryDirectory() as folder:
            for case in cases[start : start + BATCH]:
                (Path(folder) / f"{case:09d}.mat").write_bytes(mutated(case))
            while left := sorted(Path(folder).iterdir()):
                done = subprocess.run([sys.executable, "-c", WORKER, folder], capture_output=True, text=True)
                lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
                for name, outcome in lines:
                    outcomes[outcome if outcome in ("loaded", "refused") else "failed"] += 1
                    if outcome not in ("loaded", "refused"):
                        failures[int(name[:9])] = outcome
                    (Path(folder) / name).unlink()
                if len(lines) < len(left):
                    outcomes["died"] += 1
                    failures[int(left[len(lines)].name[:9])] = f"died with {done.returncode}: {done.stderr[-200:]}"
                    left[len(lines)].unlink()
    return outcomes, failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_cases", type=int, nargs="?", default=2000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, nargs="+", help="run these cases")
    given = parser.parse_args()
    counts, failed = run(given.only or list(range(given.seed, given.seed + given.n_cases)))
    print(dict(counts))
    for number, reason in failed.items():
        print(f"case {number}: {reason}")
    sys.exit(bool(failed))
