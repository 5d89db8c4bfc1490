"""Render README and the pages whose numbers were measured: templates over the stored results.

    python benchmarks/render.py [--check]

Every ``docs/**/*.md.j2`` makes the page beside it; ``docs/README.md.j2`` makes the README. Pictures of a result that
has changed are drawn again. With --check nothing is written: the exit code is 1 if a page differs from what its
template makes, or a picture is not of the stored result.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import formats
import jinja2
import results
from PIL import Image

from anchor_align import list_adapters, list_baselines

ROOT = results.ROOT
IMAGES = results.IMAGES
MARK = "Result"  # key of the text in a picture that says which result it shows


def environment() -> jinja2.Environment:
    """Templates see stored results, functions of the scripts, formats of numbers, and how many methods are built in."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "docs"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  # Markdown, made from our own files
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    functions = {name: getattr(formats, name) for name in vars(formats) if not name.startswith("_")}
    ours = {"adapters": list_adapters().adapters, "baselines": list_baselines()}
    counts = {f"our_{name}": sum(each.distribution == "anchor-align" for each in found) for name, found in ours.items()}
    made.globals |= {**functions, **counts, "result": results.read, "script": results.script, "zip": zip}
    made.filters |= functions
    return made


def rendered(template: Path) -> str:
    """The text of a page."""
    return environment().get_template(template.relative_to(ROOT / "docs").as_posix()).render()


def pictures() -> Iterator[tuple[str, Path, bool]]:
    """Result, file of every picture, and whether it shows the stored numbers."""
    for name in results.names():
        if results.stored(name).exists():
            for file in getattr(results.script(name), "PICTURES", ()):
                path = IMAGES / file
                yield name, path, path.exists() and _mark_of(path) == results.digest(name)


def _mark_of(path: Path) -> str | None:
    with Image.open(path) as picture:
        return picture.info.get(MARK)


def draw(name: str) -> None:
    """Draw the pictures of a result: its script's ``draw`` gives a figure for each file of ``PICTURES``."""
    module = results.script(name)
    for file, figure in module.draw(results.read(name)).items():
        metadata = {"Software": None, MARK: results.digest(name)}
        figure.savefig(IMAGES / file, dpi=150, metadata=metadata, transparent=file.endswith("_dark.png"))


def main() -> int:
    """Render, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if something differs")
    check = parser.parse_args().check
    wrong = []
    for template, page in results.templates().items():
        text = rendered(template)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            wrong.append(f"{page.relative_to(ROOT)} is not what {template.relative_to(ROOT)} makes")
            if not check:
                page.write_text(text, encoding="utf-8")
    for name in dict.fromkeys(name for name, _, fresh in pictures() if not fresh):
        wrong.append(f"the pictures of {name} do not show the stored result")
        if not check:
            draw(name)
    for line in wrong:
        print(line if check else f"{line}: written")
    if check and wrong:
        print("Run: python benchmarks/render.py")
    return int(check and bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
