"""The commands cluster, predict and info: from tables to labels by sample name, and a model that is kept."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchor_align import AlignedClusterer, load, load_views
from anchor_align.cli import _cluster as cluster_command
from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.errors import InputError
from anchor_align.metrics import ari

SIMULATED = make_simulated(0)
SAMPLES = [f"s{row:03d}" for row in range(SIMULATED.n_samples)]
FRAMES = {
    name: pd.DataFrame(X, index=pd.Index(SAMPLES, name="id"), columns=[f"{name}_x", f"{name}_y"])
    for name, X in zip(SIMULATED.names, SIMULATED.views, strict=True)
}
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two tables, square.csv and star.csv."""
    monkeypatch.chdir(tmp_path)
    for name, frame in FRAMES.items():
        frame.to_csv(f"{name}.csv")
    return tmp_path


def labels_of(path: str | Path) -> pd.DataFrame:
    return pd.read_csv(path).set_index("sample")


WORDS = ["cluster", "square.csv", "star.csv", "--clusters", "4"]


def test_one_command_gives_labels_by_name_a_model_and_a_summary(here: Path, capsys: Capture) -> None:
    """The labels are those of the Python fit; stdout has the sizes of the clusters, stderr only notes."""
    assert main([*WORDS, "-o", "labels.csv", "--save", "my.model"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].split() == ["cluster", "samples", "mean", "confidence"]
    assert "of 200 samples have a confidence below 0.1." in out
    assert all(line.startswith("anchor-align: note: ") for line in err.splitlines())
    found = labels_of("labels.csv")
    assert list(found.index) == SAMPLES
    assert list(found.columns) == ["cluster", "distance", "confidence"]
    fitted = AlignedClusterer(n_clusters=4, random_state=0).fit(FRAMES)
    assert found["cluster"].tolist() == fitted.labels_.tolist()
    assured = fitted.assign(FRAMES)
    np.testing.assert_allclose(found["confidence"], assured.confidence, rtol=1e-4)
    np.testing.assert_allclose(found["distance"], assured.distances, rtol=1e-4)
    assert load("my.model").predict(FRAMES).tolist() == fitted.labels_.tolist()
    assert sorted(each.name for each in here.iterdir()) == ["labels.csv", "my.model", "square.csv", "star.csv"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_shuffled_and_incomplete_tables_give_the_labels_of_the_ordered_ones(form: str, here: Path) -> None:
    """Of the bundled digits, by name, also the numbers of the clusters; joins of parts give those of the same parts."""
    digits = load_views("digits")
    names = [f"img{row:04d}" for row in range(300)]
    rng = np.random.default_rng(0)
    kept = {name: np.sort(rng.choice(300, 280, replace=False)) for name in ("pixels", "fourier")}
    both = np.intersect1d(kept["pixels"], kept["fourier"])
    files: dict[str, list[str]] = {"ordered": [], "shuffled": [], "part": [], "inner": []}
    for name, X in zip(digits.names[:2], digits.views[:2], strict=True):
        frame = pd.DataFrame(X[:300], index=pd.Index(names, name="id")).rename(columns=lambda c: f"c{c}")
        tables = {
            "ordered": frame,
            "shuffled": frame.sample(frac=1.0, random_state=len(name)),
            "part": frame.iloc[kept[name]].sample(frac=1.0, random_state=1 + len(name)),
            "inner": frame.iloc[both],
        }
        for which, table in tables.items():
            path = f"{which}_{name}.{form}"
            table.to_csv(path) if form == "csv" else table.to_parquet(path)
            files[which].append(path)
    common = ["--clusters", "10", "--adapter", "lmvsc", "-q"]
    for which in ("ordered", "shuffled", "inner"):
        assert main(["cluster", *files[which], *common, "-o", f"{which}.csv"]) == 0
    for join in ("inner", "outer"):
        assert main(["cluster", *files["part"], *common, "--join", join, "-o", f"part_{join}.csv"]) == 0
    ordered, shuffled = labels_of("ordered.csv"), labels_of("shuffled.csv")
    assert shuffled["cluster"].equals(ordered["cluster"].loc[shuffled.index])
    joined, alone = labels_of("part_inner.csv"), labels_of("inner.csv")
    assert joined["cluster"].equals(alone["cluster"].loc[joined.index])
    outer = labels_of("part_outer.csv")
    assert len(outer) == len(np.union1d(kept["pixels"], kept["fourier"]))
    assert ari(ordered["cluster"].loc[outer.index], outer["cluster"]) > 0.5


@pytest.mark.parametrize("form", ["csv", "json", "npy", "parquet"])
def test_all_formats_hold_the_same(form: str, here: Path) -> None:
    """By the ending, or by --format."""
    words = [*WORDS, "-q", "--adapter", "lmvsc"]
    assert main([*words, "-o", "expected.csv"]) == 0
    assert main([*words, "-o", f"labels.{form}"]) == 0
    assert main([*words, "-o", "other.txt", "--format", form]) == 0
    assert Path("other.txt").read_bytes() == Path(f"labels.{form}").read_bytes()
    readers: dict[str, Callable[[str], Any]] = {
        "csv": pd.read_csv,
        "json": lambda path: pd.DataFrame(json.loads(Path(path).read_text())),
        "npy": lambda path: pd.DataFrame(np.load(path, allow_pickle=False)),
        "parquet": pd.read_parquet,
    }
    found, expected = readers[form](f"labels.{form}"), pd.read_csv("expected.csv")
    assert list(found.columns) == ["sample", "cluster", "distance", "confidence"]
    assert found["sample"].tolist() == SAMPLES
    assert found["cluster"].tolist() == expected["cluster"].tolist()
    np.testing.assert_allclose(found["confidence"], expected["confidence"], rtol=1e-4)


def test_without_a_file_labels_go_to_stdout(here: Path, capsys: Capture) -> None:
    """Nothing else does; samples without names are counted from 0."""
    assert main(["cluster", "simulated", "--clusters", "4", "-q"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [int(row["sample"]) for row in rows] == list(range(200))
    assert main(["cluster", "simulated", "--clusters", "4", "-q", "--format", "json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [str(each["cluster"]) for each in records] == [row["cluster"] for row in rows]


def test_options_reach_the_fit(here: Path) -> None:
    """Adapter, settings, anchors, fusion, weights, seed, memory and threads."""
    words = ["--adapter", "lmvsc", "--set", "alpha=2", "--anchors", "3k", "--lam", "0.5", "--fusion", "rotated"]
    words += ["--weights", "1,3", "--seed", "7", "--memory", "200MB", "-j", "1"]
    assert main([*WORDS, *words, "-q", "-o", "labels.csv", "--save", "my.model"]) == 0
    loaded = load("my.model")
    assert (loaded.adapter, (loaded.adapter_params or {})["alpha"], loaded.lam) == ("lmvsc", 2, 0.5)
    assert (loaded.fusion, loaded.random_state, len(loaded.permutations_[0])) == ("rotated", 7, 12)
    fitted = AlignedClusterer(
        "lmvsc", adapter_params={"alpha": 2}, n_clusters=4, n_anchors=12, lam=0.5, fusion="rotated", weights=[1, 3],
        random_state=7,
    ).fit(FRAMES)  # fmt: skip
    assert labels_of("labels.csv")["cluster"].tolist() == fitted.labels_.tolist()


def test_predict_labels_rows_of_tomorrow(here: Path, capsys: Capture) -> None:
    """Views of other file names are taken in the given order, with a note; known names may come in any order."""
    assert main([*WORDS, "-q", "-o", "labels.csv", "--save", "my.model"]) == 0
    expected = labels_of("labels.csv")["cluster"]
    for name, frame in FRAMES.items():
        frame.iloc[50:90].sample(frac=1.0, random_state=0).to_csv(f"{name}_today.csv")
    capsys.readouterr()
    assert main(["predict", "my.model", "square_today.csv", "star_today.csv", "-o", "today.csv"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "Views are taken in the given order: 'square_today' as 'square', 'star_today' as 'star'." in err
    today = labels_of("today.csv")
    assert today["cluster"].equals(expected.loc[today.index])
    assert main(["predict", "my.model", "star.csv", "square.csv", "-q", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_text() == Path("labels.csv").read_text()


@pytest.mark.parametrize("names", [True, False])
def test_predict_takes_the_side_that_fits_the_model(here: Path, capsys: Capture, names: bool) -> None:
    """Tables of features x samples are taken so without --orient, as the fit had them."""
    files = []
    for name, frame in FRAMES.items():
        wide = pd.concat([frame, frame.add_prefix("again_") ** 2], axis=1).T
        wide.to_csv(f"{name}_wide.csv", index=names, header=names)
        wide.iloc[:, 50:60].to_csv(f"{name}_today.csv", index=names, header=names)
        files += [f"{name}_wide.csv", f"{name}_today.csv"]
    words = ["--clusters", "4", "--orient", "columns", "-q", "-o", "labels.csv", "--save", "my.model"]
    assert main(["cluster", *files[::2], *words]) == 0
    assert main(["predict", "my.model", *files[1::2], "-o", "today.csv"]) == 0
    assert "note: Samples are columns: this fits the model." in capsys.readouterr().err
    expected = labels_of("labels.csv")["cluster"].iloc[50:60]
    assert labels_of("today.csv")["cluster"].tolist() == expected.tolist()
    assert main(["predict", "my.model", *files[1::2], "--orient", "rows", "-q"]) == 2


def test_info_shows_what_a_model_holds(here: Path, capsys: Capture) -> None:
    """As a table and as JSON, without the data."""
    assert main([*WORDS, "-q", "-o", "labels.csv", "--save", "my.model"]) == 0
    capsys.readouterr()
    assert main(["info", "my.model"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(r"adapter +local", out)
    assert re.search(r"square +2 +40 +0.5", out)
    assert main(["info", "my.model", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["adapter"], found["n_clusters"], found["n_samples"]) == ("local", 4, 200)
    assert [each["name"] for each in found["views"]] == ["square", "star"]
    assert sum(found["cluster_sizes"]) == 200


@pytest.mark.slow
def test_a_page_says_what_is_known_without_labels(here: Path) -> None:
    """Agreement and its chance level, stability, sizes, pictures and the command; no accuracy, no scripts."""
    assert main([*WORDS, "-q", "-o", "labels.csv", "--html", "page.html", "--draws", "2"]) == 0
    text = Path("page.html").read_text()
    for words in ("Agreement of the views", "by chance", "Stability", "2 fits with other draws", "cluster square.csv"):
        assert words in text
    assert text.count("<figure") == 2
    assert "ACC" not in text
    assert "<script" not in text
    assert text.endswith("</html>\n")


def wrong(words: list[str], capsys: Capture, *, code: int = 2) -> str:
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert main(words) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    return err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clusters", "300"], "--clusters asks for 300 clusters of 200 samples; ask for fewer."),
        (["--adapter", "lmvs"], "Did you mean 'lmvsc'?"),
        (["--adapter", "auto", "--set", "alpha=1"], "--adapter auto chooses the settings"),
        (["--memory", "1KB"], "The fit needs"),
        (["--memory", "lots"], "memory must be an amount"),
        (["--format", "npy"], "npy is not text: name a file with -o."),
        (["-o", "nowhere/labels.csv"], "Cannot write nowhere/labels.csv"),
        (["-o", "star.csv"], "'star.csv' is read and would be replaced"),
        (["-o", "a.csv", "--save", "a.csv"], "'a.csv' is named for two results"),
        (["--fusion", "best"], "Unknown fusion 'best'"),
        (["--reference", "7"], "reference"),
    ],
)
def test_wrong_use_is_one_line(words: list[str], message: str, here: Path, capsys: Capture) -> None:
    """Nothing on stdout, one line on stderr, exit code 2, and no file is written."""
    assert message in wrong([*WORDS, "-q", *words], capsys)


def test_tables_that_do_not_fit_together_are_one_line(here: Path, capsys: Capture) -> None:
    """Names in one table only, different samples, and samples that no two tables share: each with the way out."""
    FRAMES["star"].reset_index(drop=True).to_csv("nameless.csv", index=False)
    FRAMES["star"].iloc[:150].to_csv("part.csv")
    FRAMES["star"].rename(index=lambda name: f"x{name}").to_csv("others.csv")
    words = ["--clusters", "4", "-q"]
    assert "--no-index" in wrong(["cluster", "square.csv", "nameless.csv", *words], capsys)
    assert "--join inner" in wrong(["cluster", "square.csv", "part.csv", *words], capsys)
    assert "one view only" in wrong(["cluster", "square.csv", "others.csv", *words, "--join", "outer"], capsys)


def test_notes_on_one_view_and_on_other_classes(here: Path, capsys: Capture) -> None:
    """One view is clustered, with a note that nothing is aligned; labels of another number of classes get a note."""
    assert main(["cluster", "square.csv", "--clusters", "4", "-o", "one.csv"]) == 0
    assert "one view only, so there is nothing to align" in capsys.readouterr().err
    assert main(["cluster", "simulated", "--clusters", "3", "-o", "three.csv"]) == 0
    assert "The labels in the data have 4 classes; --clusters asks for 3." in capsys.readouterr().err


def test_a_chosen_scale_is_printed_and_reported(here: Path, capsys: Capture) -> None:
    """The scale of each view and the agreements behind it, in a note and on the page; nothing with --quiet."""
    words = [*WORDS, "--set", "scale=auto", "-o", "labels.csv"]
    assert main([*words, "--html", "report.html"]) == 0
    assert "note: Adapter 'local' chose scale " in capsys.readouterr().err
    assert "chose scale " in Path("report.html").read_text(encoding="utf-8")
    assert main([*words, "-q"]) == 0
    assert "chose" not in capsys.readouterr().err


def test_wrong_models_and_views_are_one_line(here: Path, capsys: Capture) -> None:
    """A file that is no model, views and columns other than those of the fit."""
    assert main([*WORDS, "-q", "-o", "labels.csv", "--save", "my.model"]) == 0
    capsys.readouterr()
    FRAMES["star"].iloc[:, ::-1].to_csv("turned.csv")
    FRAMES["square"].to_csv("first.csv")
    assert "is not a saved model" in wrong(["predict", "square.csv", "star.csv"], capsys)
    assert "is not a saved model" in wrong(["info", "square.csv"], capsys)
    assert "Cannot read the model none.model" in wrong(["info", "none.model"], capsys)
    assert "fitted on square, star" in wrong(["predict", "my.model", "star.csv", "-q"], capsys)
    words = ["predict", "my.model", "first.csv", "turned.csv", "-q"]
    assert "has column 'star_y' where the fit had 'star_x'" in wrong(words, capsys)
    assert "is read and would be replaced" in wrong(["predict", "my.model", "star.csv", "-o", "my.model"], capsys)


def test_an_interrupted_command_leaves_no_file(here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, and old files are as they were, wherever the interrupt comes."""

    def stop(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    Path("labels.csv").write_text("before")
    for place in ("anchor_align.report._label_files.csv.writer", "anchor_align.clustering.AlignedClusterer.fit"):
        with monkeypatch.context() as patch:
            patch.setattr(place, stop)
            assert main([*WORDS, "-q", "-o", "labels.csv"]) == 130
        assert Path("labels.csv").read_text() == "before"
        assert sorted(each.name for each in here.iterdir()) == ["labels.csv", "square.csv", "star.csv"]
    assert capsys.readouterr().err == "anchor-align: interrupted\n" * 2


def test_a_result_that_cannot_be_written_is_a_failure(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1, one line: the work is done, but the disk is full."""

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anchor_align.report._label_files.csv.writer", full)
    assert "No space left on device" in wrong([*WORDS, "-q", "-o", "labels.csv"], capsys, code=1)


def test_adapters_of_files_are_saved_and_loaded_with_plugin(here: Path, capsys: Capture) -> None:
    """A model of a plug-in file needs the file again; without it one line says so."""
    Path("mine.py").write_text(
        "import numpy as np\nfrom anchor_align import Adapter, AnchorGraphs, hookimpl\n\n\n"
        "class Mine(Adapter):\n    name = 'mine'\n\n"
        "    def learn_anchors(self, views, *, n_clusters, n_anchors, random_state):\n"
        "        return AnchorGraphs((), [np.asarray(X[:: len(X) // n_anchors][:n_anchors]) for X in views])\n\n"
        "    def new_graphs(self, views, learned):\n"
        "        near = [np.exp(-((X[:, None] - A) ** 2).sum(2)) + 1e-9 for X, A in zip(views, learned.anchors)]\n"
        "        return [Z / Z.sum(axis=1, keepdims=True) for Z in near]\n\n\n"
        "@hookimpl\ndef anchor_align_adapters():\n    return [Mine]\n"
    )
    words = [*WORDS, "--adapter", "mine", "--plugin", "mine.py", "-q", "-o", "labels.csv", "--save", "my.model"]
    assert main(words) == 0
    capsys.readouterr()
    again = ["predict", "my.model", "square.csv", "star.csv", "-q"]
    assert "needs the adapter 'mine'" in wrong(again, capsys)
    assert main([*again, "--plugin", "mine.py", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_text() == Path("labels.csv").read_text()
    assert main(["info", "my.model"]) == 0


def test_the_command_on_the_page_repeats_the_fit(here: Path) -> None:
    """All options that determine the result are in it, and no others."""
    from anchor_align.cli import build_parser

    words = [*WORDS, "--join", "outer", "--adapter", "lmvsc", "--set", "alpha=2", "--weights", "1,2", "--seed", "3"]
    given = build_parser().parse_args([*words, "-o", "labels.csv", "-j", "1", "-q"])
    text = cluster_command._command(given)
    assert "-o" not in text
    again = build_parser().parse_args(text.split()[1:])
    for name in ("data", "clusters", "join", "adapter", "params", "weights", "seed", "lam", "fusion"):
        assert getattr(again, name) == getattr(given, name)


@pytest.mark.parametrize("name", ["labels.xlsx", "labels.csv.gz", "labels.tsv"])
def test_an_ending_that_says_another_form_is_refused(here: Path, capsys: Capture, name: str) -> None:
    """Nothing is read or written; a form that is given decides, and without an ending it is CSV."""
    assert main([*WORDS, "-o", name]) == 2
    ending = name.rpartition(".")[2]
    expected = f"{name} has the ending .{ending}; expected one of .csv, .parquet, .json, .npy or .txt, or a form"
    assert expected in capsys.readouterr().err
    assert not Path(name).exists()
    assert main([*WORDS, "-q", "-o", name, "--format", "csv"]) == 0
    assert main([*WORDS, "-q", "-o", "labels"]) == 0
    assert Path(name).read_text() == Path("labels").read_text()


SQUARE = FRAMES["square"]
TABLES: list[tuple[pd.DataFrame, str]] = [
    (SQUARE.assign(square_y=["male"] * 200), "View square has 'male' in column 'square_y'"),
    (SQUARE.assign(square_y=np.inf), "(first: sample 's000', column 'square_y')"),
    (SQUARE.drop(columns="square_y"), "has 1 features; fitted on 2. Missing: 'square_y'."),
    (SQUARE.assign(age=1.0), "has 3 features; fitted on 2. Not in the fit: 'age'."),
    (SQUARE.rename(columns={"square_y": "age"}), "Missing: 'square_y'. Not in the fit: 'age'."),
]


@pytest.mark.parametrize(("frame", "message"), TABLES)
def test_columns_are_named_by_their_heads(frame: pd.DataFrame, message: str) -> None:
    """Of DataFrames that hold words or infinity, and of those that lack features of the fit or have others."""
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(FRAMES)
    with pytest.raises(InputError, match=re.escape(message)):
        clusterer.predict({**FRAMES, "square": frame})


def test_gaps_are_named_by_sample_with_a_way_out(here: Path, capsys: Capture) -> None:
    """The row of a joined sample is not that of its file, so its name is given."""
    frame = FRAMES["star"].copy()
    frame.loc["s007", "star_y"] = np.nan
    frame[::-1].to_csv("star.csv")
    assert main([*WORDS, "-q", "-o", "labels.csv", "--missing", "nan"]) == 2
    assert "View star has 1 NaN among 2 features in sample 's007'" in capsys.readouterr().err
    frame.loc["s007"] = np.nan
    frame[::-1].to_csv("star.csv")
    assert main([*WORDS, "-q", "-o", "labels.csv"]) == 2
    err = capsys.readouterr().err
    assert (
        "View star has NaN or infinity in 1 of 200 rows (first: sample 's007', column 'star_x'); views must be" in err
    )
    assert main([*WORDS, "-q", "-o", "labels.csv", "--missing", "nan"]) == 0


def test_warnings_have_the_names_of_views(here: Path, capsys: Capture) -> None:
    """Views that do not agree are named as their files are."""
    assert main([*WORDS, "-o", "labels.csv", "--anchors", "1"]) == 0
    err = capsys.readouterr().err
    assert "View square agrees with the other views hardly better than by chance; view star agrees" in err
    assert "They may not show the clusters of the other views." in err


def test_the_page_counts_each_missing_sample_once(here: Path, capsys: Capture) -> None:
    """Samples, not samples times views."""
    frames = {name: frame.drop(SAMPLES[i :: len(FRAMES) + 1]) for i, (name, frame) in enumerate(FRAMES.items())}
    frames["third"] = FRAMES["star"].drop(SAMPLES[0::3]).set_axis(["u", "v"], axis=1)
    for name, frame in frames.items():
        frame.to_csv(f"{name}.csv")
    words = ["cluster", *(f"{name}.csv" for name in frames), "--clusters", "4", "--join", "outer", "-q"]
    assert main([*words, "-o", "labels.csv", "--html", "page.html", "--draws", "0"]) == 0
    complete = set.intersection(*(set(frame.index) for frame in frames.values()))
    assert f"{200 - len(complete)} of 200 samples are missing in one view or more" in Path("page.html").read_text()


def test_info_begins_with_the_model(here: Path, capsys: Capture) -> None:
    """A table without headings has no empty line above it."""
    assert main([*WORDS, "-q", "-o", "labels.csv", "--save", "my.model"]) == 0
    capsys.readouterr()
    assert main(["info", "my.model"]) == 0
    assert capsys.readouterr().out.startswith("model ")
