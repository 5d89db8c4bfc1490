"""Several processes: one that dies takes only its run with it, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anchor_align.study import StudyProgress, compare

AWKWARD = Path(__file__).resolve().parents[1] / "awkward_plugin.py"

pytestmark = pytest.mark.slow  # every test starts processes

# A process that is started in the background ignores Ctrl-C, and so do those that it starts.
LISTENING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
SCRIPT = [sys.executable, "-c", f"{LISTENING}; import sys; from anchor_align.cli import main; sys.exit(main())"]


def children_of(pid: int) -> list[int]:
    """Processes of a session, without the first one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == pid and fields[0] != "Z" and int(path.parent.name) != pid:
            found.append(int(path.parent.name))
    return found


def wait_until(true: object, seconds: float = 120.0) -> bool:
    assert callable(true)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


def test_a_process_that_dies_takes_only_its_run(tmp_path: Path) -> None:
    """The combination that ends the process is reported in its row; the others finish."""
    reports: list[StudyProgress] = []
    result = compare(
        "awkward",
        "simulated",
        plugins=[AWKWARD],
        n_anchors=8,
        repeats=1,
        jobs=2,
        params={"mode": ["fine", "die", "print"]},
        cache=tmp_path,
        callback=reports.append,
    )
    reasons = {dict(record.setting.params)["mode"]: record.reason for record in result.records}
    assert reasons["fine"] == reasons["print"] == ""
    assert "process died" in reasons["die"]
    assert result.n_failed == 3
    assert reports[-1].done == reports[-1].total == 9


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_no_process_is_left_behind(tmp_path: Path, how: signal.Signals, code: int) -> None:
    """Neither by Ctrl-C nor by kill -9; what was finished is kept, and Ctrl-C is one line and exit code 130."""
    words = ["compare", "awkward", "--data", "simulated", "--anchors", "8", "--repeats", "50", "-j", "2"]
    words += ["--set", "seconds=0.3", "--plugin", str(AWKWARD), "--cache", str(tmp_path)]
    process = subprocess.Popen(
        [*SCRIPT, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert wait_until(lambda: len(list(tmp_path.rglob("*.json"))) >= 3)
    assert len(children_of(process.pid)) >= 2
    if how is signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert wait_until(lambda: not children_of(process.pid))
    assert out == ""
    if how is signal.SIGINT:
        assert err == "anchor-align: interrupted; the same command continues from the runs that are kept\n"


def test_a_script_needs_no_main_guard() -> None:
    """Other processes do not import the user's script, which may even come from stdin."""
    script = "from anchor_align.study import compare\n"
    script += "print(compare('lmvsc', 'simulated', n_anchors=4, repeats=2, jobs=2).n_failed)\n"
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_interrupted_while_processes_start(tmp_path: Path) -> None:
    """One line, no tracebacks of processes that were just starting, and none is left."""
    words = ["compare", "awkward", "--data", "simulated", "--anchors", "8", "--repeats", "9", "-j", "2", "--no-cache"]
    process = subprocess.Popen(
        [*SCRIPT, *words, "--plugin", str(AWKWARD)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert wait_until(lambda: len(children_of(process.pid)) >= 1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "anchor-align: interrupted\n")
    assert wait_until(lambda: not children_of(process.pid))
