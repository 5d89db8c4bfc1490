"""Reports of data without labels: what can be known is shown, and there are no empty columns of scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import study_results
from report_pages import Page

from anchor_align.data import make_simulated
from anchor_align.report import answer, html_report, render
from anchor_align.study import DataSpec, StudyResult, compare


@pytest.fixture(scope="module")
def result() -> StudyResult:
    """A small study of data without labels, with a rival and two settings."""
    views = replace(make_simulated(0), labels=None)
    data = {"mine": DataSpec("mine", "mine", data=views, n_clusters=4)}
    return compare(
        "lmvsc", data, n_anchors=[4, 8], repeats=2, footings=["fixed", "agreement"], against=["kmeans"], cache=None
    )


@pytest.mark.parametrize("form", ["table", "md", "latex", "html"])
def test_no_report_has_empty_scores(result: StudyResult, form: str) -> None:
    """No column for accuracy, no verdict, no cell "none"; agreement, stability and sizes instead."""
    text = Page(html_report(result)).text if form == "html" else render(result, form)
    assert [word for word in ("ACC", "none", "verdict", "interval", "± sd") if word in text] == []
    assert [word for word in ("agreement", "stability", "sizes", "aligned") if word not in text] == []
    assert "cluster DATA" in " ".join(text.split())


def test_the_numbers_are_those_of_the_runs(result: StudyResult) -> None:
    """Agreement is the mean over the repeats, and sizes are those of the clusters of all repeats."""
    runs = [record for record in result.records if record.arm == "aligned" and record.setting.n_anchors == 8]
    sizes = np.concatenate([np.bincount(run.labels) for run in runs if run.labels is not None])
    agreement = np.mean([run.agreement for run in runs if run.agreement is not None])
    found = [line.split() for line in render(result, "table").splitlines() if " aligned " in line]
    assert [f"{agreement:.2f}", f"{sizes.min()} to {sizes.max()}"] in [
        [line[-5], " ".join(line[-3:])] for line in found
    ]


def test_scored_and_unscored_data_in_one_study() -> None:
    """Scores are those of the data with labels alone, on the page as in the text."""
    result = study_results.some_labels()
    shown = html_report(result)
    assert "none</span>" not in shown
    assert "Data without labels" in shown
    assert "mydata" in answer(result)
    assert render(result, "table").count("mydata") == 1
