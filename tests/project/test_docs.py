"""The documentation: code that runs, links that lead somewhere, and pages that are made from the code are current."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import re
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import anchor_align.errors
from anchor_align.cli import build_parser, main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
NUMBER = r"[-+\u2212]?\d+(?:\.\d+)?"


@dataclass(frozen=True)
class Block:
    """A block of code, perhaps with a comment that says why it cannot run, and what is printed under it."""

    language: str
    code: str
    not_run: str
    output: str | None

    @property
    def file(self) -> str | None:
        """Name of the file that the block is, if its first line says so."""
        found = re.match(r"# ([\w/]+\.(?:py|toml))\n", self.code)
        return found[1] if found else None


def blocks(page: str) -> list[Block]:
    pattern = r"^(?:<!-- not run: (.+) -->\n)?```(\w+)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?"
    found = re.finditer(pattern, PAGES[page], flags=re.DOTALL | re.MULTILINE)
    return [Block(each[2], each[3], each[1] or "", each[4]) for each in found]


def runnable(page: str) -> list[Block]:
    """Python; of the tutorial the commands, too."""
    languages = ("python", "console") if page == "tutorial.md" else ("python",)
    return [block for block in blocks(page) if block.language in languages and not block.not_run and not block.file]


def run_commands(code: str) -> None:
    """Commands of a block, in this process; ``> FILE`` writes what is printed into a file."""
    for line in code.splitlines():
        words, _, file = line.removeprefix("$ anchor-align ").partition(" > ")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main(words.split()) == 0
        if file:
            Path(file).write_text(printed.getvalue(), encoding="utf-8")
        else:
            print(printed.getvalue(), end="")


def write_files(page: str, folder: Path) -> None:
    for block in blocks(page):
        if block.file:
            (folder / block.file).write_text(block.code)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)])
def test_code_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of code of a page, one after the other; what is shown under a block is what it prints, nearly."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_files(page, tmp_path)
    names: dict[str, object] = {}
    for block in runnable(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block.language == "console":
                run_commands(block.code)
            else:
                exec(compile(block.code, page, "exec"), names)
        if block.output is not None:
            # Points of accuracy: rounding on other processors moves whole clusters.
            assert_same(block.output, printed.getvalue(), points=2.5 if block.language == "console" else 0)


def assert_same(shown: str, printed: str, points: float = 0) -> None:
    """The same words; other processors and versions round otherwise, so numbers may differ a little."""
    shown, printed = (re.sub("\u2500+", "", text) for text in (shown, printed))  # as long as the numbers need
    assert [re.sub(NUMBER, "#", line).split() for line in shown.splitlines()] == [
        re.sub(NUMBER, "#", line).split() for line in printed.splitlines()
    ]
    numbers = ([float(each.replace("\u2212", "-")) for each in re.findall(NUMBER, text)] for text in (shown, printed))
    assert [*next(numbers)] == pytest.approx([*next(numbers)], rel=0.1, abs=points)


@pytest.mark.slow
def test_adapter_of_the_guide_is_a_package(tmp_path: Path) -> None:
    """Its files, installed by pip, pass the tests that the guide gives them; the command line lists it as shown."""
    write_files("adapters.md", tmp_path)
    site = tmp_path / "site"
    options = ["--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--no-compile", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(tmp_path)], check=True)
    (tmp_path / "nearest_anchors.py").unlink()
    environment = os.environ | {"PYTHONPATH": str(site), "COLUMNS": "80"}
    code = (
        "import sys, pytest\nfrom anchor_align.cli import main\nmain(['adapters'])\nprint('---', flush=True)\n"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', 'test_nearest_anchors.py']))"
    )
    words = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    listed = "".join(f"{line.rstrip()}\n" for line in done.stdout.partition("---")[0].splitlines())
    (shown,) = [block.code for block in blocks("adapters.md") if block.code.startswith("nearest-anchors")]
    assert shown in listed


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """Relative links and pictures, as they are followed on a code host: the file is there, and so is the heading."""
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        name, _, heading = target.partition("#")
        path = ((DOCS / page).parent / name).resolve() if name else DOCS / page
        assert path.exists(), target
        assert path.is_relative_to(ROOT), target
        if heading:
            assert heading in anchors(path.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """Names that code hosts give to headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_map() -> None:
    """The first page, or a page that it names, leads to every page; those of the gallery are found by the site."""
    named = {re.sub(r"#.*", "", each) for each in re.findall(r"\]\(([\w/#-]+\.md[^)]*)\)", PAGES["index.md"])}
    named |= set(re.findall(r"\]\((api/\w+\.md)\)", PAGES["api.md"]))
    assert {page for page in PAGES if not page.startswith("results/")} <= named | {"index.md"}


def test_commands_are_those_of_the_parser() -> None:
    """The page is what its script makes, and has every option of every command, with its help."""
    made = runpy.run_path(str(DOCS / "_tools" / "commands.py"))["reference"]()
    assert PAGES["commands.md"] == made, "The page is stale: python docs/_tools/commands.py"
    (commands,) = [each for each in build_parser()._actions if isinstance(each, argparse._SubParsersAction)]
    for name, parser in commands.choices.items():
        section = made.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for action in parser._actions:
            if action.dest not in ("help", "verbosity"):
                assert all(option in section for option in action.option_strings), action
                assert action.help in section, action


@pytest.mark.parametrize(
    "module", ["", ".blocks", ".checks", ".data", ".errors", ".kmeans", ".metrics", ".report", ".study"]
)
def test_api_has_every_public_name(module: str) -> None:
    """Each is named by a directive, or its module is taken as a whole."""
    directives = "\n".join(text for page, text in PAGES.items() if page.startswith("api/"))
    whole = rf"^\.\. automodule:: anchor_align{re.escape(module)}\n   :members:$"
    if module and re.search(whole, directives, re.MULTILINE):
        return
    named = set(re.findall(r"^\.\. (?:auto\w+|data):: (?:[\w.]+\.)?(\w+)$", directives, re.MULTILINE))
    named |= {name for names in re.findall(r":members: (.+)$", directives, re.MULTILINE) for name in names.split(", ")}
    named |= {name for name in vars(anchor_align.errors) if name.endswith("Error")}
    assert set(importlib.import_module(f"anchor_align{module}").__all__) <= named


def test_ci_builds_the_site_as_contributors_do() -> None:
    """With warnings as errors: links and references that lead nowhere fail."""
    command = ".venv/bin/sphinx-build -W --keep-going -q docs build/site"
    assert command in (ROOT / ".ci" / "run").read_text()
    assert command in (ROOT / "CONTRIBUTING.md").read_text()


def test_site_keeps_numbers_on_one_line_and_has_dark_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces inside numbers do not break; a picture is followed by its dark version, or marked to be inverted."""
    nodes = pytest.importorskip("docutils.nodes")
    monkeypatch.syspath_prepend(str(DOCS / "_tools"))
    looks = importlib.import_module("page_looks")
    assert looks.together("41.7 ± 5.7, +0.3 to +9.9, 90 % of 3 to be") == (
        "41.7\xa0±\xa05.7, +0.3\xa0to\xa0+9.9, 90\xa0% of 3 to be"
    )
    page = nodes.paragraph("", "", *(nodes.image(uri=f"images/{name}.png") for name in ("simulated", "missing")))
    looks.add_dark_pictures(page, ROOT / "examples")
    assert [(image["uri"], image["classes"]) for image in page.children] == [
        ("images/simulated.png", ["only-light"]),
        ("images/simulated_dark.png", ["only-dark"]),
        ("images/missing.png", ["inverted"]),
    ]
