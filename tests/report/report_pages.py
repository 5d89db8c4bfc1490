"""Pages of the HTML report for tests of their text and for tests in a browser."""

from __future__ import annotations

import functools
from html.parser import HTMLParser

import study_results

from anchor_align import AlignedClusterer
from anchor_align.data import make_simulated
from anchor_align.report import html_report
from anchor_align.study import Setting, Showcase, StudyResult

VOID = {"meta", "link", "img", "source", "br"}


class Page(HTMLParser):
    """Elements with their attributes and all text; complains of elements that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which must be this one."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Gather text, but for the style."""
        if self.open[-1:] != ["style"]:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


@functools.cache
def showcase(dataset: str = "digits", fusion: str = "aligned") -> Showcase:
    data = make_simulated(0)
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, fusion=fusion, random_state=0).fit(data.views)
    setting = Setting(dataset, "lmvsc", 8, 0.1)
    return Showcase(setting, clusterer, None, {"unaligned": 0.955, "aligned": 1.0})


@functools.cache
def page(kind: str) -> str:
    made: StudyResult = getattr(study_results, kind)()
    names = [study_results.SCRIPT_NAME, study_results.IMAGE_NAME] if kind == "hostile_names" else ["digits"]
    return html_report(made, [showcase(name) for name in names])
