"""Finished runs: kept, found again, never half-written, never mistaken for others."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.errors import FileError
from anchor_align.study import DONE, SCORES, Cache, StudyProgress, StudyResult, compare, default_cache
from anchor_align.study._cache import Outcome

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


def test_an_edited_adapter_is_another(tmp_path: Path) -> None:
    """The content of a single file counts, not its name."""
    mine = tmp_path / "mine.py"
    mine.write_text(AWKWARD.read_text())
    study(tmp_path / "cache", adapters="awkward", plugins=[mine])
    copy = tmp_path / "copy.py"
    copy.write_text(mine.read_text())
    assert recomputed(tmp_path / "cache", adapters="awkward", plugins=[copy]) == 0
    mine.write_text(AWKWARD.read_text().replace("np.ones(n_anchors)", "np.full(n_anchors, 2.0)"))
    assert recomputed(tmp_path / "cache", adapters="awkward", plugins=[mine]) == 6


@pytest.mark.parametrize("what", ["__version__", "_sources_of", "versions"])
def test_another_version_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Of this package, its sources, or of the packages it computes with."""
    study(tmp_path)
    other = {"__version__": "9.9", "_sources_of": lambda module: "edited", "versions": lambda: {"numpy": "9.9"}}
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


def forged(path: Path, **changes: Any) -> None:
    """Change an entry, with a check that fits."""
    entry = {**json.loads(path.read_bytes())["outcome"], **changes}
    check = hashlib.sha256(f"{path.stem} {json.dumps(entry, sort_keys=True)}".encode()).hexdigest()
    path.write_text(json.dumps({"check": check, "outcome": entry}))


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": packed(bytes(4 * 199))},
        {"labels": packed(bytes(2**25))},
        {"labels": 5},
        {"labels": None},
        {"scores": 1.0},
        {"scores": {"acc": "high"}},
        {"scores": dict.fromkeys(SCORES, "high")},
        {"scores": dict.fromkeys(SCORES, float("nan"))},
        {"seconds": "soon"},
        {"seconds": None},
        {"objective": [1]},
        {"warnings": "text"},
        {"warnings": [1]},
        {"warnings": None},
        {"status": "failed"},
        {"reason": 3},
        {"more": 1},
    ],
    ids=lambda changes: f"{next(iter(changes))}",
)
def test_entries_of_wrong_type_or_length_are_absent(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Also if their check fits, and what inflates without end is not inflated."""
    path = tmp_path / "ab" / "abc.json"
    cache = Cache(tmp_path)
    scores = dict.fromkeys(SCORES, 0.5)
    assert cache.put("abc", Outcome(DONE, scores, np.zeros(200, np.intp), 1.0))
    forged(path)
    assert cache.get("abc", 200) is not None
    forged(path, **changes)
    tracemalloc.start()
    assert cache.get("abc", 200) is None
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


def test_pipes_and_large_files_are_no_entries(tmp_path: Path) -> None:
    """A pipe is not waited for, and a large file is not read."""
    (tmp_path / "ab").mkdir()
    os.mkfifo(tmp_path / "ab" / "abc.json")
    assert Cache(tmp_path).get("abc", 200) is None
    large = tmp_path / "ab" / "abd.json"
    with large.open("wb") as file:
        file.truncate(2**34)
    assert Cache(tmp_path).get("abd", 200) is None


def test_the_folder_is_private(tmp_path: Path) -> None:
    """It is made for the user alone; one that others can write to is refused in one line."""
    Cache(tmp_path / "deep" / "new").open()
    assert (tmp_path / "deep" / "new").stat().st_mode & 0o777 == 0o700
    for mode in (0o777, 0o775):
        (tmp_path / "deep" / "new").chmod(mode)
        with pytest.raises(FileError, match="Other users can write to the cache"):
            compare("lmvsc", "simulated", cache=tmp_path / "deep" / "new")


def test_the_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And entries of another user are absent."""
    cache = Cache(tmp_path)
    cache.put("abc", Outcome(DONE, None, np.zeros(200, np.intp), 1.0))
    assert cache.get("abc", 200) is not None
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert cache.get("abc", 200) is None
    with pytest.raises(FileError, match="belongs to another user"):
        compare("lmvsc", "simulated", cache=tmp_path)


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


HELPER = "POWER = {power}\n"
USER = """
import numpy as np
from anchor_align import Adapter, AnchorGraphs, hookimpl
from {helper} import POWER


class Mine(Adapter):
    name = "mine"

    def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state):
        Z = np.random.default_rng(random_state).dirichlet(np.ones(n_anchors), len(views[0])) ** POWER
        return AnchorGraphs([Z, Z])


@hookimpl
def anchor_align_adapters():
    return [Mine]
"""


@pytest.mark.slow
def test_code_that_an_adapter_imports_counts(tmp_path: Path) -> None:
    """An edited neighbour of a single file is another adapter: its runs are computed again, in new processes too."""
    (tmp_path / "mine.py").write_text(USER.format(helper="neighbour"))
    words = ["compare", "mine", "--plugin", str(tmp_path / "mine.py"), "--data", "simulated", "--anchors", "8"]
    words += ["--repeats", "1", "--cache", str(tmp_path / "cache"), "--format", "csv"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    script = [sys.executable, "-c", "import sys; from anchor_align.cli import main; sys.exit(main())"]
    entries = []
    for power in (1, 5.5):  # texts of different length: compiled files of the same second are told apart by it
        (tmp_path / "neighbour.py").write_text(HELPER.format(power=power))
        subprocess.run([*script, *words], env=environment, check=True, capture_output=True)
        entries.append(len(list((tmp_path / "cache").rglob("*.json"))))
    assert entries == [3, 6]


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
