"""How a result was made: footing, seeds, versions, data, failures and the command."""

from __future__ import annotations

from collections import Counter

from ..study import FAILED, DataInfo, StudyResult
from ._html_parts import cell, escaped, facts, paragraph, table
from ._text import count, option_texts, printable

MOST_VIEWS, MOST_REASONS = 12, 20
ARM_TEXTS = {
    "unaligned": "unaligned is the mean of the anchor graphs as they come",
    "aligned": "aligned the mean after the anchors were matched",
    "rotated": "rotated the mean after the matched graphs were also rotated towards each other",
    "concat": "concat puts the graphs side by side, which no alignment can change",
}


def about(result: StudyResult) -> str:
    """All that is needed to judge and repeat the study."""
    parts = [
        facts(_facts(result)),
        _data_table(result),
        _adapter_table(result),
        _failures(result),
        _warnings(result),
    ]
    if result.command:
        parts += ["<h3>Command</h3>", paragraph("This gives the same result:"), _command(result)]
    return "\n".join(part for part in parts if part)


def _facts(result: StudyResult) -> list[tuple[str, str]]:
    footings = []
    if result.of_footing("fixed"):
        footings.append("Fixed settings: every setting that was run is a row, and nothing was chosen by label.")
    if result.of_footing("best"):
        footings.append("Best settings: for each arm the one with the highest mean was chosen by label: optimistic.")
    pairing = (
        f"{count(result.repeats, 'repeat')} from seed {result.seed}. Every repeat and view draws its own numbers, and "
        "all arms of a repeat share them: the comparison is paired."
    )
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.items())
    pairs = [
        ("Arms", f"All on the same anchors: {', '.join(ARM_TEXTS[arm] for arm in result.arms)}."),
        ("Footing", " ".join(footings)),
        ("Seeds", pairing),
        ("Reference", f"{result.reference}"),
    ]
    if result.options:
        pairs.append(("Views", ", ".join(option_texts(result.options))))
    if versions:
        pairs.append(("Versions", versions))
    return [(name, escaped(text)) for name, text in pairs]


def _data_table(result: StudyResult) -> str:
    if not result.data:
        return ""
    heads = [("data", ""), ("source", ""), ("samples", "number"), ("clusters", "number"), ("views", ""), ("labels", "")]
    rows = [
        f'<th scope="row" class="name">{escaped(data.name)}</th>'
        + cell(_source(data), "source")
        + cell(f"{data.n_samples:,}", "number")
        + cell(f"{data.n_clusters:,}", "number")
        + cell(_views(data), "words")
        + cell("yes" if data.has_labels else "no")
        + cell(f"<code>{escaped(data.digest)}</code>", "digest")
        for data in result.data
    ]
    return table("Data sets", [*heads, ("digest", "")], rows)


def _source(data: DataInfo) -> str:
    notes = "".join(f"<small>{escaped(note)}</small>" for note in data.notes)
    return f"<code>{escaped(data.source)}</code>{notes}"


def _views(data: DataInfo) -> str:
    shown = [f"{printable(name)} ({width:,})" for name, width in data.views[:MOST_VIEWS]]
    more = len(data.views) - len(shown)
    listed = ", ".join([*shown, f"and {more} more"] if more else shown)
    return f"{len(data.views)}<small>{escaped(listed)}</small>"


def _adapter_table(result: StudyResult) -> str:
    if not result.adapters:
        return ""
    rows = [
        f'<th scope="row" class="name">{escaped(each.name)}</th>'
        + cell(escaped(each.distribution), "name")
        + cell(escaped(each.version))
        for each in result.adapters
    ]
    return table("Adapters", [("adapter", ""), ("from", ""), ("version", "")], rows)


def _failures(result: StudyResult) -> str:
    """Every reason once, with the runs it ended."""
    failed = [record for record in result.runs if record.status == FAILED]
    places = Counter((record.setting.dataset, record.setting.adapter, record.reason) for record in failed)
    if not places:
        return ""
    items = []
    for (dataset, adapter, reason), n in list(places.items())[:MOST_REASONS]:
        where = f"{printable(dataset)} · {printable(adapter)}, {count(n, 'run')}"
        items.append(f"<li>{escaped(where)}: <code>{escaped(reason)}</code></li>")
    return f"<h3>Failures</h3>\n<ul>{''.join(items)}</ul>{_more(len(places))}"


def _warnings(result: StudyResult) -> str:
    times = Counter(warning for record in result.runs for warning in record.warnings)
    if not times:
        return ""
    shown = times.most_common(MOST_REASONS)
    items = "".join(f"<li>{escaped(text)} <span class='muted'>({count(n, 'run')})</span></li>" for text, n in shown)
    return f"<h3>Warnings</h3>\n<ul>{items}</ul>{_more(len(times))}"


def _more(n: int) -> str:
    return paragraph(f"and {n - MOST_REASONS} more", "muted") if n > MOST_REASONS else ""


def _command(result: StudyResult) -> str:
    return f"<pre><code>{escaped(result.command)}</code></pre>"
