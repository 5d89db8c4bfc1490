"""The HTML report in a real browser: nothing is run or fetched, everything fits and can be read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import study_results
from report_pages import page

from anchor_align.data import make_simulated
from anchor_align.report import html_report
from anchor_align.study import compare

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver"),
]

SIZES = {"phone": (360, 740), "desktop": (1400, 900)}
KINDS = ["hostile_names", "failing_rows", "no_labels", "other_arms"]  # the last one is the sweep, with more arms
SWITCHES = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Ratio of lightness of text and of what is behind it, as WCAG defines it.
CONTRASTS = """
const light = rgb => {
  const [r, g, b] = rgb.match(/[\\d.]+/g).map(Number).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = node => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (!/, 0\\)$|transparent/.test(colour)) return colour;
  }
  return 'rgb(255, 255, 255)';
};
const found = [];
for (const node of document.querySelectorAll('h1,h2,h3,p,li,dt,dd,th,td,caption,figcaption,code,small,span,footer')) {
  const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
  found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.tagName + '.' + node.className]);
}
return found;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests, with a profile of its own and its log and network traffic recorded."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.chrome.service.Service(DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages as files."""
    place = tmp_path_factory.mktemp("pages")
    for kind in KINDS:
        (place / f"{kind}.html").write_text(page(kind), encoding="utf-8")
    return place


def show(browser: Any, path: Path, size: str, scheme: str) -> None:
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(path.as_uri())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("kind", KINDS)
def test_page_fits_shows_all_images_and_can_be_read(
    browser: Any, folder: Path, kind: str, size: str, scheme: str
) -> None:
    """No sideways scrolling, no empty image, no complaint in the console, text stands out in both themes."""
    show(browser, folder / f"{kind}.html", size, scheme)
    assert browser.get_log("browser") == []
    images = browser.execute_script("return [...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth])")
    assert images
    assert all(complete and natural > 0 and shown > 200 for complete, natural, shown in images)
    # Phones widen the window to what does not fit: its width must stay, too.
    widths = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert max(widths) <= SIZES[size][0]
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]
    assert [each for each in browser.execute_script(CONTRASTS) if each[0] < 4.5] == []


def test_dark_pictures_are_for_the_dark(browser: Any, folder: Path) -> None:
    """Every picture changes with the theme, and wide ones with the width."""
    shown = {}
    for size in SIZES:
        for scheme in ("light", "dark"):
            show(browser, folder / "other_arms.html", size, scheme)
            shown[size, scheme] = browser.execute_script("return [...document.images].map(i => i.currentSrc)")
    for size in SIZES:
        assert not set(shown[size, "light"]) & set(shown[size, "dark"])
    assert shown["phone", "light"][0] != shown["desktop", "light"][0]


def test_names_that_are_markup_do_nothing(browser: Any, folder: Path) -> None:
    """They are seen as text; no script runs, no element comes of them, and the title is ours."""
    show(browser, folder / "hostile_names.html", "desktop", "light")
    assert browser.title.startswith("Anchors aligned or not")
    body = browser.execute_script("return document.body.innerText")
    assert study_results.SCRIPT_NAME in body
    assert study_results.IMAGE_NAME in body
    assert browser.execute_script("return document.querySelectorAll('script, [onerror], img[src=x]').length") == 0


def test_even_a_script_in_the_page_would_not_run(browser: Any, folder: Path, tmp_path: Path) -> None:
    """The page's policy is the second wall: without escaping, nothing would happen either."""
    injected = "<script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\">"
    path = tmp_path / "injected.html"
    path.write_text(page("no_labels").replace("</main>", f"{injected}</main>"), encoding="utf-8")
    show(browser, path, "desktop", "light")
    assert browser.execute_script("return document.scripts.length") == 1
    assert browser.title.startswith("Anchors aligned or not")
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_nothing_is_fetched(browser: Any, folder: Path) -> None:
    """The file itself is all that is asked for."""
    browser.get_log("performance")
    show(browser, folder / "other_arms.html", "desktop", "light")
    requests = [
        entry["message"] for entry in browser.get_log("performance") if 'requestWillBeSent"' in entry["message"]
    ]
    assert any("other_arms.html" in message for message in requests)
    assert not any('"url":"http' in message or '"url":"ws' in message for message in requests)


def test_tables_scroll_within_themselves_on_phones(browser: Any, folder: Path) -> None:
    """The wide table is wider than its frame, which is no wider than the page and can be reached by keyboard."""
    show(browser, folder / "other_arms.html", "phone", "light")
    frame = browser.execute_script(
        "const f = document.querySelector('.scroll'); return [f.scrollWidth, f.clientWidth, f.tabIndex]"
    )
    assert frame[0] > frame[1]
    assert frame[1] <= SIZES["phone"][0]
    assert frame[2] == 0


def test_only_a_verdict_stays_in_sight_on_phones(browser: Any, tmp_path: Path) -> None:
    """A last column of numbers, such as times, does not cover the scores."""
    result = compare("lmvsc", {"a": make_simulated(0)}, n_anchors="k", repeats=2, against=["kmeans"])
    path = tmp_path / "rivals.html"
    path.write_text(html_report(result), encoding="utf-8")
    show(browser, path, "phone", "light")
    last = "[...document.querySelectorAll('table.results')].map(t => t.querySelector('tbody tr').lastElementChild)"
    found = browser.execute_script(f"return {last}.map(e => [e.className, getComputedStyle(e).position])")
    assert {("number" in names, position) for names, position in found} == {(True, "static"), (False, "sticky")}


@pytest.mark.parametrize("kind", KINDS)
def test_paper_is_light_and_wide_enough(browser: Any, folder: Path, kind: str) -> None:
    """Printed on A4, nothing is cut off at the side, and pictures are the light ones, also in the dark."""
    show(browser, folder / f"{kind}.html", "desktop", "light")
    light = browser.execute_script("return [...document.images].map(i => i.currentSrc)")
    metrics = {"width": 690, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    try:
        browser.get((folder / f"{kind}.html").as_uri())
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        shown = browser.execute_script("return [...document.images].map(i => i.currentSrc)")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert wide <= 690
    assert shown == light
