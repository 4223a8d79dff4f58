"""Contexts that do nothing to what runs in them."""

from __future__ import annotations

import ast
import itertools
from functools import cached_property
from typing import TypeGuard

from codemods.code.effects import CONTEXTS
from codemods.code.imports import ModuleNames
from codemods.code.iterating import BARS
from codemods.code.nodes import every_node, walk
from codemods.code.tree_copies import changed, replaced

IDLE = (
    "contextlib.nullcontext", "contextlib.suppress", "contextlib.ExitStack", "warnings.catch_warnings",
    "threading.Lock", "threading.RLock", "tempfile.TemporaryDirectory",
)  # fmt: skip
"""Contexts that do nothing where they are given nothing."""
SHARED = frozenset({"contextlib.nullcontext", "threading.Lock", "threading.RLock", "multiprocessing.Lock"})
"""Contexts that do nothing wherever and however often they are entered."""
MARKS = (
    "torch.profiler.record_function", "torch.autograd.profiler.record_function", "torch.cuda.nvtx.range",
    "contextlib.nullcontext", "contextlib.redirect_stdout", "contextlib.redirect_stderr",
)  # fmt: skip
"""Contexts that give a part of the program a name, or what it says another place."""
SHOWS = frozenset({*BARS, "numpy.printoptions", "numpy.errstate"})
"""Contexts that show something, in whatever way they are asked to."""
RAISING = frozenset({"raise", "call"})
"""What `numpy.errstate` may be asked to do besides."""
FILTERS = ("warnings.simplefilter", "warnings.filterwarnings")
SHOWN = frozenset({"ignore", "default", "always", "module", "once"})
"""What filters may make of warnings, which is not to raise them."""
CHECKS = (
    "torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly", "torch.autograd.profiler.emit_nvtx",
    "torch.autograd.profiler.profile", "torch.random.fork_rng",
)  # fmt: skip
"""Contexts that look at what runs in them where they are told to."""
GRADIENTS = ("torch.enable_grad", "torch.set_grad_enabled")
"""Contexts that do nothing where gradients are on, as they are in what trains."""
STEP = "training_step"
"""The hook that Lightning calls with gradients on."""
GRADIENT_MODES = frozenset({"no_grad", "inference_mode", "enable_grad", "set_grad_enabled"})
MAKERS = ("contextlib.contextmanager",)
STACK, ENTER = "contextlib.ExitStack", "enter_context"


class Contexts:
    """The contexts of a module."""

    def __init__(self, known: ModuleNames) -> None:
        self.known = known

    def is_null(self, item: ast.withitem, owner: ast.AST) -> bool:
        """Whether a context does nothing to what runs in it, and nobody reads what it gives; `owner` is the function
        in which it stands."""
        call, kept = item.context_expr, item.optional_vars
        if kept is not None and not (isinstance(kept, ast.Name) and self.known.names.is_never_read(kept.id)):
            return False
        if isinstance(call, ast.Name):
            return call.id in self._shared
        if not isinstance(call, ast.Call):
            return False
        name = self.known.dotted(call.func)
        given = [*call.args, *(item.value for item in call.keywords)]
        if name in GRADIENTS:
            return _is_all(given, True) and self.has_gradients(owner)
        if not given and name in IDLE:
            return True
        quiet = all(map(self.known.is_quiet, given))
        if isinstance(call.func, ast.Name) and call.func.id in self._own:
            return quiet
        if name in SHOWS:
            return quiet and not any(getattr(item, "value", None) in RAISING for item in given)
        return (name in CHECKS and bool(given) and _is_all(given, False)) or (
            name in MARKS and quiet and not call.keywords
        )

    def lets_pass(self, item: ast.withitem, owner: ast.AST) -> bool:
        """Whether a context answers no exception."""
        call = item.context_expr
        plain = isinstance(call, ast.Call) and self.known.dotted(call.func) in CONTEXTS
        return plain or self.is_null(item, owner)

    def done_in(self, node: ast.With, owner: ast.AST) -> list[ast.stmt] | None:
        """What is done in contexts that do nothing to it; None where one does."""
        if not all(self.is_null(item, owner) for item in node.items):
            return None
        if not any("catch_warnings" in ast.unparse(item.context_expr) for item in node.items):
            return node.body
        body = [item for item in node.body if not self._shows_warnings(item)]
        # Filters that the context puts back may be changed in it.
        said = (each for item in body for each in every_node(item))
        return None if any("warnings" in getattr(each, "id", "") for each in said) else body

    def _shows_warnings(self, node: ast.stmt) -> bool:
        """Whether a statement says how often warnings are shown, and nothing else."""
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or self.known.dotted(call.func) not in FILTERS or not call.args:
            return False
        given = [*call.args, *(item.value for item in call.keywords)]
        shown = isinstance(call.args[0], ast.Constant) and call.args[0].value in SHOWN
        return shown and all(map(self.known.is_quiet, given))

    def held(self, node: ast.With) -> ast.withitem | None:
        """The one context of a statement, where it does nothing but to give back under a name what it is given."""
        item, call = node.items[0], node.items[0].context_expr
        if len(node.items) > 1 or not isinstance(call, ast.Call) or item.optional_vars is None:
            return None
        plain = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
        return item if plain and self.known.dotted(call.func) == "contextlib.nullcontext" else None

    def entered(self, node: ast.With) -> ast.With:
        """A statement with the contexts that a stack enters before all else, and that nobody asks for anything else."""
        stack = node.items[0].optional_vars
        call = node.items[0].context_expr
        made = isinstance(call, ast.Call) and not (call.args or call.keywords) and self.known.dotted(call.func) == STACK
        if not made or len(node.items) > 1 or not isinstance(stack, ast.Name):
            return node
        items = list(itertools.takewhile(bool, (_entered(item, stack.id) for item in node.body)))
        if not items or self.known.names.reads[stack.id] != len(items):
            return node
        rest = node.body[len(items) :] or [ast.copy_location(ast.Pass(), node)]
        return changed(node, items=items, body=rest)

    def has_gradients(self, owner: ast.AST) -> bool:
        """Whether a function is the training step, which nothing else in the file asks for, and speaks of gradients
        being on or off once."""
        if not isinstance(owner, ast.FunctionDef) or owner.name != STEP or owner.decorator_list:
            return False
        if any(item.attr == STEP for item in self.known.nodes[ast.Attribute]) or STEP in self.known.said:
            return False
        said = (getattr(node, "attr", getattr(node, "id", "")) for node in walk(owner))
        return sum(name in GRADIENT_MODES for name in said) == 1

    @cached_property
    def _shared(self) -> frozenset[str]:
        """The names of the module for contexts that do nothing."""
        made = {
            target.id
            for node in self.known.tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1
            for target in node.targets
            if isinstance(target, ast.Name) and not (node.value.args or node.value.keywords)
            if self.known.dotted(node.value.func) in SHARED
        }
        return frozenset(name for name in made if self.known.names.stores[name] == 1)

    @cached_property
    def _own(self) -> frozenset[str]:
        """The contexts that the module itself makes, which only look at the clock, say something, or do nothing."""
        body = self.known.tree.body
        makers = [item for item in body if isinstance(item, ast.FunctionDef) and self._yields(item)]
        classes = [item for item in body if isinstance(item, ast.ClassDef) and self._only_looks(item)]
        found: list[ast.FunctionDef | ast.ClassDef] = [*makers, *classes]
        return frozenset(item.name for item in found if self.known.is_fixed(item))

    def _yields(self, node: ast.FunctionDef) -> bool:
        """Whether a function that makes a context does nothing but to hand over."""
        if len(node.decorator_list) != 1 or self.known.dotted(node.decorator_list[0]) not in MAKERS:
            return False
        body = [item for item in node.body if not _is_said(item)]
        value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
        return isinstance(value, ast.Yield) and (value.value is None or self.known.is_quiet(value.value))

    def _only_looks(self, node: ast.ClassDef) -> bool:
        """Whether a class is a context, and its methods keep what they see for themselves."""
        methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        own = len(methods) + sum(map(_is_said, node.body)) == len(node.body)
        if not own or not {"__enter__", "__exit__"} <= methods.keys() <= {"__enter__", "__exit__", "__init__"}:
            return False
        plain = not (node.bases or node.keywords or node.decorator_list)
        return plain and all(self._keeps_to_itself(item) for item in methods.values())

    def _keeps_to_itself(self, method: ast.FunctionDef) -> bool:
        if method.decorator_list or not method.args.args or method.args.defaults or method.args.kw_defaults:
            return False
        this = method.args.args[0].arg

        def own(node: ast.AST) -> ast.AST | None:
            mine = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == this
            return ast.Name("", ast.Load()) if mine and isinstance(node, ast.Attribute) else None

        for item in method.body:
            if isinstance(item, ast.Pass) or _is_said(item):
                continue
            value = item.value if isinstance(item, ast.Expr | ast.Assign | ast.Return) else None
            if value is None or any(_may_refuse(each) for each in every_node(value)):
                return False
            if not self.known.is_quiet(_numbers(replaced(value, own))):
                return False
            if isinstance(item, ast.Return) and method.name == "__exit__" and not _is_falsy(value):
                return False
            if isinstance(item, ast.Assign) and not all(own(each) for each in item.targets):
                return False
        return True


def _entered(node: ast.stmt, stack: str) -> ast.withitem | None:
    """The context that a statement enters by a stack, with the name for what it gives."""
    call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    function = call.func if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords else None
    if not isinstance(function, ast.Attribute) or function.attr != ENTER or getattr(function.value, "id", "") != stack:
        return None
    if not isinstance(call, ast.Call) or isinstance(call.args[0], ast.Starred):
        return None
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if isinstance(node, ast.Assign) and not isinstance(target, ast.Name):
        return None
    return ast.withitem(context_expr=call.args[0], optional_vars=target)


def _numbers(node: ast.expr) -> ast.expr:
    """An expression in which two times are taken from each other, without that."""

    def swap(item: ast.AST) -> ast.AST | None:
        return ast.Tuple([item.left, item.right], ast.Load()) if _is_difference(item) else None

    return node if not any(map(_is_difference, every_node(node))) else replaced(node, swap)


def _may_refuse(node: ast.AST) -> bool:
    """Whether it is arithmetic besides a difference, which a number may refuse."""
    return isinstance(node, ast.BinOp) and not _is_difference(node)


def _is_difference(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _is_said(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_falsy(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _is_all(given: list[ast.expr], value: bool) -> bool:
    return all(isinstance(item, ast.Constant) and item.value is value for item in given)
