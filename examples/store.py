"""Run scripts again and store what they print in examples/results, where tests compare the pages with it.

    python examples/store.py NAME ... --data DATA
    python examples/store.py --list

DATA is the folder with the data sets (the page "Data" of the docs says where to get them). A stored file has each
command and what it printed. After a run, tests/project/test_numbers.py names the rows of the pages that have changed.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
RESULTS = EXAMPLES / "results"
PAPER = "DATA/3-Sources.npz DATA/UCI-Digit_3v.npz DATA/BDGP_3v.npz"
COMMANDS: dict[str, tuple[str, ...]] = {
    "ablation": (
        f"paper/ablation.py {PAPER} --draws 10 --rotated -j 1 --cache runs --format md",
        "paper/ablation.py DATA/MSRC-v1.npz mfeat --tables own --draws 10 -j 1 --cache runs --format md",
    ),
    "keep_model": ("keep_model.py",),
    "late_fusion": ("late_fusion.py", "late_fusion.py uci-digit"),
    "msgl_order": (
        "paper/msgl_order.py DATA/3-Sources.npz DATA/BBCSport.npz DATA/MSRC-v1.npz DATA/UCI-Digit_3v.npz "
        "--draws 8 --format md",
    ),
    "near_spectral": (
        "near_spectral.py DATA/UCI-Digit_3v.npz DATA/Hdigit.npz DATA/MSRC-v1.npz DATA/BBCSport.npz --draws 3",
    ),
    "power": ("power.py",),
    "real_graphs": (
        "paper/real_graphs.py --data DATA/UCI-Digit_3v.npz --repeats 10",
        "paper/real_graphs.py --repeats 10",
    ),
    "rivals_table": (
        f"paper/rivals_table.py {PAPER} DATA/MSRC-v1.npz DATA/BBCSport.npz --draws 5 --timeout 60 --format md",
    ),
    "running_time": (f"paper/running_time.py {PAPER} DATA/Scene-15.npz DATA/Hdigit.npz --seeds 3 --format md",),
    "simulated_graphs": ("paper/simulated_graphs.py --data DATA/FMVACC_synthetic.npz", "paper/simulated_graphs.py"),
    "simulated_table": (
        "paper/simulated_table.py --repeats 50 --data DATA/FMVACC_synthetic.npz",
        "paper/simulated_table.py --repeats 50",
    ),
    "single_cell": ("single_cell.py",),
    "uneven": ("uneven.py DATA/UCI-Digit_3v.npz DATA/BDGP_3v.npz",),
    "unmatched_samples": ("unmatched_samples.py",),
}


def shown(command: str) -> str:
    """A command as one types it in the folder of the project."""
    return f"python examples/{command}" if command.partition(" ")[0].endswith(".py") else command


def run(command: str, data: Path) -> str:
    """What a command prints, below the command itself."""
    program, *words = (word.replace("DATA/", f"{data}/") for word in shlex.split(command))
    script = [sys.executable, str(EXAMPLES / program)]
    start = script if program.endswith(".py") else [str(Path(sys.executable).with_name(program))]
    done = subprocess.run([*start, *words], stdout=subprocess.PIPE, text=True, check=True)
    return f"$ {shown(command)}\n{done.stdout}"


def main() -> None:
    """Run the named commands, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*COMMANDS, []], metavar="NAME")
    parser.add_argument("--data", type=Path, default=Path(), help="folder of the data sets [this one]")
    parser.add_argument("--list", action="store_true", help="print names and commands, and run nothing")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{name}: {command}" for name, each in COMMANDS.items() for command in each))
        return
    for name in arguments.names:
        text = "\n".join(run(command, arguments.data) for command in COMMANDS[name])
        (RESULTS / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
