"""Methods wrapped in three ways: the examples run, and their page shows them and what they print."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mat_files import cell
from scipy.io import loadmat, savemat
from scripts import EXAMPLES, printed_by, run_script

from anchor_align import AlignedClusterer, load_plugins, load_views
from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.metrics import acc

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "wrapping.md").read_text(encoding="utf-8")
SCRIPTS = ("wrap_class.py", "wrap_functions.py", "wrap_octave.py")
METHOD = ("anchor_graphs.m", "cluster_graph.m", "lloyd.m")
GRAPHS = EXAMPLES / "octave" / "graphs.mat"
NUMBER = r"[+\u2212]?\d+(?:\.\d+)?"
DATA = make_simulated(0)
octave = pytest.mark.skipif(shutil.which("octave-cli") is None, reason="octave-cli is not installed")


def code_of(name: str) -> str:
    """An example without its module docstring."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    return "".join(text.splitlines(keepends=True)[ast.parse(text).body[0].end_lineno :]).lstrip("\n")


def shown_after(name: str) -> str:
    """What the page says that an example prints."""
    return PAGE.partition(f"# {name}\n")[2].partition("```text\n")[2].partition("```")[0]


def assert_nearly(shown: str, printed: str, within: float) -> None:
    """The same words; other processors and versions of the methods' packages give other draws."""
    words = [re.sub(rf"{NUMBER}|─+", "#", text).split() for text in (shown, printed)]
    assert words[0] == words[1]
    for claimed, found in zip(re.findall(NUMBER, shown), re.findall(NUMBER, printed), strict=True):
        assert abs(float(claimed.replace("\u2212", "-")) - float(found.replace("\u2212", "-"))) <= within


@pytest.mark.parametrize("name", [*SCRIPTS, *(f"octave/{name}" for name in METHOD)])
def test_examples_have_fewer_than_40_lines(name: str) -> None:
    """All that is to be copied."""
    text = code_of(name) if name.endswith(".py") else (EXAMPLES / name).read_text()
    assert len([line for line in text.splitlines() if line.strip()]) < 40


@pytest.mark.parametrize("name", SCRIPTS)
def test_page_quotes_the_scripts(name: str) -> None:
    """Word for word, but for their docstrings."""
    assert f"```python\n# {name}\n{code_of(name)}```\n" in PAGE


@pytest.mark.parametrize("name", METHOD[:2])
def test_page_quotes_the_octave_method(name: str) -> None:
    """Word for word."""
    assert f"```matlab\n% {name}\n{(EXAMPLES / 'octave' / name).read_text()}```\n" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS[:2])
def test_plugins_gain_from_alignment(name: str) -> None:
    """What the page shows, nearly; and aligned fusion is better."""
    printed = printed_by(EXAMPLES / name)
    assert_nearly(shown_after(name), printed, within=6)
    (arms,) = re.findall(r"^digits .*±.*$", printed, flags=re.MULTILINE)
    unaligned, aligned, _ = re.findall(r"([\d.]+) ±", arms)
    assert float(aligned) > float(unaligned) + 3


def test_plugins_are_compared_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """From their files, with their settings."""
    files = [word for name in SCRIPTS[:2] for word in ("--plugin", str(EXAMPLES / name))]
    options = ["--data", "simulated", "--repeats", "2", "--no-cache", "--set", "covariance_type=diag,spherical"]
    assert main(["compare", "mixture", "fuzzy-ward", *files, *options, "--format", "csv"]) == 0
    rows = capsys.readouterr().out
    assert all(word in rows for word in ("spherical", "diag", "fuzzy-ward"))


def test_class_takes_views_as_they_are() -> None:
    """Graphs by blocks: incomplete views, numbers of anchors by view and graphs that are not kept."""
    adapter = load_plugins(EXAMPLES / "wrap_class.py").get("mixture")
    whole = AlignedClusterer(adapter, n_clusters=4, random_state=0).fit(DATA.views)
    never = AlignedClusterer(adapter, n_clusters=4, storage="never", random_state=0).fit(DATA.views)
    np.testing.assert_array_equal(whole.labels_, never.labels_)
    np.testing.assert_array_equal(whole.predict([X[:9] for X in DATA.views]), whole.labels_[:9])
    mask = np.ones((2, 200), dtype=bool)
    mask[1, ::3] = False
    some = AlignedClusterer(adapter, n_clusters=4, n_anchors=[8, 6], random_state=0).fit(DATA.views, mask=mask)
    assert acc(DATA.labels, some.labels_) > 0.9


@pytest.mark.slow
@octave
def test_octave_round_trip() -> None:
    """Graphs from Octave, alignment from here, clusters from Octave."""
    printed = printed_by(EXAMPLES / "wrap_octave.py", "--data", "breast-cancer", "--draws", 2)
    assert_nearly(shown_after("wrap_octave.py"), printed, within=25)
    _, aligned = map(float, re.findall(r"([\d.]+) ±", printed))
    assert aligned > 85  # versions of Octave may draw other anchors


@pytest.mark.slow
@octave
def test_octave_file_is_what_the_script_writes(tmp_path: Path) -> None:
    """Graphs of the same shape and kind; versions of Octave may draw other anchors."""
    savemat(tmp_path / "views.mat", {"X": cell(load_views("breast-cancer").views)})
    call = "anchor_graphs('views.mat', 'graphs.mat', 4, 1)"
    words = ["octave-cli", "--norc", "--quiet", "--path", str(EXAMPLES / "octave"), "--eval", call]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    for ours, theirs in zip(*(loadmat(path)["Z"].ravel() for path in (GRAPHS, tmp_path / "graphs.mat")), strict=True):
        assert ours.shape == theirs.shape == (569, 4)
        assert ours.nnz == theirs.nnz
        np.testing.assert_allclose(theirs.sum(axis=1), 1)


def test_octave_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a wrong use of the script, not as a traceback."""
    monkeypatch.setenv("PATH", "")
    done = run_script(EXAMPLES / "wrap_octave.py")
    assert done.code == 2
    assert "octave-cli was not found" in done.err


@pytest.mark.slow
def test_graphs_of_octave_gain_from_alignment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The half in Python, of a file that Octave wrote: by the command, and by the block of the page."""
    assert main(["align", str(GRAPHS), "-o", str(tmp_path / "aligned.mat")]) == 0
    written, graphs = loadmat(tmp_path / "aligned.mat"), loadmat(GRAPHS)["Z"].ravel()
    ordered = [Z.toarray()[:, p - 1] for Z, p in zip(graphs, written["permutations"].astype(int), strict=True)]
    np.testing.assert_allclose(written["fused"].toarray(), np.mean(ordered, axis=0))
    (code,) = re.findall(r"<!-- not run: .*? -->\n```python\n(.*?)```", PAGE, flags=re.DOTALL)
    shown = PAGE.partition(code)[2].partition("```text\n")[2].partition("```")[0]
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert_nearly(shown, printed.getvalue(), within=0.02)
    unaligned, aligned = map(float, re.findall(NUMBER, printed.getvalue()))
    assert aligned > unaligned + 0.05
