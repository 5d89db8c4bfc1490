"""The house: folders import each other's faces only, in the order that CONTRIBUTING draws, and never in a circle."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import anchor_align

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"anchor_align": ROOT / "anchor_align", "anchor_align_adapters": ROOT / "adapters" / "anchor_align_adapters"}
# What adapters may import besides the names of anchor_align itself: the modules that the API pages document.
PUBLIC = {
    "anchor_align",
    *(f"anchor_align.{name}" for name in ("blocks", "kmeans", "checks", "errors", "arrays", "data", "metrics")),
}


def modules() -> dict[str, Path]:
    """All modules of both packages, by their dotted name."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(name: str) -> Iterator[tuple[str, str]]:
    """Our modules that a module imports, anywhere in it, and the imported name."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                deep = f"{source}.{alias.name}"
                target = deep if deep in MODULES else source
                if target in MODULES:
                    yield target, alias.name


def room(module: str) -> str:
    """Folder of anchor_align that a module is in, or its own name if it is directly in the package."""
    return module.split(".")[1] if "." in module else module


def drawing() -> tuple[set[str], dict[str, set[str]]]:
    """Files that everybody may import, and the folders that each folder may import."""
    (text,) = re.findall(r"```text\n(errors, .*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL)
    files, *lines = text.strip().splitlines()
    allowed = {}
    for line in lines:
        folder, arrow, lower = line.partition("->")
        assert arrow, f"no arrow in {line!r}"
        allowed[folder.strip()] = {each.strip() for each in lower.split(",") if each.strip()}
    return {each.strip() for each in files.split(",")}, allowed


def test_the_drawing_has_every_folder_and_no_circle() -> None:
    """Lowest first: a folder is drawn after all that it imports."""
    files, allowed = drawing()
    folder = PACKAGES["anchor_align"]
    assert files == {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert set(allowed) == {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}
    drawn: set[str] = set()
    for name, lower in allowed.items():
        assert lower <= drawn, f"{name} is drawn before {lower - drawn}"
        drawn.add(name)


def test_folders_import_what_the_drawing_says_and_nothing_else() -> None:
    """Every edge is drawn, and every drawn edge is used; nothing imports the package's own face but its version."""
    files, allowed = drawing()
    used: dict[str, set[str]] = {name: set() for name in allowed}
    for module in MODULES:
        if not module.startswith("anchor_align."):
            continue
        for target, name in imports(module):
            if target == "anchor_align":
                assert name == "__version__", f"{module} imports {name} from the face of the whole package"
            elif room(module) != room(target) and room(target) not in files:
                assert room(module) in used, f"{module} is a file that everybody imports; it imports {target}"
                used[room(module)].add(room(target))
    assert used == allowed


def test_no_import_reaches_past_a_face() -> None:
    """Other folders import a folder, never a module in it; only the engines are found by an entry point."""
    for module in MODULES:
        for target, _ in imports(module):
            if not module.startswith("anchor_align_adapters"):
                assert not target.startswith("anchor_align_adapters"), f"{module} imports the adapters"
            if room(module) != room(target) and module.startswith("anchor_align."):
                assert target.count(".") <= 1, f"{module} reaches past the face of {room(target)}: {target}"
                assert room(target) != "engines", f"{module} imports an engine"


def test_no_circle_of_modules() -> None:
    """Also of imports inside functions, and of those for types."""
    graph = {module: {target for target, _ in imports(module) if target != module} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_adapters_import_public_names_only() -> None:
    """As anybody's would: names of the package, and of the modules that the API pages document."""
    for module in MODULES:
        if module.startswith("anchor_align_adapters"):
            for target, name in imports(module):
                if target.startswith("anchor_align_adapters"):
                    continue
                assert target in PUBLIC, f"{module} imports {name} from {target}"
                if target == "anchor_align":
                    assert name in dir(anchor_align)


def test_the_stub_lists_the_names_that_are_loaded_on_first_use() -> None:
    """Type checkers see what users import, from the same place."""
    stub = ast.parse((PACKAGES["anchor_align"] / "__init__.pyi").read_text())
    listed = {(node.module, each.name) for node in stub.body if isinstance(node, ast.ImportFrom) for each in node.names}
    assert listed == {(home, name) for home, names in anchor_align._HOMES.items() for name in names}  # type: ignore[attr-defined]


def test_at_most_twenty_entries_at_the_top() -> None:
    """A newcomer sees the whole plan at one glance."""
    entries = [path.name for path in PACKAGES["anchor_align"].iterdir() if path.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= 20


@pytest.mark.slow
def test_a_fit_by_name_imports_neither_command_line_nor_report_nor_dask() -> None:
    """What a fit does not use costs nothing."""
    code = (
        "import sys\n"
        "from anchor_align import AlignedClusterer, load_views\n"
        "AlignedClusterer('lmvsc', n_clusters=10, random_state=0).fit(load_views('digits').views)\n"
        "print(sorted({'anchor_align.cli', 'anchor_align.report', 'matplotlib', 'dask'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
