"""Answers what a project asks the driver of NVIDIA's GPUs by pynvml, where there is none: one device that is idle.

Runs in the target's interpreter, beside the harness. Scripts pick the GPU that has the most free memory so.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

from .active_module import asking
from .trackers import Changed

_NAME = "pynvml"
_MEMORY = 2**34
_ANSWERS: Mapping[str, Any] = MappingProxyType(
    {
        "nvmlInit": None, "nvmlShutdown": None, "nvmlDeviceGetCount": 1, "nvmlDeviceGetHandleByIndex": 0,
        "nvmlDeviceGetName": "none", "nvmlDeviceGetTemperature": 0,
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=_MEMORY, free=_MEMORY, used=0),
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=0, memory=0),
    }
)  # fmt: skip


def stand_in(root: str, used: dict[str, None]) -> None:
    """Have it so for the files below `root`: libraries do without. Who asks is added to `used`."""

    def change(module: Any) -> None:
        for name, answer in _ANSWERS.items():
            if original := getattr(module, name, None):
                setattr(module, name, _answered(original, module.NVMLError, answer, root, used))

    if _NAME in sys.modules:  # torch imports it where it is installed
        change(sys.modules[_NAME])
    else:
        sys.meta_path.insert(0, Changed(_NAME, change))


def _answered(original: Any, error: type[Exception], answer: Any, root: str, used: dict[str, None]) -> Any:
    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except error:
            if not sys._getframe(1).f_code.co_filename.startswith(root):
                raise
            used[asking(root)] = None
            return answer

    return function
