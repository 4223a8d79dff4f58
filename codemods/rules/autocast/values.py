"""What names stand for while a trace runs: modules, optimizers, parameters, contexts, local functions."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from codemods.code.nodes import walk
from codemods.code.scopes import Scope, bind
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, returns, self_name
from codemods.rules.autocast.cache_state import CacheState
from codemods.rules.autocast.members import (
    Key,
    Members,
    Verdict,
    chain_of,
    classify,
    looks_weightless,
    parameters_in,
    used_as_module,
)
from codemods.rules.autocast.names import (
    AUTOCAST,
    DEEPCOPY,
    FABRIC,
    NOT_FORWARD,
    NOT_MODULES,
    SAME,
    WRAPPERS,
    Grad,
    Region,
    grad_of,
    region_of,
)
from codemods.rules.autocast.project import ProjectFiles


@dataclass(frozen=True)
class ModuleValue:
    """Something that may be a module; `key` is the same for two of them only where they are one object."""

    key: Key


@dataclass(frozen=True)
class Optimizer:
    """An optimizer and the modules whose weights it changes (None where that cannot be seen)."""

    keys: tuple[Key, ...] | None


@dataclass(frozen=True)
class Parameters:
    """A parameter, or parameters, of a module."""

    key: Key


@dataclass(frozen=True)
class Context:
    """A context manager kept in a name."""

    means: Grad | Region


@dataclass(frozen=True)
class Opener:
    """What opens a region when it is called: `autocast` kept in a name."""

    region: Region


@dataclass(frozen=True)
class Local:
    """A function defined in a function."""

    node: Function


class ValueReader:
    """Tells what expressions stand for in `file`, which changes while a trace goes from file to file. `verdicts`
    collects what is known of modules that an expression builds, `names` what they were called first,
    `classes` those of the project that they are of."""

    def __init__(self, project: ProjectFiles) -> None:
        self.project, self.file = project, project.current
        self.verdicts: dict[str, Verdict] = {}
        self.names: dict[str, str] = {}
        self.classes: dict[str, Members] = {}
        self._kept: dict[tuple[str, str], Any] = {}
        self._properties: list[ast.expr] = []

    def value(self, node: ast.expr, state: CacheState, scope: Scope, members: Members | None) -> Any:
        """The value of an expression, None where it is unknown."""
        if opener := _opener(node, scope):
            return opener
        if isinstance(node, ast.Name):
            return self._name(node.id, state, scope)
        if isinstance(node, ast.Lambda):
            return Local(_spelled_out(node, self.file))
        if isinstance(node, ast.Attribute):
            return self._attribute(node, state, scope, members)
        if isinstance(node, ast.Subscript):
            return self._item(node, state, scope, members)
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self.value(item, state, scope, members) for item in node.elts)
        if isinstance(node, ast.Call):
            return self._call(node, state, scope, members)
        if means := (grad_of(node, scope) or region_of(node, scope)):
            return Context(means)
        return None

    def _name(self, name: str, state: CacheState, scope: Scope) -> Any:
        if name in state.env:
            return state.env[name]
        if _annotated(name, scope) in FABRIC:
            return _FABRIC
        if (kept := self._of_file(name, scope)) is not None:
            return kept
        if scope.lookup(name) is not None or (hasattr(builtins, name) and not _bound(name, scope)):
            return None
        return Optimizer(None) if name in _steps_and_zeros(self.file) else ModuleValue((name,))

    def _of_file(self, name: str, scope: Scope) -> Any:
        """A context, optimizer or Fabric that a file's own statements keep in a name, once."""
        asked = self.file.path, name
        if asked not in self._kept:
            self._kept[asked] = None
            found = self.file.assignments_to(name)
            if len(found) == 1 and not found[0].within and isinstance(found[0].node.value, ast.Call | ast.IfExp):
                value = self.value(found[0].node.value, CacheState(), self.file.scope, None)
                if isinstance(value, Context | Opener | Optimizer) or value is _FABRIC:
                    self._kept[asked] = value
        inside = scope.node is not self.file.tree and name in scope.bindings
        return None if inside else self._kept[asked]

    def _attribute(self, node: ast.Attribute, state: CacheState, scope: Scope, members: Members | None) -> Any:
        owner = self.value(node.value, state, scope, members)
        if isinstance(owner, Parameters):
            return owner if node.attr == "data" else None
        if not isinstance(owner, ModuleValue):
            return None
        if owner.key == ("self",) and members:
            if node.attr in NOT_MODULES:
                return None
            if (found := self._built(node.attr, members)) is not None:
                return found
            if (given := _property(node.attr, members)) and node.attr not in members.assigned:
                return self._of_property(given, owner, members)
        own = members is not None and owner.key == state.prefix and node.attr in members.assigned
        if node.attr in ("module", "_orig_mod") and not own:
            return owner
        return ModuleValue((*owner.key, node.attr))

    def _of_property(self, given: _PropertyValue, owner: ModuleValue, members: Members) -> Any:
        """What a property gives back, None where that leads to itself."""
        if given.value in self._properties:
            return None
        self._properties.append(given.value)
        found = self.value(given.value, CacheState(env={given.owner: owner}, prefix=owner.key), given.scope, members)
        self._properties.pop()
        return found

    def _built(self, attribute: str, members: Members) -> Any:
        """An attribute that is no module but an optimizer, Fabric or a context."""
        for value, scope, _ in members.assigned.get(attribute, []):
            if opener := _opener(value, scope):
                return opener
            if isinstance(value, ast.Call) and (dotted := scope.resolve(value.func)):
                if dotted in FABRIC:
                    return _FABRIC
                if dotted.startswith("torch.optim.") and "lr_scheduler" not in dotted:
                    return Optimizer(parameters_in(value))
            if means := region_of(value, scope):
                return Context(means)
        return None

    def _item(self, node: ast.Subscript, state: CacheState, scope: Scope, members: Members | None) -> Any:
        owner = self.value(node.value, state, scope, members)
        index = node.slice
        if isinstance(owner, tuple):
            position = index.value if isinstance(index, ast.Constant) else None
            return owner[position] if isinstance(position, int) and -len(owner) <= position < len(owner) else None
        if isinstance(owner, Optimizer):
            return owner
        if not isinstance(owner, ModuleValue):
            return None
        if isinstance(index, ast.Constant):
            return ModuleValue((*owner.key, f"[{index.value!r}]"))
        return ModuleValue((*owner.key, f"[{state_text(index, state)}]"))

    def _call(self, node: ast.Call, state: CacheState, scope: Scope, members: Members | None) -> Any:
        function = node.func
        dotted = scope.resolve(function)
        first = self.value(node.args[0], state, scope, members) if node.args else None
        if dotted in WRAPPERS and isinstance(first, ModuleValue):
            return first
        if dotted in FABRIC:
            return _FABRIC
        if means := (grad_of(node, scope) or region_of(node, scope)):
            return Context(means)
        if dotted and dotted.startswith("torch.optim.") and "lr_scheduler" not in dotted:
            return Optimizer(self._given(node, state, scope, members))
        opener = self.value(function, state, scope, members) if not isinstance(function, ast.Call) else None
        if isinstance(opener, Opener):
            return Context(replace(opener.region, opened=node))
        if isinstance(function, ast.Attribute):
            owner = self.value(function.value, state, scope, members)
            if owner is _FABRIC and function.attr in _SET_UP and not node.keywords and len(node.args) > 1:
                return tuple(self.value(item, state, scope, members) for item in node.args)
            if found := self._method(function.attr, owner, first, node, members):
                return found
        if dotted in DEEPCOPY:
            return self._fresh("module", None)
        return self._fresh(classify(node, scope, self.file, self.project), dotted)

    def _method(self, name: str, owner: Any, first: Any, node: ast.Call, members: Members | None) -> Any:
        if owner is _FABRIC:
            if name in _SET_UP:
                return first if len(node.args) == 1 else None
            return Context(Region(True, node)) if name == "autocast" else None
        if isinstance(owner, ModuleValue):
            if name in SAME:
                return owner
            if name in ("parameters", "named_parameters"):
                return Parameters(owner.key)
            if owner.key == ("self",) and members and name == "optimizers":
                return self._optimizers(members)
        return None

    def _optimizers(self, members: Members) -> Any:
        known = members.optimized
        if known is None:
            return Optimizer(None)
        return Optimizer(known[0]) if len(known) == 1 else tuple(Optimizer(keys) for keys in known)

    def _given(
        self, node: ast.Call, state: CacheState, scope: Scope, members: Members | None
    ) -> tuple[Key, ...] | None:
        """The modules whose parameters an optimizer is given."""
        found = []
        for inner in walk(node):
            function = inner.func if isinstance(inner, ast.Call) else None
            if isinstance(function, ast.Attribute) and function.attr in ("parameters", "named_parameters"):
                owner = self.value(function.value, state, scope, members)
                if not isinstance(owner, ModuleValue):
                    return None
                found.append(owner.key)
        return tuple(found) or None

    def _fresh(self, verdict: Verdict, dotted: str | None) -> ModuleValue:
        name = f"<{len(self.verdicts)}>"
        self.verdicts[name] = verdict
        if found := self.project.opened(dotted, self.file):
            self.classes[name] = Members.of(self.project, found)
        return ModuleValue((name,))

    def shown(self, key: Key) -> str:
        """A module as it is written."""
        return ".".join((self.names.get(key[0], key[0]), *key[1:])).replace(".[", "[")

    def verdict(self, key: Key, members: Members | None, prefix: Key) -> Verdict:
        """What is known of the module behind a key; what only has the name of a loss or a helper is nothing.

        `members` is the class whose `self` stands for `prefix`.
        """
        if key[0] in self.verdicts and (len(key) == 1 or key[0] not in self.classes):
            found = self.verdicts[key[0]]
            if found == "unknown" and used_as_module(self.file, (self.names.get(key[0], ""),)):
                found = "module"
        elif members and key[: len(prefix)] == prefix:
            rest = key[len(prefix) :]
            found = members.verdict(rest[0]) if rest else "module"
        elif key[0] in self.classes and len(key) > 1:
            found = _part(self.classes[key[0]], key[1:])
        elif key[0] != "self" and used_as_module(self.file, key[:1]):
            found = "module"
        else:
            found = "unknown" if key[0] == "self" or len(key) == 1 else "nothing"
        return "nothing" if found == "unknown" and looks_weightless(key[-1]) else found


_SET_UP = ("setup", "setup_module", "prepare", "prepare_model")
"""What Fabric and Accelerate make ready to train they give back in its order."""
_FABRIC = object()
_PROPERTIES = (("property",), ("cached_property",), ("functools", "cached_property"))


def _spelled_out(node: ast.Lambda, file: PythonFile) -> Function:
    """A lambda as a function that returns what it computes."""
    known: dict[ast.Lambda, Function] = file.memo.setdefault("autocast.lambdas", {})
    if node not in known:
        value = ast.copy_location(ast.Return(node.body), node)
        known[node] = ast.copy_location(ast.FunctionDef("lambda", node.args, [value], []), node)
    return known[node]


def _annotated(name: str, scope: Scope) -> str | None:
    """The dotted name of what a parameter is said to be."""
    if not isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    arguments = scope.node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    note = next((item.annotation for item in every if item.arg == name), None)
    return scope.resolve(note) if note else None


def _part(owner: Members, key: Key) -> Verdict:
    """What a part of a module of the project's own is."""
    for name in key[:-1]:
        inner = owner.inner(name)
        if inner is None:
            return "unknown"
        owner = inner
    return owner.verdict(key[-1])


class _PropertyValue(NamedTuple):
    """What a property gives back, the name of `self` in it, and its scope."""

    value: ast.expr
    owner: str
    scope: Scope


def _property(name: str, members: Members) -> _PropertyValue | None:
    """What a property gives back that does nothing else."""
    found = members.method(name)
    if found is None or not any(chain_of(item) in _PROPERTIES for item in found[1].decorator_list):
        return None
    (_, item), function = found
    values = [node.value for node in returns(function) if node.value]
    scope = bind(function, scope=bind(item.node, scope=item.scope))
    return _PropertyValue(values[0], self_name(function), scope) if len(values) == 1 else None


def _opener(node: ast.expr, scope: Scope) -> Opener | None:
    """What `autocast`, or `autocast if half else nullcontext`, stands for when it is not called."""
    if isinstance(node, ast.IfExp):
        return _opener(node.body, scope) or _opener(node.orelse, scope)
    if isinstance(node, ast.Call) and node.args and scope.resolve(node.func) == "functools.partial":
        called = ast.Call(node.args[0], node.args[1:], node.keywords)
        means = region_of(called, scope) if _opener(node.args[0], scope) else None
        return Opener(means) if means else None
    if isinstance(node, ast.Name | ast.Attribute) and scope.resolve(node) in AUTOCAST:
        return Opener(Region(True, node))
    return None


def _bound(name: str, scope: Scope) -> bool:
    """Whether a scope, or one around it, binds a name."""
    current: Scope | None = scope
    while current is not None:
        if name in current.bindings:
            return True
        current = current.parent
    return False


def forward_of(module: ModuleValue) -> Key | None:
    """The module that a call of something runs, None where it computes nothing with weights."""
    key = module.key
    if key[-1] in NOT_FORWARD or len(key) > 6:
        return None
    key = key[:-1] if key[-1] in ("forward", "__call__") and len(key) > 1 else key
    return None if any(part in NOT_FORWARD or part.startswith("<") for part in key[1:]) else key


def state_text(node: ast.expr, state: CacheState) -> str:
    """The text of an expression with the versions of the names in it, which is the same only while it means the
    same: attributes of one object anywhere, other names in one call of a function."""
    chains = [chain for inner in walk(node) if (chain := chain_of(inner))]
    names = sorted({".".join(chain) for chain in chains} & set(state.versions))
    own = all(chain[0] == "self" for chain in chains)
    place = ".".join(state.prefix) if own else str(state.frame)
    return "|".join([ast.unparse(node), place, *(f"{name}#{state.versions[name]}" for name in names)])


def _steps_and_zeros(file: PythonFile) -> frozenset[str]:
    """The plain names on which a file calls both `step()` and `zero_grad()`: optimizers."""
    key = "autocast.optimizers"

    def owners(name: str) -> set[str]:
        return {node.value.id for node in file.attributes(name) if isinstance(node.value, ast.Name)}

    if key not in file.memo:
        file.memo[key] = frozenset(owners("step") & owners("zero_grad"))
    found: frozenset[str] = file.memo[key]
    return found
