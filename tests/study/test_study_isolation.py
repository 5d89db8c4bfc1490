"""Plug-ins that end, crash, fork or hang their process: each is a row, and the study goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from anchor_align import PluginError
from anchor_align.study import DONE, FAILED, TIMEOUT, StudyResult, compare

AWKWARD = Path(__file__).resolve().parents[1] / "awkward_plugin.py"

pytestmark = pytest.mark.slow  # every test starts a process

PLUGIN = """
import os, signal, sys
from anchor_align import Adapter, hookimpl
{code}
class Mine(Adapter):
    name = "mine"
    def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state): raise ValueError
@hookimpl
def anchor_align_adapters():
    return [Mine]
"""


def by_mode(result: StudyResult) -> dict[str, tuple[str, str]]:
    return {str(dict(r.setting.params)["mode"]): (r.status, r.reason) for r in result.records}


def test_all_that_a_plug_in_can_do_is_a_row() -> None:
    """With one job, the default: the end of its process, a crash, a fork, an interrupt and an endless loop."""
    modes = ["fine", "vanish", "crash", "fork", "interrupt", "loop", "print"]
    result = compare("awkward", "simulated", plugins=AWKWARD, n_anchors=8, repeats=1, params={"mode": modes}, timeout=6)
    found = by_mode(result)
    assert found["fine"] == found["fork"] == found["print"] == (DONE, "")
    assert found["vanish"][0] == found["crash"][0] == found["interrupt"][0] == FAILED
    assert "process died (exit code 0)" in found["vanish"][1]
    assert "process died (signal SIGSEGV)" in found["crash"][1]
    assert found["interrupt"][1] == "KeyboardInterrupt"
    assert found["loop"] == (TIMEOUT, "Timeout: more than 6 seconds.")
    assert result.n_failed == 4 * 3
    assert all(reason for row in result.summaries for reason in row.failures)


def test_the_command_line_says_what_happened() -> None:
    """A plug-in that ends its process neither ends the command with code 0 nor prints its result twice."""
    words = ["compare", "awkward", "--plugin", str(AWKWARD), "--data", "simulated", "--anchors", "8"]
    words += ["--repeats", "1", "--no-cache", "--format", "csv", "--set", "mode=vanish,fork"]
    script = [sys.executable, "-c", "import sys; from anchor_align.cli import main; sys.exit(main())"]
    done = subprocess.run([*script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 1 + 2 * 3
    assert sum("process died" in line for line in lines) == 3
    assert done.stderr.count("\n") == 1


def test_a_plug_in_that_spoils_numpy_spoils_its_own_runs_only(tmp_path: Path) -> None:
    """Our adapters run in another process than the plug-in's."""
    file = tmp_path / "spoils.py"
    file.write_text(PLUGIN.format(code="").replace("raise ValueError", "import numpy; numpy.zeros = None"))
    result = compare(["mine", "lmvsc"], "simulated", plugins=file, n_anchors=4, repeats=2)
    assert {record.setting.adapter for record in result.records if record.status == DONE} == {"lmvsc"}
    assert result.n_failed == 2 * 3


def test_our_adapters_have_a_time_limit_too() -> None:
    """They run in another process then; the result within the limit is the same as without one."""
    options: dict[str, Any] = {"n_anchors": 4, "repeats": 1}
    limited = compare("lmvsc", "simulated", timeout=60, **options)
    free = compare("lmvsc", "simulated", **options)
    assert [record.scores for record in limited.records] == [record.scores for record in free.records]
    late = compare("lmvsc", "simulated", timeout=1e-9, **options)
    assert {record.status for record in late.records} == {TIMEOUT}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("os._exit(0)", "process died .exit code 0."),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "process died .signal SIGSEGV."),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_plug_in_that_ends_its_process_when_loaded_is_refused(tmp_path: Path, code: str, reason: str) -> None:
    """With its name, before this process imports it."""
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN.format(code=code))
    with pytest.raises(PluginError, match=f"mine.py.*{reason}"):
        compare("lmvsc", "simulated", repeats=1, plugins=path)


def test_a_child_that_a_plug_in_forks_when_loaded_ends(tmp_path: Path) -> None:
    """It would go on as a second study."""
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN.format(code="os.fork()"))
    script = "from anchor_align.study import compare\n"
    script += f"print(compare('lmvsc', 'simulated', n_anchors=4, repeats=1, plugins={str(path)!r}).n_failed)\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_a_hang_can_be_interrupted(tmp_path: Path) -> None:
    """Ctrl-C ends an endless loop at once, and what the plug-in has forked."""
    log = tmp_path / "log"
    words = ["compare", "awkward", "--plugin", str(AWKWARD), "--data", "simulated", "--anchors", "8"]
    words += ["--repeats", "1", "--no-cache", "--set", "mode=loop", f"log={log}"]
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = [sys.executable, "-c", f"{listening}; import sys; from anchor_align.cli import main; sys.exit(main())"]
    process = subprocess.Popen([*script, *words], stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + 120
    while not log.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert log.exists()
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60)[1] == "anchor-align: interrupted\n"
    assert process.returncode == 130
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        assert int(fields[3]) != process.pid or fields[0] == "Z"
