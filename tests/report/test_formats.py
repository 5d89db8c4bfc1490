"""A study's result as text: what tables say and how they fit, and files that other programs read without loss."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import study_results
from rich.cells import cell_len
from rich.console import Console
from study_results import MadeUpRow, study

from anchor_align.errors import UnknownNameError
from anchor_align.report import FORMATS, html_report, render, study_table
from anchor_align.report._output_files import _clusters_csv
from anchor_align.report._study_tables import study_tables
from anchor_align.report._table_writers import escape_markdown
from anchor_align.study import SCORES, DataInfo, StudyResult, summarise

RESULTS: dict[str, Callable[[], StudyResult]] = {
    made.__name__: made
    for made in (
        study_results.one_row,
        study_results.several_rows,
        study_results.failing_rows,
        study_results.no_labels,
        study_results.some_labels,
        study_results.same_by_construction,
        study_results.hostile_names,
        study_results.sweep,
        study_results.other_arms,
    )
}
LONG_NAME = "a_name_of_sixty_characters_that_goes_on_and_on_and_on_and_on"


@pytest.fixture(params=list(RESULTS.values()), ids=list(RESULTS))
def result(request: pytest.FixtureRequest) -> StudyResult:
    made: StudyResult = request.param()
    return made


def settings_study(*, kind: str = "compare", n_lams: int = 2) -> StudyResult:
    """Adapter settings, anchors and lam vary; summarised as studies are."""
    made = study(
        [
            MadeUpRow("digits", adapter, (0.5, 0.6, 0.55), m, 0.1 * step, (("alpha", alpha), ("scale", "unit")))
            for adapter in ("lmvsc", "fmvacc")
            for alpha in (0.5, 1.0)
            for m in (10, 20)
            for step in range(n_lams)
        ],
        kind=kind,
        repeats=3,
    )
    return replace(made, summaries=summarise(made.records, score="acc", footings=["fixed", "best"]))


def strict_json(text: str) -> dict[str, list[dict[str, object]]]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    loaded: dict[str, list[dict[str, object]]] = json.loads(text, parse_constant=refuse)
    return loaded


def printed(result: StudyResult, *, encoding: str = "utf-8", styled: bool = False) -> str:
    """What a console shows."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=file, width=80, force_terminal=styled, color_system="standard" if styled else None).print(
        study_table(result)
    )
    file.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_tables_fit(result: StudyResult, width: int) -> None:
    """No line is wider than the console, whatever the names."""
    assert max(map(cell_len, render(result, "table", width=width).splitlines())) <= width


def test_numbers_are_whole_at_80_columns(result: StudyResult) -> None:
    """Every number of every table is there in one piece."""
    text = render(result, "table")
    for grid in study_tables(result):
        for row in grid.rows:
            missing = [
                cell.text for cell, c in zip(row, grid.columns, strict=True) if c.numbers and cell.text not in text
            ]
            assert not missing


def test_long_names_are_folded_not_cut() -> None:
    """A name of sixty characters is there to the last one."""
    text = render(study([MadeUpRow(LONG_NAME, "lmvsc", (0.5, 0.6, 0.7))], repeats=3), "table")
    table = text.split("\n\n")[0].splitlines()
    rows = table[1 + [line.startswith("─") for line in table].index(True) :]
    assert "".join(line.split()[0] for line in rows) == LONG_NAME


def test_the_first_table_says_what_it_shows() -> None:
    """Score, unit, repeats, footing and what does not vary are in the caption; settings that vary are in columns."""
    first = study_tables(study_results.several_rows())[0]
    assert first.caption == (
        "ACC in %, mean ± sd over 10 repeats, all arms on the same anchors; fixed settings, nothing chosen by label; "
        "lam 0.1"
    )
    assert [column.header for column in first.columns] == [
        "data",
        "adapter",
        "anchors",
        "unaligned",
        "aligned",
        "concat",
    ]
    varied = study_tables(settings_study())[0]
    assert [column.header for column in varied.columns][:5] == ["data", "adapter", "settings", "anchors", "lam"]
    assert "lmvsc, fmvacc with scale=unit" in varied.caption
    assert varied.rows[0][2].text == "alpha=0.5"


def test_a_p_never_comes_without_its_n(result: StudyResult) -> None:
    """Every table with a p has the number of repeats beside it, and no stars."""
    for grid in study_tables(result):
        headers = [column.header for column in grid.columns]
        assert ("p" in headers) == ("n" in headers)
    if not any("*" in row.dataset for row in result.summaries):
        assert "*" not in render(result, "table")


def test_differences_read_with_sign_interval_and_verdict() -> None:
    """Points with sign, interval, p and verdict of a row, and what the short words stand for."""
    row = study_tables(study_results.one_row())[1].rows[0]
    found = study_results.one_row().summaries[0].differences["acc"]
    assert found.low is not None
    assert row[2].text == f"+{100 * found.mean:.1f}"
    assert row[3].text.startswith(f"+{100 * found.low:.1f} to +")
    assert [cell.text for cell in row[4:]] == ["0.002", "10", "aligned better"]
    assert row[-1].short == "better"


def test_the_highest_mean_is_bold_and_ties_are_all_bold() -> None:
    """As they read, to the digit shown; arms with failed runs do not compete."""
    made = study_results.one_row()
    row = made.summaries[0]

    def bold(**means: float) -> list[bool]:
        arms = {name: replace(row.arms[name], mean={"acc": mean}) for name, mean in means.items()}
        changed = replace(made, summaries=(replace(row, arms=arms),))
        return [cell.bold for cell in study_tables(changed)[0].rows[0][-3:]]

    assert bold(unaligned=0.5, aligned=0.7, concat=0.6) == [False, True, False]
    assert bold(unaligned=0.5, aligned=0.70001, concat=0.70002) == [False, True, True]
    fewer = replace(row.arms["concat"], mean={"acc": 0.99}, n_done=1, n_failed=9)
    changed = replace(made, summaries=(replace(row, arms={**row.arms, "concat": fewer}),))
    assert [cell.bold for cell in study_tables(changed)[0].rows[0][-3:]] == [False, True, False]


def test_terminals_show_bold_and_files_do_not() -> None:
    """Escape codes are for terminals alone."""
    assert "\x1b[1m" in printed(study_results.one_row(), styled=True)
    assert "\x1b" not in printed(study_results.one_row())


def test_failed_rows_say_why() -> None:
    """The cells say that runs failed; the reason stands below, once, with how many runs it stopped."""
    text = render(study_results.failing_rows(), "table")
    assert re.search(r"3sources\s+lmvsc\s+20\s+failed\s+failed\s+failed\n", text)
    flat = " ".join(text.split())
    assert flat.count("3sources, lmvsc, all arms, 15 of 15 runs: InputError: 400 anchors for 169 samples;") == 1
    assert "3sources, fmvacc, all arms, 3 of 15 runs: ValueError" in flat


def test_runs_that_do_not_depend_on_lam_fail_once() -> None:
    """The same failed run is not counted again for every lam."""
    cells = [MadeUpRow("digits", "lmvsc", (0.5, 0.6, 0.7), lam=lam, failed={0: "no memory"}) for lam in (0.1, 1.0)]
    (note,) = study_tables(study(cells, repeats=2))[0].notes
    assert note == "failed: digits, lmvsc, all arms, 4 of 8 runs: no memory"


def test_data_without_labels_are_said_to_be() -> None:
    """They have a table of their own, without scores; a study without any labels has no other table."""
    grids = study_tables(study_results.some_labels())
    assert [[row[0].text for row in grid.rows] for grid in grids] == [["digits"], ["digits"], ["mydata"] * 3]
    assert len(study_tables(study_results.no_labels())) == 1


def test_one_repeat_has_neither_spread_nor_p() -> None:
    """Means alone, and the caption says so."""
    text = render(study_results.one_row(repeats=1), "table")
    assert "±" not in text
    assert "ACC in %, one repeat," in text
    assert "too few repeats: 6 needed" in text


def test_footings_are_side_by_side_with_their_regret() -> None:
    """The regret of a footing is the best mean minus its own; without labels there is no such table."""
    made = settings_study()
    records = [
        replace(each, agreement=0.5, anchors_in_use=1.0, evenness=1.0, labels=np.arange(4)) for each in made.records
    ]
    rows = summarise(records, score="acc", footings=["agreement"])
    result = replace(made, records=tuple(records), summaries=rows)
    *_, footings = study_tables(result)
    headers = ["data", "adapter", "arm", "fixed", "regret", "agreement", "regret", "best"]
    assert [column.header for column in footings.columns] == headers
    for row in footings.rows:
        fixed, regret, agreed, other, best = (float(cell.text) for cell in row[3:])
        # All settings agree alike, so the first one stays.
        assert (fixed, regret) == (agreed, other)
        assert regret == pytest.approx(best - fixed, abs=0.11)
    assert any(float(row[4].text) > 0 for row in footings.rows)
    assert "regret" in html_report(replace(result, showcases=()))
    unlabelled = study_results.no_labels()
    rows = summarise(unlabelled.records, score="acc", footings=["agreement"])
    assert len(study_tables(replace(unlabelled, summaries=rows))) == 1


def test_the_best_footing_says_what_it_is() -> None:
    """Each arm with its own setting, out of how many, chosen by label; lam only for the arm that has one."""
    result = settings_study()
    best = study_tables(result)[2]
    assert "chosen by label, which is optimistic; aligned chose from more settings than unaligned" in best.caption
    headers = [column.header for column in best.columns]
    assert headers == ["data", "adapter", "arm", "ACC", "anchors", "lam", "settings", "best of"]
    unaligned, aligned = ([cell.text for cell in row] for row in best.rows[:2])
    assert (unaligned[5], unaligned[-1], aligned[-1]) == ("\N{EN DASH}", "4", "8")
    sums: dict[float, dict[object, float]] = {0.0: {}, 0.1: {}}
    for record in result.records:
        if (record.setting.adapter, record.arm) == ("lmvsc", "aligned") and record.scores:
            scores = sums[record.setting.lam]
            scores[record.setting] = scores.get(record.setting, 0.0) + record.scores["acc"]
    assert aligned[5] == max(("0", "0.1"), key=lambda lam: max(sums[float(lam)].values()))


def test_a_sweep_is_laid_out_by_anchors_and_lam() -> None:
    """Rows are anchors, columns lam, between the arms that do not depend on it."""
    first = study_tables(study_results.sweep())[0]
    assert [column.header for column in first.columns] == [
        *("anchors", "unaligned", "lam 0", "lam 0.01", "lam 0.1", "lam 1", "lam 10", "lam inf", "concat")
    ]
    assert [row[0].text for row in first.rows] == ["10", "20", "50"]
    summary = study_results.sweep().summaries[2]
    assert first.rows[0][4].text == f"{100 * summary.arms['aligned'].mean['acc']:.1f}"
    for row in first.rows:
        means = [float(cell.text) for cell in row[1:]]
        assert [cell.bold for cell in row[1:]] == [mean == max(means) for mean in means]


def test_a_sweep_of_many_lams_continues_below() -> None:
    """More columns than fit go to another table; settings of the adapter have tables of their own."""
    grids = [
        grid for grid in study_tables(settings_study(kind="sweep", n_lams=9)) if grid.columns[0].header == "anchors"
    ]
    assert [len(grid.columns) for grid in grids] == [10, 5] * 4
    assert grids[0].caption.startswith("digits, lmvsc, alpha=0.5: ACC in %")
    assert grids[0].caption.endswith("; lmvsc with scale=unit")
    assert grids[1].caption == "digits, lmvsc, alpha=0.5: ACC, continued"


def test_bold_means_one_thing() -> None:
    """In every table of every study, bold is the highest mean, and tables that have bold say so."""
    for made in (study_results.several_rows(), study_results.sweep(), settings_study()):
        assert {grid.bold for grid in study_tables(made)} == {"", "highest mean in bold"}
        assert all(grid.bold for grid in study_tables(made) if any(cell.bold for row in grid.rows for cell in row))


def test_several_scores_are_lines_of_one_table() -> None:
    """One table has the means of all scores; every score has its differences, corrected on its own."""
    made = replace(study_results.several_rows(), more_scores=("nmi", "ari"))
    scores, *differences = study_tables(made)
    assert [column.header for column in scores.columns][2:5] == ["anchors", "score", "unaligned"]
    assert [row[3].text for row in scores.rows[:4]] == ["ACC", "NMI", "ARI", "ACC"]
    assert scores.rows[1][4].text.startswith(f"{100 * made.summaries[0].arms['unaligned'].mean['nmi']:.1f} ")
    assert [table.caption.partition(";")[0] for table in differences] == [
        f"aligned \N{MINUS SIGN} unaligned in points of {score}" for score in ("ACC", "NMI", "ARI")
    ]
    best = [table for table in study_tables(replace(settings_study(), more_scores=("nmi",))) if "best" in table.caption]
    assert [column.header for column in best[0].columns][3:5] == ["ACC", "NMI"]


def test_every_pair_of_arms_has_a_table() -> None:
    """With its own signs, words and correction."""
    pairs = (("aligned", "unaligned"), ("aligned", "concat"))
    made = study_results.several_rows()
    rows = summarise(made.records, score="acc", footings=["fixed"], versus=pairs)
    tables = study_tables(replace(made, summaries=rows, versus=pairs))
    assert [table.caption.partition(" in ")[0] for table in tables[1:]] == [
        f"aligned \N{MINUS SIGN} {second}" for second in ("unaligned", "concat")
    ]
    assert "corrected for 6 tests (Holm)" in tables[1].caption
    assert "corrected for 7 tests (Holm)" in tables[2].caption
    assert {row[-1].text for row in tables[2].rows} <= {"aligned better", "concat better", "no clear difference"}


def test_enough_data_sets_have_a_table_of_their_mean() -> None:
    """Six data sets give an interval over data sets; five do not, and have no such table."""
    rows = [MadeUpRow(f"set {at}", "lmvsc", (0.5, 0.6 + 0.01 * at, 0.7)) for at in range(6)]
    over = study_tables(study(rows))[2]
    assert "mean over data sets; paired by data set" in over.caption
    assert [cell.text for cell in over.rows[0]][3:] == ["0.031", "6", "aligned better"]
    assert len(study_tables(study(rows[:5]))) == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_consoles_of_any_encoding_can_show_it(result: StudyResult, encoding: str) -> None:
    """Signs that a console does not have are replaced, names become codes; UTF-8 shows all of it."""
    text = printed(result, encoding=encoding)
    assert ("\N{MINUS SIGN}" in text) == (encoding == "utf-8" and len(study_tables(result)) > 1)
    plus_minus = "+-" if encoding == "ascii" else "±"
    assert (plus_minus in text) == ("±" in printed(result))


def test_names_cannot_steer_the_terminal() -> None:
    """Control characters in names and reasons are shown, not obeyed."""
    text = render(study([MadeUpRow("a\x1b[2J\nb", "lmvsc", (0.5, 0.6, 0.7), failed={0: "x\ry"})], repeats=2), "table")
    assert "a\\x1b[2J\\nb" in text
    assert "x\\ry" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)


def test_json_keeps_the_contract(result: StudyResult) -> None:
    """Strict JSON in ASCII, with all keys, and every record as it was."""
    text = render(result, "json")
    assert text.isascii()
    loaded = strict_json(text)
    parts = {"study", "records", "summary", "over_data_sets", "against", "ranks", "environment"}
    assert parts == set(loaded)
    keys = {"dataset", "adapter", "arm", "n_anchors", "lam", "repeat", "seed", *SCORES, "seconds", "status"}
    assert len(loaded["records"]) == len(result.records)
    for found, record in zip(loaded["records"], result.records, strict=True):
        assert keys <= set(found)
        assert (found["dataset"], found["arm"], found["seconds"]) == (
            record.setting.dataset,
            record.arm,
            record.seconds,
        )
        assert {name: found[name] for name in SCORES} == (record.scores or dict.fromkeys(SCORES))
        lam = found["lam"]
        assert isinstance(lam, float | str)
        assert float(lam) == record.setting.lam
    assert [row["footing"] for row in loaded["summary"]] == [row.footing for row in result.summaries]


def test_json_has_words_for_odd_values() -> None:
    """NumPy's numbers are numbers, infinity and unknown objects are text, what is not finite is null."""
    made = study_results.one_row(repeats=1)
    params = (("a", np.int64(3)), ("b", float("nan")), ("c", np.float64(0.5)), ("d", {1}), ("e", (1, "x")), ("f", None))
    setting = replace(made.records[0].setting, params=params, lam=np.float64("inf"), dataset="bad\udcff")
    seed: Any = np.int64(2)
    record = replace(made.records[0], setting=setting, objective=float("nan"), seed=seed)
    (found,) = strict_json(render(replace(made, records=(record,), summaries=()), "json"))["records"]
    assert found["params"] == {"a": 3, "b": "nan", "c": 0.5, "d": "{1}", "e": [1, "x"], "f": None}
    assert (found["lam"], found["objective"], found["seed"], found["dataset"]) == ("inf", None, 2, "bad\udcff")


def test_csv_is_read_back_whole(result: StudyResult) -> None:
    """Pandas reads every row, and every score to the last digit."""
    frame = pd.read_csv(io.StringIO(render(result, "csv")), keep_default_na=False, na_values={s: [""] for s in SCORES})
    assert list(frame["dataset"]) == [record.setting.dataset for record in result.records]
    assert list(frame["lam"].astype(float)) == [record.setting.lam for record in result.records]
    expected = [np.nan if record.scores is None else record.scores["nmi"] for record in result.records]
    # All digits are there, but older versions of pandas do not read the last one right.
    np.testing.assert_allclose(frame["nmi"].to_numpy(dtype=float), expected, rtol=1e-15)


def test_csv_of_equal_studies_is_equal() -> None:
    """How long runs took does not change a byte."""
    made = study_results.one_row()
    slower = replace(made, records=tuple(replace(record, seconds=99.0) for record in made.records))
    assert render(made, "csv") == render(slower, "csv")


@pytest.mark.parametrize(
    "name", ["a,b", 'say "x"', "two\nlines", "carriage\rreturn", " spaces ", "bad\udcff", "手書き"]
)
def test_csv_quotes_names(name: str) -> None:
    """Names of any kind come back from the csv module as they were, broken encodings as codes."""
    text = render(study([MadeUpRow(name, "lmvsc", (0.5, 0.6, 0.7))], repeats=1), "csv")
    text.encode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(row) for row in rows} == {20}
    assert {row[0] for row in rows[1:]} == {name.replace("\udcff", "\\udcff")}


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_csv_holds_no_formulas(sign: str) -> None:
    """What a spreadsheet would run is marked as text, also in the header of the table of clusters."""
    result = study([MadeUpRow(f"{sign}1+1", f"{sign}2", (0.5, 0.6, 0.7))], repeats=1)
    row = next(csv.DictReader(io.StringIO(render(result, "csv"), newline="")))
    assert (row["dataset"], row["adapter"]) == (f"'{sign}1+1", f"'{sign}2")
    clustered = replace(result, records=tuple(replace(r, labels=np.zeros(9, int)) for r in result.records))
    data = DataInfo(f"{sign}1+1", "", 9, 2, (), True, "")
    heads = next(csv.reader(io.StringIO(_clusters_csv(clustered, data), newline="")))
    assert heads[1].startswith(f"'{sign}2")


def test_csv_shows_settings() -> None:
    """Settings of the adapter are pairs; values that look like the next pair are quoted."""
    params = (("alpha", 0.5), ("scale", "a;b=c"), ("k", 3))
    text = render(study([MadeUpRow("d", "lmvsc", (0.5, 0.6, 0.7), params=params)], repeats=1), "csv")
    assert next(csv.DictReader(io.StringIO(text)))["params"] == "alpha=0.5;scale='a;b=c';k=3"


def test_markdown_tables_are_whole(result: StudyResult) -> None:
    """Every row has as many cells as its header, and no name is a tag, a link or a heading."""
    text = render(result, "md")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1
    assert "<script>" not in text.replace("\\<script>", "")
    assert text.endswith("\n")


def test_markdown_marks_the_highest_in_bold() -> None:
    """Bold cells, numbers flush right, columns in line."""
    table = render(study_results.one_row(), "md").split("\n\n")[1].splitlines()
    assert re.search(r"\| \*\*\d\d\.\d ± \d\.\d\*\* \|", table[2])
    assert re.fullmatch(r"\| -+ \| -+ \|( -+: \|){4}", table[1])
    assert len({len(line) for line in table}) == 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", r"a\|b"),
        ("*a*", r"\*a\*"),
        ("_a_b_", r"\_a_b\_"),
        ("`x` [y](z)", r"\`x\` \[y\](z)"),
        ("&lt; R&D", r"\&lt; R&D"),
        ("http://x.y @me", "http://<!-- -->x.y @<!-- -->me"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_markdown_escapes_markup(name: str, shown: str) -> None:
    """Signs that mean something are escaped, others are left readable."""
    assert escape_markdown(name) == shown


@pytest.mark.parametrize("name", ["# a", "- a", "+ a", "> a", "1. a", "2) a"])
def test_captions_are_paragraphs(name: str) -> None:
    """A name at the start of a caption begins no heading, list or quotation."""
    text = render(study([MadeUpRow(name, "lmvsc", (0.5, 0.6, 0.7))], kind="sweep", repeats=2), "md")
    assert re.match(r"\d?\\[#+>.)-]", text)


@pytest.mark.parametrize("format", FORMATS)
def test_a_study_without_runs_can_be_written(format: str) -> None:
    """Nothing was run: tables say so, JSON has no records, CSV its header alone, LaTeX its first comment alone."""
    text = render(replace(study_results.one_row(), records=(), summaries=()), format)
    assert text.endswith("\n")
    if format == "json":
        assert strict_json(text)["records"] == strict_json(text)["summary"] == []
    else:
        assert text.count("\n") == 1
        assert text.startswith({"csv": "dataset,", "latex": "% needs"}.get(format, "No runs."))


def test_unknown_formats_are_refused() -> None:
    """The error names the formats."""
    with pytest.raises(UnknownNameError, match="Did you mean 'latex'"):
        render(study_results.one_row(), "latx")
