"""What those examples print whose results the guides show.

The lines are stored as they are; the numbers of the pages are taken from them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import Any

from formats import share
from results import ROOT, Bench

MINUTES = 3
# By a name for the pages; a word {NAME} is a data set.
COMMANDS = {
    "keep_model": "keep_model.py",
    "late_fusion digits": "late_fusion.py digits",
    "late_fusion uci-digit": "late_fusion.py uci-digit",
    "single_cell": "single_cell.py",
    "uneven": "uneven.py {UCI-Digit_3v} {BDGP_3v} --draws 5",
    "unmatched_samples": "unmatched_samples.py",
}


def printed(command: str, bench: Bench) -> list[str]:
    """The lines that a command prints."""
    script, *words = shlex.split(command)
    words = [bench.path(word.strip("{}")) if word.startswith("{") else word for word in words]
    program = [sys.executable, str(ROOT / "examples" / script), *words]
    return subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def run(bench: Bench) -> dict[str, Any]:
    """The command and the lines of every output."""
    outputs = {
        name: {"command": command, "lines": bench.kept(name, printed, command, bench)}
        for name, command in COMMANDS.items()
    }
    return {"outputs": outputs}


def numbers(result: Any, name: str, words: str) -> list[list[float]]:
    """Numbers of every line of an output that has these words, without those in the words."""
    lines = [line.replace(words, "") for line in result["outputs"][name]["lines"] if words in line]
    return [[float(each) for each in re.findall(r"\d+(?:\.\d+)?", line)] for line in lines]


def tables(result: Any, name: str) -> list[str]:
    """The Markdown tables of an output, with the names of data sets as in sentences."""
    return "\n".join(result["outputs"][name]["lines"]).replace(" 3v", "").split("\n\n")


def higher(markdown: str, column: int, other: int) -> str:
    """In how many rows of a table of means and deviations one column has the higher mean."""
    means = [re.findall(r"([\d.]+) ±", line) for line in markdown.splitlines()[2:]]
    return share(sum(float(row[column]) > float(row[other]) for row in means), len(means))
