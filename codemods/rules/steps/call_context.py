"""Reading counts and constants where a Trainer is built: names of the function and the module, argparse defaults,
attributes that are assigned once."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codemods.code.calls import space_of, value_of
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.rules.steps.constant_evaluation import DATALOADER, KnownValues, attribute_of
from codemods.rules.steps.modules import assigned
from codemods.rules.steps.settings import settings_at
from codemods.rules.steps.step_count_terms import SAID, TermReader


@dataclass(frozen=True)
class CallContext:
    """What is known where a call stands. `assumed` collects the settings that were taken by their default."""

    file: PythonFile
    call: CallNode
    facts: Facts
    assumed: list[str] = field(default_factory=list, compare=False)

    @property
    def space(self) -> ast.AST:
        """The function that the call stands in, or the module."""
        return space_of(self.file, self.call)

    def values(self, name: str) -> list[ast.expr]:
        """What a plain name is assigned, in the call's function or else in the module."""
        return values_at(self.file, self.call, name)

    def sees(self, node: ast.Name) -> bool:
        """Whether a name means the same where the call stands as where it is written, in this function or at the
        module's top."""
        if self.space is self.file.tree or any(inner is node for inner in walk(self.space)):
            return True
        return not any(
            (isinstance(inner, ast.arg) and inner.arg == node.id)
            or (isinstance(inner, ast.Name) and inner.id == node.id and not isinstance(inner.ctx, ast.Load))
            for inner in walk(self.space)
        )

    def reader(self) -> TermReader:
        return TermReader(
            self.values,
            lambda node: False,
            self.call.scope.resolve,
            self.datasets(),
            self._result,
            {
                ast.unparse(item.value): SAID[item.arg]
                for item in self.call.node.keywords
                if item.arg is not None
                and item.arg in SAID
                and isinstance(item.value, ast.Name | ast.Attribute | ast.Subscript)
            },
        )

    def datasets(self) -> frozenset[str]:
        """The names of which the function makes torch's loaders."""
        given = (
            dataset_of(item.node)
            for item in self.file.calls_near(("DataLoader",))
            if item.within == self.call.within and item.scope.resolve(item.node.func) == DATALOADER
        )
        return frozenset(node.id for node in given if isinstance(node, ast.Name))

    def _result(self, node: ast.Call) -> ast.expr | None:
        """What a function of the file gives back that is nothing but one `return`, with the arguments of a call in the
        place of its parameters."""
        name = node.func.id if isinstance(node.func, ast.Name) else None
        found = [item for item in self.file.tree.body if isinstance(item, ast.FunctionDef) and item.name == name]
        if len(found) != 1 or found[0].decorator_list:
            return None
        function = found[0]
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        arguments = [item.arg for item in [*function.args.posonlyargs, *function.args.args]]
        given = dict(zip(arguments, node.args, strict=False)) | {item.arg: item.value for item in node.keywords}
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            return None
        free = {item.id for item in walk(body[0].value) if isinstance(item, ast.Name)} - set(arguments)
        if any(self.file.scope.lookup(name) is None and not hasattr(builtins, name) for name in free):
            return None
        if set(given) != set(arguments) or any(isinstance(item, ast.Starred) for item in node.args):
            return None
        return _ArgumentReplacer(given).visit(copy_of(body[0].value))  # type: ignore[no-any-return]

    def follow(self, node: ast.expr) -> ast.expr:
        """The expression that a name or attribute stands for, where it is assigned once; else the node."""
        for _ in range(4):
            if isinstance(node, ast.Name):
                found = self.values(node.id)
            elif isinstance(node, ast.Attribute):
                found = self._assigned_attribute(node) or self._setting(node)
            else:
                return node
            if len(found) != 1:
                return node
            node = found[0]
        return node

    def _assigned_attribute(self, node: ast.Attribute) -> list[ast.expr]:
        text = ast.unparse(node)
        return [
            item.node.value
            for item in self.file.assignments
            if isinstance(item.node, ast.Assign)
            and item.within == self.call.within
            and any(isinstance(target, ast.Attribute) and ast.unparse(target) == text for target in item.node.targets)
        ]

    def _setting(self, node: ast.Attribute) -> list[ast.expr]:
        """What an attribute of a project's class is computed from, as it reads where the call stands."""
        built = self.known().instance(node.value)
        found = attribute_of(built, node.attr) if built else None
        if found is None or found[1].built is None or not found[1].me or found[0] is node:
            return []
        moved = _InstanceRenamer(found[1].me, node.value).visit(copy_of(found[0]))
        own = {id(inner) for inner in walk(node.value)}
        called = {inner.func for inner in walk(moved) if isinstance(inner, ast.Call)}
        loose = [
            inner
            for inner in walk(moved)
            if isinstance(inner, ast.Name) and id(inner) not in own and inner not in called
        ]
        return [] if loose else [moved]

    def constant(self, node: ast.expr | None) -> Any:
        """The value of an expression that the project's text alone decides, None where it does not."""
        return self.known().constant(node)

    def known(self, ranks: int = 1) -> KnownValues:
        """What the project's text decides here, for one of several processes."""
        every = [node.args for node in self.call.within if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        types = {
            item.arg: item.annotation
            for arguments in every[-1:]
            for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            if item.annotation
        }
        return KnownValues(
            self.file,
            self.facts,
            self.call.scope,
            self.values,
            types=types,
            settings=settings_at(self.file, self.call, self.facts),
            ranks=ranks,
            assumed=self.assumed,
        )

    def fits(self) -> list[ast.Call]:
        """The `fit` calls of this Trainer, or those of the file that are not seen to be another's."""
        own, loose = list[ast.Call](), list[ast.Call]()
        for call in self.file.calls_near(("fit",)):
            if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "fit":
                owner = call.node.func.value
                found = values_at(self.file, call, owner.id) if isinstance(owner, ast.Name) else [owner]
                if self.call.node in found:
                    own.append(call.node)
                elif not any(isinstance(item, ast.Call) for item in found):
                    loose.append(call.node)
        return own or loose

    def trained_on(self) -> ast.expr | None:
        """What every `fit` is given to train on: the module itself where that is all."""
        names = ("train_dataloaders", "train_dataloader", "datamodule")
        found: list[ast.expr] = []
        for call in self.fits():
            given = {item.arg: item.value for item in call.keywords}
            data = [*call.args[1:2], *(given[name] for name in names if name in given)]
            found += [*data, *call.args[:1], *([given["model"]] if "model" in given else [])][:1]
        return found[0] if len(found) == len(self.fits()) and len({ast.unparse(item) for item in found}) == 1 else None

    def trained_batches(self, ranks: int = 1) -> int | None:
        """The number of batches that every `fit` trains on in an epoch, in each of several processes."""
        loader = self.trained_on()
        return self.known(ranks).batches_of(loader) if loader is not None else None


def dataset_of(node: ast.expr) -> ast.expr | None:
    """What a call makes a loader of."""
    if not isinstance(node, ast.Call):
        return None
    return value_of(node, "dataset", 0)


def values_at(file: PythonFile, call: CallNode, name: str) -> list[ast.expr]:
    """What a plain name is assigned, in a call's function or else in the module."""
    space = space_of(file, call)
    here = _assigned(file, space)
    if name in here:
        return here[name]
    bound = space is not file.tree and any(
        argument.arg == name for argument in walk(space) if isinstance(argument, ast.arg)
    )
    return [] if bound else _assigned(file, file.tree).get(name, [])


def _assigned(file: PythonFile, space: ast.AST) -> dict[str, list[ast.expr]]:
    """What a function or the module assigns to each name, read once."""
    key = f"assigned.{id(space)}"
    if key not in file.memo:
        file.memo[key] = assigned(space)
    found: dict[str, list[ast.expr]] = file.memo[key]
    return found


class _ArgumentReplacer(ast.NodeTransformer):
    """An expression of a function with what its parameters are given."""

    def __init__(self, given: Mapping[str | None, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given.get(node.id, node)


class _InstanceRenamer(ast.NodeTransformer):
    """An expression of a method with the instance as it is named elsewhere."""

    def __init__(self, me: str, owner: ast.expr) -> None:
        self.me, self.owner = me, owner

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.owner if node.id == self.me else node


def copy_of(node: ast.expr) -> ast.expr:
    """The expression anew, without a place in the file."""
    return ast.parse(ast.unparse(node), mode="eval").body
