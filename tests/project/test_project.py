"""The project itself: the wheel, the README, the examples and the benchmarks run as they say."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import anchor_align
from anchor_align import AlignedClusterer, load_plugins
from anchor_align.data import make_simulated

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def run_script(*arguments: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_wheel_installs_two_packages_and_their_types(tmp_path: Path) -> None:
    """Nothing but anchor_align and anchor_align_adapters lands in site-packages; both are typed."""
    run_script("-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT), cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
        declared = archive.read(entry_points).decode()
    assert "anchor-align = anchor_align.cli:main" in declared
    assert "lmvsc = anchor_align_adapters.lmvsc" in declared.partition("[anchor_align]")[2]
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"anchor_align", "anchor_align_adapters"}
    assert {"anchor_align/py.typed", "anchor_align_adapters/py.typed"} <= set(names)


def test_no_dependency_is_capped() -> None:
    """Upper limits on versions are left to the users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    assert [r for r in requirements if re.search(r"[<~]|==", r)] == []


def test_readme_gives_two_commands_and_ci_runs_the_second() -> None:
    """Each makes its own environment; CI calls the very command that users are given for the tests."""
    commands = [command.strip() for command in blocks("sh")]
    assert len(commands) == 2
    assert all(command.startswith("python3 -m venv .venv && .venv/bin/pip install") for command in commands)
    assert commands[0].endswith(".venv/bin/anchor-align compare lmvsc")
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


# Points by which means, deviations and intervals may differ from the README's. Rounding on other processors moves
# whole clusters of digits: up to 1.9 points with other kernels of BLAS. It moves nothing on simulated data.
TOLERANCES = {"simulated": 0.0, "mfeat": 2.5}
NUMBER = r"[+\u2212]?\d+(?:\.\d+)?"


def numbers(text: str) -> list[float]:
    return [float(each.replace("\u2212", "-")) for each in re.findall(NUMBER, text)]


def rows(text: str) -> dict[str, list[list[str]]]:
    """Cells of both rows of every data set, of the table of arms and of that of differences."""
    cells = [re.split(r" {2,}", line) for line in text.splitlines()]
    return {name: [row for row in cells if row[0] == name] for name in TOLERANCES}


def test_citation_names_the_version_and_the_sources() -> None:
    """The file has the fields that code hosts need, and the version of the package."""
    fields = dict(re.findall(r"^([a-z-]+): (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE))
    assert {"cff-version", "message", "title"} <= set(fields)
    assert fields["version"] == anchor_align.__version__


@pytest.mark.slow
def test_readme_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The same words, counts and verdicts; scores differ by rounding at most, and belong to each other."""
    from anchor_align.cli import main

    assert main(["compare", "lmvsc", "--no-cache"]) == 0
    shown, (printed, said) = blocks("text")[0], capsys.readouterr()
    assert said == "anchor-align: next, your own data: anchor-align compare lmvsc --data my.mat --html report.html\n"
    assert printed.count("aligned better") == len(TOLERANCES)
    masked = rf"{NUMBER}|\u2500+"  # lines under headers are as long as the numbers need
    assert [re.sub(masked, "#", line).split() for line in shown.splitlines()] == [
        re.sub(masked, "#", line).split() for line in printed.splitlines()
    ]
    first = [text.partition("\n\n")[0] for text in (shown, printed)]
    assert numbers(first[1])[:-1] == numbers(first[0])[:-1]  # comparisons, repeats
    assert numbers(first[1])[-1] == pytest.approx(numbers(first[0])[-1], abs=1.3)
    for name, ((_, adapter, anchors, *scores), (_, _, mean, interval, p, *verdict)) in rows(shown).items():
        (_, *setting, unaligned, aligned, concat), (_, _, gain, limits, found_p, *found) = rows(printed)[name]
        assert (setting, found) == ([adapter, anchors], verdict)
        for claimed, got in zip([*scores, mean, interval], [unaligned, aligned, concat, gain, limits], strict=True):
            assert numbers(got) == pytest.approx(numbers(claimed), abs=TOLERANCES[name] + 1e-9)
        assert [each < 0.05 for each in numbers(found_p)] == [each < 0.05 for each in numbers(p)]
        assert numbers(gain)[0] == pytest.approx(numbers(aligned)[0] - numbers(unaligned)[0], abs=0.11)


def test_readme_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python blocks, one after the other, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(blocks("python")), {})
    assert len(printed.getvalue().splitlines()) >= 3


def test_readme_plugin_is_one_file(tmp_path: Path) -> None:
    """The block with the hook, saved as it is, is a plug-in whose adapter clusters."""
    (code,) = [block for block in blocks("python") if "@hookimpl" in block]
    (tmp_path / "mine.py").write_text(code)
    found = AlignedClusterer(load_plugins(tmp_path / "mine.py").get("random-samples"), n_clusters=4, n_anchors=20)
    assert len(set(found.fit_predict(make_simulated(0).views))) == 4


def test_readme_links_exist() -> None:
    """Relative links and pictures point to files."""
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.slow
def test_example_simulated(tmp_path: Path) -> None:
    """Aligned fusion finds all clusters in all draws, unaligned does not; the picture is written."""
    out = run_script(str(ROOT / "examples" / "simulated.py"), str(tmp_path / "picture.png"), cwd=tmp_path)
    scores = {line.split()[0]: re.findall(r"[\d.]+", line) for line in out.splitlines()}
    assert scores["aligned"] == ["100.0", "100.0"]
    assert float(scores["unaligned"][0]) < 97
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_example_study(tmp_path: Path) -> None:
    """Prints the answer, writes report and figure, and keeps every run."""
    words = [str(ROOT / "examples" / "study.py"), "simulated", "--html", str(tmp_path / "study.html")]
    out = run_script(*words, cwd=tmp_path)
    assert "Aligned fusion is" in out
    assert "90 of 90 runs, 0 from before" in out
    assert (tmp_path / "study.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "study.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "study.cache").rglob("*.json"))) == 90


@pytest.mark.slow
def test_example_third_party(tmp_path: Path) -> None:
    """A method in one file is loaded by its path, listed, and clusters."""
    plugin = str(ROOT / "examples" / "my_method.py")
    listed = run_script("-c", "from anchor_align.cli import main; main()", "adapters", "--plugin", plugin, cwd=tmp_path)
    assert "random-samples" in listed
    assert run_script(plugin, cwd=tmp_path).startswith("accuracy ")


@pytest.mark.slow
def test_example_out_of_core(tmp_path: Path) -> None:
    """The two blurred anchors are the ambiguous ones, and the known pair is kept."""
    out = run_script(str(ROOT / "examples" / "out_of_core.py"), cwd=tmp_path)
    ambiguous = {line.split()[2] for line in out.splitlines() if line.endswith("ambiguous")}
    assert ambiguous == {"2", "5"}
    assert "the other ambiguous anchor gets 5" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_example_on_dask(tmp_path: Path) -> None:
    """A cluster of two processes finds the planted clusters; the labels stay there."""
    pytest.importorskip("distributed")
    out = run_script(str(ROOT / "examples" / "on_dask.py"), "--rows", "20000", cwd=tmp_path)
    assert "2 workers" in out
    assert float(re.findall(r"ACC ([\d.]+)", out)[0]) > 0.99
    assert "labels_ is a Dask array in 2 chunks" in out


@pytest.mark.slow
def test_example_large(tmp_path: Path) -> None:
    """Both ways of storage find the planted clusters in files; too small a budget is told."""
    out = run_script(str(ROOT / "examples" / "large.py"), "40000", cwd=tmp_path)
    assert [float(score) > 0.99 for score in re.findall(r"ACC ([\d.]+)", out)] == [True, True]
    assert "the same labels: True" in out
    assert "with 9 MB: The fit needs" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_example_missing(tmp_path: Path) -> None:
    """A table for each adapter; aligned fusion loses less than unaligned, and the picture is written."""
    words = ["--data", "breast-cancer", "--rates", "0.2", "0.6", "--picture", str(tmp_path / "curves.png")]
    out = run_script(str(ROOT / "examples" / "missing.py"), *words, cwd=tmp_path)
    rows = [re.findall(r"[\d.]+", line) for line in out.splitlines() if line.strip().startswith(("20%", "60%"))]
    assert len(rows) == 4
    assert all(float(row[4]) > float(row[2]) for row in rows)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_example_late_fusion(tmp_path: Path) -> None:
    """The vote of aligned partitions is better than that of partitions as they come."""
    out = run_script(str(ROOT / "examples" / "late_fusion.py"), "digits", "--seeds", "1", cwd=tmp_path)
    scores = dict(re.findall(r"^(vote.*?)  +([\d.]+) ±", out, flags=re.MULTILINE))
    assert out.count("partition of") == 6
    assert float(scores["vote, aligned"]) > float(scores["vote, clusters as they come"]) + 10


@pytest.mark.slow
def test_example_settings(tmp_path: Path) -> None:
    """The chosen setting is between the worst and the best, and the cost is said."""
    words = ("simulated", "--sample", "150", "--draws", "2")
    out = run_script(str(ROOT / "examples" / "settings.py"), *words, cwd=tmp_path)
    default, chosen, best = map(
        float, re.findall(r"^\| mean \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)", out, re.MULTILINE)[0]
    )
    assert best >= max(default, chosen) >= 95


@pytest.mark.slow
def test_example_near_spectral(tmp_path: Path) -> None:
    """A row for the goal and for every change of the default, with accuracy and time; clear clusters are found."""
    out = run_script(str(ROOT / "examples" / "near_spectral.py"), "simulated", "--draws", "1", cwd=tmp_path)
    goal, *changes = [line.split("|")[2].split() for line in out.splitlines()[2:]]
    assert len(changes) == 10
    assert all(float(cell[0]) >= 95 for cell in (goal, *changes))
    assert all(re.fullmatch(r"\([\d.]+\)", cell[1]) for cell in changes)


@pytest.mark.slow
def test_example_n_clusters(tmp_path: Path) -> None:
    """Two curves of clear clusters have their peaks at the known number at least; the picture is written."""
    words = ("simulated", "--sample", "200", "--draws", "2", "--picture", "curves.png")
    out = run_script(str(ROOT / "examples" / "n_clusters.py"), *words, cwd=tmp_path)
    (row,) = re.findall(r"^\| simulated \| 4 \| (.*) \|$", out, flags=re.MULTILINE)
    assert row.split(" | ").count("4") >= 2
    assert f"| peak is the known number | of 1 | {int(row.startswith('4 '))} |" in out
    assert (tmp_path / "curves.png").stat().st_size > 10_000


@pytest.mark.slow
def test_example_unmatched_samples(tmp_path: Path) -> None:
    """Far more samples than by chance get their partner; with the partners found, clusters are better."""
    words = ["--samples", "200", "--draws", "1"]
    out = run_script(str(ROOT / "examples" / "unmatched_samples.py"), *words, cwd=tmp_path)
    shares = {line[:30].strip(): line[30:].replace("%", "").split() for line in out.splitlines() if "%" in line}
    assert float(shares["lam 0.1"][0]) > 25
    assert float(shares["lam 0.1"][1]) > 70
    assert out.count("seeds") == 4
    before, _, found, _ = re.findall(r"([\d.]+)%$", out.partition("ACC")[2], flags=re.MULTILINE)
    assert float(found) > float(before) + 5


@pytest.mark.slow
def test_benchmarks_run(tmp_path: Path) -> None:
    """The quick benchmark writes its numbers; on the smallest problems no solver is better than the ascent."""
    script = str(ROOT / "tests" / "benchmarks" / "run.py")
    names = ("matching", "grams", "simplex", "projection", "sfmc", "fmvacc", "scale")
    options = ("--quick", "--max-anchors", "10", "--json", str(tmp_path / "out.json"))
    run_script(script, *options, "--only", *names, cwd=tmp_path)
    results = json.loads((tmp_path / "out.json").read_text())
    assert results["matching"]["summary"]["lost"] == []
    assert results["grams"]["time_ratio"].keys() == {"float64", "float32", "sparse"}
    assert max(results["grams"]["time_ratio"].values()) < 10
    assert results["simplex"]["summary"]["largest_gap"] <= 1e-8
    assert all(row["ratio"] > 1 for row in results["sfmc"]["rows"])
    assert max(loop["gap"] for loop in results["fmvacc"]["loop"]) < 1e-8
    assert results["scale"]["summary"]["slopes"]


@pytest.mark.parametrize(
    "name", ["LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ".ci/run", ".github/workflows/ci.yml"]
)
def test_project_files_are_there(name: str) -> None:
    """The files that every project has."""
    assert (ROOT / name).read_text().strip()
