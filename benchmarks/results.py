"""The stored results, the scripts that make them, and the pages that show them."""

from __future__ import annotations

import hashlib
import importlib
import json
import platform
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from anchor_align import InputError
from anchor_align.data import catalogue

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
IMAGES = ROOT / "examples" / "images"
# Git ignores this folder: unfinished results and the cache of the studies.
WORK = ROOT / "build" / "benchmarks"
FOLDERS = (HERE / "paper", HERE / "speed")


@dataclass(frozen=True)
class Bench:
    """What the ``run`` of a script gets: the folder with the data sets, and a place for what is finished."""

    name: str
    data: Path
    report: Callable[[str], None]

    @property
    def cache(self) -> Path:
        """Folder for the finished runs of studies."""
        return WORK / "runs"

    def path(self, name: str) -> str:
        """A data set of the folder, or a bundled one."""
        file = self.data / f"{name}.npz"
        if not file.exists() and name not in {each.name for each in catalogue()}:
            raise InputError(
                f'{file} does not exist; the page "Data" of the docs says where to get it (--data: its folder).'
            )
        return str(file) if file.exists() else name

    def kept(self, key: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """A part of the result: computed once, also if the script is stopped and started again."""
        file = self._unfinished
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if key not in known:
            known[key] = rounded(compute(*arguments))
            WORK.mkdir(parents=True, exist_ok=True)
            written = file.with_suffix(".part")
            written.write_text(json.dumps(known), encoding="utf-8")
            written.replace(file)  # whole, wherever the script is stopped
            self.report(f"{self.name}: {key}")
        return known[key]

    def picture(self, file: str, png: bytes) -> None:
        """Write a picture of a fit, which cannot be drawn from the stored numbers."""
        (IMAGES / file).write_bytes(png)

    def store(self, result: Mapping[str, Any], minutes: float) -> None:
        """Write the result, to four decimals, with what it was made with."""
        made_with = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
        whole = {"environment": {"python": platform.python_version(), **made_with}, "minutes": round(minutes, 1)}
        RESULTS.mkdir(exist_ok=True)
        stored(self.name).write_text(as_text(rounded({**whole, **result})), encoding="utf-8")
        self._unfinished.unlink(missing_ok=True)

    @property
    def _unfinished(self) -> Path:
        return WORK / f"{self.name}.json"


def rounded(value: Any) -> Any:
    """The same value with all floats to four decimals, or four digits if they are small."""
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return round(value, 4) if abs(value) >= 1 else float(f"{value:.4g}")
    return value


def as_text(result: Mapping[str, Any]) -> str:
    """JSON with a line for each record, so that a change of a result can be read."""

    def line(value: Any) -> str:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)

    def block(value: Any) -> str:
        if isinstance(value, Mapping) and value:
            return "{\n" + ",\n".join(f"  {line(key)}: {line(each)}" for key, each in value.items()) + "\n }"
        if isinstance(value, list) and value and isinstance(value[0], list | Mapping):
            return "[\n" + ",\n".join(f"  {line(each)}" for each in value) + "\n ]"
        return line(value)

    return "{\n" + ",\n".join(f" {line(key)}: {block(value)}" for key, value in result.items()) + "\n}\n"


def stored(name: str) -> Path:
    """File of a result."""
    return RESULTS / f"{name}.json"


def read(name: str) -> Any:
    """A stored result."""
    return json.loads(stored(name).read_text(encoding="utf-8"))


def digest(name: str) -> str:
    """Mark of the numbers of a stored result, which its pictures carry."""
    numbers = {key: value for key, value in read(name).items() if key not in ("environment", "minutes")}
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]


def names() -> list[str]:
    """All results that a script makes, in the order of the folders."""
    return [path.stem for folder in FOLDERS for path in sorted(folder.glob("*.py")) if "\ndef run(" in path.read_text()]


def script(name: str) -> ModuleType:
    """The script that makes a result."""
    for folder in (HERE, *FOLDERS):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return importlib.import_module(name)


def about(name: str) -> str:
    """First paragraph of a script."""
    found = re.match(r'"""(.*?)(?:\n\n|""")', _text(name), re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def duration(name: str) -> str:
    """How long a result takes: as it did, or as ``MINUTES`` of its script estimates."""
    made = read(name) if stored(name).exists() else {}
    if made.get("minutes") is not None:
        return f"{made['minutes']:.0f} min" if made["minutes"] >= 1 else "< 1 min"
    estimate = re.search(r"^MINUTES = (\d+)", _text(name), re.MULTILINE)
    return f"about {estimate[1]} min" if estimate else "not measured"


def _text(name: str) -> str:
    (path,) = (folder / f"{name}.py" for folder in FOLDERS if (folder / f"{name}.py").exists())
    return path.read_text(encoding="utf-8")


def templates() -> dict[Path, Path]:
    """Every template and the page that it makes."""
    found = sorted((ROOT / "docs").rglob("*.md.j2"))
    return {path: ROOT / "README.md" if path.name == "README.md.j2" else path.with_suffix("") for path in found}


def pages(name: str) -> list[str]:
    """Pages that show a result."""
    use = re.compile(rf"""result\(\s*["']{re.escape(name)}["']\s*\)""")
    return [
        page.relative_to(ROOT).as_posix()
        for template, page in templates().items()
        if use.search(template.read_text(encoding="utf-8"))
    ]
