"""Flags by which Lightning 1.x said what is installed, and which it no longer has: what says the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codemods.code.source import PythonFile
from codemods.lightning.spelling import namespace_of
from codemods.rewrite.import_statement import ImportTarget

IMPORTS = "lightning_utilities.core.imports"
"""A requirement of every Lightning 2.x."""
MODULES = {
    "_APEX_AVAILABLE": "apex.amp",
    "_BOLTS_AVAILABLE": "pl_bolts",
    "_DEEPSPEED_AVAILABLE": "deepspeed",
    "_DOCSTRING_PARSER_AVAILABLE": "docstring_parser",
    "_HOROVOD_AVAILABLE": "horovod.torch",
    "_HYDRA_AVAILABLE": "hydra",
    "_JSONARGPARSE_AVAILABLE": "jsonargparse",
    "_NEPTUNE_AVAILABLE": "neptune",
    "_OMEGACONF_AVAILABLE": "omegaconf",
    "_ONNX_AVAILABLE": "onnx",
    "_PSUTIL_AVAILABLE": "psutil",
    "_TORCHTEXT_AVAILABLE": "torchtext",
    "_TORCHVISION_AVAILABLE": "torchvision",
    "_WANDB_AVAILABLE": "wandb",
}
"""What each flag looked for, as `pytorch_lightning.utilities.imports` of 1.5.10 has it.

Not the flags that asked for more: rich for its version (2.6 has that flag), fairscale for a system besides Windows.
"""
HOLDS = re.compile(
    r"_(?:TORCH_GREATER_EQUAL_(?:1_\d+|2_[01])(?:_\d+)?|PYTHON_GREATER_EQUAL_3_(?:8|10)_0"
    r"|TORCHMETRICS_GREATER_EQUAL_0_[34]|NATIVE_AMP_AVAILABLE)"
)
"""What is so wherever Lightning 2.6 can be installed: with torch 2.1, torchmetrics 0.7, Python 3.10."""
TPU = "_TPU_AVAILABLE"


@dataclass(frozen=True)
class StatedFlag:
    """What is written for a flag, and what has to be imported for that."""

    text: str
    place: ImportTarget | None
    reason: str
    needs: str = "2.0.0"


def stated(file: PythonFile, name: str) -> StatedFlag | None:
    """What says the same as a flag; None where it is none of these."""
    if HOLDS.fullmatch(name):
        return StatedFlag("True", None, "It holds wherever Lightning 2.6 can be installed.", "2.6.0")
    if module := MODULES.get(name):
        place = ImportTarget(IMPORTS, "module_available", "module_available")
        return StatedFlag(f'module_available("{module}")', place, "It is what the flag was made of.")
    return tpus(file) if name == TPU else None


def tpus(file: PythonFile) -> StatedFlag:
    """Whether there is a TPU."""
    place = ImportTarget(f"{namespace_of(file)}.accelerators", "XLAAccelerator", "XLAAccelerator")
    return StatedFlag(f"{place.name}.is_available()", place, f"`{place.name}.is_available()` says the same.", "2.1.0")
