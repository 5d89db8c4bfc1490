"""Baselines of plug-ins: found through a hook of their own, refused one at a time; their results are checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from dask_arrays import chunked
from distributions import OUR_BASELINES, OURS, adapter, failures_of, install, temporary_site
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchor_align import (
    AdapterError,
    Baseline,
    InputError,
    InputTypeError,
    PluginError,
    UnknownNameError,
    as_baseline,
    get_adapter,
    get_baseline,
    list_adapters,
    list_baselines,
    load_plugins,
)
from anchor_align.data import make_simulated
from anchor_align.metrics import acc
from anchor_align.plugins import DISABLE_VARIABLE, BaselineRecord, baseline_labels

site = pytest.fixture(temporary_site)

IMPORTS = "import numpy as np\nfrom anchor_align import Baseline, hookimpl\n"
HALVES = '''
class Halves(Baseline):
    """The first half and the second."""

    name = "halves"

    def __init__(self, at=0.5):
        self.at = at

    def fit_predict(self, views, *, n_clusters, random_state):
        n = views[0].shape[0]
        return (np.arange(n) >= self.at * n).astype(int)
'''


def hook(offers: str) -> str:
    return f"@hookimpl\ndef anchor_align_baselines():\n    return {offers}\n"


def baseline(name: str, body: str = "return None") -> str:
    """Code of a plug-in with one baseline."""
    method = f"    def fit_predict(self, views, *, n_clusters, random_state):\n        {body}\n"
    return f"{IMPORTS}class Mine(Baseline):\n    name = {name!r}\n{method}{hook('[Mine]')}"


def names() -> tuple[str, ...]:
    return tuple(record.name for record in list_baselines())


def test_a_plugin_with_a_baseline(site: Path) -> None:
    """It is found by its name with its settings, and is no adapter."""
    install(site, "halves", f"{IMPORTS}{HALVES}{hook('[Halves, Halves(0.25)][:1]')}", version="2.1", entry="half")
    assert names() == (*OUR_BASELINES, "halves")
    assert (list_adapters().names, list_adapters().failures) == (OURS, ())
    record = list_baselines()[-1]
    assert record == BaselineRecord(
        "halves", "2.1", "half", "halves", "The first half and the second.", record.prototype
    )
    assert record.settings == {"at": "0.5"}
    found = get_baseline("halves", at=0.25)
    assert clone(found).get_params() == {"at": 0.25}
    assert found.fit_predict([np.zeros((4, 1))], n_clusters=2, random_state=0).tolist() == [0, 1, 1, 1]


def test_a_single_file(tmp_path: Path) -> None:
    """A file brings baselines, also as instances with settings of their own."""
    path = tmp_path / "halves.py"
    path.write_text(f"{IMPORTS}{HALVES}{hook('[Halves(0.75)]')}")
    registry = load_plugins(path)
    assert registry.baseline("halves").get_params() == {"at": 0.75}
    assert registry.baseline("halves", at=0.1).get_params() == {"at": 0.1}
    path.write_text(baseline("kmeans"))
    with pytest.raises(PluginError, match="the name 'kmeans' is already taken by anchor-align"):
        load_plugins(path)


# Kind of failure: the code of the plug-in, and the reason.
FAILURES = {
    "adapter-name": (baseline("lmvsc"), "the name 'lmvsc' is already taken by anchor-align"),
    "our-name": (baseline("r-m.km"), "expected lower-case letters"),
    "no-method": (f"{IMPORTS}class A(Baseline):\n    name = 'a'\n{hook('[A]')}", "A does not define fit_predict"),
    "no-baseline": (f"{IMPORTS}{hook('[3]')}", "offers 3, which is not a Baseline"),
    "none": (f"{IMPORTS}{hook('[]')}", "its hook returned no baselines"),
    "signature": (
        f"{IMPORTS}class A(Baseline):\n    name = 'a'\n    def fit_predict(self, X): return X\n{hook('[A]')}",
        "fit_predict of A cannot be called as fit_predict(views, n_clusters=, random_state=)",
    ),
    "fails": (f"{IMPORTS}class A(Baseline):\n    name = 1 / 0\n{hook('[A]')}", "ZeroDivisionError"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failures_are_reported_and_the_rest_works(kind: str, site: Path) -> None:
    """The reason is kept; ours and a plug-in that comes later work."""
    code, reason = FAILURES[kind]
    install(site, f"bad-{kind}", code)
    install(site, "zz-later", baseline("later"))
    assert names() == (*OUR_BASELINES, "later")
    (found,) = failures_of(f"bad-{kind}")
    assert reason in found


def test_adapters_and_baselines_share_their_names(site: Path) -> None:
    """A study takes both by name: the first keeps it, within one plug-in too."""
    install(site, "aa-first", adapter("mine"))
    install(site, "bb-second", baseline("mine"))
    install(site, "cc-both", adapter("both") + baseline("both").replace("Mine", "MyBaseline"))
    assert list_adapters().names == (*OURS, "mine", "both")
    assert names() == OUR_BASELINES
    assert "the name 'mine' is already taken by aa-first 1.0 (aa-first)" in failures_of("bb-second")[0]
    assert "the name 'both' is already taken by cc-both 1.0 (cc-both)" in failures_of("cc-both")[0]


def test_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the known names and the nearest, unknown settings too, and says what is disabled."""
    with pytest.raises(UnknownNameError, match=r"Unknown baseline 'rmkmm'; known: 'amgl', .* Did you mean 'rmkm'"):
        get_baseline("rmkmm")
    with pytest.raises(UnknownNameError, match=r"Unknown rmkm parameter 'n_inits'; known: .* Did you mean 'n_init'"):
        get_baseline("rmkm", n_inits=3)
    monkeypatch.setenv(DISABLE_VARIABLE, "rmkm")
    with pytest.raises(UnknownNameError, match=f"disabled by {DISABLE_VARIABLE}"):
        get_baseline("rmkm")


class Returns(Baseline):
    """Returns what it is told to."""

    name = "returns"

    def __init__(self, made: Any = None) -> None:
        self.made = made

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> Any:
        """Return it."""
        assert all(not X.flags.writeable for X in views)
        return self.made


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (None, r"returned labels of shape \(\) and dtype object; expected 4 whole numbers"),
        ([0, 1, 0], r"returned labels of shape \(3,\) and dtype int64; expected 4 whole numbers"),
        ([0.0, 1.0, 0.0, 1.0], r"returned labels of shape \(4,\) and dtype float64; expected 4 whole numbers"),
        ([[0], [1], [0], [1]], r"returned labels of shape \(4, 1\)"),
        ([0, 1, 2, 0], "returned 3 clusters; expected at most 2"),
    ],
)
def test_wrong_labels(made: Any, message: str) -> None:
    """The error names the baseline and the labels."""
    with pytest.raises(AdapterError, match=f"^Baseline 'returns' {message}"):
        baseline_labels(Returns(made), [np.zeros((4, 2))], n_clusters=2, random_state=0)


def test_labels_are_numbered_in_the_order_of_the_samples() -> None:
    """Whatever the method calls its clusters."""
    found = baseline_labels(Returns([7, 7, -1, 7]), [np.zeros((4, 2))], n_clusters=2, random_state=0)
    assert found.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("views", "n_clusters", "message"),
    [
        (np.zeros((4, 2)), 2, "Expected a list of views, samples x features each, got ndarray"),
        ([], 2, "Got no view"),
        ([np.zeros((4, 2)), np.zeros((3, 2))], 2, "View 0 has 4 samples; view 1 has 3"),
        ([np.zeros((4, 2)), np.full((4, 1), np.nan)], 2, r"View 1 has NaN or infinity in 4 of 4 rows"),
        ([np.zeros((4, 2))], 5, "n_clusters must be at most the number of samples, 4; got 5"),
        ([np.zeros((4, 2))], 0, "n_clusters must be a whole number >= 1, got 0"),
        ([np.zeros(4)], 2, r"View 0 has 1 dimension\(s\)"),
        (chunked([np.zeros((4, 2))], 2), 2, "Baseline 'kmeans' needs views in memory; view 0 is on a cluster"),
    ],
)
def test_wrong_views(views: Any, n_clusters: int, message: str) -> None:
    """Each is refused with one sentence that names the view."""
    with pytest.raises(InputError, match=message):
        get_baseline("kmeans").fit_predict(views, n_clusters=n_clusters, random_state=0)


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(n_init=10), GaussianMixture(), AgglomerativeClustering(), make_pipeline(StandardScaler(), KMeans())],
    ids=lambda each: type(each).__name__,
)
def test_a_clusterer_becomes_a_baseline(clusterer: Any) -> None:
    """Number of clusters and seed are set where the clusterer has them; the clusterer itself stays as it is."""
    data = make_simulated(0)
    before = repr(clusterer.get_params())
    made = as_baseline(clusterer)
    first, again = (baseline_labels(made, data.views, n_clusters=4, random_state=3) for _ in range(2))
    assert acc(data.labels, first) == 1.0
    assert np.array_equal(first, again)
    assert made.name == type(clusterer).__name__.lower()
    assert repr(clusterer.get_params()) == before
    assert type(clone(made)) is type(made)


def test_views_of_a_clusterer_count_the_same() -> None:
    """A view in other units decides nothing, unless scaled=False; sparse views give the same clusters."""
    data = make_simulated(1)
    views = [data.views[0], 1e6 * np.random.default_rng(0).standard_normal((200, 1))]
    found = [
        baseline_labels(as_baseline(KMeans(n_init=10), scaled=scaled), views, n_clusters=4, random_state=0)
        for scaled in (True, False)
    ]
    assert acc(data.labels, found[0]) > 0.5 > acc(data.labels, found[1])
    one, other = (
        baseline_labels(as_baseline(KMeans(n_init=10), "mine"), each, n_clusters=4, random_state=0)
        for each in (data.views, [sp.csr_array(X) for X in data.views])
    )
    assert np.array_equal(one, other)


@pytest.mark.parametrize("wrong", [KMeans, 3, StandardScaler(), "kmeans"])
def test_what_is_no_clusterer(wrong: Any) -> None:
    """A class, a number and an estimator that does not cluster are refused."""
    with pytest.raises(InputTypeError, match="A baseline is made from a clusterer with fit_predict and get_params"):
        as_baseline(wrong)


def test_a_baseline_that_is_taken_for_an_adapter_is_said_to_be_one() -> None:
    """And the other way round: the message says how each is used."""
    with pytest.raises(LookupError, match=r"Unknown adapter 'kmeans'.*'kmeans' is a baseline: .* --against kmeans"):
        get_adapter("kmeans")
    with pytest.raises(LookupError, match=r"Unknown baseline 'lmvsc'.*'lmvsc' is an adapter: get_adapter\('lmvsc'\)"):
        get_baseline("lmvsc")
