"""Numbers of README and pages are those that scripts have found: the results are stored in examples/results."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import SHARED_DATA

from anchor_align import list_adapters, list_baselines, load_views
from anchor_align.data import make_simulated
from anchor_align.study._data_sets import digest_of
from anchor_align.study._differences import compare_rows

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETS = (
    "FMVACC_synthetic", "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "100Leaves",
    "Hdigit", "MNIST-60k_4v_constructed",
)  # fmt: skip
PAGE_NAMES = sorted(
    path.relative_to(ROOT / "docs").as_posix()
    for path in (ROOT / "docs").rglob("*.md")
    if not path.with_suffix(".md.j2").exists()
)
LAMS = ("lam 0", "lam 0.1", "lam 1", "lam 10", "lam inf")


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def stored(name: str) -> Any:
    return json.loads((ROOT / "examples" / "results" / name).read_text(encoding="utf-8"))


def example(name: str, folder: str = "examples") -> Any:
    """A script, as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / folder))
        return importlib.import_module(name)


def cells(text: str) -> list[list[str]]:
    """Cells of all rows of Markdown tables, without bold."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]


def mean_sd(values: Any) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


def signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")


@pytest.fixture(scope="module")
def worth() -> list[str]:
    """What examples/worth.py prints with the stored rows, which need no data."""
    script, printed = example("worth"), io.StringIO()
    rows = script.run(list(SETS), list(script.ADAPTERS), 5, 1, ROOT / "examples" / "results" / "worth.json")
    with contextlib.redirect_stdout(printed):
        script.print_tables(rows, list(script.ADAPTERS))
    return printed.getvalue().splitlines()


def test_page_of_gains_is_what_the_script_prints(worth: list[str]) -> None:
    """Every row, mean, rank and difference."""
    shown = page("results/gains.md").splitlines()
    assert [line for line in worth if line not in shown] == []
    assert len(worth) > 40


def test_readme_has_the_means_and_differences_of_the_script(worth: list[str]) -> None:
    """The table of README has the rows "mean", transposed; the sentence below has three differences."""
    means = {row[1]: row[2:] for row in cells("\n".join(worth)) if row[0] == "mean"}
    table = [row for row in cells(README) if row[-1] in ("m", "v m")]
    assert [list(column) for column in zip(*(row[1:4] for row in table), strict=True)] == list(means.values())
    overall = {row[0]: row[-1] for row in cells("\n".join(worth)) if "\N{MINUS SIGN}" in row[0]}
    sentence = " ".join(README.partition("Aligned \N{MINUS SIGN} unaligned, over all")[2].split("\n\n")[0].split())
    found = re.findall(r"is ([+\N{MINUS SIGN}\d.]+)(?: points)? \((?:95 % interval )?([^)]+)\)", sentence)
    names = ("consensus - unaligned", "consensus - concat", "rotated - concat")
    assert [f"{mean} ({interval})" for mean, interval in found] == [
        overall[name.replace("-", "\N{MINUS SIGN}")] for name in names
    ]


def test_readme_counts_methods_and_data_sets() -> None:
    """Numbers in words: methods, sizes of the data sets, and how much wider graphs side by side are."""
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
    methods = [each for each in list_adapters() if each.name != "precomputed"]
    text = " ".join(README.split())
    assert f"{words[len(methods)].title()} such methods, {words[len(list_baselines())]} other methods" in text
    table = [row for row in cells(page("data.md")) if len(row) == 4 and row[0].replace(" ", "_") in SETS]
    samples = [int(row[1].split(",")[0]) for row in table]
    views = [len(row[2].split(",")) for row in table]
    assert len(table) == len(SETS) == 10
    assert f"over ten data sets of {min(samples)} to {max(samples):,} samples" in text
    assert f"{words[min(views)]} to {words[max(views)]} times as wide" in text


@pytest.mark.slow
def test_stored_gains_are_found_again() -> None:
    """One draw on bundled data: all six ways, within what rounding on other processors moves."""
    found = example("worth").score_all(("uci-digit", "lmvsc", 0))
    assert found == pytest.approx(stored("worth.json")["UCI-Digit_3v lmvsc"]["first"], abs=2.5)


def test_page_of_missing_samples_has_the_stored_results() -> None:
    """All cells; README and the page on concatenation have some of them."""
    results = stored("missing.json")
    rows = [row for row in cells(page("missing.md")) if row[1] in ("unaligned", "aligned", "concat")]
    keys = [("UCI-Digit 3v", "lmvsc"), ("UCI-Digit 3v", "fmvacc"), ("BDGP 3v", "lmvsc"), ("BDGP 3v", "fmvacc")]
    expected = []
    for data, adapter in keys:
        rates = [
            np.array(results[f"{data}, {adapter}, {rate}, 5"]["scores"]) for rate in ("0", "0.3", "0.5", "0.7", "0.9")
        ]
        expected += [[mean_sd(scores[:, arm]) for scores in rates] for arm in range(3)]
    assert [row[2:] for row in rows] == expected
    unaligned, aligned, concat = np.mean(results["UCI-Digit 3v, lmvsc, 0.9, 5"]["scores"], axis=0)
    claim = " ".join(README.partition("**Missing samples.**")[2].partition("- **")[0].split())
    assert [int(each) for each in re.findall(r"(\d+) %", claim)] == [
        90,
        round(aligned),
        round(concat),
        round(unaligned),
    ]
    assert f"| {aligned:.1f} | {concat:.1f} |" in page("cannot-help.md")


@pytest.mark.slow
def test_stored_results_of_missing_samples_are_found_again() -> None:
    """One draw of README's claim, on bundled data."""
    script, data = example("missing"), load_views("uci-digit")
    mask = script.draw_mask(len(data.views), data.n_samples, 0.9, 0)
    with pytest.warns(UserWarning, match="few"):
        found = script.scores("lmvsc", data, mask, 0)
    assert found == pytest.approx(stored("missing.json")["UCI-Digit 3v, lmvsc, 0.9, 5"]["scores"][0], abs=2.5)


def test_page_of_limits_has_the_stored_results() -> None:
    """The table of data sets with intervals of the test, the table of lam, and the numbers of the text."""
    results, text = stored("cannot_help.json"), page("cannot-help.md")
    rows = {row[0]: row[1:] for row in cells(text) if row[0] in results}
    assert rows.keys() == results.keys()
    pairs = [(run["lam 0.1"], run["unaligned"]) for run in results.values()]
    for name, difference in zip(results, compare_rows(pairs), strict=True):
        run, clear = results[name], "" if difference.outcome == "better" else ", no clear difference"
        assert rows[name] == [
            *(f"{run[column]:.2f}" for column in ("cosine", "shuffled")),
            *(f"{np.mean(run[column]):.1f}" for column in ("unaligned", "lam 0.1")),
            f"{signed(difference.low or 0)} to {signed(difference.high or 0)}{clear}",
        ]
    (means,) = [row[1:] for row in cells(text) if row[0] == "mean ACC"]
    assert means == [f"{np.mean([run[arm] for run in results.values()]):.1f}" for arm in ("unaligned", *LAMS, "concat")]
    concat = compare_rows([(run["concat"], run["lam 0.1"]) for run in results.values()])
    claim = " ".join(text.split()).partition("it is clearly better on ")[2].partition(" On the other six rows ")[0]
    for outcome, words in zip(("better", "worse"), claim.split(" It is clearly worse on "), strict=True):
        shown = [
            (f"{data}, {adapter}", first, second)
            for data, inside in re.findall(r"([\w-]+) \(([^)]*)\)", words)
            for adapter, first, second in re.findall(r"(\w+) ([\d.]+) against ([\d.]+)", inside)
        ]
        assert sorted(shown) == sorted(
            (name, f"{np.mean(run['concat']):.1f}", f"{np.mean(run['lam 0.1']):.1f}")
            for (name, run), difference in zip(results.items(), concat, strict=True)
            if difference.outcome == outcome
        )
    assert [difference.outcome for difference in concat].count("unclear") == 6


# What is stored for the tables and sentences of each page.
PAGES: dict[str, tuple[str, ...]] = {
    "results/ablation.md": ("ablation",),
    "results/convergence.md": ("convergence",),
    "results/graphs.md": ("real_graphs",),
    "results/msgl.md": ("msgl_order",),
    "results/other_sets.md": ("other_sets",),
    "results/rivals.md": ("rivals_table", "msgl_order"),
    "results/running_time.md": ("running_time",),
    "results/sensitivity.md": ("sensitivity",),
    "results/shuffled_rows.md": ("shuffled_rows",),
    "results/simulated.md": ("simulated_table", "simulated_graphs"),
    "graphs.md": ("late_fusion", "unmatched_samples"),
    "local.md": ("local_defaults", "scale_choice", "lam_of_local", "aligned_or_concat", "scales"),
    "settings.md": ("settings", "n_clusters"),
    "tables.md": ("keep_model", "single_cell"),
    "uneven-views.md": ("uneven",),
    "verdicts.md": ("power",),
}
# These have tests of their own: here and, for commands.md, in test_docs.py.
ELSEWHERE = (
    "missing.md", "cannot-help.md", "commands.md", "data.md",
)  # fmt: skip
# Settings, limits and versions: nothing was measured.
NOT_MEASURED = {
    "results/ablation.md": {"0.0001"},
    "graphs.md": {"0.1"},
    "quickstart.md": {"3.11", "7.3"},
    "settings.md": {"0.1", "0.4"},
    "studies.md": {"7.3"},
    "uneven-views.md": {"0.1"},
    "verdicts.md": {"0.05"},
}
NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\d.]*\w)")


def numbers_in(text: str) -> list[str]:
    """All numbers, without commas; names such as 3-Sources have none."""
    found = NUMBER.findall(re.sub(r"\d-[A-Z]", "", text.replace("\N{MINUS SIGN}", "-")))
    return [each.rstrip(",").replace(",", "") for each in found]


def same(shown: str, found: str) -> bool:
    """Whether a number is another one at the precision that is shown."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - float(found)) <= 0.5000001 * 10.0**-digits


def has(line: list[str], row: list[str]) -> bool:
    """Whether the numbers of a row are in a line, in the same order."""
    rest = iter(line)
    return all(any(same(shown, found) for found in rest) for shown in row)


def outputs(name: str) -> list[list[str]]:
    """Numbers in every line of the stored results of a page."""
    texts = [
        (ROOT / "examples" / "results" / f"{each}.txt").read_text(encoding="utf-8") for each in PAGES.get(name, ())
    ]
    return [numbers_in(line) for text in texts for line in text.splitlines()]


def published() -> list[str]:
    return numbers_in((ROOT / "examples" / "paper" / "paper_numbers.py").read_text(encoding="utf-8"))


def prose(text: str) -> str:
    """A page without programs and their output."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def table_rows(text: str, settings: Collection[str]) -> list[tuple[list[str], list[str]]]:
    """Numbers of each row of all tables that has many, or decimals other than settings: ours, and published ones."""
    found = []
    header: list[str] = []
    lines = [line.rstrip() for line in prose(text).splitlines()]
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        row = [re.sub(r"`[^`]*`", "", cell) for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if re.match(r"\|[\s:|-]+$", below):
            header = row
        elif row and not re.match(r"\|[\s:|-]+$", line):
            # The first cell names the row, unless it is nothing but a number.
            row[0] = row[0] if NUMBER.fullmatch(row[0].strip()) else ""
            theirs = [at for at, head in enumerate(header) if "pub" in head or "published" in line]
            ours = [each for at, cell in enumerate(row) if at not in theirs for each in numbers_in(cell)]
            known = [each for at in theirs for each in numbers_in(row[at])]
            if len(ours) > 3 or any("." in each and each not in settings for each in ours + known):
                found.append((ours, known))
    return found


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_rows_of_a_page_are_in_the_output_of_its_scripts(name: str) -> None:
    """The numbers of a row stand in one line of a stored output, in the same order; published ones in their list."""
    if name in ELSEWHERE:
        pytest.skip("has a test of its own")
    lines, rows = outputs(name), table_rows(page(name), NOT_MEASURED.get(name, set()))
    assert [ours for ours, _ in rows if not any(has(line, ours) for line in lines)] == []
    stated = {*published(), *(each for line in lines for each in line)}
    assert [each for _, theirs in rows for each in theirs if each not in stated] == []


def test_a_wrong_digit_is_noticed() -> None:
    """One more in the last digit of the first number with decimals: hardly any row is found by accident."""
    rows = [(name, row) for name in PAGES for row, _ in table_rows(page(name), ()) if len(row) > 2]
    noticed = []
    for name, row in rows:
        at = next((at for at, each in enumerate(row) if "." in each), 0)
        digits = len(row[at].partition(".")[2])
        wrong = [*row[:at], f"{float(row[at]) + 10.0**-digits:.{digits}f}", *row[at + 1 :]]
        noticed.append(not any(has(line, wrong) for line in outputs(name)))
    assert len(noticed) > 40
    assert np.mean(noticed) > 0.95


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_numbers_of_the_text_are_found_somewhere(name: str) -> None:
    """A number with decimals in a sentence is in a table or an output of the page, or in the stored results."""
    text = page(name)
    lines = prose(text).splitlines()
    code = "\n".join(re.findall(r"^```.*?^```$", text, flags=re.DOTALL | re.MULTILINE))
    known = numbers_in(code + "\n".join(line for line in lines if line.startswith("|")))
    known += [each for line in outputs(name) for each in line]
    if name == "cannot-help.md":
        runs = [each for run in stored("cannot_help.json").values() for each in run.values() if isinstance(each, list)]
        known += [f"{np.mean(each):.1f}" for each in runs]
    sentences = re.sub(r"\]\([^)]*\)|`[^`]*`|\$[^$]*\$", "", "\n".join(x for x in lines if not x.startswith("|")))
    shown = {each for each in numbers_in(sentences) if "." in each} - NOT_MEASURED.get(name, set())
    shown -= set(published() if "results" in name else [])
    assert {each for each in shown if not any(same(each, number) for number in known)} == set()


def stored_line(name: str, start: str) -> list[float]:
    """Numbers of the first line of a stored output that starts with these words."""
    text = (ROOT / "examples" / "results" / f"{name}.txt").read_text(encoding="utf-8")
    return [float(each) for each in numbers_in(next(x for x in text.splitlines() if x.startswith(start)))]


def test_stored_power_is_found_again() -> None:
    """A cell of the table: the random numbers are the same, so the rate is, too."""
    script, rng = example("power"), np.random.default_rng([6, 2])
    rate = 100 * np.mean([script.found(rng, 6, 1.0) for _ in range(1000)])
    assert rate == pytest.approx(stored_line("power", "| 6 |")[3], abs=0.2)


@pytest.mark.slow
def test_stored_simulated_graphs_are_found_again() -> None:
    """The draw of simulated data that loses most without alignment."""
    script = example("simulated_graphs", "examples/paper")
    simulated = (ROOT / "examples" / "results" / "simulated_graphs.txt").read_text(encoding="utf-8").splitlines()
    rows = [[float(each) for each in numbers_in(line)] for line in simulated[-10:]]
    seed, *stored_scores = min(rows, key=lambda row: row[1])
    run = script.run(make_simulated(int(seed)), int(seed))
    found = [100 * score for each in run.scores.values() for score in each.values()]
    assert found == pytest.approx(stored_scores, abs=1.0)
    assert len(found) == 8
    assert found[0] < 90 < found[1]


@pytest.mark.slow
def test_stored_real_graphs_are_found_again() -> None:
    """The first draw of lmvsc on bundled data, unaligned and aligned."""
    script = example("real_graphs", "examples/paper")
    found = script.run("lmvsc", load_views("uci-digit"), None, 0).measures
    for fusion, (accuracy, _, blocks) in found.items():
        line = stored_line("real_graphs", f"lmvsc   {fusion}")
        assert (accuracy, blocks) == pytest.approx(line[-2:], abs=1.5)


@pytest.mark.parametrize("name", ["simulated", "mfeat", "uci-digit", "digits", "breast-cancer", *SETS])
def test_page_of_sources_has_the_checksums(name: str) -> None:
    """Of bundled data, and of files that are at hand."""
    path = SHARED_DATA / f"{name}.npz"
    if name in SETS and (not path.exists() or path.stat().st_size > 30_000_000):
        pytest.skip(f"{name} is not at hand, or large")
    data = load_views(path if name in SETS else name)
    shown = {each: row[1].strip("`") for row in cells(page("data.md")) if len(row) == 2 for each in row[0].split(", ")}
    assert shown[name.replace("_", " ")] == digest_of(data.views, data.labels).removeprefix("sha256:")
