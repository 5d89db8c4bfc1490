"""Tables in files: names of samples, separators, decimal marks, headers, compression, and files larger than memory."""

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchor_align import load_views
from anchor_align.errors import FileError, InputError, UnknownNameError

X = np.random.default_rng(0).normal(size=(20, 3)).round(4)
NAMES = [f"s{i}" for i in range(20)]
FRAME = pd.DataFrame(X, index=NAMES, columns=["a", "b", "c"])
LINES = [" ".join(map(str, row)) for row in X]

TEXTS: dict[str, str] = {
    "index": FRAME.to_csv(),
    "named index": FRAME.to_csv(index_label="cell"),
    "no header": FRAME.to_csv(header=False),
    "tab": FRAME.to_csv(sep="\t"),
    "decimal comma": FRAME.to_csv(sep=";", decimal=","),
    "decimal comma, no header": FRAME.to_csv(sep=";", decimal=",", header=False),
    "tab and comma": FRAME.to_csv(sep="\t", decimal=","),
    "quoted": FRAME.to_csv(quoting=1),
    "write.csv of R": FRAME.to_csv(index_label=""),
    "write.table of R": "\n".join(['"a" "b" "c"', *(f'"s{i}" {line}' for i, line in enumerate(LINES))]),
    "short header": "\n".join(["a,b,c", *(f"s{i},{line}".replace(" ", ",") for i, line in enumerate(LINES))]),
    "counted columns": FRAME.set_axis(range(3), axis=1).to_csv(index_label="name"),
    "separators at all ends": FRAME.to_csv(index_label="id").replace("\n", ",,\n"),
    "separators at the ends of rows": FRAME.to_csv(index_label="id").replace("\n", ",\n").replace("c,\n", "c\n"),
    "empty rows at the end": FRAME.to_csv(index_label="who") + ",,,\n,,,\n",
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_tables_as_programs_write_them(tmp_path: Path, case: str) -> None:
    """The first column has the names of the samples, the others the numbers."""
    (tmp_path / "x.csv").write_text(TEXTS[case])
    data = load_views(tmp_path / "x.csv")
    np.testing.assert_array_equal(data.views[0], X)
    assert data.samples == tuple(NAMES)


def test_names_with_separators_and_given_separators(tmp_path: Path) -> None:
    """Quoted names may hold the separator; sep and decimal decide where the loader cannot."""
    names = [f"s, {i}" for i in range(20)]
    FRAME.set_axis(names).to_csv(tmp_path / "x.csv")
    assert load_views(tmp_path / "x.csv").samples == tuple(names)
    FRAME.to_csv(tmp_path / "x.csv", sep="|", decimal=",")
    data = load_views(tmp_path / "x.csv", sep="|", decimal=",")
    np.testing.assert_array_equal(data.views[0], X)
    for options in ({"sep": ",", "decimal": ","}, {"sep": "ab"}, {"decimal": "x"}):
        with pytest.raises(InputError, match=r"sep|decimal"):
            load_views(tmp_path / "x.csv", **options)  # type: ignore[arg-type]


def write(frame: pd.DataFrame, path: Path, **options: Any) -> Path:
    """A table in the format of the ending: text with tabs if it is not .csv or .parquet."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="," if path.suffix == ".csv" else "\t", **options)
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "parquet"])
def test_rows_of_tables_are_samples(tmp_path: Path, ending: str) -> None:
    """Where sizes leave it open, too, with a note; unless the user says that they are columns."""
    square = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 12))).rename(columns="c{}".format)
    files = [write(square + i, tmp_path / f"{name}.{ending}", header=False, index=False) for i, name in enumerate("ab")]
    for source in (files, tmp_path):
        data = load_views(source)
        np.testing.assert_allclose(data.views[1], square + 1)
        assert any(note.kind == "orientation" and "--orient columns" in note.text for note in data.notes)
        np.testing.assert_allclose(load_views(source, orient="columns").views[1], square.T + 1)
    assert load_views(files[0]).views[0].shape == (12, 12)
    longer = write(square.iloc[:9], tmp_path / f"c.{ending}", header=False, index=False)
    with pytest.raises(InputError, match=r"view 'c' \(9 x 12\) has 9 samples; view 'a' has 12\..*--orient columns"):
        load_views([files[0], longer])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("genes", ["other", "some", "same"])
def test_samples_that_are_columns_of_all_tables_are_asked_for(tmp_path: Path, ending: str, genes: str) -> None:
    """Equal heads of all tables, with the labels of the samples beside them or not: the message names --orient."""
    names = {"other": [f"m{i}" for i in range(30)], "some": [f"g{i}" for i in range(9, 39)]}
    expression = pd.DataFrame(np.random.default_rng(0).random((30, 9)), [f"g{i}" for i in range(30)], list("rstuvwxyz"))
    files = [write(expression, tmp_path / f"a.{ending}")]
    files += [write(expression.set_axis(names.get(genes, expression.index)) ** 2, tmp_path / f"b.{ending}")]
    expected = "The heads of the columns are the same in all tables; if samples are in columns, say orient='columns'"
    if genes == "same":
        assert any(expected in str(note) for note in load_views(files).notes)
    else:
        known = pd.DataFrame({"id": expression.columns, "kind": ["one", "two", "two"] * 3})
        for labelled in (False, True):
            if labelled:
                known.to_csv(tmp_path / "known.csv", index=False)
            for source in (files, tmp_path):
                with pytest.raises(InputError, match=re.escape(expected)):
                    load_views(source)
    data = load_views(files, orient="columns")
    assert data.samples == tuple(expression.columns)
    assert not any("if samples are in columns" in str(note) for note in data.notes)


def test_spreadsheets_are_named_with_the_way_out(tmp_path: Path) -> None:
    """Alone and in a list they are refused; in a folder of tables they are noted as not read."""
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    FRAME.to_csv(tmp_path / "a.csv")
    for source in (tmp_path / "b.xlsx", [tmp_path / "a.csv", tmp_path / "b.xlsx"]):
        with pytest.raises(InputError, match=r"b\.xlsx is a spreadsheet.*save each sheet as a \.csv file"):
            load_views(source)
    data = load_views(tmp_path)
    assert data.names == ["a"]
    assert any("'b.xlsx'" in str(note) for note in data.notes)


FIELDS: list[tuple[str, dict[str, Any], str]] = [
    (FRAME.assign(sex="male").to_csv(), {}, "has 'male' in column 'sex'"),
    (FRAME.to_csv(decimal=","), {"sep": ","}, "in column 'a'; expected a number; decimal=',' (--decimal ,)"),
    (FRAME.rename(index={"s3": "s4"}).to_csv(index_label="id"), {}, "1 of 20 are repeated, such as 's4'"),
    (FRAME.to_csv(sep="|"), {}, "'x' has one column of words, such as '|a|b|c'; expected numbers"),
    ("Results of 2020\n" + FRAME.to_csv(), {}, "line 2 of those that are not empty, has 4 fields"),
]


@pytest.mark.parametrize(("text", "options", "message"), FIELDS)
def test_fields_that_are_no_numbers(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    """The message names the column by its head, or what is wrong with all of them; no listed file is passed over."""
    (tmp_path / "x.csv").write_text(text)
    FRAME.to_csv(tmp_path / "y.csv")
    with pytest.raises(InputError, match=re.escape(message)):
        load_views([tmp_path / "y.csv", tmp_path / "x.csv"], **options)


def test_quoted_decimal_commas_between_commas(tmp_path: Path) -> None:
    """As spreadsheets write them where the decimal mark is a comma, are read with decimal=','."""
    FRAME.to_csv(tmp_path / "x.csv", decimal=",", quoting=1)
    np.testing.assert_array_equal(load_views(tmp_path / "x.csv", decimal=",").views[0], X)


@pytest.mark.parametrize("header", [True, False])
def test_a_first_column_of_decimal_commas_is_no_column_of_names(tmp_path: Path, header: bool) -> None:
    """It has numbers, with a header and without."""
    FRAME.to_csv(tmp_path / "x.csv", sep=";", decimal=",", index=False, header=header)
    data = load_views(tmp_path / "x.csv")
    np.testing.assert_array_equal(data.views[0], X)
    assert data.samples is None


@pytest.mark.parametrize("head", ["patient_id", "PatientID"])
def test_numbers_headed_as_ids_pair_the_samples(tmp_path: Path, head: str) -> None:
    """They are no feature, and decide which rows belong together."""
    numbered = FRAME.set_axis(range(1001, 1021)).rename_axis(head)
    numbered.to_csv(tmp_path / "a.csv")
    numbered[::-1].to_csv(tmp_path / "b.csv")
    data = load_views([tmp_path / "a.csv", tmp_path / "b.csv"])
    np.testing.assert_array_equal(data.views[0], X)
    np.testing.assert_array_equal(data.views[1], X)


def test_compressed_tables(tmp_path: Path) -> None:
    """Are decompressed within the limit; a damaged one gives one sentence."""
    FRAME.to_csv(tmp_path / "x.tsv.gz", sep="\t")
    data = load_views([tmp_path / "x.tsv.gz"])
    assert (data.names, data.samples) == (["x"], tuple(NAMES))
    content = (tmp_path / "x.tsv.gz").read_bytes()
    (tmp_path / "x.tsv.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"x\.tsv\.gz"):
        load_views(tmp_path / "x.tsv.gz")
    with gzip.open(tmp_path / "bomb.csv.gz", "wb", 1) as file:
        file.write(b"0,0\n" * 2**20)
    with pytest.raises(FileError, match=r"takes 3\.15 MB of memory or more, and max_bytes"):
        load_views(tmp_path / "bomb.csv.gz", max_bytes="2MiB")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columnar_tables(tmp_path: Path, ending: str) -> None:
    """Names keep their type; columns of names and of labels are found by their heads, or named."""
    path = tmp_path / f"x.{ending}"
    table = FRAME.assign(label=["u", "v"] * 10, number=range(100, 120)).rename_axis("sample")
    if ending == "parquet":
        table.to_parquet(path)
    else:
        table.reset_index().to_feather(path)
    data = load_views(path, index=None)
    assert (data.samples, data.n_clusters, data.views[0].shape) == (tuple(NAMES), 2, (20, 4))
    renamed = load_views(path, index="number", views="x") if ending == "parquet" else data
    assert renamed.samples in (tuple(range(100, 120)), tuple(NAMES))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=f"x.{ending}"):
        load_views(path)


def test_parquet_by_groups_of_rows(tmp_path: Path) -> None:
    """With mmap=True numbers go to a file, also if samples are joined; missing numbers become NaN."""
    a, b = FRAME, FRAME[::-1].iloc[3:].astype("float32")
    a.to_parquet(tmp_path / "a.parquet", row_group_size=7)
    b.to_parquet(tmp_path / "b.parquet", row_group_size=7)
    data = load_views([tmp_path / "a.parquet", tmp_path / "b.parquet"], mmap=True, join="outer")
    assert all(isinstance(view, np.memmap) for view in data.views)
    assert data.views[1].dtype == np.float32
    assert data.mask is not None
    np.testing.assert_array_equal(data.views[1][data.mask[1]], X[:17].astype("float32"))
    whole = pd.DataFrame({"a": pd.array([1, None] * 10, dtype="Int64"), "b": range(20)}, index=NAMES)
    whole.to_parquet(tmp_path / "a.parquet")
    read = load_views(tmp_path / "a.parquet", mmap=True).views[0]
    np.testing.assert_array_equal(read, np.column_stack([[1, np.nan] * 10, np.arange(20)]))


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Three tables in different orders; each lacks some samples. Labels are in a file of their own."""
    parts = {"a": FRAME[2:], "b": 2 * FRAME[::-1].iloc[1:], "c": 3 * FRAME.sample(frac=1, random_state=0)}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv")
    pd.DataFrame({"id": NAMES[::-1], "label": range(20)}).to_csv(tmp_path / "labels.csv", index=False)
    return [tmp_path / f"{name}.csv" for name in (*"abc", "labels")]


@pytest.mark.parametrize("join", ["inner", "outer"])
def test_files_are_joined_by_name(tables: list[Path], join: str) -> None:
    """From a list and from a folder; labels follow their samples."""
    for source in (tables, tables[0].parent):
        data = load_views(source, join=join)
        assert data.names == ["a", "b", "c"]
        assert data.samples is not None
        at = [int(str(name)[1:]) for name in data.samples]
        assert sorted(at) == (list(range(2, 19)) if join == "inner" else list(range(20)))
        mask = np.ones((3, len(at)), dtype=bool) if data.mask is None else data.mask
        for times, (view, present) in enumerate(zip(data.views, mask, strict=True)):
            np.testing.assert_allclose(view[present], (times + 1) * X[at][present])
        assert data.labels is not None
        assert np.corrcoef(data.labels, at)[0, 1] == pytest.approx(-1)


def test_different_samples_are_counted(tables: list[Path]) -> None:
    """The message says what both joins would keep; labels that are missing are an error, too."""
    with pytest.raises(InputError, match=r"2 of 19 names of view 'b' are not in view 'a'.* the 17 samples .* all 20"):
        load_views(tables)
    pd.DataFrame({"id": NAMES[5:], "label": range(15)}).to_csv(tables[-1], index=False)
    with pytest.raises(InputError, match=r"'labels' lacks labels for 5 of 20 samples, such as 's[0-4]'"):
        load_views(tables, join="outer")
    assert load_views(tables, join="inner").n_samples == 14
    assert load_views(tables, join="outer", labels=False).n_samples == 20
    np.savetxt(tables[-1], np.arange(20) + 5, fmt="%d")
    with pytest.raises(InputError, match="labels 'labels' have no names of samples"):
        load_views(tables, join="outer")


def test_names_in_one_file_only(tables: list[Path]) -> None:
    """Are refused; without names, rows are paired by position."""
    FRAME.iloc[:, :2].to_csv(tables[1], index=False)
    with pytest.raises(InputError, match=r"View 'c' has names of samples, .* view 'b' has none.*--no-index"):
        load_views([tables[2], tables[1]])
    data = load_views([tables[2], tables[1]], index=False, orient="rows")
    assert (data.samples, data.n_samples) == (None, 20)
    with pytest.raises(InputError, match="by name, and the rows have no names; index= "):
        load_views([tables[2], tables[1]], index=False, orient="rows", join="outer")
    FRAME.set_axis(["x"] * 20).to_csv(tables[1], index_label="kind")
    with pytest.raises(InputError, match=r"Column 'kind' of .* has words, and 19 of 20 are repeated"):
        load_views([tables[2], tables[1]])
    with pytest.raises(UnknownNameError, match=r"Unknown column of c.csv \(index=, --index\) 'who'"):
        load_views([tables[2]], index="who")


def test_numbers_and_text_as_names(tmp_path: Path) -> None:
    """A text file has no types: its 1 is the 1 of a parquet file; two parquet files that differ are refused."""
    numbered = FRAME.set_axis(range(20))
    numbered.to_csv(tmp_path / "a.csv")
    numbered[::-1].to_parquet(tmp_path / "b.parquet")
    data = load_views([tmp_path / "a.csv", tmp_path / "b.parquet"])
    np.testing.assert_array_equal(data.views[0], data.views[1])
    numbered.set_axis([str(i) for i in range(20)]).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="by numbers, such as 19, and view 'c' by text, such as '0'"):
        load_views([tmp_path / "b.parquet", tmp_path / "c.parquet"])


def test_samples_in_columns(tmp_path: Path) -> None:
    """With orient='columns' the heads are the names of the samples."""
    FRAME.T.to_csv(tmp_path / "genes.csv")
    FRAME.T.iloc[:2, ::-1].to_csv(tmp_path / "sites.csv")
    data = load_views(tmp_path, orient="columns")
    assert data.samples == tuple(NAMES)
    np.testing.assert_array_equal(data.views[1], X[:, :2])
    assert [view.shape for view in data.views] == [(20, 3), (20, 2)]


LISTS: list[tuple[Any, str]] = [
    ([], "list of files"),
    ([3], "list of files"),
    (["absent.csv"], "absent.csv does not exist"),
    (["a.csv", "a.csv"], "given 2 times"),
    (["."], "is a folder"),
    (["labels.csv"], "hold labels and no views"),
]


@pytest.mark.parametrize(("paths", "message"), LISTS)
def test_lists_that_cannot_be_read(
    tables: list[Path], monkeypatch: pytest.MonkeyPatch, paths: list[Any], message: str
) -> None:
    """Give one sentence that names the file."""
    monkeypatch.chdir(tables[0].parent)
    with pytest.raises((InputError, FileError), match=message):
        load_views(paths)


@pytest.mark.parametrize("name", ["lab", "target", "clusters"])
def test_a_listed_table_is_a_view_although_its_name_is_that_of_labels(tmp_path: Path, name: str) -> None:
    """Laboratory values in lab.csv are a view: only a table that holds labels is taken for labels."""
    FRAME.to_csv(tmp_path / f"{name}.csv")
    FRAME[::-1].to_csv(tmp_path / "rna.csv")
    data = load_views([tmp_path / f"{name}.csv", tmp_path / "rna.csv"])
    assert (data.names, data.labels) == ([name, "rna"], None)
    np.testing.assert_array_equal(data.views[0], data.views[1])


def test_text_that_is_not_utf8_says_where_and_what_to_do(tmp_path: Path) -> None:
    """Excel writes the code page of the computer unless it is told otherwise."""
    path = tmp_path / "a.csv"
    path.write_bytes(FRAME.rename(index={"s3": "Müller"}).to_csv().encode("cp1252"))
    with pytest.raises(FileError, match=r"line 5 is not text in UTF-8 \(byte 0xfc\); save the file in UTF-8, in Excel"):
        load_views(path)


def test_a_listed_file_with_other_content_is_named(tmp_path: Path) -> None:
    """As in a folder: bytes, or UTF-16, under the name of a table."""
    FRAME.to_csv(tmp_path / "a.csv")
    FRAME.to_csv(tmp_path / "b.csv", encoding="utf-16")
    with pytest.raises(FileError, match=r"b.csv: its content is not that of text in UTF-8"):
        load_views([tmp_path / "a.csv", tmp_path / "b.csv"])
