"""The HTML report and the sentence on top of it, as text."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import Any

import pytest
import study_results
from report_pages import Page, page, showcase

from anchor_align import MissingExtraError
from anchor_align.report import answer, html_report
from anchor_align.study import StudyResult

KINDS = ["one_row", "failing_rows", "no_labels", "hostile_names", "sweep", "same_by_construction", "other_arms"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_page_is_whole_and_needs_nothing(kind: str) -> None:
    """Elements are closed, images are inside and described, nothing is fetched or run."""
    html = Page(page(kind))
    assert html.all("html") == [{"lang": "en"}]
    assert "width=device-width" in str(html.all("meta"))
    policy = next(m["content"] for m in html.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    images = html.all("img")
    assert images
    assert all(str(each["src"]).startswith("data:image/svg+xml;base64,") and each["alt"] for each in images)
    dark = [each for each in html.all("source") if "prefers-color-scheme: dark" in str(each["media"])]
    assert len(dark) >= len(images)
    assert html.all("script") == []
    assert not {key for _, attributes in html.elements for key in attributes if key.startswith("on")}
    assert not re.search(r"https?://", re.sub(r"data:[^\"]*", "", page(kind)))
    assert len(html.all("h1")) == 1
    assert all(each.get("scope") for each in html.all("th"))
    assert len(html.all("caption")) == len(html.all("table"))


@pytest.mark.slow
def test_page_describes_and_colours_other_arms() -> None:
    """A sentence of its own, a column, and a class with a colour; markup in the name is text."""
    html = Page(page("other_arms"))
    others = study_results.OTHER_ARMS
    for name in others:
        assert f"{name}: another way to fuse the graphs" in html.text
    used = {str(each["class"]) for each in html.all("span") if str(each.get("class")).startswith("arm-")}
    assert len(used) == 3 + len(others)
    for each in used:
        assert re.search(rf"^\.{each} {{ color: var\(--{each}\); }}$", page("other_arms"), re.MULTILINE)
        assert page("other_arms").count(f"--{each}: #") == 2
    assert "Unaligned and concat and sharpened and mean of <i>two</i> do not depend on lam" in html.text


@pytest.mark.slow
def test_names_of_users_are_text() -> None:
    """Markup in names of data, views, reasons and warnings is shown, not used."""
    html = Page(page("hostile_names"))
    assert study_results.SCRIPT_NAME in html.text
    assert study_results.IMAGE_NAME in html.text
    assert "<i>ConvergenceWarning</i>" in html.text
    assert "<fac> (216)" in html.text
    assert "<b>no</b> & \"odd\" 'reason'" in Page(page("failing_rows")).text
    assert {tag for tag, _ in html.elements} & {"script", "i", "b", "fac"} == set()


def test_lone_surrogates_and_control_characters_can_be_written() -> None:
    """Names from file systems may hold what UTF-8 does not."""
    cell = study_results.MadeUpRow("bad\udcff\x00\x1b[31m\u202ename", "lmvsc", (0.5, 0.6, 0.7))
    made = html_report(study_results.study([cell], repeats=2))
    assert made.encode("utf-8")
    assert "\x00" not in made
    assert "\u202e" not in made


def test_result_table_has_the_numbers() -> None:
    """Means with the best bold, difference, interval, p and verdict."""
    result = study_results.one_row()
    row = result.summaries[0]
    arms, difference = row.arms, row.differences["acc"]
    shown = page("one_row")
    assert f"<strong>{100 * arms['concat'].mean['acc']:.1f}</strong> ± {100 * arms['concat'].sd['acc']:.1f}" in shown
    assert f"<strong>{100 * arms['aligned'].mean['acc']:.1f}</strong> ±" not in shown
    assert f"+{100 * difference.mean:.1f}" in shown
    assert difference.low is not None
    assert f"{100 * difference.low:.1f} to" in shown
    assert "▲ aligned better" in shown


@pytest.mark.slow
def test_best_settings_have_a_table_of_their_own() -> None:
    """It says that it is optimistic and from how many settings each arm was chosen; lam is for the aligned arm."""
    shown = page("sweep")
    best = shown[shown.index("Best settings, chosen by label") :]
    assert "optimistic" in best
    assert "best of 18" in best
    assert "best of 3<" in best
    row = re.findall(r"<td class=.number.>.*?</td>", best)
    assert ["lam" in cell for cell in row[:3]] == [False, True, False]
    assert "Best settings, chosen by label" not in page("one_row")


@pytest.mark.slow
def test_how_it_was_made_is_told() -> None:
    """Seed, repeats, versions, digests, failures with reasons and the command are there."""
    text = Page(page("failing_rows")).text
    for each in ("from seed 0", "5 repeats", "numpy 2.3.0", "sha256:0123456789abcdef", "anchor-align compare lmvsc"):
        assert each in text
    assert "400 anchors for 169 samples" in text


@pytest.mark.slow
def test_showcases_of_the_result_are_the_default() -> None:
    """They need not be handed over."""
    result = replace(study_results.one_row(), showcases=(showcase("shown by default"),))
    shown = html_report(result)
    assert "shown by default · lmvsc" in shown
    assert "Repeat 0 of 0 to 9, the first that finished." in shown
    assert "shown by default · lmvsc" not in html_report(result, [])


def test_where_nothing_was_aligned_the_page_says_so() -> None:
    """There is no match to draw, only the graph."""
    shown = Page(html_report(study_results.no_labels(), [showcase(fusion="unaligned")]))
    assert "nothing was aligned" in shown.text
    assert len(shown.all("img")) == 1


@pytest.mark.slow
def test_the_same_result_gives_the_same_page() -> None:
    """No dates, no random names."""
    assert html_report(study_results.one_row(), [showcase()]) == page("one_row")


def test_without_matplotlib_there_is_no_half_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named instead."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"anchor-align\[report\]"):
        html_report(study_results.no_labels())


def test_answer_for_one_row_has_means_interval_test_and_repeats() -> None:
    """All numbers of the claim are in the sentence."""
    row = study_results.one_row().summaries[0]
    difference = row.differences["acc"]
    assert difference.low is not None
    assert difference.high is not None
    assert answer(study_results.one_row()) == (
        f"On digits, lmvsc reaches {100 * row.arms['aligned'].mean['acc']:.1f} % ACC with aligned and "
        f"{100 * row.arms['unaligned'].mean['acc']:.1f} % with unaligned fusion: "
        f"{100 * difference.mean:.1f} points higher (95 % interval {100 * difference.low:+.1f} to "
        f"{100 * difference.high:+.1f}, p = 0.002, "
        "10 repeats)."
    )


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            study_results.one_row(repeats=1),
            ["points higher", "(1 repeat)", "So few repeats cannot", "; 6 can."],
        ),
        (study_results.several_rows(), ["better than unaligned in 4 of 6 comparisons, worse in 1", "10 repeats each"]),
        (study_results.several_rows(), ["1 shows no clear difference", "sfmc; 10 repeats", "by construction"]),
        (study_results.several_rows(repeats=1), ["higher than unaligned in", "without a test", "difference; 8 can"]),
        (
            study_results.one_that_is_equal(),
            ["unaligned in 1 of 2 comp", "in every repeat of 1 comparison (ACC, 10 rep"],
        ),
        (study_results.failing_rows(), ["1 comparison failed: 3sources · lmvsc", "1 repeat failed", "4 to 5 repeats"]),
        (study_results.no_labels(), ["has no labels", "3 repeats", "cannot be said", "anchor-align cluster"]),
        (study_results.some_labels(), ["On digits, lmvsc reaches", "cannot be scored without labels: mydata"]),
        (study_results.same_by_construction(), ["correspond by construction", "the same: 8", "10 repeats"]),
        (study_results.sweep(), ["of 36 comparisons", "(optimistic; ACC, 5 repeats)", "2 of 2 comparisons"]),
    ],
)
def test_answer_is_honest(result: StudyResult, said: list[str]) -> None:
    """What cannot be claimed is not, and every claim names its repeats."""
    text = answer(result)
    assert [each for each in said if each not in text] == []
    assert "\n" not in text


def test_answer_says_when_there_is_no_clear_difference_or_a_worse_one() -> None:
    """Signs and words agree."""
    lower: dict[str, Any] = {"dataset": "d", "adapter": "a", "spread": 0.01}
    assert "points lower (95 %" in answer(
        study_results.study([study_results.MadeUpRow(means=(0.8, 0.6, 0.5), **lower)])
    )
    same = study_results.MadeUpRow("d", "a", (0.6, 0.6, 0.5), spread=0.1)
    assert "no clear difference (95 %" in answer(study_results.study([same]))


def test_answer_when_all_failed() -> None:
    """The table below has the reason."""
    failed = study_results.MadeUpRow("d", "a", None, failed=dict.fromkeys(range(3), "ValueError: too few samples."))
    text = answer(study_results.study([failed], repeats=3))
    assert "runs failed (3 repeats)" in text


@pytest.mark.slow
def test_the_closer_look_says_which_repeat_it_shows() -> None:
    """The repeat, and that its difference is nearest the mean difference."""
    made = study_results.one_row()
    setting = made.summaries[0].setting
    assert setting is not None
    case = replace(showcase(), setting=setting, repeat=3)
    mean = made.summaries[0].differences["acc"].mean
    shown = Page(html_report(made, [case])).text
    assert "Repeat 3 of 0 to 9: of all repeats, its difference aligned minus unaligned is" in shown
    assert f"is nearest the mean, +{100 * mean:.1f} points of ACC." in shown
