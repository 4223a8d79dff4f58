"""What `gpus=` asked of Lightning 1.x: the devices that take its place, going by its value."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Literal

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.compared_numbers import is_compared
from codemods.lightning.configured_values import configured_values
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import bound_once, is_repeatable, kind_of, part_of_choice


@dataclass(frozen=True)
class Devices:
    """What `gpus=` asks for, as the texts of two keywords. `accelerator` is "cpu", "gpu" or an expression, `devices`
    None for the value as it is written and "" for no such keyword."""

    accelerator: str
    devices: str | None
    several: bool = False
    row: str = "M164"
    level: Fix = "safe"
    why: str = ""


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.Eq: ast.NotEq, ast.LtE: ast.Gt, ast.Lt: ast.GtE,
}  # fmt: skip
CPU = Devices("cpu", "")
GPU_NAMES = ("gpu", "cuda")
NEW_ACCELERATORS = (*GPU_NAMES, "auto", "cpu", "tpu", "hpu", "ipu", "mps")
"""What accelerator= may name, and strategies never do."""
FIRM = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Compare)
"""What may stand beside `and` and `or` without brackets."""
UNSEEN = "fixer assumes that it is None, a number, a list, or text with a comma"
TEXT = 'it is text: "1" named a device before 1.5, and is a number of devices since'


def read_gpus(node: ast.expr) -> Devices | None:
    """What a literal asked of Lightning 1.x, None where it is no literal or not the same in every 1.x.

    Run on 1.9.5 with four devices: None and 0 are the CPU, n the first n, -1 and "-1" all, "0,1" and [0, 1]
    those two. "1" was an id before 1.5 and is a count since (M016), and "0" was both.
    """
    known, value = literal(node)
    if not known:
        return None
    if value is None or (type(value) is int and value == 0):
        return CPU
    if type(value) is int:
        return Devices("gpu", None, value != 1) if value > 0 or value == -1 else None
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, list | tuple) and _are_ids(list(value)):
        return Devices("gpu", None, len(value) > 1)
    return None


def _read_text(value: str) -> Devices | None:
    if value.strip() == "-1":
        return Devices("gpu", "-1", True)
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if "," not in value or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    ids = [int(part) for part in parts]
    return Devices("gpu", str(ids), len(ids) > 1, "M016") if _are_ids(ids) else None


def _are_ids(ids: list[Any]) -> bool:
    return bool(ids) and all(type(item) is int and item >= 0 for item in ids) and len(set(ids)) == len(ids)


def devices_asked(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> Devices | None:
    """What a value of `gpus=` asks for, whether it is a literal or not."""
    return read_gpus(node) if literal(node)[0] else read_value(facts, file, call, node)


def read_value(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> Devices | None:
    """What a value that is known only when the program runs asks for, None where it cannot be written twice."""
    if isinstance(node, ast.IfExp):
        return _read_choice(facts, file, call, node)
    text = file.source_of(node)
    if (number := _number_of_first(call, node)) is not None:
        return _first(file, node, number)
    if _asks_for_one(call, node):
        return Devices('"gpu" if torch.cuda.is_available() else "cpu"', "1")
    if test := _counted_test(call, node):
        return Devices(f'"gpu" if {file.source_of(test)} else "cpu"', "1") if "\n" not in text else None
    kind = kind_of(facts, file, call, node)
    if kind == "ids" or _counts_parts(call, node):
        return Devices("gpu", None, True)
    bound = bound_once(facts, file, call, node.id) if isinstance(node, ast.Name) else None
    if bound is not None and (asked := read_gpus(bound)) and asked.accelerator == "gpu" and asked.devices is None:
        return Devices("gpu", None, asked.several)
    if not _may_be_twice(call, node) or "\n" in text:
        return None
    if kind == "?" and is_compared(file, call, node):
        kind = "int"
    if kind in ("int", "gpus", "numbers") or _is_configured(facts, file, call, node):
        return Devices(f'"gpu" if {text} else "cpu"', f"{text} or 1", True)
    if kind not in ("str", "?"):
        return None
    why = TEXT if kind == "str" else UNSEEN
    return Devices(f'"gpu" if {text} else "cpu"', f'{text} or "auto"', True, level="unsafe", why=why)


def _may_be_twice(call: CallNode, node: ast.expr) -> bool:
    """Whether a value may be written twice: what may be anywhere, sums and products of such, and what a text spells."""
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return all(isinstance(side, ast.Constant) or _may_be_twice(call, side) for side in sides)
    if isinstance(node, ast.Call) and call.scope.resolve(node.func) == "torch.cuda.device_count":
        return not node.args and not node.keywords
    inner = _argument_of(call, node, "eval")
    return is_repeatable(node) or (inner is not None and is_repeatable(inner))


def _is_configured(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> bool:
    """Whether the project's configurations have for it what means the same in every release: a number, ids, text with
    a comma."""
    values = configured_values(facts, file, call, node)
    return bool(values) and all(value is None or _reads_alike(value) for value in values)


def _reads_alike(value: object) -> bool:
    if isinstance(value, str):
        return _read_text(value) is not None
    return type(value) is int or (isinstance(value, list) and _are_ids(value or [0]))


def _number_of_first(call: CallNode, node: ast.expr) -> ast.expr | None:
    """The `n` of `list(range(n))`, `[*range(n)]` and `[i for i in range(n)]`."""
    inner = _argument_of(call, node, "list")
    if isinstance(node, ast.List) and len(node.elts) == 1 and isinstance(node.elts[0], ast.Starred):
        inner = node.elts[0].value
    elif isinstance(node, ast.ListComp) and len(node.generators) == 1:
        turn = node.generators[0]
        plain = isinstance(turn.target, ast.Name) and ast.unparse(node.elt) == turn.target.id
        inner = turn.iter if plain and not turn.ifs and not turn.is_async else None
    return _argument_of(call, inner, "range") if inner else None


def _argument_of(call: CallNode, node: ast.expr, function: str) -> ast.expr | None:
    """The one argument of a call of a built-in function."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1:
        return None
    named = isinstance(node.func, ast.Name) and node.func.id == function and call.scope.lookup(function) is None
    return node.args[0] if named else None


def _counts_parts(call: CallNode, node: ast.expr) -> bool:
    """Whether it is `len(text.split(","))`, which is never 0."""
    inner = _argument_of(call, node, "len")
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute) or inner.func.attr != "split":
        return False
    return len(inner.args) == 1 and isinstance(literal(inner.args[0])[1], str)


def _first(file: PythonFile, ids: ast.expr, number: ast.expr) -> Devices | None:
    """What the ids of the first devices ask for: as many, where their number is a count, which is never below 0."""
    known, value = literal(number)
    if known:
        return Devices("gpu", None, value > 1) if type(value) is int and value > 0 else None
    counts = isinstance(number, ast.Call) and ast.unparse(number.func) in ("len", "torch.cuda.device_count")
    text = file.source_of(number if counts else ids)
    if not is_repeatable(number) or "\n" in text:
        return None
    some = text if counts or not isinstance(number, FIRM) else f"{file.source_of(number)} > 0"
    return Devices(f'"gpu" if {some} else "cpu"', f"{text} or 1", True)


def _asks_for_one(call: CallNode, node: ast.expr) -> bool:
    """`int(torch.cuda.is_available())`, `min(1, torch.cuda.device_count())`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or call.scope.lookup(node.func.id):
        return False
    names = [call.scope.resolve(item.func) for item in node.args if isinstance(item, ast.Call)]
    if node.func.id == "int":
        return names == ["torch.cuda.is_available"]
    one = any(literal(item) == (True, 1) for item in node.args)
    return node.func.id == "min" and one and len(node.args) == 2 and names == ["torch.cuda.device_count"]


def _counted_test(call: CallNode, node: ast.expr) -> ast.expr | None:
    """The comparison in `int(device == "cuda")`, which is 1 or 0."""
    inner = _argument_of(call, node, "int")
    negated = isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not)
    return inner if isinstance(inner, ast.Compare) or negated else None


def _read_choice(facts: Facts, file: PythonFile, call: CallNode, node: ast.IfExp) -> Devices | None:
    """`1 if torch.cuda.is_available() else 0` and its like."""
    if "\n" in file.source_of(node):
        return None
    arms = []
    for arm in (node.body, node.orelse):
        asked = read_gpus(arm) if literal(arm)[0] else read_value(facts, file, call, arm)
        if asked is None:
            return None
        if isinstance(arm, ast.Name | ast.Attribute) and kind_of(facts, file, call, arm) == "str":
            asked = Devices("gpu", None, True, level="unsafe", why=asked.why)
        arms.append(asked)
    if CPU in arms and any(each.accelerator not in ("cpu", "gpu") for each in arms):
        return _read_offered(file, node, arms)
    if any(each.accelerator not in ("cpu", "gpu") for each in arms):
        return None
    test = part_of_choice(file, node.test)
    (first, one), (second, two) = [
        (item, "1" if item is CPU else item.devices or file.source_of(arm))
        for item, arm in zip(arms, (node.body, node.orelse), strict=True)
    ]
    if first is CPU and second is CPU:
        return CPU
    same = first.accelerator == second.accelerator
    accelerator = first.accelerator if same else f'"{first.accelerator}" if {test} else "{second.accelerator}"'
    if isinstance(node.body, ast.IfExp) and one != two:
        one = f"({one})"
    devices = one if one == two else f"{one} if {test} else {two}"
    unsafe = next((item for item in arms if item.level != "safe"), None)
    level: Fix = "unsafe" if unsafe else "safe"
    return Devices(accelerator, devices, first.several or second.several, level=level, why=unsafe.why if unsafe else "")


def _read_offered(file: PythonFile, node: ast.IfExp, arms: list[Devices]) -> Devices | None:
    """`None if x == "None" else x`: the CPU in one case, and in the other what a value asks for."""
    value, asked = (node.orelse, arms[1]) if arms[0] is CPU else (node.body, arms[0])
    text, test = file.source_of(value), file.source_of(node.test)
    told = follows(text, negated(node.test) if arms[0] is CPU else node.test)
    if asked.accelerator != f'"gpu" if {text} else "cpu"' or not (told or isinstance(node.test, FIRM)):
        return None
    if told == "test":
        return asked
    devices = text if told == "value" else asked.devices
    if arms[0] is CPU:
        none = test if told == "value" else f"{test} or not {text}"
        accelerator, devices = f'"cpu" if {none} else "gpu"', f"1 if {test} else {devices}"
    else:
        some = test if told == "value" else f"{test} and {text}"
        accelerator, devices = f'"gpu" if {some} else "cpu"', f"{devices} if {test} else 1"
    return Devices(accelerator, devices, True, level=asked.level, why=asked.why)


def negated(test: ast.expr) -> ast.expr | None:
    """The condition that holds where a plain one does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return None
    return ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)


def follows(text: str, test: ast.expr | None) -> Literal["value", "test"] | None:
    """What of a value and a condition on it follows where the other one holds: the truth of the value, or the
    condition."""
    if test is None:
        return None
    if ast.unparse(test) == text:
        return "test"
    if ast.unparse(test) == f"len({text})":
        return "value"
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    known, bound = literal(test.comparators[0])
    operator, left = type(test.ops[0]), ast.unparse(test.left)
    if not known or left not in (text, f"len({text})"):
        return None
    if operator in (ast.IsNot, ast.NotEq) and left == text and not bound:
        return "test"
    least = {ast.Gt: 0, ast.GtE: 1}.get(operator)
    some = left != text and operator is ast.NotEq and bound == 0
    return "value" if some or (least is not None and type(bound) is int and bound >= least) else None
