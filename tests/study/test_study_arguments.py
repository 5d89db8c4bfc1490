"""Arguments of the wrong type: one sentence, before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchor_align import InputError, PluginError, load_plugins
from anchor_align.errors import InputTypeError
from anchor_align.study import compare


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("params", [1], "params must be a dict"),
        ("params", "alpha", "params must be a dict"),
        ("params", {3: 1}, "keys of params must be names"),
        ("callback", 3, "callback must be callable"),
        ("callback", "print", "callback must be callable"),
        ("footings", 3, "Unknown footing 3"),
        ("footings", None, "Unknown footing None"),
        ("footings", [["best"]], "Unknown footing"),
        ("footings", [], "Got no footing"),
        ("fusions", [pd.DataFrame()], "Unknown fusion"),
        ("weights", np.array(3), "weights"),
        ("plugins", 3, "a path or a list of paths, got int"),
        ("plugins", None, "a path or a list of paths, got NoneType"),
        ("plugins", [3], "must be a path, got 3"),
        ("plugins", [b"mine.py"], "must be a path"),
        ("plugins", b"mine.py", "a path or a list of paths, got bytes"),
        ("cache", 3, "cache must be a path or None, got int"),
        ("timeout", "soon", "timeout must be a finite number"),
        ("timeout", 0, "timeout must be a finite number > 0"),
        ("timeout", float("nan"), "timeout must be a finite number"),
        ("pictures", "yes", "pictures must be True or False"),
        ("data", {}, "Got no data"),
        ("repeats", 2**70, "repeats must be at most 1,000,000"),
    ],
)
def test_wrong_arguments_of_compare(argument: str, value: Any, expected: str) -> None:
    """Each is named, with what was got."""
    with pytest.raises(InputError, match=expected) as caught:
        compare("lmvsc", **{"data": "simulated", "repeats": 1, argument: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("files", [3, None, [3], b"x.py", [None], {"a.py": 1}, np.array(3)])
def test_wrong_files_of_load_plugins(files: Any) -> None:
    """Files are paths."""
    with pytest.raises(InputTypeError, match="must be a path"):
        load_plugins(files)


def test_plug_in_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A folder and a name with a zero byte; ``strict`` is True or False."""
    (tmp_path / "folder.py").mkdir()
    for path in (tmp_path / "folder.py", "zero\0.py"):
        with pytest.raises(PluginError, match="Plug-in file"):
            load_plugins(path)
    with pytest.raises(InputTypeError, match="strict must be True or False"):
        load_plugins(strict="yes")  # type: ignore[arg-type]


def test_one_footing_may_be_a_word() -> None:
    """As for the other arguments that take several values."""
    result = compare("lmvsc", "simulated", n_anchors=4, repeats=1, footings="best")
    assert {row.footing for row in result.summaries} == {"best"}
