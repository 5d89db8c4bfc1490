"""The project itself: the wheel and the README are as they say."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from scripts import printed_by_process

from anchor_align import AlignedClusterer, load_plugins
from anchor_align.data import make_simulated

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_wheel_installs_two_packages_and_their_types(tmp_path: Path) -> None:
    """Nothing but anchor_align and anchor_align_adapters lands in site-packages; both are typed."""
    printed_by_process("-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT), cwd=tmp_path)
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
    """All Python blocks, one after the other, as a reader would type them; the ten lines print what is shown."""
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(blocks("python")), {})
    shown, found = blocks("text")[1].splitlines(), printed.getvalue().splitlines()
    assert found[2:] == shown[2:]
    for line, other in zip(shown[:2], found[:2], strict=True):
        assert line.split()[0] == other.split()[0]
        assert numbers(other) == pytest.approx(numbers(line), abs=0.025)


def test_readme_plugin_is_one_file(tmp_path: Path) -> None:
    """The block with the hook, saved as it is, is a plug-in whose adapter clusters."""
    (code,) = [block for block in blocks("python") if "@hookimpl" in block]
    (tmp_path / "mine.py").write_text(code)
    found = AlignedClusterer(load_plugins(tmp_path / "mine.py").get("random-samples"), n_clusters=4, n_anchors=20)
    assert len(set(found.fit_predict(make_simulated(0).views))) == 4


def test_readme_links_exist() -> None:
    """Relative links and pictures point to files."""
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    for target in [*links, *re.findall(r'(?:src|srcset)="([^"]+)"', README)]:
        assert (ROOT / target).exists(), target


def test_the_root_has_only_what_a_visitor_expects() -> None:
    """No file that a program wrote by mistake is committed at the root."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    expected = ".ci .github .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE README.md SECURITY.md adapters"
    expected += " anchor_align benchmarks docs examples pyproject.toml tests"
    assert {path.partition("/")[0] for path in done.stdout.splitlines()} <= set(expected.split())


@pytest.mark.parametrize(
    "name", ["LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ".ci/run", ".github/workflows/ci.yml"]
)
def test_project_files_are_there(name: str) -> None:
    """The files that every project has."""
    assert (ROOT / name).read_text().strip()
