"""compare and sweep: results on stdout, everything else on stderr, exit codes, files."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anchor_align.cli import build_parser, main
from anchor_align.data import make_simulated
from anchor_align.errors import missing_extra
from anchor_align.report import FORMATS
from anchor_align.study import ARMS, DEFAULT_DATA, FOOTINGS, SCORES

AWKWARD = str(Path(__file__).resolve().parents[1] / "awkward_plugin.py")
SMALL = ["--data", "simulated", "--repeats", "3", "--no-cache"]
SCRIPT = [sys.executable, "-c", "import sys; from anchor_align.cli import main; sys.exit(main())"]


def run(capfd: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(list(argv))
    return code, *capfd.readouterr()


def awkward(*modes: str) -> list[str]:
    return ["compare", "awkward", *SMALL, "--anchors", "8", "--plugin", AWKWARD, "--set", f"mode={','.join(modes)}"]


def test_compare_prints_the_answer_and_two_tables(capfd: pytest.CaptureFixture[str]) -> None:
    """The answer first, then scores and paired differences, in 80 columns; nothing on stderr."""
    code, out, err = run(capfd, "compare", "lmvsc", "--anchors", "k", *SMALL)
    assert (code, err) == (0, "")
    assert out.startswith("On simulated, lmvsc reaches 100.0 % ACC with aligned and ")
    assert max(map(len, out.splitlines())) <= 80
    assert "mean ± sd over 3 repeats" in out
    assert "paired by repeat" in out
    (scores, difference) = [line.split() for line in out.splitlines() if line.startswith("simulated")]
    assert scores[1:3] == ["lmvsc", "4"]
    assert difference[-5:] == ["too", "few", "repeats:", "6", "needed"]


def test_json_has_the_contract(capfd: pytest.CaptureFixture[str]) -> None:
    """Records, summary and environment; strict JSON even for an infinite lam."""
    code, out, err = run(capfd, "compare", "lmvsc", "fmvacc", *SMALL, "--lam", "0.1,inf", "--format", "json")
    assert (code, err) == (0, "")
    shown = json.loads(out, parse_constant=pytest.fail)
    assert {"records", "summary", "environment"} <= set(shown)
    assert len(shown["records"]) == 2 * 2 * 3 * 3
    for record in shown["records"]:
        assert {"dataset", "adapter", "arm", "n_anchors", "lam", "repeat", "seed", "seconds", "status"} <= set(record)
        assert all(0 <= record[score] <= 1 for score in SCORES)
        assert record["seconds"] > 0
        assert record["status"] == "done"
    assert {record["arm"] for record in shown["records"]} == set(ARMS)
    assert {record["lam"] for record in shown["records"]} == {0.1, "inf"}
    assert shown["environment"]["numpy"] == np.__version__
    assert shown["study"]["data"][0]["digest"].startswith("sha256:")


@pytest.mark.slow
def test_output_is_the_same_for_any_jobs_and_with_a_cache(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Byte for byte, in a format for people and one for programs, which show no times."""
    words = ["compare", "lmvsc", "awkward", "--plugin", AWKWARD, "--data", "simulated", "--anchors", "k", "6"]
    words += ["--repeats", "2", "--set", "mode=sloppy", "lmvsc.alpha=1,2", "--footing", "both"]
    for form in ("table", "csv"):
        printed = {
            run(capfd, *words, "--format", form, *extra)[1]
            for extra in (["--no-cache"], ["-j", "2", "--cache", str(tmp_path)], ["--cache", str(tmp_path), "-q"])
        }
        assert len(printed) == 1


FAILING_PROGRAM = """
import subprocess, sys, tempfile
from anchor_align import FunctionAdapter, hookimpl


def graphs(views, **settings):
    with tempfile.TemporaryDirectory() as folder:
        code = "import sys; sys.exit('first line\\\\nout of luck')"
        subprocess.run([sys.executable, "-c", code, folder], check=True, capture_output=True)


@hookimpl
def anchor_align_adapters():
    return [FunctionAdapter("mine", graphs)]
"""


def test_a_program_that_fails_is_shown_once_with_what_it_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One reason for all runs, though each run had its own temporary folder."""
    (tmp_path / "mine.py").write_text(FAILING_PROGRAM)
    words = ("mine", "--plugin", str(tmp_path / "mine.py"), "--repeats", "2", "--no-cache")
    code, out, err = run(capfd, "compare", *words, "--data", "simulated")
    assert code == 1
    assert (out + err).count("CalledProcessError") == 1
    assert "6 of 6 runs" in out
    assert "out of luck" in " ".join(out.split())


def test_one_failing_combination_is_reported_and_exits_with_1(capfd: pytest.CaptureFixture[str]) -> None:
    """Its row says failed and why; the others have their numbers."""
    code, out, _ = run(capfd, *awkward("fine", "fail"))
    assert code == 1
    assert "ZeroDivisionError: nothing to divide by" in " ".join(out.split())
    assert re.search(r"fine .* ± ", out)
    code, out, err = run(capfd, *awkward("fine", "fail"), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["status"] for row in rows] == ["done"] * 9 + ["failed"] * 9
    assert {row["reason"] for row in rows[9:]} == {"ZeroDivisionError: nothing to divide by"}
    assert code == 1
    assert err == "anchor-align: 9 of 18 runs failed: ZeroDivisionError: nothing to divide by\n"


@pytest.mark.parametrize("words", [["-vv", *awkward("fail")], [*awkward("fail"), "-vv"]])
def test_tracebacks_of_failed_runs_on_request(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """-vv, before or after the command: on stderr, each once."""
    code, _, err = run(capfd, *words)
    assert code == 1
    assert err.count("Traceback") == 1
    assert "awkward_plugin.py" in err


@pytest.mark.slow
def test_stdout_is_for_results(capfd: pytest.CaptureFixture[str]) -> None:
    """What an adapter, or a program it starts, prints goes to stderr, from all processes."""
    for jobs in ("1", "2"):
        code, out, err = run(capfd, *awkward("print"), "--format", "csv", "-j", jobs)
        assert code == 0
        assert out.startswith("dataset,")
        assert "printed" not in out
        assert err.count("printed to stdout") == err.count("printed by a program") == 3


def test_warnings_are_counted_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    """Once each, with the number of runs; arms that do not depend on lam are one run for all its values."""
    code, out, err = run(capfd, *awkward("warn"), "--lam", "0.1", "1")
    assert code == 0
    assert err == "anchor-align: warning: anchors are few (12 runs)\n"
    assert "anchors are few" not in out


@pytest.fixture
def own_data(tmp_path: Path) -> Path:
    """A user's file without labels and with a name that is markup."""
    data = make_simulated(1)
    path = tmp_path / "<script> [bold].npz"
    np.savez(path, a=data.views[0], b=np.hstack([data.views[1], data.views[1]]))
    return path


@pytest.mark.slow
def test_data_without_labels(own_data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The number of clusters is asked for; then samples are clustered, not scored, and the clusters can be had."""
    code, out, err = run(capfd, "compare", "lmvsc", "--data", str(own_data), "--no-cache")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "--clusters" in err
    words = ["compare", "lmvsc", "--data", str(own_data), "--clusters", "4", "--repeats", "2", "--no-cache"]
    code, out, err = run(capfd, *words, "--output", str(tmp_path / "out"))
    assert code == 0
    assert "without labels" in out
    assert "labels" in err
    (clusters,) = (tmp_path / "out").glob("*-clusters.csv")
    table = list(csv.reader(clusters.read_text().splitlines()))
    assert len(table) == 201
    assert len(table[0]) == 1 + 2 * 3
    assert len({row[1] for row in table[1:]}) == 4


def test_notes_say_what_was_worked_out(own_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """On stderr, one line each with the data's name; -q leaves them out."""
    words = ["compare", "lmvsc", "--data", str(own_data), "--clusters", "4", "--repeats", "1", "--no-cache"]
    _, _, err = run(capfd, *words)
    assert err
    assert all(line.startswith("anchor-align: <script> [bold]: ") for line in err.splitlines())
    assert run(capfd, *words, "-q")[2] == ""


@pytest.mark.slow
def test_output_folder_has_everything(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Numbers, tables, clusters, figures in three forms; the report is one file; nothing half-written is left."""
    folder, page = tmp_path / "a" / "b", tmp_path / "report.html"
    words = ["compare", "lmvsc", "--anchors", "k", *SMALL, "--output", str(folder), "--html", str(page)]
    code, out, _ = run(capfd, *words)
    assert code == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {"results.json", "records.csv", "summary.md", "summary.tex", "simulated-clusters.csv", "figures"}
    figures = {path.suffix for path in (folder / "figures").iterdir()}
    assert figures == {".png", ".svg", ".pdf"}
    assert " ".join(out.split("\n\n")[0].split()) in page.read_text()
    assert not list(tmp_path.rglob("*.part"))
    # The same study gives the same page.
    before = page.read_bytes()
    run(capfd, *words[: words.index("--output")], "--html", str(page))
    assert page.read_bytes() == before


@pytest.mark.slow
def test_command_of_the_result_gives_the_result(capfd: pytest.CaptureFixture[str]) -> None:
    """What JSON says is the command, typed again, gives the same."""
    words = ["compare", "fmvacc", "lmvsc", *SMALL, *shlex.split("--anchors k 6 k,6 --lam 0.123456789 inf --seed 5")]
    words += shlex.split("--set fmvacc.beta=1 --set fmvacc.beta=10 scale=none --reference 1 --score nmi --footing both")
    words += shlex.split("--drop 0.25 --weights 1,0.5 --many-to-one --missing nan --rotated")
    shown = json.loads(run(capfd, *words, "--format", "json")[1])
    command = shlex.split(shown["study"]["command"])
    assert command[:2] == ["anchor-align", "compare"]
    again = json.loads(run(capfd, *command[1:], "--no-cache", "--format", "json")[1])
    for result in (shown, again):
        for record in result["records"]:
            del record["seconds"]
    assert again == shown


@pytest.mark.slow
def test_best_of_grid_says_that_labels_chose(capfd: pytest.CaptureFixture[str]) -> None:
    """It says that labels chose, from how many settings, and that this is optimistic."""
    words = ["compare", "fmvacc", *SMALL, "--anchors", "k", "2k", "--set", "beta=1,100", "--lam", "0.1", "1"]
    _, out, _ = run(capfd, *words, "--footing", "best")
    assert "chosen by" in out
    assert "optimistic" in out
    assert "nothing chosen by" not in out
    assert out.startswith("With the best setting of each arm chosen by label (optimistic; ACC, 3 repeats)")
    _, out, _ = run(capfd, *words, "--format", "json", "--footing", "both")
    rows = json.loads(out)["summary"]
    assert [row["footing"] for row in rows] == ["fixed"] * 8 + ["best"]


@pytest.mark.slow
def test_footing_agreement_has_all_footings_side_by_side(capfd: pytest.CaptureFixture[str]) -> None:
    """Agreement chooses without labels; the last table has the regret of the fixed and of the chosen setting."""
    words = ["compare", "lmvsc", *SMALL, "--anchors", "k", "2k", "--set", "scale=unit,standard"]
    code, out, _ = run(capfd, *words, "--footing", "agreement")
    assert code == 0
    assert out.startswith("With the setting of each arm chosen by agreement of the views (no labels used;")
    heading = next(line for line in out.splitlines() if "regret" in line and line.startswith("data"))
    assert heading.split() == ["data", "adapter", "arm", "fixed", "regret", "agreement", "regret", "best"]
    _, out, _ = run(capfd, *words, "--format", "json", "--footing", "all")
    found = json.loads(out)
    assert [row["footing"] for row in found["summary"]] == ["fixed"] * 4 + ["agreement", "best"]
    assert all(0 < record[name] <= 1 for record in found["records"] for name in ("agreement", "evenness"))
    code, out, _ = run(capfd, *words, "--footing", "agreement", "--no-labels", "--clusters", "4")
    assert code == 0
    assert out.startswith("Nothing was compared: without labels nothing can be scored.")
    assert "regret" not in out
    assert "one of" in out


def test_options_given_twice_count_both_times(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither is silently dropped, and the command of the report repeats them."""
    words = ["compare", "lmvsc", *SMALL, "--anchors", "k", "--format", "json", "--repeats", "1"]
    words += ["--footing", "best", "--footing", "fixed", "--score", "acc", "--score", "nmi"]
    code, out, _ = run(capfd, *words, "--versus", "aligned:unaligned", "--versus", "aligned:concat")
    found = json.loads(out)
    assert code == 0
    assert [row["footing"] for row in found["summary"]] == ["fixed", "best"]
    assert found["study"]["scores"] == ["acc", "nmi"]
    assert len(found["study"]["versus"]) == 2
    assert "--score acc nmi --versus aligned:unaligned aligned:concat --footing best --footing fixed" in str(found)


@pytest.mark.slow
def test_the_next_command_has_the_same_methods(capfd: pytest.CaptureFixture[str]) -> None:
    """Rivals and arms are not dropped."""
    code, _, err = run(capfd, "compare", "lmvsc", "--against", "kmeans", "--rotated", "--repeats", "1", "--no-cache")
    assert code == 0
    assert "next, your own data: anchor-align compare lmvsc --against kmeans --fusion rotated --data my.mat" in err


def test_sweep_shows_lam_against_anchors(capfd: pytest.CaptureFixture[str]) -> None:
    """One line for each number of anchors, one column for each lam."""
    code, out, _ = run(capfd, "sweep", "lmvsc", *SMALL, "--anchors", "k", "2k", "--lam", "0", "0.1", "inf")
    assert code == 0
    heading = next(line for line in out.splitlines() if line.startswith("anchors"))
    assert heading.split() == ["anchors", "unaligned", "lam", "0", "lam", "0.1", "lam", "inf", "concat"]
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lmvcs"], "Unknown adapter 'lmvcs'; known: .* Did you mean 'lmvsc'?"),
        (["lmvsc", "--data", "nowhere.mat"], "nowhere.mat"),
        (["lmvsc", "--data", "digts"], "digts.*digits"),
        (["lmvsc", "--data", "simulated", "--clusters", "500"], "500 clusters were asked for, but there are 200"),
        (["lmvsc", "--data", "simulated", "simulated"], "Data 'simulated' is given 2 times"),
        (["lmvsc", "--data", "two\nlines.mat"], "two lines.mat"),
        (["lmvsc", "--html", "x" * 300], "Cannot write x+: File name too long"),
        (["lmvsc", "--html", "nowhere/report.html"], "Cannot write nowhere/report.html: No such file or directory"),
        (["lmvsc", "--output", "/dev/null"], "Cannot write /dev/null"),
        (["lmvsc", "--set", "beta=1"], "Unknown setting of lmvsc 'beta'"),
        (["lmvsc", "--reference", "7", "--data", "simulated"], "reference 7 is out of range"),
        (["lmvsc", "--reference", "first"], "Unknown reference 'first'"),
        (["lmvsc", "--anchors", "many"], "n_anchors must be a whole number"),
        (
            ["lmvsc", "--anchors", "4,8,4", "--data", "simulated"],
            "Data 'simulated': n_anchors has 3 numbers for 2 views",
        ),
        (["lmvsc", "--anchors", "k,x"], "n_anchors must be a whole number"),
        (["sfmc", "--anchors", "8,9", "--data", "simulated"], "Data 'simulated': Adapter 'sfmc' needs the same number"),
        (["lmvsc", "--weights", "1,2,3", "--data", "simulated"], "Data 'simulated': got 3 weights for 2 views"),
        (["lmvsc", "--weights", "0,0"], "weights must be finite, >= 0 and not all zero"),
        (["lmvsc", "--data", "/dev/zero"], "Cannot read /dev/zero: it is a pipe or a device"),
        (["lmvsc", "--plugin", "nowhere.py"], "Plug-in file 'nowhere.py' cannot be read"),
        (["lmvsc", "--cache", "/dev/null"], "Cannot write /dev/null"),
    ],
)
def test_refused_in_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On stderr, with exit code 2, before anything is computed; no file appears."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANCHOR_ALIGN_CACHE", str(tmp_path / "cache"))
    code, out, err = run(capfd, "compare", *words)
    assert (code, out) == (2, "")
    assert re.match(f"anchor-align: .*{message}", err)
    assert err.count("\n") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("command", ["compare", "sweep"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--drop", "1"], "argument --drop: expected a number >= 0 and < 1, got '1'"),
        (["--drop", "half"], "argument --drop: expected a number >= 0 and < 1, got 'half'"),
        (["--weights", "some"], "argument --weights: expected auto or numbers separated by commas, got 'some'"),
        (["--anchors", "4,,5"], "argument --anchors: expected a number, or numbers separated by commas, got '4,,5'"),
        (["--missing", "zero"], "argument --missing: invalid choice: 'zero'"),
        (["--max-size", "lots"], 'argument --max-size: the size must be an amount such as "500MB"'),
    ],
)
def test_bad_values_of_options(command: str, words: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    """One line, and exit code 2."""
    with pytest.raises(SystemExit) as caught:
        main([command, "lmvsc", *words])
    out, err = capfd.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert err.startswith(f"anchor-align: {message}")
    assert err.count("\n") == 1


@pytest.fixture
def holes(tmp_path: Path) -> Path:
    """A user's file with rows of NaN."""
    data = make_simulated(1)
    views = [X.copy() for X in data.views]
    views[0][:30] = views[1][30:50] = np.nan
    path = tmp_path / "holes.npz"
    np.savez(path, a=views[0], b=views[1], labels=np.asarray(data.labels))
    return path


def test_rows_of_nan_are_read_where_that_is_said(holes: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """And refused otherwise; how many samples views lack is a note."""
    words = ["compare", "lmvsc", "--data", str(holes), "--anchors", "k", "--repeats", "2", "--no-cache"]
    code, out, err = run(capfd, *words)
    assert (code, out) == (2, "")
    assert "NaN" in err
    code, out, err = run(capfd, *words, "--missing", "nan")
    assert code == 0
    assert "anchor-align: holes: Of 200 samples, views lack: 'a' 30, 'b' 20." in err.splitlines()
    assert out.splitlines()[0].startswith("On holes, lmvsc reaches")


@pytest.mark.slow
def test_missing_samples_for_any_jobs_and_with_a_cache(
    holes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Byte for byte, from a file with holes, with samples dropped and anchors by view."""
    words = ["compare", "lmvsc", "fmvacc", "--data", str(holes), "simulated", "--missing", "nan", "--drop", "0.2"]
    words += ["--anchors", "k,6", "k", "--weights", "auto", "--reference", "0", "--many-to-one", "--repeats", "2"]
    for form in ("table", "csv"):
        printed = {
            run(capfd, *words, "--format", form, *extra)[1]
            for extra in (["--no-cache"], ["-j", "2", "--cache", str(tmp_path)], ["--cache", str(tmp_path), "-q"])
        }
        assert len(printed) == 1


@pytest.mark.slow
def test_sweep_with_anchors_by_view(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A line of the table each, and a place on the axis of the figure."""
    words = ["sweep", "lmvsc", *SMALL, "--anchors", "k", "k,2k", "2k", "--lam", "0", "0.1", "--drop", "0.1"]
    code, out, _ = run(capfd, *words, "--output", str(tmp_path))
    assert code == 0
    scores = out[out.index("anchors  unaligned") :].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in scores[2:]] == ["4", "4,8", "8"]
    assert (tmp_path / "figures" / "sensitivity.svg").exists()


def test_pictures_need_an_extra(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Said before anything runs."""

    def absent() -> None:
        raise missing_extra("Figures", "matplotlib", "report")

    monkeypatch.setattr("anchor_align.report.check_figures", absent)
    code, out, err = run(capfd, "compare", "lmvsc", *SMALL, "--html", "x.html")
    assert (code, out) == (2, "")
    assert err == 'anchor-align: Figures need matplotlib, which is not installed: pip install "anchor-align[report]".\n'


@pytest.mark.slow
def test_a_full_disk_keeps_the_result_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The result is printed; the report is the old one, or absent; one line and exit code 1."""
    page = tmp_path / "report.html"
    page.write_text("old")

    def full(old: object, new: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anchor_align.data._whole_files.os.replace", full)
    code, out, err = run(capfd, "compare", "lmvsc", "--anchors", "k", *SMALL, "--html", str(page))
    assert code == 1
    assert out.startswith("On simulated")
    assert err == f"anchor-align: Cannot write {page}: No space left on device.\n"
    assert page.read_text() == "old"
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_stdout() -> None:
    """One line and exit code 1."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*SCRIPT, "compare", "lmvsc", *SMALL], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "anchor-align: Cannot write the result: No space left on device.\n"


@pytest.mark.slow
@pytest.mark.parametrize(("closed", "out", "err"), [(">&-", "", "stdout is closed"), ("2>&-", "dataset,", "")])
def test_closed_streams(closed: str, out: str, err: str) -> None:
    """Without stdout there is no result, which is said; without stderr the result is alone all the same."""
    words = shlex.join([*SCRIPT, "compare", "lmvsc", *SMALL, "--format", "csv", "--set", "alpha=1"])
    done = subprocess.run(["bash", "-c", f"{words} {closed}"], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if err else 0)
    assert done.stdout.startswith(out)
    assert err in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_reader_that_leaves_early() -> None:
    """As in `anchor-align compare ... | head -1`: no traceback."""
    words = shlex.join([*SCRIPT, "compare", "lmvsc", *SMALL, "--format", "csv"])
    done = subprocess.run(["bash", "-c", f"{words} | true"], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_cache_that_cannot_be_used_is_done_without(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Unless it was asked for: a warning, and the result all the same."""
    monkeypatch.setenv("ANCHOR_ALIGN_CACHE", "/dev/null/cache")
    code, out, err = run(capfd, "compare", "lmvsc", "--data", "simulated", "--repeats", "1")
    assert code == 0
    assert out
    assert err.startswith("anchor-align: warning: finished runs are not kept. Cannot write /dev/null/cache")
    assert err.count("\n") == 1


def on_terminal(words: list[str], **environment: str) -> str:
    """What a terminal shows on stderr; stdout is no terminal."""
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment}
    with subprocess.Popen([*SCRIPT, *words], stdout=subprocess.DEVNULL, stderr=follower, env=env) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(leader)
    assert process.returncode == 0
    return shown.decode()


@pytest.mark.slow
def test_progress_on_a_terminal() -> None:
    """What runs, how many are done, elapsed and remaining; colours unless NO_COLOR is set; nothing with -q."""
    words = ["compare", "lmvsc", "--data", "simulated", "--anchors", "8", "--repeats", "9", "--no-cache"]
    plain = on_terminal(words, NO_COLOR="1")
    assert "of 27 runs" in plain
    assert "0:00:0" in plain
    assert "remaining" in plain
    # Runs take milliseconds and the bar is drawn ten times a second: which of them it shows is a matter of chance.
    assert re.search("simulated lmvsc, 8 anchors, repeat [0-8]", plain)
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", plain)
    assert re.search("\x1b\\[[0-9;]*3[0-9]", on_terminal(words))
    assert on_terminal([*words, "-q"]) == ""


@pytest.mark.slow
def test_characters_that_stdout_does_not_know() -> None:
    """Tables fall back to ASCII; the formats for programs are UTF-8."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = ["compare", "lmvsc", *SMALL, "--format"]
    code = (
        f"from anchor_align.cli import main; main({[*words, 'table']}); print('#', flush=True); main({[*words, 'md']})"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    table, _, markdown = done.stdout.decode("utf-8").partition("#")
    assert "+-" in table
    assert "\u00b1" in markdown


def test_best_settings_need_labels(own_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is said why there is no result."""
    words = ["compare", "lmvsc", "--data", str(own_data), "--clusters", "4", "--repeats", "1", "--no-cache"]
    code, out, _ = run(capfd, *words, "--footing", "best")
    assert code == 0
    assert out.startswith("Nothing was compared: without labels there is no best setting.")


def test_choices_and_defaults_are_those_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    """Every score, footing and format is an option; the help has the data sets of a study without ``data``."""
    for option, names in (("--score", SCORES), ("--footing", (*FOOTINGS, "both", "all")), ("--format", FORMATS)):
        for name in names:
            arguments = build_parser().parse_args(["compare", "lmvsc", option, name])
            assert getattr(arguments, option.removeprefix("--")) in (name, [name])
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert f"[{' '.join(DEFAULT_DATA)}]" in " ".join(capsys.readouterr().out.split())


def test_pairs_of_arms_and_scores_are_options(capfd: pytest.CaptureFixture[str]) -> None:
    """Every pair and score has a table; an arm that a pair names is added; the command that repeats it has both."""
    options = ("--versus", "aligned:unaligned", "rotated:concat", "--score", "nmi", "acc", "--format", "json")
    code, out, _ = run(capfd, "compare", "lmvsc", *SMALL, *options)
    made = json.loads(out)
    assert code == 0
    assert {record["arm"] for record in made["records"]} == {*ARMS, "rotated"}
    assert made["study"]["scores"] == ["nmi", "acc"]
    assert "--score nmi acc --versus aligned:unaligned rotated:concat" in made["study"]["command"]
    (row,) = made["summary"]
    assert {(each["first"], each["second"]) for each in row["contrasts"]} == {
        ("aligned", "unaligned"),
        ("rotated", "concat"),
    }
    assert row["differences"]["acc"]["verdict"] == "the same in every repeat"
    code, _, err = run(capfd, "compare", "lmvsc", *SMALL, "--versus", "aligned")
    assert (code, err.count("\n")) == (2, 1)
    assert "two different arms" in err


def test_without_data_the_command_says_what_comes_next(capfd: pytest.CaptureFixture[str]) -> None:
    """One line on stderr, for people only; with data there is none."""
    parsed = build_parser().parse_args(["compare", "lmvsc"])
    assert parsed.defaults.anchors_of(parsed) == ["k"]
    given = build_parser().parse_args(["compare", "lmvsc", "--data", "digits"])
    assert given.defaults.anchors_of(given) == []
    assert run(capfd, "compare", "lmvsc", *SMALL)[2] == ""


def test_against_prints_all_methods_and_can_be_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """The first table has the adapters and their rivals, and the command of the result has the rivals, too."""
    words = ["compare", "lmvsc", "--against", "kmeans", "lmvsc:unaligned", "--data", "simulated", "--anchors", "k"]
    words += ["--repeats", "2", "--no-cache", "-q"]
    assert main([*words, "--score", "acc", "nmi"]) == 0
    out = capsys.readouterr().out
    names = [line.split()[-8] for line in out.splitlines() if line.count("±") == 2][:3]
    assert names == ["lmvsc", "kmeans", "lmvsc:unaligned"]
    assert main([*words, "--format", "json"]) == 0
    study = json.loads(capsys.readouterr().out)["study"]
    assert "--against kmeans lmvsc:unaligned" in study["command"]
    assert [method["arm"] for method in study["methods"]] == ["aligned", "baseline", "unaligned"]


def test_methods_that_are_compared_have_their_own_numbers_of_anchors() -> None:
    """Without data there is one anchor for each cluster, which shows alignment; against others that is unfair."""
    alone = build_parser().parse_args(["compare", "local"])
    against = build_parser().parse_args(["compare", "local", "--against", "kmeans"])
    assert alone.defaults.anchors_of(alone) == ["k"]
    assert against.defaults.anchors_of(against) == []
