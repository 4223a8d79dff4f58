"""Computes in bfloat16 on the CPU for a Lightning before 1.5, which refuses to train there with 16 bits: what a project
asks a GPU for, it asks of the CPU where a proof has none. Later releases do the same by themselves.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from .provided import MOVED

_GPUS = ("gpus", "tpu_cores", "auto_select_gpus")


def on_cpu(given: Mapping[str, Any]) -> list[Any]:
    """The plugin that computes so, where a Trainer is asked for 16 bits on devices which are not here; none where
    nothing but the CPU was asked for, which such a Lightning refuses on every machine."""
    asked = any(given.get(name) not in (None, False, 0, "0", []) for name in _GPUS)
    native = str(given.get("amp_backend") or "native") == "native"  # it reads `amp_level` for apex alone
    base: Any = sys.modules.get("pytorch_lightning.plugins.precision.precision_plugin")
    if str(given.get("precision")) != "16" or not asked or not native or base is None:
        return []
    import torch

    @contextlib.contextmanager
    def cast(self: Any) -> Iterator[None]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            yield

    steps = ("train_step_context", "val_step_context", "test_step_context", "predict_step_context")
    MOVED["pytorch_lightning (bfloat16 for its 16 bits)"] = None
    kind = type("BFloat16Precision", (base.PrecisionPlugin,), {"precision": "bf16", **dict.fromkeys(steps, cast)})
    return [kind()]
