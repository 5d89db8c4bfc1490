"""Settings that an adapter chooses from the data, with the scores behind the choice, as one dict by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from ..errors import AdapterError, shown
from ..plugins import Adapter


def checked_choice(adapter: Adapter, made: Any) -> dict[str, Any]:
    """Settings and scores that ``choose_settings`` returned; a score has another name than any setting."""
    if not isinstance(made, tuple) or [type(each) for each in made] != [dict, dict]:
        raise AdapterError(
            f"Adapter {adapter.name!r} returned {shown(made)} from choose_settings; expected two dicts, settings and "
            "scores."
        )
    settings, scores = made
    known = adapter.get_params(deep=False)
    for name in settings:
        if name not in known:
            raise AdapterError(f"Adapter {adapter.name!r} chose {shown(name)}, which is not a setting of it.")
    for name in scores:
        if name in known:
            raise AdapterError(f"Adapter {adapter.name!r} returned a score with the name of a setting: {name!r}.")
    return {**settings, **scores}


def with_choice(adapter: Adapter, chosen: Mapping[str, Any]) -> Adapter:
    """A copy of the adapter with the chosen settings."""
    settings, _ = _settings_and_scores(adapter, chosen)
    if not settings:
        return adapter
    copied: Adapter = clone(adapter).set_params(**settings)
    return copied


def choice_note(adapter: Adapter, chosen: Mapping[str, Any]) -> str:
    """What an adapter chose, and the scores behind the choice, in one sentence."""
    settings, scores = (
        "; ".join(f"{name} {_listed(value)}" for name, value in part.items())
        for part in _settings_and_scores(adapter, chosen)
    )
    return f"Adapter {adapter.name!r} chose {settings or 'no setting'}" + (f" ({scores})." if scores else ".")


def _settings_and_scores(adapter: Adapter, chosen: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    known = adapter.get_params(deep=False)
    settings = {name: value for name, value in chosen.items() if name in known}
    return settings, {name: value for name, value in chosen.items() if name not in known}


def _listed(value: Any) -> str:
    each = value if isinstance(value, (list, tuple)) else [value]
    return ", ".join(f"{x:.2f}" if isinstance(x, float) else str(x) for x in each)
