"""Resolving requirements for real, by each tool, against a folder of wheels that the test writes."""

from __future__ import annotations

import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from verify.environments import resolve as module
from verify.environments.installer import find
from verify.environments.resolve import Resolution, resolve


def wheel(folder: Path, name: str, version: str, *needs: str) -> None:
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {need}\n" for need in needs
    )
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", metadata)
        archive.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture(params=["uv", "pip"])
def tool(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    wheel(tmp_path, "pytorch-lightning", "2.6.6", "torch>=2.1.0", "torchmetrics>0.7.0")
    wheel(tmp_path, "pytorch-lightning", "1.9.5", "torch>=1.10.0")
    wheel(tmp_path, "torch", "2.3.1")
    wheel(tmp_path, "torch", "1.13.1")
    wheel(tmp_path, "torchmetrics", "0.12.0")
    wheel(tmp_path, "other", "1.0")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    installer = find(threading.Event())
    if request.param == "pip":
        installer = replace(installer, uv=None)
    assert bool(installer.uv) == (request.param == "uv")
    monkeypatch.setattr(module, "find", lambda stop: installer)
    return str(request.param)


def test_says_what_would_be_installed(tool: str) -> None:
    found = resolve(["pytorch-lightning>=2.0", "other"])
    assert found.error is None and found.tool == tool
    assert dict(found.packages) == {
        "pytorch-lightning": "2.6.6",
        "torch": "2.3.1",
        "torchmetrics": "0.12.0",
        "other": "1.0",
    }
    assert "pytorch-lightning 2.6.6, torch 2.3.1, torchmetrics 0.12.0, and 1 more" in str(found)


def test_says_why_nothing_can_be(tool: str) -> None:
    found = resolve(["pytorch-lightning==2.6.6", "torch==1.13.1"])
    assert found.packages == () and found.error
    assert "torch" in str(found) and "cannot be installed" in str(found)
    assert "torch==1.13.1" in str(found)


def test_nothing_is_installed(tool: str) -> None:
    assert resolve(["other"]).packages == (("other", "1.0"),)
    assert not any((Path(folder) / "other-1.0.dist-info").exists() for folder in sys.path)


def test_a_tool_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(find(threading.Event()), uv=Path("/nonexistent/uv"))
    monkeypatch.setattr(module, "find", lambda stop: broken)
    assert "could not be started" in str(resolve(["other"]))


def test_what_is_shown() -> None:
    found = Resolution("pip", "3.12", (("numpy", "2.0"), ("torch", "2.3.1")))
    assert str(found) == "would install on Python 3.12, by pip: torch 2.3.1, and 1 more"
