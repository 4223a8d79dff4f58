"""Whether a class is meant to be trained by its own loop, and the optimizers that it takes from itself although nobody
ever puts them there."""

from __future__ import annotations

import ast

from codemods.code.nodes import every_node, walk
from codemods.code.source import PythonFile
from codemods.code.syntax import self_name
from codemods.rules.backward.names import MethodNames
from codemods.rules.backward.raw import RawBackward, read_raw
from codemods.rules.loops.classes import NAMES, OptimizedModule
from codemods.rules.loops.optimizer_events import WHOLE

REFLECTED = ("setattr", "hasattr", "getattr", "vars", "__dict__", "__getattr__", "__setattr__", "add_module")


SET = tuple(
    form
    for name in NAMES
    for form in (f".{name} =", f".{name}=", f".{name}:", f".{name},", f"def {name}(", f" {name} =", f" {name}:")
)
OWNERS = ("model", "module", "net", "system", "learner")
OUTSIDE = tuple(f"{owner}.{name} =" for name in NAMES for owner in OWNERS)
ASKED = tuple(word.encode() for word in (*SET, *OUTSIDE, "setattr", "__getattr__"))


def is_meant(file: PythonFile, loop: OptimizedModule) -> bool:
    """Whether a class is trained manually, or is plainly meant to be."""
    return loop.state == "off" or (loop.state in ("", "lost") and steps_itself(file, loop))


def steps_itself(file: PythonFile, loop: OptimizedModule) -> bool:
    """Whether a class makes backward passes and steps an optimizer of Lightning's: one that it asks for, or one that
    it takes from itself although nobody sets it."""
    if not any(flow.of("backward") for flow in loop.flows):
        return False
    stepped = {event.optimizer for flow in loop.flows for event in flow.of("step")}
    return any(key.startswith(WHOLE) for key in stepped) or not stepped.isdisjoint(missing_optimizers(file, loop))


def raw_backwards(file: PythonFile, loop: OptimizedModule) -> list[RawBackward]:
    """The backward passes of a class that go around manual_backward, which it is to call once the flag is set."""
    methods = {flow.function for flow in loop.flows}
    found = []
    for call in file.calls:
        method = next((node for node in reversed(call.within) if node in methods), None)
        if isinstance(method, ast.FunctionDef) and call.within[-1] is method:
            found.append(read_raw(call, loop.item, method, MethodNames(method)))
    return [raw for raw in found if raw is not None]


def not_plain(file: PythonFile, loop: OptimizedModule) -> str | None:
    """Why a class that is meant to be trained manually is not switched over, as the middle of a sentence: what other
    rules repair in a manual loop they see only once the flag is set."""
    if any(raw.change is None or raw.level != "safe" or raw.own_scaler for raw in raw_backwards(file, loop)):
        return "a backward pass of it has no direct equivalent under manual optimization"
    for flow in loop.flows:
        kinds = "".join(event.kind[0] for event in flow.events)
        if "bb" in kinds.replace("z", ""):
            return "it goes backward several times for one step; set the flag, and run fixer again for the rest"
        if any(isinstance(node, ast.If) for event in flow.of("step") for _, node in flow.around(event.path)):
            return "it steps on some batches only; set the flag, and run fixer again for the rest"
    return None


def missing_optimizers(file: PythonFile, loop: OptimizedModule) -> dict[str, list[ast.Attribute]]:
    """The uses of `self.optimizer`, and the like, in the methods that training reaches, where no file of the class,
    its relatives or anybody who holds the name assigns it. By `self.name`."""
    if not loop.known_whole():
        return {}
    found: dict[str, list[ast.Attribute]] = {}
    for name in NAMES:
        if name not in file.text or _may_exist(file, loop, name):
            continue
        uses = [
            node
            for flow in loop.flows
            for node in walk(flow.function)
            if isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.value, ast.Name)
            and node.value.id == self_name(flow.function)
        ]
        if uses:
            found[f"self.{name}"] = uses
    return found


def _may_exist(file: PythonFile, loop: OptimizedModule, name: str) -> bool:
    forms = [form for form in SET if form.strip(" .=:,(").removeprefix("def ") == name]
    if loop.elsewhere(*forms, "setattr", "__getattr__") or any(
        name in other.methods for other in (loop.fact, *loop.relatives)
    ):
        return True
    if any(loop.facts.mentions.get(word.encode()) for word in OUTSIDE if word.endswith(f".{name} =")):
        return True
    if any(not isinstance(node.ctx, ast.Load) for node in file.attributes(name)):
        return True
    if any(word in file.text for word in REFLECTED if _with_name(file, word, name)):
        return True
    return any(_in_class_body(item.node, name) for item in file.classes)


def _with_name(file: PythonFile, word: str, name: str) -> bool:
    """Whether an attribute of that name may be set or asked for in a roundabout way."""
    if word not in file.text:
        return False
    named = f'"{name}"' in file.text or f"'{name}'" in file.text
    if named and file.plain:
        named = any(isinstance(node, ast.Constant) and node.value == name for node in every_node(file.tree))
    return word.startswith("__") or named or _by_any_name(file, word)


def _by_any_name(file: PythonFile, word: str) -> bool:
    """Whether a file sets attributes of a module by names that are not written out."""
    for node, _ in file.nodes_near([word]) if word in ("setattr", "add_module", "vars") else ():
        if word == "vars":
            holder = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
            changes = isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault", "__setitem__")
            stores = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
            if (changes or stores) and isinstance(holder, ast.Call) and getattr(holder.func, "id", "") == word:
                return True
        elif isinstance(node, ast.Call) and len(node.args) > 1 and ast.unparse(node.func).endswith(word):
            named = node.args[1] if word == "setattr" else node.args[0]
            ours = word != "setattr" or ast.unparse(node.args[0]) in ("self", *OWNERS)
            if ours and not isinstance(named, ast.Constant):
                return True
    return False


def _in_class_body(node: ast.ClassDef, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    )
