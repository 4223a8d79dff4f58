"""What a project is told of GPUs by pynvml, where there is no driver."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from verify.harness import driver

PYNVML = """
class NVMLError(Exception):
    pass

def nvmlInit():
    raise NVMLError("NVML Shared Library Not Found")

nvmlDeviceGetCount = nvmlInit

def nvmlDeviceGetHandleByIndex(number):
    raise NVMLError("Uninitialized")

nvmlDeviceGetMemoryInfo = nvmlDeviceGetPowerUsage = nvmlDeviceGetHandleByIndex
"""
PROJECT = """
import pynvml

def free():
    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
    return [pynvml.nvmlDeviceGetMemoryInfo(handle).free > 0 for handle in handles]

def power():
    return pynvml.nvmlDeviceGetPowerUsage(0)

def wrongly():
    return pynvml.nvmlDeviceGetHandleByIndex()
"""


@pytest.mark.parametrize("is_there", [False, True], ids=["imported later", "imported by torch"])
def test_a_project_is_told_of_one_idle_device_and_libraries_of_none(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, name, text in (
        ("installed", "pynvml", PYNVML), ("installed", "library_of_gpus", PROJECT), ("project", "picks_gpus", PROJECT)
    ):  # fmt: skip
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path / folder))
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    if is_there:
        importlib.import_module("pynvml")
    used: dict[str, None] = {}
    driver.stand_in(str(tmp_path / "project"), used)
    project, library = (importlib.import_module(name) for name in ("picks_gpus", "library_of_gpus"))
    error = sys.modules["pynvml"].NVMLError
    assert project.free() == [True]
    assert list(used) == ["picks_gpus"]
    with pytest.raises(error, match="Not Found"):
        library.free()
    with pytest.raises(error):
        project.power()
    with pytest.raises(TypeError):
        project.wrongly()
