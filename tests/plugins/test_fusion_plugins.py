"""Fusions of plug-ins: found through a hook of their own, refused one at a time, and used wherever ours are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from dask_arrays import chunked, computed
from distributions import OURS, adapter, failures_of, install, temporary_site
from masked_views import MASK, VIEWS, dense
from sklearn.base import clone
from strategies import related_graphs

from anchor_align import (
    AdapterError,
    AlignedClusterer,
    Fusion,
    InputError,
    InputTypeError,
    PluginError,
    UnknownNameError,
    align,
    fuse,
    get_adapter,
    get_fusion,
    list_adapters,
    list_fusions,
    load_plugins,
)
from anchor_align.data import make_simulated
from anchor_align.plugins import DISABLE_VARIABLE, FusionRecord, PluginFailure

site = pytest.fixture(temporary_site)

OUR_FUSIONS = ("unaligned", "aligned", "rotated", "concat")

IMPORTS = "import numpy as np\nimport scipy.sparse as sp\nfrom anchor_align import Fusion, hookimpl\n"
SHARPENED = '''
class Sharpened(Fusion):
    """The mean with its rows squared."""

    name = "sharpened"

    def __init__(self, power=2):
        self.power = power

    def fuse(self, graphs, weights, present=None):
        powers = super().fuse(graphs, weights, present) ** self.power
        sums = np.asarray(powers.sum(axis=1)).ravel()
        if sp.issparse(powers):
            return sp.csr_array(sp.diags_array(1 / sums) @ powers)
        return powers / sums[:, None]
'''


def hook(offers: str) -> str:
    return f"@hookimpl\ndef anchor_align_fusions():\n    return {offers}\n"


def fusion(name: str, body: str = "") -> str:
    """Code of a plug-in with one fusion."""
    return f"{IMPORTS}class MyFusion(Fusion):\n    name = {name!r}\n    {body}\n{hook('[MyFusion]')}"


def names() -> tuple[str, ...]:
    return tuple(record.name for record in list_fusions())


def sharpened(graph: Any, power: int = 2) -> np.ndarray:
    """What the plug-in does to the mean, in another way."""
    powers = dense(graph) ** power
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@pytest.fixture
def plugin(site: Path) -> Path:
    """An installed plug-in with the fusion "sharpened"."""
    install(site, "my-fusions", f"{IMPORTS}{SHARPENED}{hook('[Sharpened]')}", version="2.1", entry="sharp")
    return site


def test_a_plugin_with_fusions_only(plugin: Path) -> None:
    """It is no failure that there are no adapters; the record says where the fusion comes from."""
    registry = list_adapters()
    assert (registry.names, registry.failures) == (OURS, ())
    assert names() == (*OUR_FUSIONS, "sharpened")
    record = list_fusions()[-1]
    assert record == FusionRecord("my-fusions", "2.1", "sharp", "sharpened", record.fusion)
    assert str(record) == "my-fusions 2.1 (sharp)"
    assert get_fusion("sharpened").fuse([np.array([[0.5, 0.5]])], [1.0]).tolist() == [[0.5, 0.5]]


def test_a_plugin_with_both_hooks(site: Path) -> None:
    """Adapters and fusions of one module have names of their own: both may be called the same."""
    install(site, "both", fusion("mine") + adapter("mine"))
    assert list_adapters().names == (*OURS, "mine")
    assert names() == (*OUR_FUSIONS, "mine")
    assert list_adapters().failures == ()
    assert get_adapter("mine").name == get_fusion("mine").name == "mine"


def test_classes_and_instances(site: Path) -> None:
    """A class is called without arguments; an instance keeps its settings."""
    offers = "[Sharpened, cubed]"
    code = f"{IMPORTS}{SHARPENED}cubed = Sharpened(3)\ncubed.name = 'cubed'\n{hook(offers)}"
    install(site, "two", code)
    assert names() == (*OUR_FUSIONS, "sharpened", "cubed")
    graphs = related_graphs(np.random.default_rng(0), 30, 4)
    for name, power in (("sharpened", 2), ("cubed", 3)):
        np.testing.assert_allclose(fuse(graphs, how=name), sharpened(fuse(graphs), power))


def test_ours_are_found_without_loading_plugins(plugin: Path) -> None:
    """Nothing is imported for a fusion of this package; an instance is returned as it is."""
    for name in OUR_FUSIONS:
        assert get_fusion(name).name == name
    assert "my_fusions" not in sys.modules
    mine = Fusion()
    assert get_fusion(mine) is mine
    assert get_fusion("sharpened").name == "sharpened"
    assert "my_fusions" in sys.modules


def test_disabled_fusions_are_not_imported(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says so to somebody who asks for the plug-in's name."""
    monkeypatch.setenv(DISABLE_VARIABLE, "my-fusions")
    assert names() == OUR_FUSIONS
    assert "my_fusions" not in sys.modules
    with pytest.raises(UnknownNameError, match=rf"disabled by {DISABLE_VARIABLE}"):
        get_fusion("sharp")


def test_unknown_fusions(plugin: Path) -> None:
    """The message has the known names, those of plug-ins too, and the nearest; what is no name is said to be none."""
    with pytest.raises(UnknownNameError) as caught:
        get_fusion("sharpend")
    known = ", ".join(map(repr, (*OUR_FUSIONS, "sharpened")))
    assert str(caught.value) == f"Unknown fusion 'sharpend'; known: {known}. Did you mean 'sharpened'?"
    for other in (None, 3, ["aligned"], Fusion):
        with pytest.raises(InputTypeError, match="A fusion must be a name or an instance of Fusion, got "):
            fuse([np.eye(2)], how=other)  # type: ignore[arg-type]  # on purpose
        with pytest.raises(InputTypeError, match="A fusion must be a name or an instance of Fusion, got "):
            AlignedClusterer("lmvsc", fusion=other).fit(VIEWS)  # type: ignore[arg-type]  # on purpose


# Kind of failure: the plug-in's code, and what the reason says.
FAILURES = {
    "taken-by-us": (fusion("concat"), "the fusion 'concat' is already taken by anchor-align "),
    "taken-by-another": (fusion("first_one"), "the fusion 'first_one' is already taken by aa-first 1.0 (aa-first)"),
    "alias": (fusion("mean"), "MyFusion has the name 'mean', which `fuse` uses for the fusion 'aligned'"),
    "no-name": (fusion(""), "MyFusion has the name ''; expected lower-case letters"),
    "bad-name": (fusion("My Fusion"), "MyFusion has the name 'My Fusion'; expected lower-case letters"),
    "name-not-text": (fusion("x", "name = 3"), "MyFusion has the name 3; expected lower-case letters"),
    "one-colour": (fusion("x", "colours = ('#ff0000',)"), "MyFusion has the colours ('#ff0000',); expected two"),
    "colour-word": (fusion("x", "colours = 'red', 'blue'"), "MyFusion has the colours ('red', 'blue'); expected two"),
    "colour-short": (fusion("x", "colours = '#fff', '#000'"), "expected two, each as '#rrggbb'"),
    "colours-not-text": (fusion("x", "colours = 1, 2"), "MyFusion cannot be used: TypeError"),
    "colours-a-number": (fusion("x", "colours = 7"), "MyFusion cannot be used: TypeError"),
    "not-a-fusion": (f"{IMPORTS}class Other: name = 'x'\n{hook('[Other]')}", ".Other'>, which is not a Fusion"),
    "not-a-class": (f"{IMPORTS}{hook('[3]')}", "offers 3, which is not a Fusion"),
    "an-adapter": (adapter("x").replace("anchor_align_adapters()", "anchor_align_fusions()"), "which is not a Fusion"),
    "wrong-fuse": (
        fusion("x", "def fuse(self, graphs): pass"),
        "fuse of MyFusion cannot be called as fuse(graphs, weights, present): too many positional arguments",
    ),
    "wrong-maps": (
        fusion("x", "def maps(self, orders, grams, more): pass"),
        "maps of MyFusion cannot be called as maps(orders, grams): missing a required argument: 'more'",
    ),
    "fuse-is-none": (fusion("x", "fuse = None"), "present): None is not a callable object"),
    "constructor-raises": (fusion("x", "def __init__(self): 1 / 0"), "MyFusion cannot be used: ZeroDivisionError"),
    "needs-arguments": (fusion("x", "def __init__(self, a): pass"), "missing 1 required positional argument: 'a'"),
    "hook-raises": (f"{IMPORTS}{hook('1 / 0')}", "its hook failed: ZeroDivisionError: division by zero"),
    "hook-exits": (f"{IMPORTS}import sys\n{hook('sys.exit()')}", "its hook failed: SystemExit"),
    "returns-none": (f"{IMPORTS}{hook('None')}", "its hook returned no fusions; expected a list of them"),
    "returns-nothing": (f"{IMPORTS}{hook('[]')}", "its hook returned no fusions; expected a list of them"),
    "returns-class": (fusion("x").replace("[MyFusion]", "MyFusion"), ".MyFusion'>; expected a list of fusions"),
    "unmarked": (fusion("x").replace("@hookimpl\n", ""), "has a function 'anchor_align_fusions' that is not marked"),
    "unmarked-beside-adapters": (
        fusion("x").replace("@hookimpl\n", "") + adapter("x"),
        "has a function 'anchor_align_fusions' that is not marked with @hookimpl",
    ),
    "arguments": (fusion("x").replace("fusions()", "fusions(config)"), "Argument(s) {'config'}"),
    "misspelt": (fusion("x").replace("fusions()", "fusion()"), "unknown hook 'anchor_align_fusion'"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failure_is_recorded_and_the_rest_works(kind: str, site: Path) -> None:
    """Who and why is kept, the same at every attempt; plug-ins before and after work, and so does ours."""
    code, reason = FAILURES[kind]
    install(site, "aa-first", fusion("first_one"))
    install(site, f"bad-{kind}", code)
    install(site, "zz-later", fusion("later") + adapter("later"))
    for _ in range(2):
        registry = list_adapters()
        assert registry.names == (*OURS, "later")
        assert tuple(record.name for record in registry.fusions) == (*OUR_FUSIONS, "first_one", "later")
        (failure,) = registry.failures
        assert (failure.distribution, failure.version, failure.entry_point) == (f"bad-{kind}", "1.0", f"bad-{kind}")
        assert reason in failure.reason
        assert "\n" not in str(failure)
        assert get_fusion("later").name == get_adapter("later").name == "later"
    with pytest.raises(UnknownNameError, match=" 1 plug-in failed to load; `anchor-align adapters` shows why"):
        get_fusion("x")


def test_good_fusions_of_a_bad_plugin_load(site: Path) -> None:
    """One refused fusion takes neither the other fusions nor the adapters of its plug-in with it."""
    code = fusion("mine").replace("[MyFusion]", "[3, MyFusion, MyFusion]") + adapter("mine")
    install(site, "mixed", code)
    assert names() == (*OUR_FUSIONS, "mine")
    assert list_adapters().names == (*OURS, "mine")
    assert failures_of("mixed") == [
        "offers 3, which is not a Fusion",
        "the fusion 'mine' is already taken by mixed 1.0 (mixed)",
    ]


def test_first_come_keeps_the_name(site: Path) -> None:
    """With "-" and "_" the same, and whoever loads first keeps it."""
    install(site, "aa", fusion("my-own"), version="3.1", entry="first")
    install(site, "bb", fusion("my_own"))
    assert names() == (*OUR_FUSIONS, "my-own")
    assert list_adapters().failures == (
        PluginFailure("bb", "1.0", "bb", "the fusion 'my_own' is already taken by aa 3.1 (first)"),
    )


def test_names_of_adapters_do_not_change_hands(site: Path) -> None:
    """The fusion of a plug-in loads, its adapter does not: nobody else gets the adapter's name."""
    install(site, "aa", fusion("mine") + adapter("same", "def __init__(self): 1 / 0"), entry="same")
    install(site, "bb", adapter("same"))
    assert names() == (*OUR_FUSIONS, "mine")
    assert list_adapters().names == OURS
    assert failures_of("bb") == ["the name 'same' is already taken by aa 1.0 (same), which did not load"]


def test_an_entry_point_of_fusions_reserves_no_adapter(site: Path) -> None:
    """A plug-in of fusions that loads is not in the way of an adapter that is called as its entry point."""
    install(site, "aa", fusion("mine"), entry="same")
    install(site, "bb", adapter("same"))
    assert list_adapters().names == (*OURS, "same")
    assert list_adapters().failures == ()


def test_single_files(tmp_path: Path) -> None:
    """A file may offer fusions; the registry has them, the installation does not. A bad one raises."""
    path = tmp_path / "mine.py"
    path.write_text(fusion("mine"))
    registry = load_plugins(path)
    mine = registry.fusion("mine")
    assert mine.name == "mine"
    assert registry.fusions[-1].distribution == str(path)
    assert "mine" not in names()
    path.write_text(fusion("concat"))
    with pytest.raises(PluginError, match="the fusion 'concat' is already taken by anchor-align"):
        load_plugins(path)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("by_name", [False, True])
def test_fuse(sparse: bool, by_name: bool, plugin: Path) -> None:
    """By name or as an object, of dense and of sparse graphs, with weights and in a common order."""
    graphs: list[Any] = [np.where(Z > 0.1, Z, 0.0) for Z in related_graphs(np.random.default_rng(1), 40, 5, 3)]
    expected = sharpened(fuse(graphs, align(graphs), weights=[1, 2, 3]))
    if sparse:
        graphs = [sp.csr_array(Z) for Z in graphs]
    found = fuse(graphs, align(graphs), weights=[1, 2, 3], how="sharpened" if by_name else get_fusion("sharpened"))
    assert sp.issparse(found) == sparse
    np.testing.assert_allclose(dense(found), expected, atol=1e-14)


def test_fuse_with_missing_samples(plugin: Path) -> None:
    """The mask reaches the fusion: what is in the rows of missing samples does not matter."""
    graphs = related_graphs(np.random.default_rng(2), MASK.shape[1], 5, 3)
    holes = [np.where(present[:, None], Z, np.nan) for Z, present in zip(graphs, MASK, strict=True)]
    expected = sharpened(fuse(graphs, mask=MASK))
    assert not np.allclose(expected, sharpened(fuse(graphs)))
    np.testing.assert_allclose(fuse(graphs, how="sharpened", mask=MASK), expected)
    np.testing.assert_allclose(fuse(holes, how="sharpened", missing="nan"), expected)
    with pytest.raises(InputError, match="Sample 0 is only in views whose weight is zero"):
        fuse(graphs, how="sharpened", weights=[1, 0, 0], mask=~np.eye(3, MASK.shape[1], dtype=bool))


def fitted(views: Any = VIEWS, mask: Any = None, **options: Any) -> AlignedClusterer:
    settings: dict[str, Any] = {"adapter": "lmvsc", "n_clusters": 4, "n_anchors": 10, "random_state": 0}
    return AlignedClusterer(**settings | options).fit(views, mask=mask)


@pytest.mark.parametrize("name", ["lmvsc", "sfmc"])
@pytest.mark.parametrize("mask", [None, MASK])
def test_clusterer(name: str, mask: Any, plugin: Path) -> None:
    """By name or as an object: the fused graph is the plug-in's, and predict fuses new samples in the same way."""
    plain = fitted(adapter=name, mask=mask)
    found = fitted(adapter=name, mask=mask, fusion="sharpened")
    np.testing.assert_allclose(dense(found.fused_graph_), sharpened(plain.fused_graph_), atol=1e-12)
    np.testing.assert_array_equal(found.predict(VIEWS, mask=mask), found.labels_)
    copy = clone(AlignedClusterer(name, fusion=get_fusion("sharpened")))
    again = fitted(adapter=name, mask=mask, fusion=copy.fusion)
    np.testing.assert_array_equal(again.labels_, found.labels_)
    np.testing.assert_array_equal(dense(again.fused_graph_), dense(found.fused_graph_))
    assert (found.aligner_ is None) == (name == "sfmc")  # its anchors correspond already


@pytest.mark.parametrize("storage", ["disk", "never"])
@pytest.mark.parametrize("mask", [None, MASK])
def test_storage_changes_nothing(storage: str, mask: Any, plugin: Path, tmp_path: Path) -> None:
    """Graphs on disk, or made anew for every pass, give the labels, embedding and predictions of those in memory."""
    expected = fitted(fusion="sharpened", mask=mask)
    found = fitted(fusion="sharpened", mask=mask, storage=storage, folder=tmp_path)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-9)
    np.testing.assert_array_equal(found.predict(VIEWS, mask=mask), expected.predict(VIEWS, mask=mask))
    if storage == "never":
        assert found.fused_graph_ is None
    else:
        np.testing.assert_array_equal(found.fused_graph_, expected.fused_graph_)


def test_dask_arrays(plugin: Path) -> None:
    """Chunks give what arrays in memory give, in ``fuse`` and in a fit, with graphs kept or not."""
    da = pytest.importorskip("dask.array")
    graphs = related_graphs(np.random.default_rng(3), 200, 5)
    lazy = fuse(chunked(graphs, 70), align(graphs), how="sharpened")
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(computed(lazy), fuse(graphs, align(graphs), how="sharpened"), atol=1e-14)
    views = make_simulated(0).views
    here = fitted(views, fusion="sharpened")
    for storage in ("memory", "never"):
        there = fitted(chunked(views, 70), fusion="sharpened", storage=storage)
        np.testing.assert_array_equal(computed(there.labels_), here.labels_)
        np.testing.assert_array_equal(computed(there.predict(chunked(views, 70))), here.labels_)


class Odd(Fusion):
    """Returns what it is told to."""

    name = "odd"

    def __init__(self, make: Any) -> None:
        self.make = make

    def fuse(self, graphs: Any, weights: Any, present: Any = None) -> Any:
        """Something made of the first graph."""
        return self.make(graphs[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda Z: None, "returned NoneType from fuse; expected an ndarray or csr_array of floats"),
        (lambda Z: Z.tolist(), "returned list from fuse"),
        (sp.coo_array, "returned coo_array from fuse"),
        (lambda Z: Z[:-1], r"returned an array of shape \(\d+, \d+\) and dtype float64 from fuse; expected .* rows"),
        (lambda Z: Z[:, 0], r"returned an array of shape \(0,\)"),
        (lambda Z: Z.astype(complex), ".* and dtype complex128 from fuse"),
        (lambda Z: Z[:, :1] if len(Z) else Z, r"returned 1 columns from fuse, and \d+ when it was called without rows"),
    ],
)
def test_results_that_cannot_be_used_are_refused(make: Any, message: str) -> None:
    """One sentence that names the fusion, what was got and what was expected; nothing is filled in silently."""
    graphs = related_graphs(np.random.default_rng(4), 30, 5)
    with pytest.raises(AdapterError, match=f"^Fusion 'odd' {message}"):
        fuse(graphs, how=Odd(make))
    for storage in ("memory", "never"):
        with pytest.raises(AdapterError, match=f"^Fusion 'odd' {message}"):
            fitted(fusion=Odd(make), storage=storage)


def test_graphs_of_the_user_are_not_written_to() -> None:
    """A fusion may work in place: it gets rows of its own."""

    def spoil(Z: Any) -> Any:
        Z[:] = 9.0
        return Z

    graphs = related_graphs(np.random.default_rng(5), 30, 5)
    before = [Z.copy() for Z in graphs]
    assert (fuse(graphs, how=Odd(spoil)) == 9.0).all()
    for Z, old in zip(graphs, before, strict=True):
        np.testing.assert_array_equal(Z, old)


def test_a_map_is_needed_for_every_view() -> None:
    """One sentence that names the fusion and counts."""

    class Short(Fusion):
        name = "short"

        def maps(self, orders: Any, grams: Any) -> Any:
            return orders[:-1]

    with pytest.raises(AdapterError, match=r"^Fusion 'short' returned 1 maps for 2 views\.$"):
        fuse(related_graphs(np.random.default_rng(6), 30, 5), how=Short())
