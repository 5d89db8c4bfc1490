"""Amounts of memory: text such as "500MB", and the free memory of this machine."""

from __future__ import annotations

import numbers
import re
from pathlib import Path

from ..errors import InputError, InputTypeError, shown

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def check_size(what: str, got: object) -> int | None:
    """Bytes of an amount such as 500_000_000, "500MB" or "1.5 GiB"; None stays None.

    Examples
    --------
    >>> check_size("memory", "1.5GB")
    1500000000
    >>> check_size("memory", "lots")
    Traceback (most recent call last):
    anchor_align.errors.InputError: memory must be an amount such as "500MB" or a number of bytes, got 'lots'.
    """
    if got is None:
        return None
    message = f'{what} must be an amount such as "500MB" or a number of bytes, got {shown(got)}.'
    if isinstance(got, bool) or not isinstance(got, (str, numbers.Integral)):
        raise InputTypeError(message)
    # Python writes no number of thousands of digits.
    text = got if isinstance(got, str) else f"{min(max(int(got), 0), 10**30)}"
    found = re.fullmatch(r"\s*(\d{1,30}(?:\.\d*)?)\s*([A-Za-z]*)\s*", text)
    size = float(found[1]) * UNITS.get(found[2].lower(), 0) if found else 0
    if size < 1:
        raise InputError(message)
    return int(size)


def readable_size(size: int) -> str:
    """An amount of memory in two or three digits.

    Examples
    --------
    >>> readable_size(1_280_000_000), readable_size(12)
    ('1.28 GB', '12 bytes')
    """
    for unit in ("tb", "gb", "mb", "kb"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.3g} {unit.upper()}"
    return f"{size} bytes"


def available_memory() -> int | None:
    """Bytes that are free on this machine or in this container; None if the system does not report it."""
    amounts = [_machine_memory(), _container_memory()]
    return min((amount for amount in amounts if amount is not None), default=None)


def _machine_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _container_memory() -> int | None:
    """Bytes that the control group of a container leaves."""
    for limit, used, stats, key in (
        ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
    ):
        try:
            root = Path("/sys/fs/cgroup")
            most = (root / limit).read_text().strip()
            if most == "max":
                return None
            cached = dict(line.split() for line in (root / stats).read_text().splitlines()).get(key, "0")
            return max(0, int(most) - int((root / used).read_text()) + int(cached))
        except (OSError, ValueError):
            continue
    return None
