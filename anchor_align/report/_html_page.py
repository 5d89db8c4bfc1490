"""The whole result as one HTML page that needs nothing else: no network, no scripts, no other files."""

from __future__ import annotations

from collections.abc import Sequence

from .. import __version__
from ..matching import chance_notes, tie_notes
from ..study import Showcase, StudyResult, average_ranks
from ._arms import Arms
from ._difference_figure import plot_differences
from ._figure_style import check_figures
from ._formatting import count, percent, points, printable, score_name, setting_text, shortened
from ._graph_figure import plot_graphs
from ._html_elements import arm_name, escaped, paragraph, picture, section, whole_page
from ._html_sections import about, plain_table, result_tables
from ._match_figures import plot_objective, plot_permutations, view_names, why_no_match
from ._outcomes import answer, comparisons
from ._rank_figure import plot_ranks
from ._rival_tables import rival_tables
from ._sweep_figure import has_sweep, plot_sensitivity

HOW_TO_READ = (
    "For each data set and adapter, one repeat. Rows of a graph are samples sorted by cluster, columns are "
    "anchors sorted by the cluster in which they weigh most: the cleaner the blocks along the diagonal, the better the "
    "graph tells the clusters apart."
)


def html_report(result: StudyResult, showcases: Sequence[Showcase] | None = None, *, title: str | None = None) -> str:
    """Write a result as one self-contained HTML page.

    Parameters
    ----------
    result : StudyResult
    showcases : sequence of Showcase, optional
        Runs to show graphs, permutations and objectives of; by default those of the result.
    title : str, optional

    Returns
    -------
    str
        The page. Pictures are inside, in a light and a dark version; all that comes from users is escaped.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed: a report without its pictures is not written.
    """
    check_figures()
    shown = result.showcases if showcases is None else showcases
    heading = printable(title) if title else _title(result)
    parts = [
        "<header>",
        f"<h1>{escaped(heading)}</h1>",
        paragraph(answer(result), "answer"),
        "</header>",
        "<main>",
        section("Methods", *map(plain_table, rival_tables(result)), _ranks(result)),
        section("Result", *result_tables(result)),
        section("Difference in every repeat", _differences(result)),
        section("Sensitivity to settings", _sensitivity(result)),
        section("A closer look", paragraph(HOW_TO_READ) if shown else "", *(_showcase(case, result) for case in shown)),
        section("How it was made", about(result)),
        "</main>",
        f"<footer>Made with anchor-align {escaped(__version__)}.</footer>",
    ]
    body = "\n".join(part for part in parts if part)
    return whole_page(heading, body, Arms.of(result))


def _title(result: StudyResult) -> str:
    adapters = list(dict.fromkeys(row.adapter for row in result.summaries))
    data = list(dict.fromkeys(row.dataset for row in result.summaries))
    what, where = _listed(adapters, "adapter"), _listed(data, "data set")
    return f"Anchors aligned or not: {what} on {where}" if result.summaries else "Anchors aligned or not"


def _listed(names: Sequence[str], what: str) -> str:
    """The names if they are few, else their number."""
    return ", ".join(shortened(name, 28) for name in names) if len(names) <= 3 else count(len(names), what)


def _differences(result: StudyResult) -> str:
    """A figure for every pair of arms."""
    return "\n".join(
        _difference_picture(result, arms)
        for arms in result.versus
        if any(row.difference for row in comparisons(result, arms=arms))
    )


def _difference_picture(result: StudyResult, arms: tuple[str, str]) -> str:
    first, second = map(printable, arms)
    first = first[:1].upper() + first[1:]
    rows = count(len(result.of_footing("fixed")), "row")
    alt = f"{first} minus {second}, {score_name(result.score)} in points, for {rows}; the table above has the numbers."
    caption = (
        f"{first} minus {second}: each dot is a repeat, the diamond their mean, the line its interval. Filled where "
        "the test finds a difference (the interval leaves out zero), hollow where it does not or there is no test."
    )
    return picture(
        lambda theme, width: plot_differences(result, versus=arms, theme=theme, width=width), alt, caption, wide=True
    )


def _ranks(result: StudyResult) -> str:
    """A figure for every footing, of five data sets or more."""
    return "\n".join(
        _rank_picture(result, footing)
        for footing in dict.fromkeys(row.footing for row in result.against)
        if average_ranks(result.against, result.score, footing) is not None
    )


def _rank_picture(result: StudyResult, footing: str) -> str:
    return picture(
        lambda theme, width: plot_ranks(result, footing=footing, theme=theme, width=width),
        f"Average ranks of {len(result.methods)} methods; the table above has the numbers.",
        f"Average ranks over data sets, footing {footing}. A line at the right joins methods that are not told apart.",
        wide=True,
    )


def _sensitivity(result: StudyResult) -> str:
    if not has_sweep(result):
        return ""
    controls = " and ".join(Arms.of(result).without_lam)
    alt = f"{score_name(result.score)} in % against lam and the number of anchors; the table above has the numbers."
    caption = (
        f"Mean over repeats, shaded one standard deviation. {controls[:1].upper()}{controls[1:]} do not depend on "
        "lam: against it, their range over the numbers of anchors is shown."
    )
    return picture(lambda theme, width: plot_sensitivity(result, theme=theme, width=width), alt, caption, wide=True)


def _which_repeat(case: Showcase, result: StudyResult) -> str:
    """Which repeat is shown, and how typical it is."""
    first, second = result.versus[0]
    rows = [row for row in result.of_footing("fixed") if row.setting == case.setting]
    differences = [row.contrasts.get((first, second), {}).get(result.score) for row in rows]
    if not differences or differences[0] is None:
        return f"Repeat {case.repeat} of 0 to {result.repeats - 1}, the first that finished."
    return (
        f"Repeat {case.repeat} of 0 to {result.repeats - 1}: of all repeats, its difference {printable(first)} minus "
        f"{printable(second)} is nearest the mean, {points(differences[0].mean)} points of {score_name(result.score)}."
    )


def _showcase(case: Showcase, result: StudyResult) -> str:
    """Graphs, permutations and objective of one run."""
    name = f"{printable(case.setting.dataset)} · {printable(case.setting.adapter)}"
    scores = [f"<li>{arm_name(arm)} {percent(case.accuracy[arm])} % ACC</li>" for arm in Arms.named(case.accuracy)]
    chips = (
        f'<ul class="chips small"><li class="muted">{escaped(setting_text(case.setting))}</li>{"".join(scores)}</ul>'
    )
    graphs = picture(
        lambda theme, width: plot_graphs(case.clusterer, case.labels, scores=case.accuracy, theme=theme, width=width),
        f"Heat maps of the fused graph of {name}, unaligned and aligned.",
        "The fused graph without and with alignment, in the same colours. Blocks: share of all weight that samples "
        "give to anchors of their own cluster.",
    )
    match = (
        paragraph(printable(why_no_match(case.clusterer))) if case.clusterer.aligner_ is None else _match(case, name)
    )
    figures = f'<div class="showcase">\n{graphs}\n<div>\n{match}\n</div>\n</div>'
    which = paragraph(_which_repeat(case, result), "muted")
    return f"<h3>{escaped(name)}</h3>\n{which}\n{chips}\n{figures}"


def _match(case: Showcase, name: str) -> str:
    permutations = picture(
        lambda theme, width: plot_permutations(case.clusterer, theme=theme, width=width),
        f"Permutation of the anchors found for every view of {name}.",
        "The permutation of every view: the view's anchor in the row was fused at the place in the column.",
    )
    objective = picture(
        lambda theme, width: plot_objective(case.clusterer, theme=theme, width=width),
        f"Objective of every view's match on {name}, with its upper bound.",
        "What the match reaches, what no permutation can exceed and, dotted, what shuffled samples reach.",
    )
    aligner = case.clusterer.aligner_
    notes = [] if aligner is None else [*chance_notes(aligner, view_names(case.clusterer)), *tie_notes(aligner)]
    return "\n".join([permutations, objective, *(paragraph(printable(f"{note}.")) for note in notes)])
