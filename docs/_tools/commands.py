"""Reference of the command line, made from its parser: ``python docs/_tools/commands.py`` writes docs/commands.md."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable
from pathlib import Path

from anchor_align.cli import build_parser

PAGE = Path(__file__).resolve().parents[1] / "commands.md"
WIDTH = 120
BEGINNING = """# Commands

*This page is made from the command line's own help by `python docs/_tools/commands.py`.*

The result goes to stdout; progress, notes and warnings go to stderr. Exit codes: 0 done, 1 a run failed or a result
could not be written, 2 wrong use, 130 interrupted (finished runs are kept, and the same command goes on). Defaults are
in brackets. `-h` and `-v` can stand after a command, too."""


def main() -> None:
    """Write the page."""
    PAGE.write_text(reference(), encoding="utf-8")


def reference() -> str:
    """The page."""
    parser = build_parser()
    (commands,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    summaries = {action.dest: action.help for action in commands._choices_actions}
    parts = [BEGINNING, _table("command", ((f"[`{name}`](#{name})", summaries[name]) for name in commands.choices))]
    for name, command in commands.choices.items():
        parts += _section(name, command)
    parts += ["## Before a command", _options(parser._actions, but=())]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(name: str, parser: argparse.ArgumentParser) -> list[str]:
    """One command: what it does, its arguments, and its options in their groups."""
    positional, others, *groups = parser._action_groups
    usage = " ".join(["anchor-align", name, *map(_value, positional._group_actions), "[options]"])
    parts = [f"## {name}", textwrap.fill(parser.description or "", WIDTH), f"```text\n{usage}\n```"]
    if parser.epilog:
        examples = parser.epilog.partition(": ")[2].split("; ")  # after "example" or "examples"
        parts += ["For example:", "\n".join(["```console", *(f"$ {each}" for each in examples), "```"])]
    parts += [_table("argument", ((f"`{_value(action)}`", _help(action)) for action in positional._group_actions))]
    parts += [_options(others._group_actions)]
    for group in groups:
        title = group.title or ""
        parts += [f"{title[:1].upper()}{title[1:]}:", _options(group._group_actions)]
    return parts


def _options(actions: Iterable[argparse.Action], but: tuple[str, ...] = ("help", "verbosity")) -> str:
    """Table of the options, except for those that every command has."""
    options = [action for action in actions if action.option_strings and action.dest not in but]
    return _table("option", ((f"`{_invocation(action)}`", _help(action)) for action in options))


def _invocation(action: argparse.Action) -> str:
    """The option as it is typed."""
    return f"{', '.join(action.option_strings)} {_value(action)}".strip()


def _value(action: argparse.Action) -> str:
    """What is given for an option or an argument."""
    if action.nargs == 0:
        return ""
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    several = "..." if action.nargs in ("+", "*") else ""
    return f"[{metavar}{several}]" if action.nargs in ("*", "?") else f"{metavar}{several}"


def _help(action: argparse.Action) -> str:
    return (action.help or "") % vars(action)


def _table(what: str, rows: Iterable[tuple[str, str | None]]) -> str:
    lines = [f"| {left} | {(text or '').replace('|', chr(92) + '|')} |" for left, text in rows]
    return "\n".join([f"| {what} | |", "|---|---|", *lines]) if lines else ""


if __name__ == "__main__":
    main()
