"""One fit without labels as an HTML page: agreement of views, stability, clusters, and samples that are unsure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import __version__
from ..clustering import AlignedClusterer, Assignment, FitQuality, choice_note
from ..matching import chance_notes, tie_notes
from ._arms import Arms
from ._cluster_figures import drawn, plot_clusters, plot_confidence
from ._figure_style import check_figures
from ._formatting import count, params_text, printable, shortened
from ._html_elements import cell, escaped, facts, paragraph, picture, row_name, section, table, whole_page

UNSURE, MOST_UNSURE = 0.1, 12  # a sample below this confidence is between two clusters; so many are listed
MOST_VIEWS = 20  # more do not fit into a table of pairs


def cluster_page(
    clusterer: AlignedClusterer,
    found: Assignment,
    quality: FitQuality,
    samples: Sequence[Any] | None = None,
    *,
    title: str = "",
    command: str = "",
) -> str:
    """Write what can be known about one fit without labels as a self-contained HTML page.

    Parameters
    ----------
    clusterer : AlignedClusterer
        Fitted.
    found : Assignment
        Its samples, with distances and confidence.
    quality : FitQuality
        Of :func:`anchor_align.clustering.fit_quality`.
    samples : sequence, optional
        Names of the samples; by default they are counted from 0.
    title : str, optional
        Name of the data.
    command : str, optional
        The command that made it.

    Returns
    -------
    str

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    check_figures()
    heading = f"Clusters of {shortened(printable(title), 80)}" if title else "Clusters"
    parts = [
        f"<header>\n<h1>{escaped(heading)}</h1>\n{paragraph(summary(found, quality), 'answer')}\n</header>\n<main>",
        section("Clusters", _pictures(found, quality), _cluster_table(found)),
        section("Agreement of the views", *_agreement(clusterer, quality)),
        section("Stability", *_stability(quality)),
        section("Samples between two clusters", *_unsure(found, samples)),
        section("How it was made", _about(clusterer, quality, command)),
        f"</main>\n<footer>Made with anchor-align {escaped(__version__)}. No labels were used.</footer>",
    ]
    return whole_page(heading, "\n".join(filter(None, parts)), Arms(()))


def summary(found: Assignment, quality: FitQuality) -> str:
    """The fit in a few sentences."""
    n_views = len(quality.names)
    text = (
        f"{count(len(found.labels), 'sample')} in {count(n_views, 'view')}, "
        f"{count(len(np.bincount(found.labels)), 'cluster')}."
    )
    if n_views > 1 and not np.isnan(quality.agreement).all():
        agreement, chance = np.nanmean(quality.agreement), np.nanmean(quality.chance)
        text += f" The views agree to {agreement:.2f} of 1; shuffled samples would give {chance:.2f}."
        odd = odd_view(quality)
        if odd is not None:
            what = "agrees least with the others" if n_views > 2 else "alone would give other clusters most often"
            text += f" View {printable(quality.names[odd])!r} {what}."
    elif n_views == 1:
        text += " One view has nothing to agree with, and nothing to align."
    if quality.stability:
        text += f" With other anchors the clusters are the same to an adjusted Rand index of {_mean(quality):.2f}."
    return text


def odd_view(quality: FitQuality) -> int | None:
    """The view that disagrees: by its mean agreement or, of two views, by the clusters that each gives alone."""
    if len(quality.names) > 2:
        # Two views may share no sample.
        means = [float(np.nanmean(row)) if not np.isnan(row).all() else np.inf for row in quality.agreement]
        return int(np.argmin(means))
    if len(quality.names) == 2 and None not in quality.alone and quality.alone[0] != quality.alone[1]:
        return int(np.argmin(np.array(quality.alone, dtype=float)))
    return None


def _mean(quality: FitQuality) -> float:
    return float(np.mean(quality.stability))


def _pictures(found: Assignment, quality: FitQuality) -> str:
    labels = found.labels[quality.rows]
    every = "" if len(labels) == len(found.labels) else f" {count(len(labels), 'sample')}, drawn at random."
    embedding = picture(
        lambda theme, width: plot_clusters(quality.vectors, labels, theme=theme, width=width),
        "Samples in two directions of the embedding, coloured by cluster; the numbers are those of the clusters.",
        "The two directions in which the embedding varies most. Clusters that overlap here may be apart in others."
        + every,
    )
    sure = picture(
        lambda theme, width: plot_confidence(found, theme=theme, width=width),
        "Size and confidence of every cluster; the table below has the numbers.",
        f"{count(drawn(found.labels), 'cluster')}, the largest first: number of samples, and their confidence. Dot: "
        "median; thick line: middle half; thin line: 5 % to 95 %. At 0 a sample is between two clusters.",
    )
    return f'<div class="showcase">\n{embedding}\n{sure}\n</div>'


def _cluster_table(found: Assignment) -> str:
    sizes = np.bincount(found.labels)
    heads = [("cluster", ""), ("samples", "number"), ("share", "number"), ("median confidence", "number")]
    heads.append((f"below {UNSURE:g}", "number"))
    rows = []
    for cluster, size in enumerate(sizes):
        values = found.confidence[found.labels == cluster]
        unsure = int((values < UNSURE).sum())
        texts = [str(size), f"{100 * size / len(found.labels):.1f} %", _number(float(np.median(values))), str(unsure)]
        rows.append(row_name(str(cluster)) + "".join(cell(text, "number") for text in texts))
    caption = (
        "Confidence is the margin to the nearest other cluster: (b - a) / max(a, b), with the distance a to the mean "
        f"of the own cluster and b to the nearest other mean. The last column counts samples below {UNSURE:g}."
    )
    return table(caption, heads, rows, label="Clusters")


def _agreement(clusterer: AlignedClusterer, quality: FitQuality) -> list[str]:
    names = quality.names
    if len(names) == 1:
        return [paragraph("There is one view only: nothing to compare, and nothing to align.")]
    heads = [("view", ""), ("with the others", "number"), ("by chance", "number"), ("clusters alone", "number")]
    pairs = len(names) <= MOST_VIEWS
    if pairs:
        heads += [(escaped(shortened(printable(name), 24)), "number") for name in names]
    odd = odd_view(quality)
    rows = []
    for view, name in enumerate(names):
        shown = escaped(shortened(printable(name), 40)) + (" <small>least</small>" if view == odd else "")
        means = [_mean_of(quality.agreement[view]), _mean_of(quality.chance[view])]
        texts = [*map(_number, means), "" if quality.alone[view] is None else _number(quality.alone[view])]
        texts += [_number(value) for value in quality.agreement[view]] if pairs else []
        rows.append(row_name(shown) + "".join(cell(text, "number") for text in texts))
    caption = (
        "Agreement is linear CKA of the anchor graphs, from 0 to 1: the mean over the other views, the same with "
        "samples shuffled, and each pair. Clusters alone: adjusted Rand index between these clusters and those that "
        "the view gives without the others; a low number means that the view alone would say something else."
    )
    notes = []
    if clusterer.aligner_ is not None:
        views = [f"View {printable(name)!r}" for name in names]
        notes = [*chance_notes(clusterer.aligner_, views), *tie_notes(clusterer.aligner_)]
    return [table(caption, heads, rows, label="Agreement of the views"), *(paragraph(f"{note}.") for note in notes)]


def _stability(quality: FitQuality) -> list[str]:
    if not quality.stability:
        return []
    low, high = min(quality.stability), max(quality.stability)
    fits, used = count(len(quality.stability), "fit"), count(len(quality.rows), "sample")
    return [
        paragraph(
            f"{fits} with other draws of anchors, on {used}: the adjusted Rand index with these clusters is "
            f"{_mean(quality):.2f} on average, from {low:.2f} to {high:.2f}. 1 means the same clusters every time, 0 "
            "no more than chance. Stable clusters need not be right; unstable ones should not be trusted."
        )
    ]


def _unsure(found: Assignment, samples: Sequence[Any] | None) -> list[str]:
    if np.isnan(found.confidence).all():
        return []
    order = np.argsort(found.confidence, kind="stable")[:MOST_UNSURE]
    total = int((found.confidence < UNSURE).sum())
    heads = [("sample", ""), ("cluster", "number"), ("confidence", "number"), ("distance", "number")]
    rows = []
    for row in order:
        name = row if samples is None else samples[row]
        texts = [str(found.labels[row]), _number(float(found.confidence[row])), _number(float(found.distances[row]))]
        shown = escaped(shortened(printable(name), 60))
        rows.append(row_name(shown) + "".join(cell(text, "number") for text in texts))
    share = 100 * total / len(found.labels)
    text = f"{count(total, 'sample')} ({share:.1f} %) have a confidence below {UNSURE:g}. The least sure ones:"
    return [table(text, heads, rows, label="Samples with the lowest confidence")]


def _about(clusterer: AlignedClusterer, quality: FitQuality, command: str) -> str:
    adapter = clusterer.adapter_
    settings = params_text(tuple(adapter.get_params(deep=False).items()))
    layout = clusterer._layout.items()
    views = "; ".join(f"{printable(name)}: {count(each.n_features, 'feature')}" for name, each in layout)
    missing = clusterer.mask_
    pairs = [
        ("adapter", escaped(f"{adapter.name}: {settings}")),
        ("fusion", escaped(f"{clusterer._prediction.recipe.fusion.name}, lam={float(clusterer.lam):g}")),
        ("views", escaped(views)),
        ("seed", escaped(clusterer.random_state)),
    ]
    if clusterer.chosen_:
        pairs.append(("chosen", escaped(choice_note(clusterer.adapter_, clusterer.chosen_))))
    if missing is not None:
        lacking = int((~missing.all(axis=0)).sum())
        pairs.append(("missing", escaped(f"{lacking} of {missing.shape[1]} samples are missing in one view or more")))
    return facts(pairs) + (f"\n<pre>{escaped(command)}</pre>" if command else "")


def _mean_of(values: Any) -> float:
    return float("nan") if np.isnan(values).all() else float(np.nanmean(values))


def _number(value: float | None) -> str:
    return "" if value is None or np.isnan(value) else f"{value:.2f}"
