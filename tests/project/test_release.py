"""Releases: one version everywhere, and workflows that build, check and publish what CI has tried."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import anchor_align

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def jobs(workflow: str) -> dict[str, str]:
    """Text of every job of a workflow."""
    text = read(f".github/workflows/{workflow}").partition("\njobs:\n")[2]
    return dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", text, flags=re.MULTILINE))


def test_the_version_is_the_same_everywhere() -> None:
    """Package, change log and citation; the newest version is the first of the change log."""
    (newest, *_) = re.findall(r"^## (\S+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$", read("CHANGELOG.md"), re.MULTILINE)
    fields = dict(re.findall(r"^([a-z-]+): (.*)$", read("CITATION.cff"), flags=re.MULTILINE))
    assert {"cff-version", "message", "title"} <= set(fields)
    assert newest == fields["version"] == anchor_align.__version__


@pytest.mark.parametrize(("tag", "reason"), [("v9.9.9", "The tag is v9.9.9, but the version"), ("{}", "no line '## ")])
def test_a_tag_that_does_not_fit_is_refused(tag: str, reason: str, tmp_path: Path) -> None:
    """Before anything is built: another version, or one that the change log calls unreleased."""
    if tag == "{}" and f"## {anchor_align.__version__} (unreleased)" not in read("CHANGELOG.md"):
        pytest.skip("this version has a date")
    words = ["bash", str(ROOT / ".ci" / "package"), str(tmp_path), tag.format(f"v{anchor_align.__version__}")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_ci_tries_what_a_release_builds() -> None:
    """Both call one script, which checks the description that PyPI shows, and runs the installed wheel."""
    assert 'bash .ci/package "$dist"' in read(".ci/run")
    assert "bash .ci/package dist" in jobs("release.yml")["build"]
    script = read(".ci/package")
    assert 'twine" check --strict' in script
    assert "anchor-align compare lmvsc --no-cache" in script


def test_only_tags_are_published_and_no_password_is_stored() -> None:
    """PyPI trusts the workflow; the job that may publish builds nothing."""
    publish = jobs("release.yml")["publish"]
    assert "if: github.event_name == 'push' && github.ref_type == 'tag'" in publish
    assert "needs: build" in publish
    assert "id-token: write" in publish
    assert "pypa/gh-action-pypi-publish@" in publish
    assert "checkout" not in publish
    for path in WORKFLOWS.glob("*.yml"):
        assert not re.search(
            "password|secrets\\.", path.read_text(encoding="utf-8").replace("there is no password", "")
        )


def test_the_published_site_is_built_as_in_ci() -> None:
    """With warnings as errors; the job that publishes may write pages, and nothing else."""
    found = jobs("site.yml")
    assert "sphinx-build -W --keep-going -q docs build/site" in found["build"]
    assert "actions/deploy-pages@" in found["publish"]
    assert re.findall(r"^ {6}([\w-]+): write$", found["publish"], flags=re.MULTILINE) == ["pages", "id-token"]


@pytest.mark.parametrize("name", sorted(path.name for path in WORKFLOWS.glob("*.yml")))
def test_a_workflow_runs_only_what_was_reviewed(name: str) -> None:
    """Actions are fixed by commit, no text from outside becomes part of a command, and no credentials stay behind."""
    text = read(f".github/workflows/{name}")
    actions = re.findall(r"uses: (.*)", text)
    assert [each for each in actions if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", each)] == []
    assert not re.search(r"run:.*\$\{\{", text)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
