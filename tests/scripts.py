"""Scripts that run as from the command line, in this process: a new one would import everything again."""

from __future__ import annotations

import contextlib
import io
import runpy
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Done:
    """How a script ended, and what it printed."""

    code: int
    out: str
    err: str


def run_script(path: Path, *words: object, cwd: Path | None = None) -> Done:
    """Run a script with these words on its command line, in the folder ``cwd``."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")  # of users; in tests warnings are errors
        patch.setattr(sys, "argv", [str(path), *map(str, words)])
        patch.syspath_prepend(str(path.parent))
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as stopped:
            code = stopped.code or 0
    if isinstance(code, str):  # as Python does: the message is printed, the code is 1
        return Done(1, out.getvalue(), f"{err.getvalue()}{code}\n")
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())


def printed_by(path: Path, *words: object, cwd: Path | None = None) -> str:
    """What a script prints that ends well."""
    done = run_script(path, *words, cwd=cwd)
    assert done.code == 0, done.err
    return done.out


def printed_by_process(*arguments: str, cwd: Path) -> str:
    """What Python prints with these arguments, in a process of its own that ends well."""
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
