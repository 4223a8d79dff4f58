"""`gpus=` and `tpu_cores=` in one call: Lightning 1.x took the kind of device that was asked for."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.lightning.kinds import is_repeatable
from codemods.rules.trainer.gpus import CPU, Devices

TPUS = frozenset({"tpu_cores", "num_tpu_cores"})
OTHERS = {"accelerator", "devices", "num_processes", "ipus", "hpus"}
BOTH = (
    "TPUs are taken where both are asked for, as they were up to Lightning 1.5; later releases of 1.x took the GPUs, "
    "if any"
)


def tpus_beside(arguments: Mapping[str, ast.expr]) -> str | None:
    """The argument that may ask for TPUs in the place of the GPUs that a call asks for too, where no other does."""
    given = [name for name in sorted(TPUS) if name in arguments and literal(arguments[name]) != (True, None)]
    others = [name for name in OTHERS if name in arguments and literal(arguments[name]) != (True, None)]
    return given[0] if "gpus" in arguments and len(given) == 1 and not others else None


def either(
    file: PythonFile, asked: Devices, arguments: Mapping[str, ast.expr], name: str
) -> tuple[tuple[str, str], ...] | None:
    """The keywords that take the place of both, the TPUs given by that name; None where what asks for them cannot be
    written twice."""
    tpus = _asking(arguments[name])
    if not is_repeatable(tpus):
        return None
    cores = file.source_of(tpus)
    gpus = "1" if asked is CPU else asked.devices or file.source_of(arguments["gpus"])
    kind = f'"{asked.accelerator}"' if asked.accelerator in ("cpu", "gpu") else asked.accelerator
    if "\n" in cores or "\n" in gpus:
        return None
    number = f"({gpus})" if " if " in gpus else gpus
    return ("accelerator", f'"tpu" if {cores} else {kind}'), ("devices", f"{cores} or {number}")


def _asking(node: ast.expr) -> ast.expr:
    """The value that counts: `n` of `n if n else None` and of `n or None`."""
    if isinstance(node, ast.IfExp) and literal(node.orelse) == (True, None):
        return node.body if ast.dump(node.test) == ast.dump(node.body) else node
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and literal(node.values[-1]) == (True, None):
        return node.values[0] if len(node.values) == 2 else node
    return node
