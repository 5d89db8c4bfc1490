"""Fusions of a plug-in file as arms of a study: in every form of the result, for any jobs, and in the cache."""

from __future__ import annotations

import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from anchor_align.cli import main
from anchor_align.study import ARMS, StudyProgress, StudyResult, compare

PLUGIN = '''
import numpy as np
from anchor_align import Fusion, hookimpl

class Powers(Fusion):
    name = "powers"
    summary = "the aligned mean with its entries raised to a power"
    colours = "#123456", "#fedcba"

    def __init__(self, power=3):
        self.power = power

    def fuse(self, graphs, weights, present=None):
        powers = super().fuse(graphs, weights, present) ** self.power
        return powers / powers.sum(axis=1, keepdims=True)

class Embedded(Fusion):
    """Offered beside the other, and an arm only if somebody asks for it."""

    name = "embedded"
    aligns = False
    needs_spectral = True

@hookimpl
def anchor_align_fusions():
    return [Powers, Embedded]
'''
WORDS = ["compare", "lmvsc", "--data", "simulated", "--anchors", "k", "--repeats", "2", "--fusion", "powers"]


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    (tmp_path / "powers.py").write_text(PLUGIN)
    return str(tmp_path / "powers.py")


def run(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    code = main(list(argv))
    out, err = capfd.readouterr()
    assert (code, err) == (0, "")
    return out


def arms_of(result: StudyResult, adapter: str) -> list[str]:
    return [record.arm for record in result.records if record.setting.adapter == adapter and record.repeat == 0]


@pytest.mark.slow
def test_an_arm_in_every_form(plugin: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Table, JSON, CSV, Markdown and LaTeX have the arm; the report has its sentence and both of its colours."""
    page = tmp_path / "report.html"
    words = [*WORDS, "--plugin", plugin, "--no-cache"]
    table = run(capfd, *words, "--html", str(page))
    (heading,) = [line for line in table.splitlines() if line.startswith("data ") and "unaligned" in line]
    assert heading.split() == ["data", "adapter", "anchors", "unaligned", "aligned", "concat", "powers"]
    shown = json.loads(run(capfd, *words, "--format", "json"))
    assert [record["arm"] for record in shown["records"]] == [*ARMS, "powers"] * 2
    assert set(shown["summary"][0]["arms"]) == {*ARMS, "powers"}
    rows = list(csv.DictReader(io.StringIO(run(capfd, *words, "--format", "csv"))))
    assert [row["arm"] for row in rows] == [*ARMS, "powers"] * 2
    for form in ("md", "latex"):
        assert "powers" in run(capfd, *words, "--format", form)
    html = page.read_text()
    assert "powers: the aligned mean with its entries raised to a power" in html
    assert "#123456" in html
    assert "#fedcba" in html


def test_the_command_of_the_result_names_the_fusion(plugin: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Typed again, it gives the same; --rotated is written as --fusion rotated, and nothing is named twice."""
    words = [*WORDS, "--rotated", "--fusion", "powers", "rotated", "--plugin", plugin, "--no-cache", "--format", "json"]
    shown = json.loads(run(capfd, *words))
    command = shlex.split(shown["study"]["command"])
    at = command.index("--fusion")
    assert command[at : at + 4] == ["--fusion", "powers", "rotated", "--repeats"]
    again = json.loads(run(capfd, *command[1:], "--no-cache", "--format", "json"))
    for record in (*shown["records"], *again["records"]):
        del record["seconds"]
    assert again == shown


@pytest.mark.slow
def test_the_same_for_any_jobs_and_with_a_cache(plugin: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Byte for byte."""
    words = [*WORDS, "--plugin", plugin, "--format", "csv"]
    cache = ["--cache", str(tmp_path / "cache")]
    printed = {run(capfd, *words, *extra) for extra in (["--no-cache"], ["-j", "2", *cache], cache)}
    assert len(printed) == 1


def recomputed(plugin: str, cache: Path, **options: Any) -> int:
    """How many runs a study had to compute; there are four arms and two repeats."""
    reports: list[StudyProgress] = []
    study = {"adapters": "lmvsc", "data": "simulated", "n_anchors": "k", "repeats": 2, "fusions": "powers", **options}
    result = compare(**study, plugins=[plugin], cache=cache, callback=reports.append)
    assert result.n_failed == 0
    return reports[-1].total - reports[-1].kept


def test_an_edited_fusion_computes_its_own_arm_again(plugin: str, tmp_path: Path) -> None:
    """And no other; an adapter of ours and our own arms are kept. The fusion uses lam, as its ``aligns`` says."""
    cache = tmp_path / "cache"
    assert recomputed(plugin, cache) == 8
    assert recomputed(plugin, cache) == 0
    Path(plugin).write_text(PLUGIN.replace("power=3", "power=1"))
    assert recomputed(plugin, cache) == 2
    assert recomputed(plugin, cache) == 0
    assert recomputed(plugin, cache, lam=1.0) == 4
    assert recomputed(plugin, cache, fusions=()) == 0


def test_settings_of_a_fusion_that_cannot_be_written_are_not_kept(plugin: str, tmp_path: Path) -> None:
    """An array as a setting is no key: the text of a long one leaves out its middle."""
    Path(plugin).write_text(PLUGIN.replace("self.power = power", "self.power = np.array(power)"))
    assert recomputed(plugin, tmp_path / "cache") == 8
    assert recomputed(plugin, tmp_path / "cache") == 2


def test_a_fusion_that_fails_costs_only_its_arm(plugin: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Its runs have the reason; the others have their scores, and the exit code is 1."""
    broken = PLUGIN.replace("        powers = super", "        raise SystemExit('no graph')\n        powers = super")
    Path(plugin).write_text(broken)
    assert main([*WORDS, "--plugin", plugin, "--no-cache", "--format", "csv"]) == 1
    out, err = capfd.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["arm"]: row["status"] for row in rows} == {**dict.fromkeys(ARMS, "done"), "powers": "failed"}
    assert err == "anchor-align: 2 of 8 runs failed: SystemExit: no graph\n"


@pytest.mark.slow
def test_a_fusion_that_is_edited_while_the_study_runs(plugin: str, tmp_path: Path) -> None:
    """A new process reads the new file: its arm fails with a reason, and nothing of it is kept under the old key."""

    def edit(progress: StudyProgress) -> None:
        # In one step, as editors do: a process that starts just then must not read half a file.
        edited = tmp_path / "edited.py"
        edited.write_text(PLUGIN.replace("power=3", "power=1"))
        edited.replace(plugin)

    study: dict[str, Any] = {"n_anchors": "k", "repeats": 2, "fusions": "powers", "plugins": [plugin]}
    result = compare("lmvsc", "simulated", jobs=2, cache=tmp_path / "cache", callback=edit, **study)
    # The process that planned the study has the old file, and computes the first repeat.
    old, new = ({r.arm: r.reason for r in result.records if r.repeat == repeat} for repeat in (0, 1))
    assert old == dict.fromkeys(old, "")
    assert new == {**dict.fromkeys(ARMS, ""), "powers": "Fusion 'powers' changed while the study ran."}
    Path(plugin).write_text(PLUGIN)
    assert recomputed(plugin, tmp_path / "cache") == 1


def test_unknown_fusions_are_one_line(plugin: str, capfd: pytest.CaptureFixture[str]) -> None:
    """With the known names, those of the plug-in too, and the nearest; nothing is computed."""
    assert main([*WORDS, "power", "--plugin", plugin, "--no-cache"]) == 2
    known = "'unaligned', 'aligned', 'rotated', 'concat', 'powers', 'embedded'"
    line = f"anchor-align: Unknown fusion 'power'; known: {known}. Did you mean 'powers'?\n"
    assert capfd.readouterr() == ("", line)


def test_no_arm_for_adapters_that_cannot_cluster_it(plugin: str) -> None:
    """SFMC reads clusters off the fused graph: it has no arm for a fusion whose result is no graph."""
    result = compare(
        ["lmvsc", "sfmc"], "simulated", n_anchors=12, repeats=1, fusions=["embedded", "powers"], plugins=[plugin]
    )
    assert arms_of(result, "lmvsc") == [*ARMS, "powers", "embedded"]
    assert arms_of(result, "sfmc") == [*ARMS, "powers"]
    assert [set(row.arms) for row in result.summaries] == [{*ARMS, "powers", "embedded"}, {*ARMS, "powers"}]
    assert [fusion.name for fusion in result.fusions] == [*ARMS, "powers", "embedded"]
    assert result.arms == (*ARMS, "powers", "embedded")


def test_fusions_of_a_file_are_listed(plugin: str, capfd: pytest.CaptureFixture[str]) -> None:
    """With origin and summary, in the table and in JSON."""
    assert "the aligned mean with its entries" in " ".join(run(capfd, "adapters", "--plugin", plugin).split())
    listed = json.loads(run(capfd, "adapters", "--plugin", plugin, "--format", "json"))["fusions"]
    assert [each["name"] for each in listed] == ["unaligned", "aligned", "rotated", "concat", "powers", "embedded"]
    assert listed[4]["distribution"] == plugin
    assert listed[4]["version"].startswith("sha256:")
    assert listed[4]["summary"] == "the aligned mean with its entries raised to a power"
