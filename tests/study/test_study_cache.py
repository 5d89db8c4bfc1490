"""Finished runs: kept, found again, never half-written, never mistaken for others."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.study import Cache, StudyProgress, StudyResult, compare, default_cache

AWKWARD = Path(__file__).resolve().parents[1] / "awkward_plugin.py"


def study(folder: Path, reports: list[StudyProgress] | None = None, **options: Any) -> StudyResult:
    # Our own adapter is computed in this process: a plug-in would start another one for every study.
    given: dict[str, Any] = {"adapters": "lmvsc", "data": "simulated", "n_anchors": 8}
    if "mode" in options.get("params", {}) or "log" in options.get("params", {}):
        given = {**given, "adapters": "awkward", "plugins": [AWKWARD]}
    callback = None if reports is None else reports.append
    return compare(**{**given, "repeats": 2, "cache": folder, "callback": callback, **options})


def recomputed(folder: Path, **options: Any) -> int:
    """How many runs a study had to compute."""
    reports: list[StudyProgress] = []
    study(folder, reports, **options)
    return reports[-1].total - reports[-1].kept


def test_second_study_computes_nothing(tmp_path: Path) -> None:
    """The result is the same to the last bit, times and clusters included."""
    first = study(tmp_path)
    assert recomputed(tmp_path) == 0
    again = study(tmp_path)
    assert again.records == first.records
    for a, b in zip(again.records, first.records, strict=True):
        np.testing.assert_array_equal(np.asarray(a.labels), np.asarray(b.labels))


def test_a_larger_study_computes_what_is_new(tmp_path: Path) -> None:
    """More repeats, another lam: arms that were there stay."""
    study(tmp_path)
    assert recomputed(tmp_path, repeats=3) == 3
    assert recomputed(tmp_path, lam=[0.1, 1]) == 2


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        ({"seed": 1}, 6),
        ({"n_anchors": 6}, 6),
        ({"params": {"alpha": 2.0}}, 6),
        ({"data": {"other": make_simulated(1)}}, 6),
        ({"data": {"the same": make_simulated(0)}}, 0),
        ({"reference": 0}, 2),
        ({"lam": 0.2}, 2),
        ({"score": "nmi", "footings": ["best"], "jobs": 2}, 0),
    ],
)
def test_everything_that_matters_is_in_the_key(tmp_path: Path, options: dict[str, Any], runs: int) -> None:
    """Data content, settings, seed; the arms without alignment do not depend on lam and reference."""
    study(tmp_path)
    assert recomputed(tmp_path, **options) == runs


def test_labels_matter(tmp_path: Path) -> None:
    """Other true labels give other scores."""
    data = make_simulated(0)
    study(tmp_path)
    assert data.labels is not None
    assert recomputed(tmp_path, data={"x": replace(data, labels=data.labels[::-1].copy())}) == 6


@pytest.mark.parametrize("what", ["__version__", "_own_sources", "versions"])
def test_another_version_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Of this package, its sources, or of the packages it computes with."""
    study(tmp_path)
    other = {"__version__": "9.9", "_own_sources": lambda: ["edited"], "versions": lambda: {"numpy": "9.9"}}
    monkeypatch.setattr(f"anchor_align.study._cache.{what}", other[what])
    assert recomputed(tmp_path) == 6


def test_failed_runs_are_not_kept(tmp_path: Path) -> None:
    """They are tried again; finished arms of the same draw are kept."""
    study(tmp_path, params={"mode": ["fail", "narrow"]})
    assert recomputed(tmp_path, params={"mode": ["fail", "narrow"]}) == 6 + 2


def test_settings_that_cannot_be_written_down_are_not_kept(tmp_path: Path) -> None:
    """An object whose text changes from one process to the next is no key."""
    study(tmp_path, params={"log": [object()]})
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"check": "x", "outcome": {}}', b"\xff\xfe", b"[" * 10**5])
def test_damaged_entries_are_computed_again(tmp_path: Path, content: bytes) -> None:
    """As if they were not there, and are mended."""
    first = study(tmp_path)
    (entry, *_) = sorted(tmp_path.rglob("*.json"))
    entry.write_bytes(content)
    assert recomputed(tmp_path) == 1
    again = study(tmp_path)
    assert [replace(r, seconds=0.0) for r in again.records] == [replace(r, seconds=0.0) for r in first.records]
    assert json.loads(entry.read_bytes())["outcome"]["scores"]


def test_a_pipe_in_the_cache_is_replaced(tmp_path: Path) -> None:
    """Nothing waits for it: the run is computed again and kept."""
    study(tmp_path)
    (entry, *_) = sorted(tmp_path.rglob("*.json"))
    entry.unlink()
    os.mkfifo(entry)
    assert recomputed(tmp_path) == 1
    assert recomputed(tmp_path) == 0


def test_a_folder_of_a_group_is_a_cache(tmp_path: Path) -> None:
    """As ``mkdir`` makes it where groups share files."""
    tmp_path.chmod(0o775)
    study(tmp_path)
    assert recomputed(tmp_path) == 0


def test_a_complete_cache_that_is_read_only_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written to it; only a run that is computed is reported as not kept."""
    first = study(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    for name in ("mkdir", "unlink", "replace", "chmod"):
        monkeypatch.setattr(f"os.{name}", refuse)
    monkeypatch.setattr("anchor_align.study._cache.write_whole", refuse)
    reports: list[StudyProgress] = []
    assert study(tmp_path, reports).records == first.records
    assert not any(each.not_kept for each in reports)
    study(tmp_path, reports, lam=0.2)
    assert any(each.not_kept for each in reports)


def test_leftovers_of_killed_processes_go(tmp_path: Path) -> None:
    """Old ones only: a new one may be another process's."""
    study(tmp_path)
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    old, new = folder / ".a.part", folder / ".b.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 10_000,) * 2)
    study(tmp_path)
    assert not old.exists()
    assert new.exists()


def test_a_full_disk_costs_only_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The study ends with its result, and says that nothing was kept."""
    expected = study(tmp_path / "other")

    def full(path: object, content: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anchor_align.study._cache.write_whole", full)
    reports: list[StudyProgress] = []
    result = study(tmp_path / "cache", reports)
    assert [r.scores for r in result.records] == [r.scores for r in expected.records]
    assert any(each.not_kept for each in reports)


def test_default_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Our own variable first, then the user's folder for caches."""
    monkeypatch.setenv("ANCHOR_ALIGN_CACHE", str(tmp_path / "mine"))
    assert default_cache() == tmp_path / "mine"
    monkeypatch.delenv("ANCHOR_ALIGN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "anchor-align"


def test_edited_entries_are_not_believed(tmp_path: Path) -> None:
    """A score that was changed by hand is computed again."""
    study(tmp_path)
    (entry, *_) = sorted(tmp_path.rglob("*.json"))
    stored = json.loads(entry.read_bytes())
    stored["outcome"]["scores"]["acc"] = 7.0
    entry.write_text(json.dumps(stored))
    assert recomputed(tmp_path) == 1


def test_entry_of_another_key_is_not_taken(tmp_path: Path) -> None:
    """A file that was renamed by hand is no result."""
    study(tmp_path)
    (entry, *_) = sorted(tmp_path.rglob("*.json"))
    key = entry.stem[:-1] + ("0" if entry.stem[-1] != "0" else "1")
    entry.rename(entry.with_name(f"{key}.json"))
    assert Cache(tmp_path).get(key, 200) is None


def words_of(cache: Path, log: Path, *extra: str) -> list[str]:
    words = ["compare", "awkward", "--data", "simulated", "--anchors", "8", "--repeats", "6", "--format", "csv"]
    return [*words, "--set", f"log={log}", "seconds=0.15", "--plugin", str(AWKWARD), "--cache", str(cache), *extra]


def command(cache: Path, log: Path, *extra: str) -> list[str]:
    program = "import sys; from anchor_align.cli import main; sys.exit(main())"
    return [sys.executable, "-c", program, *words_of(cache, log, *extra)]


def finish(cache: Path, log: Path, *extra: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(words_of(cache, log, *extra)) == 0
    return printed.getvalue()


@pytest.mark.slow
def test_killed_at_any_moment_and_resumed(tmp_path: Path) -> None:
    """After kill -9 the next call does what is left, with more jobs or fewer, and prints what a whole one prints."""
    log = tmp_path / "log"
    expected = finish(tmp_path / "whole", log, "-j", "2")
    log.unlink()
    rng = random.Random(0)
    cache = tmp_path / "killed"
    for wanted in (1, 9):
        process = subprocess.Popen(command(cache, log, "-j", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(list(cache.rglob("*.json"))) < wanted:
            ended = process.poll()
            time.sleep(0.01)
            assert ended is None or len(list(cache.rglob("*.json"))) >= wanted, ended
        time.sleep(rng.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for entry in cache.rglob("*.json"):
            assert json.loads(entry.read_bytes())["outcome"]["scores"]
    finished = len(list(cache.rglob("*.json"))) // 3
    before = len(log.read_text().splitlines())
    assert finish(cache, log, "-j", "1") == expected
    started = len(log.read_text().splitlines()) - before
    assert started <= 6 - finished
    assert finish(cache, log, "-j", "2") == expected
    assert len(log.read_text().splitlines()) == before + started


@pytest.mark.slow
def test_two_processes_on_one_cache(tmp_path: Path) -> None:
    """Both finish, with the same result as one alone."""
    logs = [tmp_path / "a", tmp_path / "a"]
    both = [subprocess.Popen(command(tmp_path / "shared", log), stdout=subprocess.PIPE, text=True) for log in logs]
    printed = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert printed[0] == printed[1] == finish(tmp_path / "alone", tmp_path / "a")
    assert list((tmp_path / "shared").rglob("*.part")) == []


PLUGIN = """
import sys
from pathlib import Path

import numpy as np
from anchor_align import Adapter, AnchorGraphs, hookimpl

FOLDER = Path(__file__).parent


class Mine(Adapter):
    name = "mine"

    def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state):
        sys.path.insert(0, str(FOLDER))
        from neighbour import POWER
        power = POWER + float((FOLDER / "scripts" / "method.m").read_text())
        Z = np.random.default_rng(random_state).dirichlet(np.ones(n_anchors), len(views[0])) ** power
        return AnchorGraphs([Z, Z])


@hookimpl
def anchor_align_adapters():
    return [Mine]
"""
ENTRY_POINTS = "[anchor_align]\nmine = mine\n"


@pytest.mark.parametrize("origin", ["file", "distribution"])
@pytest.mark.parametrize("edited", ["mine.py", "neighbour.py", "scripts/method.m"])
def test_an_edit_of_what_a_plugin_uses_computes_again(
    origin: str, edited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file, what it imports when it is called, and what it reads; nothing else is computed twice."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "neighbour.py").write_text("POWER = 1\n")
    (tmp_path / "scripts" / "method.m").write_text("0.5")
    options: dict[str, Any] = {"adapters": "mine", "repeats": 1}
    if origin == "file":
        options["plugins"] = [tmp_path / "mine.py"]
    else:
        about = tmp_path / "mine-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(ENTRY_POINTS)
        monkeypatch.syspath_prepend(tmp_path)
    assert recomputed(tmp_path / "cache", **options) == 3
    assert recomputed(tmp_path / "cache", **options) == 0
    place = tmp_path / edited
    place.write_text(place.read_text() + "\n" if edited != "scripts/method.m" else "2.5")
    assert recomputed(tmp_path / "cache", **options) == 3


def test_code_that_no_key_covers_is_not_kept(tmp_path: Path) -> None:
    """A plug-in that imports another folder while it runs is computed again every time."""
    (tmp_path / "plugin" / "scripts").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "neighbour.py").write_text("POWER = 1\n")
    (tmp_path / "plugin" / "scripts" / "method.m").write_text("0.5")
    plugin = tmp_path / "plugin" / "mine.py"
    plugin.write_text(PLUGIN.replace("str(FOLDER)", 'str(FOLDER.parent / "elsewhere")'))
    for _ in range(2):
        assert recomputed(tmp_path / "cache", adapters="mine", repeats=1, plugins=[plugin]) == 3


def test_large_arrays_as_settings_are_not_kept(tmp_path: Path) -> None:
    """Their text leaves out the middle."""
    study(tmp_path, params={"log": [np.zeros(0)]})
    assert list(tmp_path.rglob("*.json")) == []


def test_arms_that_are_the_same_are_kept_alike(tmp_path: Path) -> None:
    """Where anchors correspond by construction, an arm computed alone is what it was beside the other, warnings too."""
    options: dict[str, Any] = {"adapters": "sfmc", "n_anchors": 12, "params": {"n_neighbors": 12}}
    whole = study(tmp_path / "whole", repeats=1, **options)
    study(tmp_path / "parts", repeats=1, **options)
    for entry in (tmp_path / "parts").rglob("*.json"):
        kept = [path.name for path in (tmp_path / "parts").rglob("*.json")]
        entry.unlink()
        again = study(tmp_path / "parts", repeats=1, **options)
        assert [replace(r, seconds=None) for r in again.records] == [replace(r, seconds=None) for r in whole.records]
        assert sorted(path.name for path in (tmp_path / "parts").rglob("*.json")) == sorted(kept)
    assert whole.records[0].scores == whole.records[1].scores
    assert whole.summaries[0].differences["acc"].verdict == "the same, nothing to align"
