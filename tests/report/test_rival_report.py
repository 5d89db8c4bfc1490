"""Reports of methods that are compared with each other: tables, sentence, ranks, LaTeX, JSON, CSV and HTML."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_latex import compiled, needs_latex

from anchor_align.data import make_simulated
from anchor_align.report import answer, html_report, plot_ranks, render, write_figures
from anchor_align.study import SCORES, UNCLEAR, RivalSummary, StudyResult, compare


@pytest.fixture(scope="module")
def result() -> StudyResult:
    """A small study: a method that fails, an arm, a baseline, and several scores."""
    return compare(
        "lmvsc",
        {"a": make_simulated(0), "b_2": make_simulated(1)},
        n_anchors="k",
        repeats=2,
        against=["kmeans", "amgl", "local", "lmvsc:unaligned"],
        params={"amgl.memory": 1000},
        score=["acc", "nmi", "purity", "fscore"],
    )


@pytest.fixture(scope="module")
def five_sets(result: StudyResult) -> StudyResult:
    """The same rows on six data sets."""
    rows: list[RivalSummary] = []
    for at in range(3):
        rows += [replace(row, dataset=f"{row.dataset}{at}") for row in result.against]
    return replace(result, against=tuple(rows))


def test_the_first_table_has_all_methods(result: StudyResult) -> None:
    """A row for every data set and method, with all scores; what needs too much memory is OM, with the reason below."""
    text = render(result, "table", width=100)
    first = text[: text.index("each other method")]
    assert [line.split()[0] for line in first.splitlines() if " OM " in line] == ["amgl", "amgl"]
    assert first.count("lmvsc:unaligned") == 2
    assert "ACC, NMI, purity, F-score in %" in " ".join(first.split())
    assert "amgl: " in first
    assert text.count("each other method in points") == 4


def test_the_answer_counts_the_rivals(result: StudyResult) -> None:
    """The sentence has the numbers of methods, data sets and comparisons; wins only if a test can find any."""
    text = answer(result)
    assert "Against 3 other methods on 2 data sets, the mean of lmvsc (ACC) is higher in " in text
    assert " of 6 comparisons, lower in " in text
    assert "so few repeats cannot show which differences are real; 6 can." in text
    assert "is better in 0" not in text
    tested = replace(result.against[-1].differences["acc"], outcome=UNCLEAR)
    rows = [replace(row, differences={"acc": tested}) if row.differences else row for row in result.against]
    assert "lmvsc (ACC) is better in 0 of 6 comparisons, worse in 0" in answer(replace(result, against=tuple(rows)))


def test_json_and_csv_have_the_records_of_rivals(result: StudyResult) -> None:
    """Records of rivals have the fields of all records; a baseline has no lam."""
    loaded = json.loads(render(result, "json"))
    kinds = {record["arm"]: set(record) for record in loaded["records"]}
    assert kinds["baseline"] == kinds["aligned"]
    assert all(record["lam"] is None for record in loaded["records"] if record["arm"] == "baseline")
    assert [method["name"] for method in loaded["study"]["methods"]] == [
        *("lmvsc", "kmeans", "amgl", "local", "lmvsc:unaligned")
    ]
    rows = [row for row in loaded["against"] if row["method"] == "amgl"]
    assert {row["status"] for row in rows} == {"memory"}
    assert set(loaded["against"][1]["differences"]) == set(SCORES)
    lines = list(csv.DictReader(io.StringIO(render(result, "csv"))))
    assert len(lines) == len(result.all_records)
    assert {line["lam"] for line in lines if line["arm"] == "baseline"} == {""}


def test_ranks_need_five_data_sets(result: StudyResult, five_sets: StudyResult, tmp_path: Path) -> None:
    """Tables, JSON and figures have ranks from five data sets on."""
    assert "Average ranks" not in render(result, "md")
    assert "Average ranks over 6 data sets" in render(five_sets, "md")
    assert len(json.loads(render(five_sets, "json"))["ranks"]) == 4
    written = [path.name for path in write_figures(replace(five_sets, showcases=()), tmp_path)]
    assert "ranks-fixed.svg" in written


def test_the_rank_figure_names_methods_and_the_critical_difference(five_sets: StudyResult, result: StudyResult) -> None:
    """Every method has its row; without ranks the figure says why."""
    (axes,) = plot_ranks(five_sets).axes
    names = {label.get_text() for label in axes.get_yticklabels()}
    assert names == {"lmvsc", "kmeans", "amgl", "local", "lmvsc:unaligned"}
    assert any("critical difference" in text.get_text() for text in axes.texts)
    assert "five data sets" in plot_ranks(result).texts[0].get_text()


def test_the_page_has_methods_and_ranks(five_sets: StudyResult) -> None:
    """The HTML report has the tables of the rivals, their reasons and the picture."""
    page = html_report(replace(five_sets, showcases=()))
    assert "<h2>Methods</h2>" in page
    assert "Average ranks of 5 methods" in page
    assert '<td class="number">OM</td>' in page


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_tables_compile_in_one_and_two_columns(columns: str, five_sets: StudyResult, tmp_path: Path) -> None:
    """All tables of rivals with four scores stay within the page."""
    log = compiled(render(five_sets, "latex"), tmp_path, columns)
    assert "Overfull \\hbox" not in log
    assert "Float too large" not in log
    assert "Missing character" not in log
