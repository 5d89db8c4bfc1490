"""Settings may be numbers of any type: they mean the same as Python's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anchor_align import AlignedClusterer, get_adapter, get_baseline, list_adapters, list_baselines
from anchor_align.metrics import ari

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
VIEWS = [4 * RNG.normal(size=(3, 4))[LABELS] + RNG.normal(size=(60, 4)) for _ in range(2)]
METHODS = [(each.name, "adapter") for each in list_adapters() if each.name != "precomputed"]
METHODS += [(each.name, "baseline") for each in list_baselines()]


def labels_of(name: str, kind: str, params: dict[str, Any]) -> Any:
    if kind == "adapter":
        return AlignedClusterer(get_adapter(name, **params), n_clusters=3, n_anchors=6, random_state=0).fit_predict(
            VIEWS
        )
    return get_baseline(name, **params).fit_predict(VIEWS, n_clusters=3, random_state=0)


@pytest.mark.parametrize(("name", "kind"), METHODS)
@pytest.mark.filterwarnings("ignore:sfmc found", "ignore:Found")
def test_numbers_of_other_types(name: str, kind: str) -> None:
    """All numbers of a method at once: long doubles, integers of NumPy, fractions."""
    method = get_adapter(name) if kind == "adapter" else get_baseline(name)
    numbers = {each: value for each, value in method.get_params().items() if type(value) in (int, float)}
    expected = labels_of(name, kind, {})
    for of_float in (np.longdouble, Fraction):
        params = {
            each: of_float(value) if isinstance(value, float) else np.int32(value) for each, value in numbers.items()
        }
        assert ari(expected, labels_of(name, kind, params)) == 1.0
