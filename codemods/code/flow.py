"""Statements in their plain form."""

from __future__ import annotations

import ast
from typing import Any

from codemods.code.assigning import Owner, is_attribute, single
from codemods.code.conditions import ALWAYS, GUARDS, guarded, is_empty, of_version, told_before
from codemods.code.contexts import Contexts
from codemods.code.idle_statements import ends_plainly, is_given_back_anyway, without_set_anew
from codemods.code.imports import ModuleNames
from codemods.code.iterating import is_repeated_once, plain_turns
from codemods.code.looking import is_shown, looked_at
from codemods.code.names import Function
from codemods.code.nodes import every_node, walk
from codemods.code.own_instances import asks_for_instance
from codemods.code.rows import first_of, row, turn_by_turn
from codemods.code.spreads import nodes_run_here
from codemods.code.syntax import is_super
from codemods.code.tree_copies import BLOCKS, DEFINING, at, changed, made_from, replaced, twin

BINDING_FIRST = (ast.Expr, ast.Assign, ast.Return, ast.If)
"""Statements in which a name may be bound before anything else is done."""
COMMON = frozenset({"object", "int", "float", "str", "bool", "bytes", "dict", "list", "tuple", "set"})
NAMING = (ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler)
LIBRARIES = frozenset({"torch", "lightning", "pytorch_lightning", "typing", "collections"})
ONCE = ("range(1)", "range(0, 1)")
CHECKING = ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING")
"""What never holds where a program runs."""
DEBUG = "__debug__"
"""True wherever assertions hold."""


def plain_blocks(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with every block in its plain form."""
    made: ast.Module = _Blocks(known).inside(tree, tree)
    return made


class _Blocks:
    """`caught` is set where something around in the same function may answer an exception."""

    def __init__(self, known: ModuleNames) -> None:
        self.known, self.caught, self.contexts = known, False, Contexts(known)
        self.methods: set[int] = set()

    def inside(self, node: Any, owner: Owner) -> Any:
        """A statement with the blocks inside it in their plain form."""
        fields: dict[str, Any] = {}
        before = self.caught
        for name in BLOCKS:
            body = getattr(node, name, None)
            self.caught = node is not owner and (before or (name == "body" and self.catches(node, owner)))
            if isinstance(body, list) and body and (new := self.whole(body, owner, node)) is not body:
                fields[name] = new
        self.caught = node is not owner and before
        for name in ("handlers", "cases"):
            parts = getattr(node, name, None)
            if parts:
                made = [self.inside(part, owner) for part in parts]
                if any(one is not other for one, other in zip(made, parts, strict=True)):
                    fields[name] = made
        self.caught = before
        return changed(node, **fields) if fields else node

    def whole(self, body: list[ast.stmt], owner: Owner, node: ast.AST) -> list[ast.stmt]:
        made = self.block(body, owner)
        return ends_plainly(made) if isinstance(node, Function) else made

    def catches(self, node: ast.AST, owner: Owner) -> bool:
        """Whether a statement may answer an exception that comes out of its body."""
        if isinstance(node, ast.With):
            return not all(self.contexts.lets_pass(item, owner) for item in node.items)
        return isinstance(node, ast.AsyncWith) or bool(getattr(node, "handlers", ()) or getattr(node, "finalbody", ()))

    def block(self, body: list[ast.stmt], owner: Owner) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for node in body:
            told = told_before(made[-1], node) if made and not isinstance(owner, ast.ClassDef) else node
            made += self.statement(told, owner)
        made = [item for index, item in enumerate(made) if not is_given_back_anyway(item, made[index + 1 :])]
        if not (self.caught or "__setattr__" in self.known.methods):
            made = without_set_anew(made, self.known.decorated)
        if len(made) > 1:
            made = [node for node in made if not isinstance(node, ast.Pass)] or made[:1]
        if len(made) == len(body) and all(one is other for one, other in zip(made, body, strict=True)):
            return body
        return made or [_nothing(body[0])]

    def statement(self, node: ast.stmt, owner: Owner) -> list[ast.stmt]:
        if isinstance(node, DEFINING):
            if isinstance(owner, ast.ClassDef) and isinstance(node, ast.FunctionDef):
                self.methods.add(id(node))
            return [self.inside(node, node)]
        if isinstance(owner, ast.ClassDef):
            decided = isinstance(node, ast.If) and (self.decided(node.test, owner) is not None or _is_debug(node.test))
            return self.branch(node, owner) if decided and isinstance(node, ast.If) else [self.inside(node, owner)]
        if isinstance(node, BINDING_FIRST) and (parts := _bound_first(node)) is not None:
            return [parts[0], *self.statement(parts[1], owner)]
        if isinstance(node, ast.Expr):
            return self.expression(node)
        if isinstance(node, ast.Assert):
            return [] if self.known.is_quiet(node.test) and not self.caught else [node]
        if isinstance(node, ast.AnnAssign):
            return _assigned(node, owner) if self.says_nothing(node.annotation) else [node]
        if isinstance(node, ast.Assign):
            return single(node, owner, self.known, self.caught)
        if isinstance(node, ast.With | ast.Try | ast.For | ast.While | ast.Match):
            return self.wrapped(node, owner)
        if isinstance(node, ast.If):
            return self.branch(node, owner)
        return [self.inside(node, owner)]

    def expression(self, node: ast.Expr) -> list[ast.stmt]:
        value = node.value
        if isinstance(value, ast.NamedExpr):
            return [_assign(value.target, value.value, node)]
        if isinstance(value, ast.Call) and (target := self.is_set(value)) is not None:
            return [_assign(target, value.args[-1], node)]
        if isinstance(value, ast.Call | ast.Name) and self.is_idle(value):
            return []
        parts = looked_at(value, self.known)
        if parts is None or self.caught:
            return [node]
        if len(parts) == 1 and not is_shown(value):
            return [changed(node, value=parts[0])]
        return [at(changed(node, value=item), item) for item in parts]

    def is_idle(self, node: ast.expr) -> bool:
        """Whether nothing is missed where an expression is not worked out."""
        return self.known.is_quiet(node) and not (self.caught and self.known.may_fail(node))

    def is_set(self, call: ast.Call) -> ast.Attribute | None:
        """The attribute that `setattr` by a constant sets."""
        given, function = call.args, call.func
        if isinstance(function, ast.Attribute) and function.attr == "__setattr__":
            above = is_super(function.value) and "__setattr__" not in self.known.methods
            given = [ast.copy_location(ast.Name("self", ast.Load()), call) if above else function.value, *given]
        elif getattr(function, "id", "") != "setattr" or "setattr" in self.known.taken:
            return None
        if call.keywords or len(given) != 3 or not isinstance(given[0], ast.Name):
            return None
        name = given[1].value if isinstance(given[1], ast.Constant) else None
        if not is_attribute(name) or isinstance(given[2], ast.Starred):
            return None
        return made_from(call, ast.Attribute(value=given[0], attr=name, ctx=ast.Store()))

    def wrapped(self, node: ast.With | ast.Try | ast.For | ast.While | ast.Match, owner: Owner) -> list[ast.stmt]:
        node = self.inside(node, owner)
        if isinstance(node, ast.For):
            return self.turned(self.over(node), owner)
        if isinstance(node, ast.While):
            holds, body = self.decided(node.test, owner), _only_turn(node)
            if holds is False and not any(_makes_local(item, owner) for item in node.body):
                return node.orelse or [_nothing(node)]
            return body if holds and body is not None and body is not node.body else [_ended(node)]
        if isinstance(node, ast.Match):
            if self.is_idle(node.subject) and all(map(_only_looks, node.cases)):
                return []
            bound = self.matched(node)
            return [node] if bound is None else [*bound, *node.cases[0].body]
        if isinstance(node, ast.With):
            if (kept := self.contexts.held(node)) is not None:
                return [_assign(kept.optional_vars, kept.context_expr.args[0], node), *node.body]  # type: ignore[arg-type, attr-defined]
            body = self.contexts.done_in(node, owner)
            return [self.contexts.entered(node)] if body is None else body or [_nothing(node)]
        tried, otherwise, last = (
            all(isinstance(item, ast.Pass) for item in each) for each in (node.body, node.orelse, node.finalbody)
        )
        if last and all(map(self.hands_on, node.handlers)):
            return [*node.body, *node.orelse]
        alone = tried and (last or otherwise) and not any(_makes_local(item, owner) for item in node.handlers)
        return [*node.orelse, *node.finalbody] if alone else [node]

    def turned(self, node: ast.For, owner: Owner) -> list[ast.stmt]:
        """What a loop does, turn by turn, where what it goes over is written there."""
        items, body = row(node.iter, self.known), _only_turn(node)
        read = [item for item in every_node(node.target) if self.is_read(item)]
        if items == [] and not read and not any(_makes_local(item, owner) for item in node.body):
            return node.orelse or [_nothing(node)]
        if body is None:
            return [_ended(node)]
        if self.turns_once(node):
            return body
        if items and len(items) == 1:
            return [_assign(node.target, items[0], node), *body]
        turns = turn_by_turn(node, items, self.known) if items and body is node.body else None
        return [*turns, _assign(node.target, items[-1], node)] if turns and items else [_ended(node)]

    def is_read(self, node: ast.AST) -> bool:
        """Whether anything in the module may read a name."""
        return isinstance(node, ast.Name) and not self.known.names.is_never_read(node.id)

    def hands_on(self, node: ast.ExceptHandler) -> bool:
        """Whether a handler raises the exception again, and does nothing else."""
        last = node.body[0]
        if not isinstance(last, ast.Raise) or not (node.type is None or self.known.is_quiet(node.type)):
            return False
        same = isinstance(last.exc, ast.Name) and last.exc.id == node.name and last.cause is None
        return last.exc is None or same or (not self.caught and self.is_told_anew(last, node.name))

    def is_told_anew(self, node: ast.Raise, caught: str | None) -> bool:
        """Whether a statement raises another exception from the one that was caught, in the words of the file."""
        call, cause = node.exc, node.cause
        if not isinstance(call, ast.Call) or not isinstance(cause, ast.Name) or cause.id != caught:
            return False
        given = [*call.args, *(item.value for item in call.keywords)]
        return self.known.is_quiet(call.func) and all(map(self.known.is_quiet, given))

    def over(self, node: ast.For) -> ast.For:
        """A loop over what is handed on to it."""
        turns = plain_turns(node.iter, node.target, self.known)
        return changed(node, iter=turns.over, target=turns.target) if turns else node

    def turns_once(self, node: ast.For) -> bool:
        """Whether a loop runs its body once, and does nothing besides that anyone reads."""
        call, target = node.iter, node.target
        one = isinstance(call, ast.Tuple | ast.List) and len(call.elts) == 1 and isinstance(call.elts[0], ast.Constant)
        ranged = isinstance(call, ast.Call) and ast.unparse(call) in ONCE and "range" not in self.known.taken
        ranged = ranged or is_repeated_once(call, self.known)
        if not (one or ranged):
            return False
        return isinstance(target, ast.Name) and not self.is_read(target)

    def matched(self, node: ast.Match) -> list[ast.stmt] | None:
        """What the first case of a `match` binds, where it is sure to take what it is given; None where it is not."""
        first, *others = node.cases
        pairs = _taken(first.pattern, node.subject)
        if pairs is None or first.guard is not None or any(map(_makes_local, others)):
            return None
        named = [(pattern, value) for pattern, value in pairs if pattern.name]
        whole = isinstance(first.pattern, ast.MatchAs) and bool(named)
        if not whole and not self.is_idle(node.subject):
            return None
        read = {item.id for item in every_node(node.subject) if isinstance(item, ast.Name)}
        if len(named) > 1 and not read.isdisjoint(pattern.name for pattern, _ in named):
            return None
        return [_assign(made_from(node, ast.Name(one.name or "", ast.Store())), value, node) for one, value in named]

    def branch(self, node: ast.If, owner: Owner) -> list[ast.stmt]:
        if (way := self.decided(node.test, owner)) is not None:
            taken, gone = (node.body, node.orelse) if way else (node.orelse, node.body)
            if not any(_makes_local(item, owner) for item in gone):
                return self.block(taken, owner) if taken else []
        if _is_debug(node.test) and not node.orelse:
            return self.block(node.body, owner)
        if (asked := guarded(node)) is not None and self.has(asked):
            return self.block(node.body, owner)
        made = _ended(self.inside(node, owner))
        if made.orelse and self.is_idle(node.test) and _is_alike(made.body, made.orelse):
            return [twin(one, other) for one, other in zip(made.body, made.orelse, strict=True)]
        if made.orelse or not all(isinstance(item, ast.Pass) for item in made.body):
            return [made]
        parts = [made.test] if isinstance(made.test, ast.Call) else looked_at(made.test, self.known)
        if self.is_idle(made.test):
            return []
        return [made] if parts is None or self.caught else [ast.copy_location(ast.Expr(item), item) for item in parts]

    def has(self, asked: ast.Attribute) -> bool:
        """Whether an object has the method that it is asked for, as far as its name and the module say."""
        bound = any(item.id == asked.attr and isinstance(item.ctx, ast.Store) for item in self.known.nodes[ast.Name])
        if bound or asked.attr in self.known.set_attributes or not GUARDS.isdisjoint(self.known.taken):
            return False
        if asked.attr in ALWAYS:
            return True
        return getattr(asked.value, "id", "") == "self" and asked.attr in self.known.methods

    def decided(self, test: ast.expr, owner: Owner) -> bool | None:
        """Whether a test always holds, or never; None where that is not known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            way = self.decided(test.operand, owner)
            return None if way is None else not way
        if isinstance(test, ast.Constant) or is_empty(test):
            return bool(getattr(test, "value", None))
        if (new := of_version(test, self.known)) is not None:
            return new
        if isinstance(test, ast.Compare) and isinstance(owner, ast.FunctionDef) and id(owner) in self.methods:
            return asks_for_instance(test, owner)
        return False if self.known.dotted(test) in CHECKING else None

    def says_nothing(self, node: ast.expr) -> bool:
        """Whether an annotation names a common type, of which the value tells as much; one of another may be all that
        is known of the value."""
        if isinstance(node, ast.Constant):
            return node.value is None or (_said(node.value, self))
        if isinstance(node, ast.Subscript):
            return self.says_nothing(node.value)
        if isinstance(node, ast.BinOp):
            return self.says_nothing(node.left) and self.says_nothing(node.right)
        if isinstance(node, ast.Name) and node.id in COMMON:
            return True
        return (self.known.dotted(node) or "").split(".")[0] in LIBRARIES


def _is_debug(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == DEBUG


def _said(text: object, blocks: _Blocks) -> bool:
    """The same of an annotation that is a string."""
    try:
        return isinstance(text, str) and blocks.says_nothing(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return False


def _assigned(node: ast.AnnAssign, owner: Owner) -> list[ast.stmt]:
    if node.value is None:
        return [] if not isinstance(owner, ast.Module) and _is_bound_otherwise(node.target, owner) else [node]
    return [_assign(node.target, node.value, node)]


def _is_bound_otherwise(target: ast.expr, owner: Owner) -> bool:
    """Whether a name would be one of the function's without its annotation too."""
    every = (item for item in every_node(owner) if isinstance(item, ast.Name) and item is not target)
    stored = any(not isinstance(item.ctx, ast.Load) and item.id == getattr(target, "id", "") for item in every)
    return isinstance(target, ast.Name) and stored


def _assign(target: ast.expr, value: ast.expr, place: ast.AST) -> ast.stmt:
    made = ast.Assign(targets=[target], value=value, type_comment=None)
    if isinstance(place, ast.stmt):
        vars(made).update(made_of=place)
    return ast.copy_location(made, place)


def _bound_first(node: Any) -> tuple[ast.stmt, ast.stmt] | None:
    """The assignment that a statement does before all else, and the statement with the name that this binds."""
    field = "test" if isinstance(node, ast.If) else "value"
    whole = getattr(node, field)
    first = first_of(whole) if whole is not None else None
    if not isinstance(first, ast.NamedExpr) or (isinstance(node, ast.Expr | ast.Assign) and first is whole):
        return None
    name = ast.copy_location(ast.Name(first.target.id, ast.Load()), first)
    rest = changed(node, **{field: replaced(whole, lambda item: name if item is first else None)})
    return _assign(first.target, first.value, first), rest


def _ended(node: Any) -> Any:
    """A statement without an `else` that does nothing."""
    other = getattr(node, "orelse", None)
    idle = other and isinstance(node, ast.stmt) and all(isinstance(item, ast.Pass) for item in other)
    return changed(node, orelse=[]) if idle else node


def _only_turn(node: ast.For | ast.While) -> list[ast.stmt] | None:
    """What the first turn of a loop does, which is not left early, and after which nobody asks how it was left: the
    body itself where that does not end the loop."""
    last = node.body[-1]
    body = node.body[:-1] if isinstance(last, ast.Break) else node.body
    early = any(isinstance(item, ast.Break | ast.Continue) for each in body for item in walk(each))
    if node.orelse or early:
        return None
    return [*body] or [_nothing(last)] if isinstance(last, ast.Break | ast.Return | ast.Raise) else node.body


def _is_alike(one: list[ast.stmt], other: list[ast.stmt]) -> bool:
    """Whether two blocks say the same, and define nothing."""
    if len(one) != len(other) or any(type(here) is not type(there) for here, there in zip(one, other, strict=True)):
        return False
    if any(isinstance(item, DEFINING) for each in one for item in every_node(each)):
        return False
    return all(ast.dump(here) == ast.dump(there) for here, there in zip(one, other, strict=True))


def _nothing(place: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), place)


def _makes_local(node: ast.AST, owner: Owner | None = None) -> bool:
    """Whether a statement makes its function a generator, or a name one of its own, also where it never runs; not one
    that the `owner` binds outside it too."""
    making = (ast.Yield, ast.YieldFrom, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, *DEFINING, *NAMING)
    inside = [*every_node(node)]
    if any(isinstance(item, making) and getattr(item, "name", "_") is not None for item in inside):
        return True
    bound = {item.id for item in inside if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}
    if not bound or owner is None:
        return bool(bound)
    same = set(map(id, inside))
    here = [item for item in nodes_run_here(owner) if id(item) not in same]
    names = {item.id for item in here if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    return not bound <= names | {item.arg for item in here if isinstance(item, ast.arg)}


def _only_looks(case: ast.match_case) -> bool:
    """Whether a case asks whether a value is None, True or False, or takes any, and does nothing then."""
    anything = isinstance(case.pattern, ast.MatchAs) and case.pattern.name is None
    idle = all(isinstance(item, ast.Pass) for item in case.body)
    return idle and case.guard is None and (anything or isinstance(case.pattern, ast.MatchSingleton))


def _taken(pattern: ast.pattern, subject: ast.expr) -> list[tuple[ast.MatchAs, ast.expr]] | None:
    """What a pattern gives its names, where it is sure to take a value; None where it is not."""
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        return [(pattern, subject)]
    if isinstance(pattern, ast.MatchValue | ast.MatchSingleton):
        wanted = pattern.value.value if isinstance(pattern.value, ast.Constant) else pattern.value
        plain = not isinstance(wanted, ast.AST) and isinstance(subject, ast.Constant)
        alike = plain and isinstance(subject, ast.Constant) and type(subject.value) is type(wanted)
        return [] if alike and getattr(subject, "value", None) == wanted else None
    row = subject.elts if isinstance(subject, ast.Tuple | ast.List) else None
    if not isinstance(pattern, ast.MatchSequence) or row is None or len(row) != len(pattern.patterns):
        return None
    if any(isinstance(item, ast.Starred) for item in row):
        return None
    found = [_taken(one, item) for one, item in zip(pattern.patterns, row, strict=True)]
    return None if any(each is None for each in found) else [pair for each in found for pair in each or ()]
