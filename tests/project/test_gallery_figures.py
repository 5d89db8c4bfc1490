"""The gallery's scripts on sensitivity and convergence print what their pages claim."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scripts import EXAMPLES, printed_by, run_script

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import make_simulated
from anchor_align.errors import InputError
from anchor_align.report import figure_bytes, plot_fusion
from anchor_align.study import compare
from anchor_align.study._statistics import summarise

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("sensitivity", "convergence")
PNG = b"\x89PNG"
NUMBER = r"\d+(?:\.\d+)?"


def lines_of(script: str, *words: object) -> list[str]:
    """What a script of the gallery prints."""
    return printed_by(EXAMPLES / "paper" / f"{script}.py", *words).splitlines()


@pytest.fixture(scope="module")
def some_digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three views of the first 500 bundled digits, as a file of the user's."""
    data = load_views("digits")
    assert data.labels is not None
    path = tmp_path_factory.mktemp("data") / "some_digits.npz"
    views = {f"view_{v}": X[:500] for v, X in enumerate(data.views[:3])}
    np.savez(path, labels=data.labels[:500], **views)
    return path


def means(line: str) -> list[float]:
    """Numbers of a line that have a deviation."""
    return [float(mean) for mean in re.findall(rf"({NUMBER}) ± {NUMBER}", line)]


def blocks_of(lines: list[str]) -> dict[str, list[str]]:
    """Lines of each part of a printed table, by the first word."""
    parts: dict[str, list[str]] = {}
    for line in lines:
        if line and not line.startswith(" "):
            parts[line.split("  ")[0].strip()] = []
        elif line:
            list(parts.values())[-1].append(line)
    return parts


@pytest.mark.slow
def test_sensitivity(some_digits: Path, tmp_path: Path) -> None:
    """The scales agree where one term is left; the paper's lam = 1 is far up on the balanced scale."""
    words = ["--data", some_digits, "--anchors", "k", "--repeats", 2, "--picture", tmp_path / "curves.png"]
    lines = lines_of("sensitivity", *words)
    parts = blocks_of(lines)
    balanced, ascent, pfp = (means(parts[name][0]) for name in ("balanced, ascent", "paper, ascent", "paper, pfp"))
    assert (len(balanced), len(ascent), len(pfp)) == (8, 6, 6)
    assert balanced[6:] == ascent[4:] == pfp[4:]  # the controls
    assert ascent[0] == pytest.approx(balanced[0], abs=1)  # the feature term alone
    assert ascent[3] == pytest.approx(balanced[5], abs=1)  # the structure term alone
    assert float(re.findall(NUMBER, lines[-1])[1]) > 10
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_convergence(some_digits: Path, tmp_path: Path) -> None:
    """The claimed rate is above 1 on all problems; the ascent is the best on all, the fixed point is not."""
    words = ["--data", some_digits, "--adapter", "lmvsc", "--picture", tmp_path / "curves.png"]
    lines = lines_of("convergence", *words)
    assert lines[0].startswith("some_digits, lmvsc: 3 problems")
    rows = [line for line in lines if line.startswith(("balanced", "paper"))]
    assert len(rows) == 6
    assert all(float(row.split()[2]) > 1 for row in rows)
    shares = [[int(share) for share in re.findall(r"(\d+)%", row)] for row in rows]
    assert [ascent for _, _, ascent in shares] == [100] * 6
    assert min(pfp for _, pfp, _ in shares) < 100
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("words", "message"), [(["--data", "nowhere.npz"], "nowhere.npz"), (["--repeats", "0"], "or more")]
)
def test_wrong_use_is_one_sentence(script: str, words: list[str], message: str) -> None:
    """Exit code 2 and a sentence, no traceback."""
    done = run_script(EXAMPLES / "paper" / f"{script}.py", *words)
    assert done.code == 2
    assert message in done.err.splitlines()[-1]


@pytest.mark.parametrize("name", ["sensitivity", "convergence"])
def test_commands_of_the_pages_are_understood(name: str) -> None:
    """Each names a script that is there, and options that it has."""
    text = (ROOT / "docs" / "results" / f"{name}.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python (examples/paper/\w+\.py)((?:.*\\\n)*.*)$", text, flags=re.MULTILINE)
    assert commands
    for script, words in commands:
        source = (ROOT / script).read_text(encoding="utf-8")
        assert [option for option in re.findall(r"--\w+", words) if f'"{option}"' not in source] == []


@pytest.fixture(scope="module")
def fitted() -> AlignedClusterer:
    options = {"n_clusters": 4, "n_anchors": 4, "random_state": 0}
    return AlignedClusterer("lmvsc", **options).fit(make_simulated(0).views)  # type: ignore[arg-type]


def test_plot_fusion_has_graphs_means_and_permutations(fitted: AlignedClusterer) -> None:
    """A row has all views, both means with their accuracies, and the permutation of the view that was moved."""
    labels, scores = make_simulated(0).labels, {"mine": {"unaligned": 0.5, "aligned": 1.0}}
    figure = plot_fusion({"mine": fitted}, labels, scores=scores)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["view 0", "view 1", "unaligned", "aligned", "P of view 1"]
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "ACC 50.0 %" in notes
    assert "ACC 100.0 %" in notes
    images = [axes.images[0].get_array() for axes in figure.axes if axes.images and axes.get_title()]
    assert all(image is not None and image.shape == (200, 4) for image in images)
    np.testing.assert_allclose(np.sort(np.asarray(images[3]), axis=None), np.sort(fitted.fused_graph_, axis=None))
    again = plot_fusion({"mine": fitted}, labels, scores=scores)
    assert figure_bytes(figure, dpi=50) == figure_bytes(again, dpi=50)


def test_plot_fusion_of_many_views_and_shared_anchors() -> None:
    """Four views at most are drawn, which is said; anchors that correspond by construction are named as such."""
    views = [X + v for v in range(3) for X in make_simulated(0).views]
    many = AlignedClusterer("sfmc", n_clusters=4, n_anchors=8).fit(views)
    figure = plot_fusion(many, theme="dark")
    assert [axes.get_title() for axes in figure.axes if axes.images and axes.get_title()][-3:] == [
        "view 3",
        "unaligned",
        "aligned",
    ]
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert notes.count("by construction") == 3
    assert "the first 4 of 6 views" in figure.get_supxlabel()


def test_plot_fusion_refuses_what_cannot_be_drawn(fitted: AlignedClusterer) -> None:
    """No clusterer, or clusterers of different samples."""
    with pytest.raises(InputError, match="no clusterer"):
        plot_fusion({})
    other = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(make_simulated(0, n_per_cluster=20).views)
    with pytest.raises(InputError, match=r"'other' has 80 samples; the first has 200"):
        plot_fusion({"mine": fitted, "other": other})


def test_summarise_gives_the_rows_of_a_study() -> None:
    """Records of a study, summed up again, are its summaries."""
    result = compare("lmvsc", "simulated", n_anchors="k", repeats=2)
    assert summarise(result.records, score="acc", footings=["fixed"]) == result.summaries
