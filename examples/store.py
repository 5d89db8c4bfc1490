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
# Made by other_sets.py; --data is its folder.
OTHER = (
    "DATA/satimage.npz DATA/texture.npz DATA/movement_libras.npz DATA/penbased.npz DATA/segment.npz DATA/letter.npz "
    "DATA/leaf.npz DATA/speech.npz DATA/cells.npz DATA/mice.npz DATA/motions.npz DATA/vowels.npz DATA/mnist-5k.npz"
)
PAIRS = "--data digits DATA/UCI-Digit_3v.npz DATA/MSRC-v1.npz DATA/BDGP_3v.npz --anchors 2 1 5 --repeats 5"
SHUFFLED = (
    "DATA/FMVACC_synthetic.npz DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/BBCSport.npz DATA/UCI-Digit_3v.npz "
    "DATA/BDGP_3v.npz DATA/100Leaves.npz DATA/Scene-15.npz digits"
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "aligned_or_concat": (
        "aligned_or_concat.py DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/BBCSport.npz DATA/UCI-Digit_3v.npz "
        "DATA/BDGP_3v.npz DATA/Scene-15.npz DATA/100Leaves.npz DATA/Hdigit.npz mfeat --draws 10",
    ),
    "convergence": (f"paper/convergence.py {PAIRS}", f"paper/convergence.py {PAIRS} --adapter lmvsc"),
    "keep_model": ("keep_model.py",),
    "late_fusion": ("late_fusion.py", "late_fusion.py uci-digit"),
    "lam_of_local": (
        "anchor-align compare local --data DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/BBCSport.npz DATA/UCI-Digit_3v.npz "
        "DATA/BDGP_3v.npz DATA/Scene-15.npz DATA/100Leaves.npz DATA/Hdigit.npz mfeat --lam 0 0.1 1 --repeats 20 "
        "--format md --no-cache",
    ),
    "local_defaults": (
        "local_defaults.py simulated DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/BBCSport.npz DATA/UCI-Digit_3v.npz "
        "DATA/BDGP_3v.npz DATA/Scene-15.npz mfeat --draws 5",
        "local_defaults.py simulated DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/UCI-Digit_3v.npz DATA/BBCSport.npz "
        "--draws 3 --parts",
    ),
    "n_clusters": (
        "n_clusters.py DATA/UCI-Digit_3v.npz simulated breast-cancer digits DATA/3-Sources.npz DATA/MSRC-v1.npz "
        "DATA/BBCSport.npz DATA/BDGP_3v.npz DATA/Hdigit.npz --sample 600 --draws 2",
    ),
    "near_spectral": (
        "near_spectral.py DATA/UCI-Digit_3v.npz DATA/Hdigit.npz DATA/MSRC-v1.npz DATA/BBCSport.npz --draws 3",
    ),
    "other_sets": (f"worth.py {OTHER} --draws 5 --jobs 2", f"scale_choice.py {OTHER} --draws 5"),
    "power": ("power.py",),
    "scale_choice": (
        "scale_choice.py DATA/FMVACC_synthetic.npz DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/BBCSport.npz "
        "DATA/UCI-Digit_3v.npz DATA/BDGP_3v.npz DATA/Scene-15.npz DATA/100Leaves.npz DATA/Hdigit.npz "
        "DATA/MNIST-60k_4v_constructed.npz mfeat digits breast-cancer --draws 5",
    ),
    "scales": (
        "anchor-align compare lmvsc fmvacc --data DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/BBCSport.npz "
        "DATA/UCI-Digit_3v.npz DATA/BDGP_3v.npz --set lmvsc.scale=unit,spread fmvacc.scale=unit,standard --repeats 3 "
        "--format md --no-cache",
    ),
    "sensitivity": (
        "paper/sensitivity.py --repeats 10",
        "paper/sensitivity.py --repeats 10 --data DATA/UCI-Digit_3v.npz",
        "paper/sensitivity.py --repeats 10 --data DATA/UCI-Digit_3v.npz --reference consensus",
        "paper/sensitivity.py --repeats 10 --data DATA/3-Sources.npz",
        "paper/sensitivity.py --repeats 10 --data DATA/BDGP_3v.npz",
        "paper/sensitivity.py --repeats 10 --anchors 2k --reference consensus",
    ),
    "settings": (
        "settings.py simulated digits breast-cancer DATA/3-Sources.npz DATA/MSRC-v1.npz DATA/UCI-Digit_3v.npz "
        "DATA/BBCSport.npz DATA/Hdigit.npz DATA/BDGP_3v.npz DATA/Scene-15.npz --sample 600 --draws 3",
    ),
    "shuffled_rows": (
        f"shuffled_rows.py {SHUFFLED} --draws 3",
        f"shuffled_rows.py {SHUFFLED} --draws 3 --as-they-stand",
        "shuffled_rows.py DATA/Hdigit.npz DATA/MNIST-60k_4v_constructed.npz --adapters local lmvsc fmvacc --draws 2",
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
