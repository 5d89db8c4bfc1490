"""LaTeX tables: that they compile, whatever the names, and that the names are still there."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import study_results
from study_results import MadeUpRow, study

from anchor_align.report import render
from anchor_align.report._table_writers import _ACCENTS, _LETTERS, _SIGNS, escape_latex
from anchor_align.study import StudyResult, summarise

NASTY = [
    *(chr(code) * 2 for code in range(0x20, 0x7F)),
    *(f"{chr(code)}x" for code in range(0xA0, 0x250)),
    *_SIGNS,
    *_LETTERS,
    *(f"e{accent}" for accent in _ACCENTS),
    "[1] first in its row",
    "*",
    "\\input{/etc/passwd}",
    "\\end{tabular}",
    "^^41 ^^5c",
    "% rest of the line",
    "a\nb\x1b\x00\udcff",
    "手書き数字" * 8,
    "🙂\u200d👩‍🔬",
    "x" * 300,
    "_" * 60,
]


def _missing() -> str:
    """Why LaTeX cannot be run here, if it cannot."""
    if not shutil.which("pdflatex") or not shutil.which("kpsewhich"):
        return "pdflatex is not installed"
    found = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False)
    return "" if found.returncode == 0 else "LaTeX's package booktabs is not installed"


needs_latex = pytest.mark.skipif(bool(_missing()), reason=_missing() or "LaTeX is installed")


def compiled(text: str, folder: Path, columns: str = "onecolumn") -> str:
    """The log of a document that holds the text."""
    head = f"\\documentclass[{columns}]{{article}}\n\\usepackage{{booktabs}}\n"
    document = f"{head}\\begin{{document}}\n{text}\\end{{document}}\n"
    (folder / "study.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "study.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    log = run.stdout.decode("utf-8", "replace")
    assert run.returncode == 0, log[-3000:]
    assert (folder / "study.pdf").stat().st_size > 0
    return log


@needs_latex
@pytest.mark.parametrize(
    "make",
    [
        study_results.several_rows,
        study_results.failing_rows,
        study_results.some_labels,
        study_results.hostile_names,
        study_results.sweep,
        study_results.other_arms,
    ],
)
def test_tables_compile(make: Callable[[], StudyResult], tmp_path: Path) -> None:
    """All kinds of tables compile, stay within the page, and set every character."""
    log = compiled(render(make(), "latex"), tmp_path)
    assert "Missing character" not in log
    assert "Float too large" not in log


@pytest.mark.slow
@needs_latex
def test_nasty_names_compile(tmp_path: Path) -> None:
    """Every sign, letter and command is set as text, in names, captions and reasons alike."""
    cells = [MadeUpRow(name, "lmvsc", (0.5, 0.6, 0.7)) for name in NASTY]
    text = render(study(cells, repeats=2), "latex")
    caption = " ".join(escape_latex(name) for name in NASTY[::10])
    log = compiled(f"{text}\\begin{{table}}\\caption{{{caption}}}\\end{{table}}\n", tmp_path)
    assert "Missing character" not in log


@needs_latex
def test_pages_keep_their_margins(tmp_path: Path) -> None:
    """Long names are broken, and tables of many columns small, so that none runs off the page."""
    names = ("x" * 300, "手書き数字" * 8, "a_name_of_many_words" * 4)
    long = study([MadeUpRow(name, "lmvsc", (0.5, 0.6, 0.7)) for name in names], repeats=2)
    settings = [(m, lam, (("alpha", alpha),)) for m in (10, 20) for lam in (0.1, 1.0) for alpha in (0.5, 1.0)]
    wide = study([MadeUpRow("3sources", "fmvacc", (0.5, 0.6, 0.7), *setting) for setting in settings])
    assert "Overfull \\hbox" not in compiled(render(long, "latex") + render(wide, "latex"), tmp_path)


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_tables_fit_pages_of_one_and_two_columns(columns: str, tmp_path: Path) -> None:
    """Several scores, arms and pairs of arms, and a sweep: nothing runs into the margin, and labels differ."""
    made = study_results.with_arms(study_results.several_rows(), "rotated")
    pairs = (("aligned", "unaligned"), ("aligned", "concat"), ("rotated", "aligned"))
    rows = summarise(made.records, score="acc", footings=["fixed"], versus=pairs)
    wide = replace(made, summaries=rows, versus=pairs, more_scores=("nmi", "fscore"))
    text = render(wide, "latex") + render(study_results.sweep(), "latex")
    first = compiled(f"{text}See Tables~\\ref{{tab:compare-1}} and~\\ref{{tab:sweep-2}}.\n", tmp_path, columns)
    assert "Overfull \\hbox" not in first
    assert "Float too large" not in first
    assert "multiply defined" not in first


def test_every_table_has_a_label() -> None:
    """All labels differ; a table that continues has one."""
    cells = [MadeUpRow("digits", "lmvsc", (0.5, 0.6, 0.7), n_anchors=m) for m in range(1, 91)]
    made = study(cells, repeats=2)
    labels = re.findall(r"\\label\{(.*?)\}", render(replace(made, summaries=made.of_footing("fixed")), "latex"))
    assert labels == ["tab:compare-1", "tab:compare-2"]


def test_long_tables_continue_on_another_page() -> None:
    """No part is longer than a page, each has its head, and names are said again at its top."""
    cells = [MadeUpRow("digits", "lmvsc", (0.5, 0.6, 0.7), n_anchors=m) for m in range(1, 91)]
    made = study(cells, repeats=2)
    text = render(replace(made, summaries=made.of_footing("fixed")), "latex")
    assert text.count(r"\begin{table*}") == text.count(r"\toprule") == 6
    assert text.count(", continued}") == 4
    assert text.count("\ndigits & lmvsc & ") == 6


def test_the_packages_needed_are_said() -> None:
    """The first line is a comment that names them; numbers are in mathematics, the highest bold."""
    text = render(study_results.one_row(), "latex")
    assert text.splitlines()[0].startswith("% needs \\usepackage{booktabs}")
    assert r"\textbf{" in text
    assert r"$\pm$" in text
    assert "over 10 repeats" in text


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("100 % & more #1", r"100 \% \& more \#1"),
        ("$x^2$ {y} ~", r"\$x\textasciicircum{}2\$ \{y\} \textasciitilde{}"),
        ("\\alpha", r"\textbackslash{}alpha"),
        ("a--b ''c''", "a-{}-b '{}'c'{}'"),
        ("Zürich Łódź", "Zürich Łódź"),
        ("u\u0308", "ü"),
        ("中", "{[}U+4E2D{]}"),
        ("<", "$<$"),
    ],
)
def test_names_are_escaped(name: str, escaped: str) -> None:
    """Signs are commands, letters that LaTeX has are kept, others are codes."""
    assert escape_latex(name) == escaped
