"""What names and objects of a project are: resolved over imports, assignments and classes, across its files."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks.finishing import installed
from benchmarks.finishing.files import File
from benchmarks.finishing.scopes import Binder, Function, Scope

DEEPEST = 8


@dataclass(eq=False)
class Class:
    """A class of the project."""

    node: ast.ClassDef
    scope: Scope

    @cached_property
    def members(self) -> frozenset[str]:
        """The names that it defines, in its body and on `self`."""
        return self.in_body | frozenset(self.assigned)

    @cached_property
    def in_body(self) -> frozenset[str]:
        return frozenset(_in_body(self.node))

    @cached_property
    def assigned(self) -> dict[str, list[ast.Assign]]:
        """The assignments to each attribute of `self`."""
        found: dict[str, list[ast.Assign]] = defaultdict(list)
        for node in ast.walk(self.node):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
                found.setdefault(node.attr, [])
            for target in node.targets if isinstance(node, ast.Assign) else []:
                if isinstance(target, ast.Attribute) and _is_self(target.value):
                    found[target.attr].append(node)
        return found


@dataclass(frozen=True)
class Instance:
    """An object: of a class of the project or of Lightning."""

    of: Class | type


class Program:
    """The files of a project, asked together."""

    def __init__(self, files: Sequence[File], asks_for_tasks: bool = True) -> None:
        self.files = files
        self.asks_for_tasks = asks_for_tasks
        """Whether its torchmetrics is one that asks metrics for their task, as the installed one does."""
        self.scopes: dict[ast.AST, Scope] = {}
        """The scope in which each node stands."""
        self.modules: dict[str, list[Scope]] = defaultdict(list)
        self.classes: dict[ast.ClassDef, Class] = {}
        self.own = {name for name in installed.PACKAGES if _is_own(name, files)}
        for file in files:
            scope = Scope(file.tree, file)
            binder = Binder(scope, self.scopes)
            binder.bind(file.tree)
            self.classes.update({node: Class(node, where) for node, where in binder.classes})
            parts = file.path.removesuffix(".py").removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                self.modules[".".join(parts[start:])].append(scope)
        self._chains: dict[Class, list[Class | type | None]] = {}

    def is_called(self, item: Class, name: str) -> bool:
        """Whether code of the project calls a method of that name: on an object, or on `self` in the class, or in one
        above or below it."""
        owners = self._callers.get(name, ())
        return None in owners or any(
            owner and (item in self.chain(self.classes[owner]) or self.classes[owner] in self.chain(item))
            for owner in owners
        )

    @cached_property
    def _callers(self) -> dict[str, set[ast.ClassDef | None]]:
        """The classes that call a method of each name on `self`, None for calls on something else than `super()`."""
        found: dict[str, set[ast.ClassDef | None]] = defaultdict(set)
        for file in self.files:
            for node in ast.walk(file.tree):
                function = node.func if isinstance(node, ast.Call) else None
                if isinstance(function, ast.Attribute) and not is_super(function.value):
                    owner = self.scopes[node].owner if _is_self(function.value) else None
                    found[function.attr].add(owner)
        return found

    @cached_property
    def read(self) -> frozenset[str]:
        """The attributes that code of the project reads."""
        attributes = (node for file in self.files for node in ast.walk(file.tree) if isinstance(node, ast.Attribute))
        return frozenset(each.attr for each in attributes if isinstance(each.ctx, ast.Load))

    @cached_property
    def set_from_outside(self) -> frozenset[str]:
        """The attributes that code of the project sets on something else than `self`."""
        attributes = (node for file in self.files for node in ast.walk(file.tree) if isinstance(node, ast.Attribute))
        stored = (each for each in attributes if isinstance(each.ctx, ast.Store))
        return frozenset(each.attr for each in stored if not _is_self(each.value))

    # names ------------------------------------------------------------------------------------------------------------

    def dotted(self, node: ast.AST, scope: Scope, depth: int = 0) -> str:
        """The dotted name that an expression stands for, empty where it is none."""
        if depth > DEEPEST:
            return ""
        if isinstance(node, ast.Attribute):
            holder = self.dotted(node.value, scope, depth + 1)
            return f"{holder}.{node.attr}" if holder else ""
        if isinstance(node, ast.Name) and (found := scope.lookup(node.id)):
            where, bindings = found
            names = {self._name_of(each, where, depth) for each in bindings}
            return names.pop() if len(names) == 1 else ""
        return ""

    def _name_of(self, binding: str | ast.AST | None, scope: Scope, depth: int) -> str:
        if isinstance(binding, str):
            return binding
        return self.dotted(binding, scope, depth + 1) if isinstance(binding, ast.Name | ast.Attribute) else ""

    @cached_property
    def _within_own(self) -> frozenset[str]:
        """The first two names of each dotted module of the project."""
        return frozenset(".".join(dotted.split(".")[:2]) for dotted in self.modules)

    def is_lightning(self, dotted: str) -> bool:
        """Whether a name is Lightning's: not where a folder of the project that is called as it has what it has not."""
        root, *rest = dotted.split(".")
        if root not in installed.PACKAGES or root in self.own:
            return False
        inside = f"{root}.{rest[0]}" if rest else root
        return inside not in self._within_own or installed.find(inside) is not installed.MISSING

    # classes ----------------------------------------------------------------------------------------------------------

    def class_of(
        self, node: ast.AST, scope: Scope, depth: int = 0, own: ast.ClassDef | None = None
    ) -> Class | type | None:
        """The class that an expression names, as one of the bases of `own` if there is such a class."""
        if depth > DEEPEST:
            return None
        if isinstance(node, ast.Name) and (found := scope.lookup(node.id)):
            where, bindings = found
            bindings = [each for each in bindings if each is not own]
            classes = [each for each in bindings if isinstance(each, ast.ClassDef)]
            if classes:
                return self.classes[classes[-1]]
            if len(bindings) == 1 and isinstance(bindings[0], ast.Name | ast.Attribute):
                return self.class_of(bindings[0], where, depth + 1)
            if own and len(bindings) == 1 and isinstance(bindings[0], str):
                return self.class_named(bindings[0], scope, depth + 1)
        dotted = self.dotted(node, scope)
        return self.class_named(dotted, scope, depth + 1) if dotted else None

    def class_named(self, dotted: str, scope: Scope, depth: int = 0) -> Class | type | None:
        if self.is_lightning(dotted):
            return installed.class_of(dotted)
        module, _, name = dotted.rpartition(".")
        target = self.module(module, scope)
        if target is None or depth > DEEPEST:
            return None
        return self.exported(target, name, depth + 1)

    def exported(self, module: Scope, name: str, depth: int) -> Class | type | None:
        if name in module.bound:
            return self.class_of(ast.Name(name), module, depth)
        for star in module.bound.get("*", ()):
            inner = self.module(str(star), module)
            if inner and inner is not module and depth <= DEEPEST and (found := self.exported(inner, name, depth + 1)):
                return found
        return None

    def module(self, dotted: str, scope: Scope) -> Scope | None:
        """The file of a dotted module: the one that stands nearest to the one that asks."""
        near = scope.file.path.split("/")
        candidates = self.modules.get(dotted, [])
        return max(candidates, key=lambda each: _shared(near, each.file.path.split("/")), default=None)

    def chain(self, item: Class) -> list[Class | type | None]:
        """The class, what it inherits from in the project, then Lightning's; None for a base that is not seen."""
        if item not in self._chains:
            self._chains[item] = [item]  # what a base that leads back here gets
            found: list[Class | type | None] = [item]
            for node in item.node.bases:
                base = self.class_of(node, item.scope, own=item.node) or _known(node, item.scope, self)
                inherited = self.chain(base) if isinstance(base, Class) else [base]
                found.extend(each for each in inherited if each is not object)
            self._chains[item] = found
        return self._chains[item]

    def lightning(self, item: Class | type) -> list[type]:
        """The classes of Lightning that a class comes from."""
        if isinstance(item, type):
            return [item]
        return [each for each in self.chain(item) if isinstance(each, type)]

    def family(self, item: Class | type) -> set[str]:
        return {name for each in self.lightning(item) for name in installed.families(each)}

    def ancestors(self, item: Class | type) -> Iterator[Class]:
        """The class and its bases in the project."""
        return (each for each in self.chain(item) if isinstance(each, Class)) if isinstance(item, Class) else iter(())

    def defines(self, item: Class | type, member: str, in_body: bool = False) -> bool:
        return any(member in (each.in_body if in_body else each.members) for each in self.ancestors(item))

    # objects ----------------------------------------------------------------------------------------------------------

    def instance(self, node: ast.AST, scope: Scope, depth: int = 0) -> Instance | None:
        """The object that an expression is, where that is plain."""
        if depth > DEEPEST:
            return None
        if isinstance(node, ast.Call):
            return self._made(node, scope)
        if isinstance(node, ast.Name):
            return self._named(node.id, scope, depth)
        if isinstance(node, ast.Attribute):
            return self._held(node, scope, depth)
        return None

    def _made(self, node: ast.Call, scope: Scope) -> Instance | None:
        if found := self.class_of(node.func, scope):
            return Instance(found)
        makers = ("from_argparse_args", "load_from_checkpoint")
        if isinstance(node.func, ast.Attribute) and node.func.attr in makers:
            found = self.class_of(node.func.value, scope)
            return Instance(found) if found else None
        return None

    def _named(self, name: str, scope: Scope, depth: int) -> Instance | None:
        if not (found := scope.lookup(name)):
            return None
        where, bindings = found
        objects = [self._bound(name, each, where, depth) for each in bindings]
        first = objects[0]
        return first if first and all(each == first for each in objects) else None

    def _bound(self, name: str, binding: str | ast.AST | None, scope: Scope, depth: int) -> Instance | None:
        if isinstance(binding, ast.arg):
            return self._parameter(binding, scope)
        if isinstance(binding, ast.expr):
            return self.instance(binding, scope, depth + 1)
        return None

    def _parameter(self, parameter: ast.arg, scope: Scope) -> Instance | None:
        if parameter.annotation and (found := self.class_of(_unquoted(parameter.annotation), scope)):
            return Instance(found)
        function = scope.node
        if not isinstance(function, Function) or scope.method is not function or scope.owner is None:
            return None
        owner = self.classes[scope.owner]
        place = [*function.args.posonlyargs, *function.args.args].index(parameter) if parameter in (
            *function.args.posonlyargs, *function.args.args) else -1  # fmt: skip
        if place == 0 and not decorated(function, "staticmethod", "classmethod"):
            return Instance(owner)
        if "Callback" in self.family(owner) and function.name.startswith(("on_", "setup", "teardown")):
            by_place = {1: "Trainer", 2: "LightningModule"}
            if place in by_place and parameter.arg in ("trainer", "pl_module", "model", "module", "_trainer"):
                return Instance(installed.by_name()[by_place[place]])
        return None

    def _held(self, node: ast.Attribute, scope: Scope, depth: int) -> Instance | None:
        holder = self.instance(node.value, scope, depth + 1)
        if holder is None:
            return None
        family = self.family(holder.of)
        if node.attr == "trainer" and {"LightningModule", "LightningDataModule"} & family:
            return Instance(installed.by_name()["Trainer"])
        if node.attr == "checkpoint_callback" and "Trainer" in family:
            return Instance(installed.by_name()["ModelCheckpoint"])
        if isinstance(holder.of, Class):
            set_here = [one for each in self.ancestors(holder.of) for one in each.assigned.get(node.attr, ())]
            objects = [self.instance(one.value, self.scopes[one], depth + 1) for one in set_here]
            return objects[0] if objects and objects[0] and all(each == objects[0] for each in objects) else None
        return None


def _in_body(node: ast.ClassDef) -> Iterator[str]:
    for item in node.body:
        if isinstance(item, Function):
            yield item.name
        for target in item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]:
            if isinstance(target, ast.Name):
                yield target.id


def _known(base: ast.expr, scope: Scope, program: Program) -> type | None:
    """`object` for a base that has none of Lightning's names, so that it hides nothing."""
    dotted = program.dotted(base, scope)
    return object if dotted.startswith(("torch.", "abc.", "typing.", "object")) else None


def _is_own(package: str, files: Sequence[File]) -> bool:
    """Whether the project is this package itself."""
    return any(file.path in (f"{package}/__init__.py", f"src/{package}/__init__.py") for file in files)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _unquoted(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return node
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Optional"):
        return _unquoted(node.slice)
    return node


def decorated(node: Function, *names: str) -> bool:
    return any(ast.unparse(each) in names for each in node.decorator_list)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
