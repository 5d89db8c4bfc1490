"""Names of the formats that reports are written in. Imports nothing: the command line reads them for its help."""

from __future__ import annotations

FORMATS = ("table", "json", "csv", "md", "latex")
FIGURE_FORMATS = ("png", "svg", "pdf")
# Files of a folder with results.
FILE_FORMATS = {"results.json": "json", "records.csv": "csv", "summary.md": "md", "summary.tex": "latex"}
# Files of labels by sample name.
LABEL_FORMATS = ("csv", "parquet", "json", "npy")
