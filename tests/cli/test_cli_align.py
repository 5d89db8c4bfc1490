"""The command align: graphs in, permutations and the fused graph out, in the same form."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from mat_files import cell, write_mat73
from scipy.io import loadmat, savemat
from strategies import FloatArray, IndexArray, planted_graphs

from anchor_align import AlignedClusterer, AnchorAligner, AnchorAlignError, FileError, InputError, align, fuse
from anchor_align.cli import build_parser, main
from anchor_align.data import _graph_output
from anchor_align.graphs import MISSING
from anchor_align.matching import EFFORTS, LAM_SCALES, METHODS
from anchor_align.study import compare

NUMBERS = ("feature", "structure", "objective", "upper_bound", "gap", "margins")


def run(*argv: object, verbosity: int = 2) -> int:
    """Errors are raised unless the verbosity is lower."""
    return main([*["-v"] * verbosity, "align", *map(str, argv)])


@pytest.fixture
def planted() -> tuple[list[FloatArray], list[IndexArray]]:
    return planted_graphs(np.random.default_rng(0), 120, 7, 3)


def common_order(permutations: list[IndexArray], reference: int) -> IndexArray:
    """Planted permutations, relative to the order of the reference."""
    back = np.argsort(permutations[reference])
    return np.array([p[back] for p in permutations])


def assert_contents(read: dict[str, Any], graphs: list[Any], planted: list[IndexArray], **settings: Any) -> None:
    """What was written is what the aligner gives; and the planted correspondence."""
    aligner = AnchorAligner(**settings).fit(graphs)
    reference = int(read["reference"])
    assert reference == (-1 if aligner.reference_ is None else aligner.reference_)
    np.testing.assert_array_equal(read["permutations"], common_order(planted, max(reference, 0)))
    for name in NUMBERS:
        np.testing.assert_allclose(np.squeeze(read[name]), getattr(aligner, f"{name}_"))
    np.testing.assert_allclose(read["fused"], np.asarray(fuse(graphs, aligner.permutations_)))


@pytest.mark.parametrize("reference", ["auto", "consensus"])
def test_npz_to_npz(tmp_path: Path, planted: Any, reference: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The planted permutations come back, with the fused graph and the numbers of the match."""
    graphs, permutations = planted
    np.savez(tmp_path / "in.npz", **{f"Z{i}": Z for i, Z in enumerate(graphs)}, labels=np.zeros(120))
    words = [] if reference == "consensus" else ["--reference", reference]  # the default is not named
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--matrices", *words) == 0
    out, err = capsys.readouterr()
    assert "ambiguous" in out
    assert ("(reference)" in out) == (reference == "auto")
    assert err == "anchor-align: note: Graphs are 'Z0', 'Z1', 'Z2'.\n"
    with np.load(tmp_path / "out.npz") as read:
        assert_contents(dict(read), graphs, permutations, reference=reference)
        for Z, p, P in zip(graphs, read["permutations"], read["matrices"], strict=True):
            np.testing.assert_array_equal(Z @ P, Z[:, p])
        assert read["names"].tolist() == ["Z0", "Z1", "Z2"]


@pytest.mark.parametrize("layout", ["cell", "separate", "keys", "7.3", "stack", "sparse"])
def test_mat_to_mat(tmp_path: Path, planted: Any, layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A MATLAB file gives a MATLAB file of version 5 with indices from 1; sparse graphs give a sparse fused graph."""
    graphs, permutations = planted
    path, out, options = tmp_path / "in.mat", tmp_path / "out.mat", []
    if layout == "7.3":
        write_mat73(path, {"Z": graphs})
    elif layout == "keys":
        savemat(path, {"b": graphs[1], "a": graphs[0], "c": graphs[2], "Z": cell([graphs[0] * 0.5] * 2)})
        options = ["--graphs", "a", "b", "c"]
    elif layout == "separate":
        savemat(path, {f"Z{i + 1}": Z for i, Z in enumerate(graphs)})
    elif layout == "stack":
        savemat(path, {"Z": np.stack(graphs, axis=2)})
    else:
        savemat(path, {"Z": cell([sp.csc_array(Z) if layout == "sparse" else Z for Z in graphs])})
    assert run(path, "-o", out, "--matrices", *options) == 0
    assert ("MATLAB 7.3" in capsys.readouterr().err) == (layout == "7.3")
    read = loadmat(out)
    assert sp.issparse(read["fused"]) == (layout == "sparse")
    plain = {
        **read,
        "reference": read["reference"].item() - 1,
        "permutations": read["permutations"] - 1,
        "fused": read["fused"].toarray() if layout == "sparse" else read["fused"],
    }
    assert_contents(plain, graphs, permutations)
    for Z, p, P in zip(graphs, plain["permutations"].astype(int), read["matrices"][0], strict=True):
        np.testing.assert_array_equal(Z @ P, Z[:, p])


@pytest.mark.parametrize("sparse", [False, True])
def test_npy_to_folder(tmp_path: Path, planted: Any, sparse: bool) -> None:
    """Several files give a folder; written again it holds the new result only."""
    graphs, permutations = planted
    paths = [tmp_path / f"view{i}.{'npz' if sparse else 'npy'}" for i in range(3)]
    for path, Z in zip(paths, graphs, strict=True):
        if sparse:
            sp.save_npz(path, sp.csr_array(Z))
        else:
            np.save(path, Z)
    out = tmp_path / "out"
    for _ in range(2):
        assert run(*paths, "-o", out) == 0
        read = {path.stem: np.load(path) for path in out.glob("*.npy")}
        read["fused"] = sp.load_npz(out / "fused.npz").toarray() if sparse else read["fused"]
        assert_contents(read, graphs, permutations)
        assert (out / "names.txt").read_text().splitlines() == [str(path) for path in paths]
        assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []
        (out / ("fused.npy" if sparse else "fused.npz")).write_bytes(b"of an earlier run")
    assert run(*paths, "-o", out) == 0
    assert len([path for path in out.iterdir() if path.stem == "fused"]) == 1


def test_ending_decides_the_form(tmp_path: Path, planted: Any) -> None:
    """A .mat file may become .npz and the other way round."""
    graphs, _ = planted
    savemat(tmp_path / "in.mat", {"Z": cell(graphs)})
    assert run(tmp_path / "in.mat", "-o", tmp_path / "out.npz") == 0
    with np.load(tmp_path / "out.npz") as read:
        np.savez(tmp_path / "in.npz", *graphs)
        assert run(tmp_path / "in.npz", "-o", tmp_path / "out.mat") == 0
        np.testing.assert_array_equal(loadmat(tmp_path / "out.mat")["permutations"], read["permutations"] + 1)


def test_sparse_npz_fused(tmp_path: Path, planted: Any) -> None:
    """Sparse graphs in one .npz give the parts of a sparse fused graph."""
    graphs, _ = planted
    parts = {}
    for i, Z in enumerate(graphs):
        S = sp.csr_array(Z)
        for part in ("data", "indices", "indptr"):
            parts[f"Z{i}_{part}"] = getattr(S, part)
        parts[f"Z{i}_shape"] = np.array(S.shape)
    np.savez(tmp_path / "in.npz", **parts)
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz") == 0
    with np.load(tmp_path / "out.npz") as read:
        fused = sp.csr_array(
            (read["fused_data"], read["fused_indices"], read["fused_indptr"]), shape=read["fused_shape"]
        )
        np.testing.assert_allclose(fused.toarray(), np.asarray(fuse(graphs, list(read["permutations"]))))


def test_consensus_has_no_reference(tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The reference is -1 in .npz files, 0 in .mat files, null in JSON."""
    graphs, _ = planted
    np.savez(tmp_path / "in.npz", *graphs)
    for name, expected in (("out.npz", -1), ("out.mat", 0)):
        out = tmp_path / name
        assert run(tmp_path / "in.npz", "-o", out, "--reference", "consensus", "--format", "json", "--lam", "inf") == 0
        summary = json.loads(capsys.readouterr().out)
        assert summary["reference"] is None
        assert summary["lam"] == "inf"
        assert (summary["n_samples"], summary["n_anchors"]) == (120, 7)
        read = np.load(out) if name.endswith("npz") else loadmat(out)
        assert read["reference"].item() == expected


def test_ambiguous_anchors_are_counted(tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Two anchors that are the same cannot be told apart."""
    graphs, _ = planted
    graphs[1][:, [2, 5]] = graphs[1][:, [2, 5]].mean(axis=1, keepdims=True)
    np.savez(tmp_path / "in.npz", *graphs)
    assert run(tmp_path / "in.npz", "-o", tmp_path / "o.npz", "--reference", "0", "--format", "json") == 0
    assert [view["ambiguous"] for view in json.loads(capsys.readouterr().out)["views"]] == [0, 2, 0]


def test_chance_and_ties_are_shown(tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A column of the table, two numbers in JSON, and a note for a view of other samples and for equal anchors."""
    graphs, _ = planted
    graphs[1][:, [2, 5]] = graphs[1][:, [2, 5]].mean(axis=1, keepdims=True)
    graphs[2] = graphs[2][np.random.default_rng(0).permutation(len(graphs[2]))]
    np.savez(tmp_path / "in.npz", *graphs)
    options = ("-o", tmp_path / "o.npz", "--reference", "0")
    assert run(tmp_path / "in.npz", *options, "--format", "json") == 0
    summary = json.loads(capsys.readouterr().out)
    reference, near, far = summary["views"]
    assert "chance" not in reference
    assert near["objective"] > 1.2 * near["chance"]
    assert abs(far["objective"] - far["chance"]) < 10 * far["chance_sd"]
    assert next(note for note in summary["notes"] if "hardly better than by chance" in note).startswith("view 'arr_2'")
    assert any("of 14 anchors could be exchanged with another at almost no loss" in note for note in summary["notes"])
    assert run(tmp_path / "in.npz", *options) == 0
    out, err = capsys.readouterr()
    assert "chance" in out
    assert "note: view 'arr_2' agrees with the other views hardly better than by chance" in err


def test_anchors_by_samples(tmp_path: Path, planted: Any) -> None:
    """Graphs that lie on their side are refused with the option that turns them, and taken with it."""
    graphs, permutations = planted
    np.savez(tmp_path / "in.npz", *[Z.T for Z in graphs])
    with pytest.raises(InputError, match=r"columns sum to one.*--orient columns"):
        run(tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--orient", "columns") == 0
    with np.load(tmp_path / "out.npz") as read:
        assert_contents(dict(read), graphs, permutations)


def test_what_is_refused(tmp_path: Path, planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence, and nothing is written."""
    graphs, _ = planted
    np.savez(tmp_path / "in.npz", *graphs)
    np.savez(tmp_path / "bad.npz", Z0=graphs[0], Z1=graphs[1][:100])
    np.save(tmp_path / "mask.npy", np.ones((3, 120), dtype=bool))
    np.save(tmp_path / "turned.npy", np.ones((120, 2)))
    np.save(tmp_path / "nowhere.npy", np.zeros((3, 120)))
    np.save(tmp_path / "half.npy", np.full((3, 120), 0.5))
    np.savetxt(tmp_path / "words.csv", np.full((3, 120), "yes"), fmt="%s", delimiter=",")
    np.savez(tmp_path / "nan.npz", Z0=graphs[0] * np.nan, Z1=graphs[1])
    np.savez(tmp_path / "objects.npz", Z=np.array([graphs[0], None], dtype=object))
    np.save(tmp_path / "a.npy", graphs[0])
    (tmp_path / "notes.txt").write_text("nothing")
    for folder, name in (("d", "feature.npy"), ("d", "margins.npy"), ("other", "fused.npz")):
        (tmp_path / folder).mkdir(exist_ok=True)
        np.save(tmp_path / "a.npy", graphs[0])
        (tmp_path / folder / name).write_bytes((tmp_path / "a.npy").read_bytes())
    before = sorted(map(str, tmp_path.rglob("*")))
    cases: list[tuple[list[object], str]] = [
        (["in.npz", "-o", "in.npz"], "is one of the graphs"),
        (["in.npz", "-o", "no/where.npz"], "Cannot write"),
        (["in.npz", "-o", "o.npz", "--reference", "3"], "out of range"),
        (["in.npz", "-o", "o.npz", "--lam", "-1"], "lam must be"),
        (["in.npz", "-o", "o.npz", "--graphs", "Q"], "Unknown key"),
        (["in.npz", "a.npy", "-o", "o.npz"], "in.npz holds 3 arrays"),
        (["a.npy", "-o", "o", "--graphs", "Z"], "names variables"),
        (["a.npy", "-o", "in.npz/x"], "Cannot write"),
        (["a.npy", "-o", "notes.txt"], "expected a name that ends in .npz or .mat, or a folder for .npy files"),
        (["a.npy", "-o", "."], "the folder holds 'a.npy', which is not part of an earlier result"),
        (["a.npy", "-o", ".."], "not part of an earlier result"),
        (["a.npy", "-o", "/"], "not part of an earlier result"),
        (["in.npz", "-o", "/"], "it is a folder"),
        (["a.npy", "-o", "other"], "the folder holds 'fused.npz', which is not part"),
        (["d/feature.npy", "d/margins.npy", "-o", "d"], "d/feature.npy: it is one of the graphs"),
        (["bad.npz", "-o", "o.npz"], "'Z0' is 120 x 7 (samples x anchors) and 'Z1' is 100 x 7"),
        (["in.npz", "-o", "o.npz", "--mask", "turned.npy"], "or be transposed; got (120, 2)"),
        (["in.npz", "-o", "o.npz", "--mask", "nowhere.npy"], "Sample 0 is in no view"),
        (["in.npz", "-o", "o.npz", "--mask", "half.npy"], "nothing but true and false, or 1 and 0"),
        (["in.npz", "-o", "o.npz", "--mask", "words.csv"], "words.csv"),
        (["in.npz", "-o", "o.npz", "--mask", "in.npz"], "holds 3 arrays"),
        (["in.npz", "-o", "o.npz", "--mask", "absent.npy"], "No such file"),
        (["in.npz", "-o", "o.npz", "--mask", "notes.txt"], "notes.txt: the file holds no matrix"),
        (["in.npz", "-o", "o.npz", "--mask", "."], "is not a .npy"),
        (["in.npz", "-o", "o.npz", "--weights", "1,2"], "Got 2 weights for 3 views"),
        (["in.npz", "-o", "o.npz", "--weights", "0,0,0"], "not all zero"),
        (["in.npz", "-o", "o.npz", "--method", "pfp-many-to-one", "--reference", "consensus"], "consensus"),
        (
            ["in.npz", "-o", "o.npz", "--reference", "best"],
            "Unknown reference 'best'; known: 'auto', 'consensus', 'arr_0'",
        ),
        (["nan.npz", "-o", "o.npz"], "NaN"),
        (["objects.npz", "-o", "o.npz"], "Python objects"),
        (["notes.txt", "-o", "o.npz"], "'notes.txt' is text; expected a matrix of numbers"),
        (["absent.npz", "-o", "o.npz"], "No such file"),
        ([".", "-o", "o.npz"], "is a folder"),
    ]
    monkeypatch.chdir(tmp_path)
    for argv, message in cases:
        with pytest.raises(AnchorAlignError) as caught:
            run(*argv)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
    assert sorted(map(str, tmp_path.rglob("*"))) == before
    np.save(tmp_path / "fused.npy", graphs[0])
    with pytest.raises(FileError, match="one of the graphs"):
        run("fused.npy", "a.npy", "-o", ".")


def test_too_large_for_mat(tmp_path: Path, planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is said before any work, with the way out."""
    savemat(tmp_path / "in.mat", {"Z": cell(planted[0])})
    monkeypatch.setattr(_graph_output, "_LARGEST_MAT", 120 * 7 * 8)
    with pytest.raises(InputError, match=r"120 x 7.*ends in \.npz"):
        run(tmp_path / "in.mat", "-o", tmp_path / "o.mat")


def test_failure_while_writing_leaves_what_was_there(
    tmp_path: Path, planted: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder of an earlier run stays as it is, nothing half-written remains, and the exit code says so."""
    for i, Z in enumerate(planted[0]):
        np.save(tmp_path / f"{i}.npy", Z)
    paths = [tmp_path / f"{i}.npy" for i in range(3)]
    assert run(*paths, "-o", tmp_path / "out") == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    names = sorted(os.listdir(tmp_path))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    capsys.readouterr()
    assert run(*paths, "-o", tmp_path / "out", "--reference", "1", verbosity=0) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("anchor-align: Cannot write ")
    assert err.endswith("No space left on device.\n")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert run(*paths, "-o", tmp_path / "new", verbosity=0) == 1
    assert sorted(os.listdir(tmp_path)) == names
    with pytest.raises(FileError, match="No space left"):
        run(*paths, "-o", tmp_path / "new")


def test_an_earlier_result_is_replaced_as_a_whole(
    tmp_path: Path, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permutation matrices of an earlier run do not stay beside a result without them; "." may be the folder."""
    paths = [tmp_path / f"{i}.npy" for i in range(3)]
    for path, Z in zip(paths, planted[0], strict=True):
        np.save(path, Z)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert run(*paths, "-o", ".", "--matrices") == 0
    assert (tmp_path / "out" / "matrices.npy").exists()
    assert run(*paths, "-o", tmp_path / "out") == 0
    assert not (tmp_path / "out" / "matrices.npy").exists()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match=r"holds 'mine\.txt'"):
        run(*paths, "-o", tmp_path / "out")


def test_equal_graphs_all_count(tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A graph that equals another is a graph of its own."""
    graphs, _ = planted
    np.savez(tmp_path / "in.npz", a=graphs[0], b=graphs[0], c=graphs[1])
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--format", "json") == 0
    assert [view["view"] for view in json.loads(capsys.readouterr().out)["views"]] == ["a", "b", "c"]


def test_the_reference_has_one_default() -> None:
    """In all functions and classes, and in all commands: the consensus."""
    for each in (align, AnchorAligner, AlignedClusterer, compare):
        assert inspect.signature(each).parameters["reference"].default == "consensus"
    for words in (["align", "a", "-o", "b"], ["compare", "lmvsc"], ["sweep", "lmvsc"]):
        assert build_parser().parse_args(words).reference == "consensus"


def test_choices_are_the_librarys() -> None:
    """Methods and scales of the command line are those of the aligner."""
    parse = build_parser().parse_args
    assert parse(["align", "a", "-o", "b"]).reference == "consensus"
    for option, known in (("--method", METHODS), ("--effort", EFFORTS), ("--lam-scale", LAM_SCALES)):
        for choice in known:
            assert choice in vars(parse(["align", "a", "-o", "b", option, choice])).values()
    for missing in MISSING:
        assert parse(["align", "a", "-o", "b", "--missing", missing]).missing == missing
    for wrong in (
        ["--method", "magic"], ["--seed", "-1"], ["--missing", "zero"], ["--weights", "a,b"],
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            parse(["align", "a", "-o", "b", *wrong])


def some_missing() -> npt.NDArray[np.bool_]:
    """Three views of 120 samples; every sample is in one of them."""
    mask = np.random.default_rng(1).random((3, 120)) < 0.7
    mask[0] |= ~mask.any(axis=0)
    return mask


@pytest.mark.parametrize("form", ["npy", "numbers", "csv", "mat", "sparse", "beside"])
def test_a_mask_in_any_form(tmp_path: Path, planted: Any, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Is what the aligner is given; the table and the files say how many samples pairs of views share."""
    graphs, _ = planted
    mask = some_missing()
    named = {f"Z{i}": Z for i, Z in enumerate(graphs)}
    np.savez(tmp_path / "in.npz", **named)
    path = tmp_path / {"csv": "m.csv", "mat": "m.mat", "sparse": "m.mat", "beside": "in.npz"}.get(form, "m.npy")
    if form == "csv":
        np.savetxt(path, mask, fmt="%d", delimiter=",")
    elif form == "beside":
        np.savez(path, **named, mask=mask)
    elif path.suffix == ".mat":
        savemat(path, {"M": sp.csc_array(mask.astype(float)) if form == "sparse" else mask})
    else:
        np.save(path, mask.astype(float) if form == "numbers" else mask)
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--mask", path) == 0
    aligner = AnchorAligner().fit(graphs, mask=mask)
    out = capsys.readouterr().out
    assert "samples shared with" in out
    assert [line.split()[1:] for line in out.splitlines()[-4:-1]] == [[str(n) for n in row] for row in aligner.shared_]
    with np.load(tmp_path / "out.npz") as read:
        np.testing.assert_array_equal(read["permutations"], aligner.permutations_)
        np.testing.assert_array_equal(read["shared"], mask.astype(int) @ mask.T)
        np.testing.assert_array_equal(read["fused"], fuse(graphs, aligner.permutations_, mask=mask))


def test_rows_of_nan(tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Are samples that the view does not have, if that is said; JSON has the shared samples."""
    graphs, _ = planted
    mask = some_missing()
    holes = [np.where(seen[:, None], Z, np.nan) for seen, Z in zip(mask, graphs, strict=True)]
    np.savez(tmp_path / "in.npz", *holes)
    with pytest.raises(InputError, match="NaN"):
        run(tmp_path / "in.npz", "-o", tmp_path / "out.mat")
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.mat", "--missing", "nan", "--format", "json") == 0
    expected = mask.astype(int) @ mask.T
    assert json.loads(capsys.readouterr().out)["shared"] == expected.tolist()
    read = loadmat(tmp_path / "out.mat")
    np.testing.assert_array_equal(read["shared"], expected)
    np.testing.assert_allclose(
        read["fused"], fuse(graphs, [p.astype(int) - 1 for p in read["permutations"]], mask=mask)
    )


def test_many_views_with_a_mask(tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """One line names the pair that shares the fewest samples."""
    graphs, _ = planted
    mask = np.ones((9, 120), dtype=bool)
    mask[3, :50] = mask[5, 50:100] = False
    np.savez(tmp_path / "in.npz", **{f"Z{i}": graphs[i % 3] for i in range(9)})
    np.save(tmp_path / "m.npy", mask)
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--mask", tmp_path / "m.npy") == 0
    assert "fewest samples shared by two views: 20, Z3 and Z5" in capsys.readouterr().out


def test_anchors_that_rest_on_few_samples_are_warned_of(
    tmp_path: Path, planted: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line on stderr."""
    graphs, _ = planted
    mask = np.ones((3, 120), dtype=bool)
    mask[1] = np.arange(120) < 3
    np.savez(tmp_path / "in.npz", *graphs)
    np.save(tmp_path / "m.npy", mask)
    assert run(tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--mask", tmp_path / "m.npy") == 0
    (line, *_) = capsys.readouterr().err.splitlines()
    assert line.startswith("anchor-align: warning: Too few shared samples")


@pytest.mark.parametrize("form", ["npz", "mat", "npy"])
@pytest.mark.parametrize("options", [[], ["--reference", "1"], ["--reference", "1", "--many-to-one"]])
def test_different_numbers_of_anchors(
    tmp_path: Path, planted: Any, form: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Matrices and fused graph are the aligner's; indices say where a view has no anchor."""
    graphs = [planted[0][0], planted[0][1][:, :5], planted[0][2][:, :6]]
    paths = [tmp_path / f"{i}.npy" for i in range(3)]
    for path, Z in zip(paths, graphs, strict=True):
        np.save(path, Z)
    out = tmp_path / ("out" if form == "npy" else f"out.{form}")
    assert run(*paths, "-o", out, "--matrices", "--format", "json", *options) == 0
    summary = json.loads(capsys.readouterr().out)
    many = "--many-to-one" in options
    aligner = AnchorAligner(reference=1 if options else "auto", many_to_one=many).fit(graphs)
    assert summary["n_anchors"] == [7, 5, 6]
    assert summary["n_columns"] == {0: 7, 2: 8, 3: 5}[len(options)]
    assert ("matrices" in summary) == many
    if form == "npy":
        read: Any = {path.stem: np.load(path) for path in out.glob("*.npy")}
    else:
        read = dict(np.load(out)) if form == "npz" else loadmat(out)
    permutations = read["permutations"] - (1 if form == "mat" else 0)
    np.testing.assert_array_equal(permutations, aligner.permutations_)
    assert permutations.min() == -1 or many
    matrices = read["matrices"][0] if form == "mat" else read["matrices"]
    for P, expected, Z in zip(matrices, aligner.matrices_, graphs, strict=True):
        np.testing.assert_array_equal(P if form == "mat" else P[: Z.shape[1]], expected)
    np.testing.assert_allclose(read["fused"], fuse(graphs, aligner.matrices_))


def test_matrices_are_there_where_anchors_share_columns(tmp_path: Path, planted: Any) -> None:
    """Permutations alone would not say where all anchors went."""
    np.savez(tmp_path / "in.npz", Z0=planted[0][0], Z1=planted[0][1][:, :3])
    words = [tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--reference", "1"]
    for more, there in (([], False), (["--many-to-one"], True)):
        assert run(*words, *more) == 0
        assert ("matrices" in np.load(tmp_path / "out.npz")) == there


def test_the_papers_many_to_one(tmp_path: Path, planted: Any) -> None:
    """The fused graph is that of the matrices, also where anchors are taken twice or not at all."""
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.full(7, 0.3), 50) for _ in range(3)]
    np.savez(tmp_path / "in.npz", *graphs)
    words = [tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--method", "pfp-many-to-one"]
    with pytest.raises(InputError, match="has no consensus; use a view's index or 'auto'"):
        run(*words)
    assert run(*words, "--reference", "auto") == 0
    aligner = AnchorAligner(method="pfp-many-to-one", reference="auto").fit(graphs)
    assert any(len(np.unique(p)) < 7 for p in aligner.permutations_)
    with np.load(tmp_path / "out.npz") as read:
        np.testing.assert_array_equal(read["permutations"], aligner.permutations_)
        np.testing.assert_allclose(
            read["fused"], sum(Z @ P for Z, P in zip(graphs, aligner.matrices_, strict=True)) / 3
        )


@pytest.mark.parametrize("weights", ["auto", "3,1,0"])
def test_weights(tmp_path: Path, planted: Any, weights: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Are those of the fused graph; table, JSON and file say what they are."""
    graphs, _ = planted
    graphs[2] = np.random.default_rng(5).dirichlet(np.full(7, 0.2), 120)
    np.savez(tmp_path / "in.npz", *graphs)
    words = [tmp_path / "in.npz", "-o", tmp_path / "out.npz", "--weights", weights]
    assert run(*words) == 0
    assert "weight" in capsys.readouterr().out.splitlines()[0]
    assert run(*words, "--format", "json") == 0
    summary = json.loads(capsys.readouterr().out)
    given: Any = "auto" if weights == "auto" else [3.0, 1.0, 0.0]
    with np.load(tmp_path / "out.npz") as read:
        np.testing.assert_allclose(read["fused"], fuse(graphs, list(read["permutations"]), weights=given))
        assert [view["weight"] for view in summary["views"]] == read["weights"].tolist()
        assert read["weights"].sum() == pytest.approx(1)
        assert read["weights"][2] == min(read["weights"])


def test_a_mask_is_not_written_over(tmp_path: Path, planted: Any) -> None:
    """It is an input."""
    np.savez(tmp_path / "in.npz", *planted[0])
    np.savez(tmp_path / "mask.npz", mask=some_missing())
    with pytest.raises(FileError, match="it is the mask"):
        run(tmp_path / "in.npz", "-o", tmp_path / "mask.npz", "--mask", tmp_path / "mask.npz")


def test_sparse_graphs_that_are_no_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sparse .npz of structured values is refused in one line."""
    parts: dict[str, Any] = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}
    data = np.zeros(2, dtype=[("a", "f8"), ("b", "i4")])
    np.savez(tmp_path / "a.npz", **parts, data=data, format=np.array(b"csr"))
    assert run(tmp_path / "a.npz", "-o", tmp_path / "b.npz", verbosity=0) == 2
    err = capsys.readouterr().err
    assert "values of type" in err
    assert err.count("\n") == 1


def test_max_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The line that refuses a file names the option that allows it, for graphs and masks."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", Z1=rng.random((100, 5)), Z2=rng.random((100, 5)))
    np.save(tmp_path / "mask.npy", np.ones((2, 100)))
    words = [tmp_path / "a.npz", "-o", tmp_path / "b.npz", "--mask", tmp_path / "mask.npy"]
    assert run(*words, "--max-size", "5kB", verbosity=0) == 2
    assert "a.npz: its content takes 8 KB of memory or more, and max_bytes (--max-size) is 5 KB" in _joined(capsys)
    assert run(*words, "--max-size", "9kB", verbosity=0) == 0
    np.save(tmp_path / "mask.npy", np.ones((2, 1000)))
    assert run(*words, "--max-size", "9kB", verbosity=0) == 2
    assert "mask.npy: its content takes 16 KB of memory" in _joined(capsys)


def _joined(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())
