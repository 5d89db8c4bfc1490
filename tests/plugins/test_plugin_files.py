"""Plug-ins that are single files."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import pytest
from distributions import IMPORTS, MINE, OURS, adapter, hook, install, temporary_site

from anchor_align import PluginError, list_adapters, load_plugins

site = pytest.fixture(temporary_site)


def test_file_by_path(tmp_path: Path) -> None:
    """Any directory and name: it is on no path, shadows nothing, leaves nothing behind and can be pickled."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    path = folder / "json.py"
    path.write_text(adapter("filed", "def __init__(self, a=1): self.a = a"))
    registry = load_plugins(path)
    assert registry.names == (*OURS, "filed")
    record = registry.record("filed")
    assert (record.distribution, record.entry_point) == (str(path), "")
    assert record.version.startswith("sha256:")
    made = pickle.loads(pickle.dumps(registry.get("filed", a=2)))
    assert (type(made).__name__, made.a) == ("Mine", 2)
    assert json.loads("1") == 1
    assert [each.name for each in folder.iterdir()] == ["json.py"]
    assert "filed" not in list_adapters()


def test_pickled_adapter_of_a_file_in_another_process(tmp_path: Path) -> None:
    """A process that loads the same file can take the adapter over: its module has the same name there."""
    (tmp_path / "mine.py").write_text(adapter("filed"))
    pickled = pickle.dumps(load_plugins(tmp_path / "mine.py").get("filed"))
    module = type(pickle.loads(pickled)).__module__
    del sys.modules[module]
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(pickled)
    load_plugins(tmp_path / "mine.py")
    assert pickle.loads(pickled).name == "filed"


def test_file_is_loaded_once_until_it_is_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same content is the same class; new content a new one, beside the old."""
    path = tmp_path / "mine.py"
    path.write_text("print('loading')\n" + adapter("filed"))
    first, second = (load_plugins([path]).get("filed") for _ in range(2))
    assert type(first) is type(second)
    assert capsys.readouterr().err == "loading\n"
    path.write_text("print('loading')\n" + adapter("edite"))
    assert load_plugins([path]).names == (*OURS, "edite")
    assert type(pickle.loads(pickle.dumps(first))) is type(first)


def test_files_come_last_in_the_order_given(tmp_path: Path, site: Path) -> None:
    """After everything that is installed."""
    install(site, "zz", adapter("zz"))
    for name in ("b", "a"):
        (tmp_path / f"{name}.py").write_text(adapter(name))
    assert load_plugins([tmp_path / "b.py", tmp_path / "a.py"]).names == (*OURS, "zz", "b", "a")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.py", None, "cannot be read: No such file"),
        (".", None, "is not a Python file"),
        ("mine.txt", "", "is not a Python file"),
        ("mine.py", "1 / 0", "cannot be imported: ZeroDivisionError: division by zero (mine.py, line 1)"),
        ("mine.py", "\0", "cannot be imported: "),
        ("mine.py", "", "defines no hook"),
        ("mine.py", adapter("lmvsc"), "the name 'lmvsc' is already taken by anchor-align"),
        ("mine.py", f"{IMPORTS}{MINE}{hook('[Mine, 3]')}", "offers 3, which is not an Adapter"),
    ],
)
def test_file_that_cannot_be_loaded_raises(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    """It was asked for, so it is an error even if not strict, at every attempt, and the message names the file."""
    if content is not None:
        (tmp_path / name).write_text(content)
    for _ in range(2):
        with pytest.raises(PluginError) as caught:
            load_plugins([tmp_path / name])
        assert message in str(caught.value)
        assert str(tmp_path / name) in str(caught.value)


def test_failures_of_others_do_not_stop_a_file(tmp_path: Path, site: Path) -> None:
    """Only the file's own failures are errors."""
    install(site, "aa", "raise ValueError")
    (tmp_path / "mine.py").write_text(adapter("filed"))
    assert load_plugins(tmp_path / "mine.py").names == (*OURS, "filed")
