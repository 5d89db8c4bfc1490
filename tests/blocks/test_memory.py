"""Amounts of memory are read, and what is no amount gets one sentence."""

from __future__ import annotations

import re

import pytest

from anchor_align.blocks import check_size
from anchor_align.errors import InputError, InputTypeError


@pytest.mark.parametrize(
    ("got", "size"), [(1, 1), ("500MB", 500_000_000), (" 1.5 GiB ", 1_610_612_736), ("2", 2), (None, None)]
)
def test_amounts_in_units(got: object, size: int | None) -> None:
    """Numbers of bytes, and texts with decimal or binary units."""
    assert check_size("memory", got) == size


LONG = [pytest.param(sign * 10**5000, id=f"{sign} long") for sign in (1, -1)]  # pytest cannot write such numbers


@pytest.mark.parametrize("got", [0, -1, *LONG, "lots", "-5MB", "0.1", "5 apples", ""])
def test_what_is_no_amount(got: object) -> None:
    """Zero, negative numbers, numbers of thousands of digits, and other texts."""
    with pytest.raises(InputError, match=re.escape('memory must be an amount such as "500MB" or a number of bytes')):
        check_size("memory", got)


@pytest.mark.parametrize("got", [True, 1.5, [1], b"1MB"])
def test_kinds_that_are_no_amount(got: object) -> None:
    """Only whole numbers and texts are amounts."""
    with pytest.raises(InputTypeError, match="memory must be an amount"):
        check_size("memory", got)
