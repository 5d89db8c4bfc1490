"""The picture of the tutorial, made by its own code: ``python docs/_tools/tutorial_picture.py``."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from anchor_align.report import figure_bytes, plot_fusion

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Run the blocks of Python in a new folder, and draw the clusterer that they fit."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for code in re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
            exec(code, names)  # noqa: S102  # code of our own page
        os.chdir(ROOT)
    for ending, theme in (("", "light"), ("_dark", "dark")):
        figure = plot_fusion(names["clusterer"], names["data"].labels, theme=theme)
        (ROOT / "examples" / "images" / f"tutorial{ending}.png").write_bytes(figure_bytes(figure, dpi=160))


if __name__ == "__main__":
    main()
