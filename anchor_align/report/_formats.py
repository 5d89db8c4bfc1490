"""A study's result as text, in any of the formats of the command line."""

from __future__ import annotations

from ..errors import unknown_name
from ..study import StudyResult
from ._formats_data import to_csv, to_json
from ._formats_latex import to_latex
from ._formats_markdown import to_markdown
from ._tables import plain_table

FORMATS = ("table", "json", "csv", "md", "latex")


def render(result: StudyResult, format: str, *, width: int = 80) -> str:
    """Write a study's result in one of the formats.

    Parameters
    ----------
    result : StudyResult
    format : {"table", "json", "csv", "md", "latex"}
        ``table``: plain text, no wider than ``width``; for the terminal, with bold, see ``study_table``.
        ``json``: all records, summaries and where they come from, in ASCII. ``csv``: one row for every record, without
        times, so that equal studies give equal files. ``md``: tables for GitHub. ``latex``: tables for booktabs.
    width : int, default=80
        Columns of ``table``.

    Returns
    -------
    str
        Ends with a line break.

    Examples
    --------
    >>> from anchor_align.study import Record, Setting, StudyResult
    >>> scores = {"acc": 0.5, "nmi": 0.4, "purity": 0.5, "fscore": 0.3, "ari": 0.2}
    >>> record = Record(Setting("digits", "lmvsc", 10, 0.1), "aligned", 0, 7, scores, 1.0)
    >>> result = StudyResult("compare", (record,), (), (), (), "acc", 1, 0, "consensus", "anchor-align compare lmvsc")
    >>> print(render(result, "csv"), end="")
    dataset,adapter,params,n_anchors,lam,arm,repeat,seed,acc,nmi,purity,fscore,ari,objective,upper_bound,status,reason
    digits,lmvsc,,10,0.1,aligned,0,7,0.5,0.4,0.5,0.3,0.2,,,done,
    """
    if format == "table":
        return plain_table(result, width)
    writers = {"json": to_json, "csv": to_csv, "md": to_markdown, "latex": to_latex}
    if format not in writers:
        raise unknown_name("format", format, FORMATS)
    return writers[format](result)
