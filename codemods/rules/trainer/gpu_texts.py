"""What text without a comma asked for as `gpus=`, which named a device before Lightning 1.5 and counts them since."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.lightning.eras import ran
from codemods.lightning.facts import Facts
from codemods.lightning.strategies import is_strategy
from codemods.rules.trainer.beside_processes import is_given
from codemods.rules.trainer.gpus import CPU, TEXT, UNSEEN, Devices

COUNTED = "1.5"
"""The release since which such text is a number of devices, and "0" is the CPU."""
NUMBER = f'the code needs Lightning {COUNTED} or later, where text without a comma is a number, and "0" means the CPU'
DEVICE = f"the code needs a Lightning before {COUNTED}, where text without a comma named a device"


def by_release(
    facts: Facts, file: PythonFile, node: ast.expr, asked: Devices | None, arguments: Mapping[str, ast.expr]
) -> Devices | None:
    """What a value asks for, where it is or may be such text, and every Lightning that the pins admit and that takes
    such a call reads that alike; else what is known of it without that.

    Run on 1.4.9, 1.5.10 and 1.9.5 with four devices, and read in 0.7.6, 1.0.8, 1.2.10, 1.3.8, 1.6.5, 1.7.7 and 1.8.6.
    """
    before, after = ran(facts, arguments, COUNTED)
    if before == after:
        return asked
    known, value = literal(node)
    if known and asked is None:
        return _read_digits(value, after)
    if before or asked is None or asked.why not in (TEXT, UNSEEN) or isinstance(node, ast.IfExp):
        return asked
    given = arguments.get("accelerator")
    if not (given is None or literal(given) == (True, None) or is_strategy(given)) or is_given(arguments):
        return asked
    text = file.source_of(node)
    some = f'{text} and {text} != "0"'
    return Devices(f'"gpu" if {some} else "cpu"', f'{text} if {some} else "auto"', True, why=NUMBER)


def _read_digits(value: object, counted: bool) -> Devices | None:
    """What text of digits asked for, where it was a number of devices, or else named one."""
    if not isinstance(value, str) or not (value.isascii() and value.isdigit()):
        return None
    number = int(value)
    if not counted:
        return Devices("gpu", f"[{number}]", False, "M016", why=DEVICE)
    return Devices("gpu", str(number), number > 1, "M016", why=NUMBER) if number else CPU
