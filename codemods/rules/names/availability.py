"""Flags by which Lightning 1.x said what is installed, and which it no longer has: what says the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.spelling import namespace_of
from codemods.rewrite.import_statement import ImportTarget

IMPORTS = "lightning_utilities.core.imports"
"""A requirement of every Lightning 2.x."""
PACKAGES = {
    "_BOLTS_AVAILABLE": "pl_bolts",
    "_DEEPSPEED_AVAILABLE": "deepspeed",
    "_DOCSTRING_PARSER_AVAILABLE": "docstring_parser",
    "_HYDRA_AVAILABLE": "hydra",
    "_NEPTUNE_AVAILABLE": "neptune",
    "_ONNX_AVAILABLE": "onnx",
    "_PSUTIL_AVAILABLE": "psutil",
    "_TORCHTEXT_AVAILABLE": "torchtext",
    "_WANDB_AVAILABLE": "wandb",
}
"""What each flag looked for without importing it, as `pytorch_lightning.utilities.imports` of 1.5.10 and 1.6.5 have
it."""
MODULES = {"_APEX_AVAILABLE": "apex.amp", "_HOROVOD_AVAILABLE": "horovod.torch"}
"""What each flag looked for within a package, which it imported for that (1.5.10 to 1.8.6).

Neither has the flags that 2.6 has in `utilities.imports` (omegaconf, torchvision, and rich with its version), nor that
of fairscale, which asked for a system besides Windows.
"""
LATER = {
    "_APEX_AVAILABLE": "1.9",
    "_DEEPSPEED_AVAILABLE": "1.8",
    "_HYDRA_AVAILABLE": "1.8",
    "_NEPTUNE_AVAILABLE": "1.8",
    "_PSUTIL_AVAILABLE": "1.9",
    "_WANDB_AVAILABLE": "1.7",
}
"""The release since which a flag asked for an installed distribution first (read in 1.7.7, 1.8.6 and 1.9.5)."""
REQUIREMENTS = {"_JSONARGPARSE_AVAILABLE": "jsonargparse>=4.7.1"}
"""What each flag asked for at last (1.6.5), where releases before asked for any version."""
FLAGS = (*PACKAGES, *MODULES, *REQUIREMENTS)
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
    level: Fix = "safe"


def stated(file: PythonFile, name: str) -> StatedFlag | None:
    """What says the same as a flag; None where it is none of these."""
    if HOLDS.fullmatch(name):
        return StatedFlag("True", None, "It holds wherever Lightning 2.6 can be installed.", "2.6.0")
    if package := PACKAGES.get(name):
        return _looked_for(name, "package_available", package)
    if module := MODULES.get(name):
        return _looked_for(name, "module_available", module)
    if asked := REQUIREMENTS.get(name):
        reason = f"Lightning 1.6 asked for {asked}, releases before it for any version."
        return StatedFlag(f'RequirementCache("{asked}")', _tool("RequirementCache"), reason, level="unsafe")
    return tpus(file) if name == TPU else None


def _looked_for(flag: str, tool: str, package: str) -> StatedFlag:
    text, place = f'{tool}("{package}")', _tool(tool)
    if since := LATER.get(flag):
        reason = f"Lightning up to {since} made the flag of it; from then on it asked for an installed distribution."
        return StatedFlag(text, place, reason, level="unsafe")
    return StatedFlag(text, place, "It is what the flag was made of.")


def _tool(name: str) -> ImportTarget:
    return ImportTarget(IMPORTS, name, name)


def tpus(file: PythonFile) -> StatedFlag:
    """Whether there is a TPU."""
    place = ImportTarget(f"{namespace_of(file)}.accelerators", "XLAAccelerator", "XLAAccelerator")
    return StatedFlag(f"{place.name}.is_available()", place, f"`{place.name}.is_available()` says the same.", "2.1.0")
