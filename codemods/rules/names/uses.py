"""Names that nothing takes the place of, but whose every use in a file says what is written instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.calls import last_name
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, self_name
from codemods.finding import Fix
from codemods.lightning.facts import MODULE, TRAINER, Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rewrite.import_statement import ImportTarget
from codemods.rule import TextEdit
from codemods.rules.names.availability import FLAGS, TPU, StatedFlag, stated, tpus
from codemods.rules.names.sites import Sites

COLLECTION = "LoggerCollection"
REGISTRY = "_REGISTRY"
OPTIMIZERS = "OPTIMIZER_REGISTRY"
DEVICES = "XLADeviceUtils"
GATHER = "all_gather_ddp_if_available"
IDLE = ("data_loader", "parameter_validation")
"""Decorators of Lightning's that did nothing any more when they were removed."""
RUN_BY_TRAINER = re.compile(r"on_\w+|\w+_(?:step|epoch)(?:_end)?")
"""The hooks of a module in which it has its Trainer."""
WHEREVER = frozenset({"cpu", "item", "max", "mean", "min", "sum", "tolist"})
"""What is asked of a tensor where it may be on another device."""
MENTIONS = (COLLECTION.encode(), REGISTRY.encode(), DEVICES.encode(), *(name.encode() for name in (TPU, *FLAGS)))
ITERATED = ("enumerate", "len", "list", "tuple", "zip")


@dataclass(frozen=True)
class RewordedUses:
    """The edits of a name's uses, after which its import can go, or another takes its place."""

    edits: tuple[TextEdit, ...]
    level: Fix
    reason: str
    needs: str
    instead: ImportTarget | None = None

    def target(self, alias: ast.alias) -> ImportTarget:
        """What is imported in the place of a name; what has no module is not imported."""
        return self.instead or ImportTarget("", alias.name, alias.name)


def reworded(file: PythonFile, sites: Sites, facts: Facts, alias: ast.alias, module: str) -> RewordedUses | None:
    """What becomes of a file's uses of an imported name; None where one of them cannot do without it."""
    bound = alias.asname or alias.name
    if _is_unread(file, facts, alias, bound):
        return RewordedUses((), "safe", "Nothing reads it.", "2.0.0")
    registry = alias.name.endswith(REGISTRY) and module.endswith("utilities.cli")
    flag = tpus(file) if alias.name == DEVICES else stated(file, alias.name)
    if not (registry or flag or alias.name in (COLLECTION, GATHER, *IDLE)) or _is_taken(file, facts, alias, bound):
        return None
    uses = [node for node, scope in sites.names if node.id == bound and scope.lookup(bound) == f"{module}.{alias.name}"]
    imports = [item for node, _, _ in sites.imports for item in node.names if bound in (item.name, item.asname)]
    if len(re.findall(rf"\b{bound}\b", file.text)) != len(uses) + len(imports):
        return None
    edits: list[TextEdit] = []
    levels: set[Fix] = {"safe"}
    for use in uses:
        if alias.name in IDLE:
            found = _undecorated(file, sites, use)
        else:
            found = _with_flag(file, use, alias.name, flag) if flag else _without(file, facts, use, alias.name)
        if found is None:
            return None
        edits += found[0]
        levels.add(found[1])
    kept = tuple(edits) if imports[0] is alias else ()
    if flag:
        clash = flag.place is not None and _is_bound_otherwise(file, flag.place)
        return None if clash else RewordedUses(kept, flag.level, flag.reason, flag.needs, flag.place)
    if alias.name in IDLE:
        return RewordedUses(kept, "safe", "The decorator has no effect any more: it is removed.", "1.0.0")
    if alias.name == GATHER:
        return RewordedUses(kept, "safe", "In a hook `self.all_gather(...)` does the same.", "1.2.0")
    if registry:
        reason = "LightningCLI knows every class that is imported by its name, without a registry."
        return RewordedUses(kept, "safe", reason, "1.7.0")
    level: Fix = "unsafe" if "unsafe" in levels else "safe"
    doubt = " fixer assumes that the object with the loggers is a Trainer or a module." if level == "unsafe" else ""
    return RewordedUses(kept, level, f"Several loggers are a list now: `trainer.loggers`.{doubt}", "1.6.0")


def reads_as_property(file: PythonFile, decorator: ast.expr) -> bool:
    """Whether a file reads what a decorator stands before without a call, as up to 0.5.0, where `data_loader` made a
    property."""
    names = {
        node.name
        for node in walk(file.tree)
        if isinstance(node, ast.FunctionDef) and any(each is decorator for each in node.decorator_list)
    }
    for name in names:
        called = {id(call.node.func) for call in file.calls_near([name])}
        read = (node for node in file.attributes(name) if isinstance(node.ctx, ast.Load) and id(node) not in called)
        if any(last_name(node.value) != "trainer" for node in read):
            return True
    return False


def _undecorated(file: PythonFile, sites: Sites, use: ast.Name) -> tuple[list[TextEdit], Fix] | None:
    """The removal of a decorator that does nothing, with its line."""
    idle = use in sites.decorators and not reads_as_property(file, use)
    edit = whole_line(file, *file.offsets(use), before="@") if idle else None
    return ([edit], "safe") if edit else None


def _is_bound_otherwise(file: PythonFile, place: ImportTarget) -> bool:
    """Whether a file has something else by the name of what is to be imported: not from there, nor from Lightning,
    whose name is moved there."""
    last = place.module.rpartition(".")[2]
    return any(not target.endswith(f".{last}.{place.name}") for target in file.scope.bindings.get(place.bound, ()))


def _without(file: PythonFile, facts: Facts, use: ast.Name, name: str) -> tuple[list[TextEdit], Fix] | None:
    """What becomes of one use of what is not needed any more."""
    if name == GATHER:
        return _gathered(file, facts, use)
    return _collected(file, use) if name == COLLECTION else _registered(file, use, name)


def _with_flag(file: PythonFile, use: ast.Name, name: str, flag: StatedFlag) -> tuple[list[TextEdit], Fix] | None:
    """What becomes of one use of a flag, or of `XLADeviceUtils.tpu_device_exists()`."""
    if name != DEVICES:
        return ([TextEdit(*file.offsets(use), flag.text)], "safe") if isinstance(use.ctx, ast.Load) else None
    for call in file.calls_near([use.id]):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.value is use and function.attr == "tpu_device_exists":
            return [TextEdit(*file.offsets(call.node), flag.text)], "safe"
    return None


def _gathered(file: PythonFile, facts: Facts, use: ast.Name) -> tuple[list[TextEdit], Fix] | None:
    """`all_gather_ddp_if_available(...).mean()` in a hook of a module, which gathers by its Trainer, on its device."""
    calls = ((node, within) for node, within in file.nodes_near([use.id]) if getattr(node, "func", None) is use)
    call, within = next(calls, (None, ()))
    if not isinstance(call, ast.Call) or any(item.arg not in ("group", "sync_grads") for item in call.keywords):
        return None
    functions = [item for item in within if isinstance(item, Function | ast.Lambda)]
    owner = next((item for item in within if isinstance(item, ast.ClassDef)), None)
    method, taken = functions[0] if functions else None, within[-1]
    if not isinstance(method, Function) or len(functions) != 1 or not RUN_BY_TRAINER.fullmatch(method.name):
        return None
    if not isinstance(taken, ast.Attribute) or taken.attr not in WHEREVER or not self_name(method):
        return None
    name = next((item.qualname for item in file.classes if item.node is owner), None)
    fact = facts.files[file.path].find(name) if name and file.path in facts.files else None
    if fact is None or facts.kind(fact) != MODULE:
        return None
    return [TextEdit(*file.offsets(use), f"{self_name(method)}.all_gather")], "safe"


def _is_unread(file: PythonFile, facts: Facts, alias: ast.alias, bound: str) -> bool:
    """Whether nothing says a name but its import, here or in a file that may take it from this one. A file of imports
    alone is there to hand them on, and so may be what a comment speaks of."""
    handing = file.path.endswith("__init__.py") or all(_only_imports(item) for item in file.tree.body)
    said = len(re.findall(rf"\b{bound}\b", file.text))
    if handing or said != 1 or file.has_comment(alias.lineno, alias.end_lineno or alias.lineno):
        return False
    return not is_read_elsewhere(facts, file, bound)


def _only_imports(item: ast.stmt) -> bool:
    said = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
    return said or isinstance(item, ast.Import | ast.ImportFrom)


def is_handed_on(file: PythonFile, facts: Facts, name: str) -> bool:
    """Whether another file imports a name of this one."""
    return any(
        target == f"{file.module}.{name}" or target.endswith(f".{file.module}.{name}")
        for path, other in facts.files.items()
        if path != file.path
        for target in other.exports.values()
    )


def _is_taken(file: PythonFile, facts: Facts, alias: ast.alias, bound: str) -> bool:
    """The same of a name whose holders the engine was asked for."""
    holders = set().union(*(paths for word, paths in facts.mentions.items() if word.decode() in alias.name))
    others = [other for path in sorted(holders - {file.path}) if (other := facts.open(path))]
    taken = f".{file.module}.{bound}"
    return any(f".{target}".endswith(taken) for each in others for target in each.scope.bindings.get(bound, ()))


def whole_line(file: PythonFile, start: int, end: int, before: str = "") -> TextEdit | None:
    """The edit that takes out the line of some characters, where nothing but `before` stands beside them."""
    first = file.text.rfind("\n", 0, start) + 1
    after = file.text.find("\n", end)
    after = len(file.text) if after < 0 else after
    if file.text[first:start].strip() != before or file.text[end:after].strip():
        return None
    return TextEdit(first, after + 1, "")


def _registered(file: PythonFile, use: ast.Name, name: str) -> tuple[list[TextEdit], Fix] | None:
    """A registry as a decorator, called with a class, or asked for the optimizers that a parser takes."""
    if any(use in item.node.decorator_list for item in file.classes):
        gone = whole_line(file, *file.offsets(use), before="@")
        return ([gone], "safe") if gone else None
    for statement in file.tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.func is use:
            plain = len(statement.value.args) == 1 and isinstance(statement.value.args[0], ast.Name)
            gone = whole_line(file, *file.offsets(statement)) if plain and not statement.value.keywords else None
            return ([gone], "safe") if gone else None
    if name != OPTIMIZERS or file.scope.lookup("torch") != "torch":
        return None
    for call in file.calls_near([use.id]):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == "add_optimizer_args":
            for given in [*call.node.args, *(item.value for item in call.node.keywords)]:
                if isinstance(given, ast.Attribute) and given.attr == "classes" and given.value is use:
                    return [TextEdit(*file.offsets(given), "(torch.optim.Optimizer,)")], "safe"
    return None


def _collected(file: PythonFile, use: ast.Name) -> tuple[list[TextEdit], Fix] | None:
    """`if isinstance(trainer.logger, LoggerCollection):` around what goes through the loggers."""
    for node, within in file.nodes_near([use.id]):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Call) and use in node.test.args):
            continue
        test = node.test
        asked = test.args[0]
        plain = isinstance(test.func, ast.Name) and test.func.id == "isinstance" and len(test.args) == 2
        if not plain or not isinstance(asked, ast.Attribute) or asked.attr != "logger":
            return None
        text = file.source_of(asked)
        meant = [item for part in node.body for item in walk(part) if _is(file, item, text)]
        fine = {id(item) for part in node.body for item in _gone_through(part)}
        if any(id(item) not in fine for item in meant):
            return None
        edits = [TextEdit(*file.offsets(test), f"len({text}s) > 1")]
        edits += [TextEdit(*file.offsets(item), f"{text}s") for item in meant if isinstance(item, ast.expr)]
        return edits, "safe" if _is_trainer(file, asked.value, within) else "unsafe"
    return None


def _is(file: PythonFile, node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "logger" and file.source_of(node) == text


def _gone_through(part: ast.AST) -> Iterator[ast.expr]:
    """The expressions below a node that are looped over, counted or taken an item of."""
    for node in walk(part):
        if isinstance(node, ast.For | ast.comprehension):
            yield node.iter
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ITERATED:
            yield from node.args


def _is_trainer(file: PythonFile, node: ast.expr, within: tuple[ast.AST, ...]) -> bool:
    """Whether a name is a parameter that the function around it says to be a Trainer."""
    function = next((item for item in reversed(within) if isinstance(item, Function)), None)
    if function is None or not isinstance(node, ast.Name):
        return False
    given = next((item.annotation for item in function.args.args if item.arg == node.id), None)
    return given is not None and file.scope.resolve(given) == TRAINER
