"""Names that stand for something else, replaced by what they stand for."""

from __future__ import annotations

import ast
import itertools
from functools import cached_property
from typing import Any, TypeVar

from codemods.code.conditions import ALWAYS
from codemods.code.expressions import PARTIAL, takes_something
from codemods.code.folding import NAMESPACES
from codemods.code.imports import ModuleNames
from codemods.code.looking import looked_at
from codemods.code.names import Function, Names
from codemods.code.nodes import DOING, every_node
from codemods.code.none_tests import answers, asked_for_none, is_something
from codemods.code.spreads import COMPREHENSIONS, SIMPLE, is_copied, is_read_first, is_spread, nodes_run_here
from codemods.code.syntax import is_super, targets_of
from codemods.code.tree_copies import DEFINING, LOOPS, at, blocks, changed, made_from, replaced, with_statements

WORKING = (*DOING, *COMPREHENSIONS)
PARTS = (ast.Attribute, ast.Subscript)
ROWS = (ast.Dict, ast.List, ast.Tuple)
NEGATIVE = (ast.USub,)
WITH = (ast.With, ast.AsyncWith)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NAMING = (ast.Pass, ast.Expr, ast.Assign, ast.AnnAssign)
BINDING = frozenset({ast.Delete, ast.FunctionDef, ast.ClassDef})


def plain_names(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with second names, constants, partial calls and dictionaries where they are read."""

    def swap(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.AsyncFunctionDef):
            return _plain(node, known)
        return _plain(node, known) if isinstance(node, ast.FunctionDef) else None

    inner = with_statements(tree, swap, of=FUNCTIONS)
    return _plain(inner, known.of(inner))


Owner = TypeVar("Owner", ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)


def _plain(owner: Owner, known: ModuleNames) -> Owner:
    every = [(node, block, index) for block in blocks(owner) for index, node in enumerate(block) if _may_go(node)]
    if not every:
        return owner
    names = known.names if isinstance(owner, ast.Module) and owner is known.tree else known.names_of(owner)
    if names.open:
        return owner
    reader = _SubstitutionReader(owner, names, known)
    for node, block, index in every:
        reader.read(node, block, index)
    swaps = reader.swaps()
    if not swaps and not reader.dropped:
        return owner
    rest = with_statements(owner, lambda node: _without(node, reader.dropped)) if reader.dropped else owner

    def swap(node: ast.AST) -> ast.AST | None:
        new = swaps.get(id(node))
        return None if new is None else replaced(new, swap)  # it may hold what stands for something itself

    return replaced(rest, swap) if swaps else rest


def _may_go(node: ast.stmt) -> bool:
    """Whether a statement is of a kind that is left out where what it binds can be said otherwise."""
    if type(node) is ast.Assign:
        return len(node.targets) == 1 and type(node.targets[0]) is ast.Name
    return type(node) in BINDING


def _without(node: ast.AST, dropped: set[int]) -> ast.AST | None:
    """A node without the statements that say nothing any more."""
    fields = {}
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list) and any(id(item) in dropped for item in body):
            rest = [item for item in body if id(item) not in dropped]
            needed = name == "body" or (name == "finalbody" and not getattr(node, "handlers", ()))
            fields[name] = rest or ([ast.copy_location(ast.Pass(), body[0])] if needed else [])
    return changed(node, **fields) if fields else None


class _SubstitutionReader:
    """Finds what can be replaced: `atoms` are the names that stand for something with their readings, `given` the
    statements that give back what the one before has kept, `dropped` the statements that are needed no more."""

    def __init__(self, owner: ast.Module | Function, names: Names, known: ModuleNames) -> None:
        self.owner, self.names, self.known = owner, names, known
        self.local = not isinstance(owner, ast.Module)
        self.atoms: dict[str, tuple[ast.expr, list[ast.Name]]] = {}
        self.given: dict[int, ast.AST] = {}
        self.dropped: set[int] = set()

    def read(self, node: ast.stmt, block: list[ast.stmt], index: int) -> None:
        if isinstance(node, ast.Delete) and self.local:
            self.deleted(node, block, index)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and self.local:
            self.called(node, block, index)
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return
        if id(node) in self.given:
            return  # it says more by now than what it was made of
        name = node.targets[0].id
        if name.startswith("__") and not self.local:
            return  # a class takes it for a name of its own
        loads = self.names.reaches(name, block, index)
        if loads and is_something(node.value, self.known):
            self.given.update(answers(loads, self.asked))
        if self.local and index + 1 < len(block) and (over := self.bound_over(node, block[index + 1])) is not None:
            self.given[id(over)] = node.value
            self.dropped.add(id(node))
            return
        if loads is None:
            if (
                self.local
                and self.is_idle(node)
                and (self.names.is_never_read(name) or self.is_bound_anew(node, block, index))
            ):
                self.dropped.add(id(node))
            elif self.local and self.names.is_never_read(name) and self.only_looks(node.value):
                self.given[id(node)] = made_from(node, ast.Expr(value=node.value))
            return
        if not loads:
            if self.local and self.is_idle(node):
                self.dropped.add(id(node))
            elif self.local and self.only_looks(node.value):
                self.given[id(node)] = made_from(node, ast.Expr(value=node.value))
        elif self.is_atom(node.value, block, index) and self.is_read_in_turn(node.value, loads):
            self.atoms[name] = node.value, loads
            if self.local:
                self.dropped.add(id(node))
        elif len(loads) == 1 and index + 1 < len(block) and self.is_given_back(loads[0], block, index + 1):
            following: Any = block[index + 1]
            self.given[id(following)] = changed(following, value=node.value)
            self.dropped.add(id(node))
        elif len(loads) == 1 and self.goes_with(node.value, loads[0], block[index + 1 :]):
            self.given[id(loads[0])] = node.value
            self.dropped.add(id(node))

    def bound_over(self, node: ast.Assign, following: ast.stmt) -> ast.Name | None:
        """The one reading of a name whose next statement binds it to what a method of it gives."""
        name = node.targets[0].id  # type: ignore[attr-defined]
        target = following.targets[0] if isinstance(following, ast.Assign) and len(following.targets) == 1 else None
        if not isinstance(target, ast.Name) or target.id != name or not isinstance(following, ast.Assign):
            return None
        call = following.value
        load = _root(call.func) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
        said = [item for item in every_node(call) if isinstance(item, ast.Name) and item.id == name]
        if not isinstance(load, ast.Name) or said != [load]:
            return None
        outside = name in self.names.elsewhere or id(node) in self.seen_behind
        plain = isinstance(node.value, ast.Call | ast.Attribute | ast.Subscript | ast.Name)
        return load if plain and not outside else None

    def only_looks(self, value: ast.expr) -> bool:
        """Whether a value is what a call gives, or what is seen of that."""
        return isinstance(value, ast.Call) or looked_at(value, self.known) is not None

    def is_idle(self, node: ast.Assign) -> bool:
        """Whether nothing is missed where a value is not worked out."""
        if not self.known.is_quiet(node.value):
            return False
        return not self.known.may_fail(node.value) or id(node) not in self.answered

    @cached_property
    def asked(self) -> dict[int, ast.Compare]:
        return asked_for_none(self.owner) if self.known.asks_identity else {}

    @cached_property
    def answered(self) -> frozenset[int]:
        """What stands where an exception may be answered."""
        outer = (item for item in every_node(self.owner) if getattr(item, "handlers", ()) or isinstance(item, WITH))
        return frozenset(id(inner) for item in outer for each in item.body for inner in every_node(each))  # type: ignore[attr-defined]

    def is_read_in_turn(self, value: ast.expr, loads: list[ast.Name]) -> bool:
        """Whether the readings of a second name are over before a loop binds the first one again."""
        if not isinstance(value, ast.Name) or value.id not in self.turned:
            return True
        return all(id(load) in self.run_here for load in loads)

    @cached_property
    def run_here(self) -> frozenset[int]:
        """What is run by the owner itself, and not by a function, class or comprehension inside it."""
        return frozenset(map(id, nodes_run_here(self.owner)))

    @cached_property
    def turned(self) -> frozenset[str]:
        """The names that loops bind."""
        every = (inner for item in every_node(self.owner) if isinstance(item, LOOPS) for inner in every_node(item))
        names = (item for item in every if isinstance(item, ast.Name))
        return frozenset(item.id for item in names if not isinstance(item.ctx, ast.Load))

    def is_bound_anew(self, node: ast.Assign, block: list[ast.stmt], index: int) -> bool:
        """Whether the block binds a name to something else before anything speaks of it again."""
        name = node.targets[0].id  # type: ignore[attr-defined]
        if self.names.stores[name] < 2 or id(node) in self.seen_behind:
            return False
        if self.names.deleted[name] or name in self.names.elsewhere:
            return False
        if not all(id(load) in self.run_here for load, _ in self.names.loads.get(name, ())):
            return False
        speaking = (
            item
            for item in block[index + 1 :]
            if any(getattr(inner, "id", getattr(inner, "name", "")) == name for inner in every_node(item))
        )
        again = next(speaking, None)
        between = block[index + 1 : block.index(again)] if again else []
        if any(isinstance(inner, ast.Break | ast.Continue) for item in between for inner in every_node(item)):
            return False  # what binds it again may be skipped
        if not isinstance(again, ast.Assign) or not isinstance(again.targets[0], ast.Name) or len(again.targets) > 1:
            return False
        return all(getattr(inner, "id", "") != name for inner in every_node(again.value))

    @cached_property
    def seen_behind(self) -> frozenset[int]:
        """What stands in a `try` or `with`, behind which names may be read that were not bound again."""
        outer = (item for item in every_node(self.owner) if isinstance(item, (ast.Try, *WITH)))
        return frozenset(id(inner) for item in outer for inner in every_node(item))

    def called(self, node: ast.FunctionDef | ast.ClassDef, block: list[ast.stmt], index: int) -> None:
        """Takes a function of one `return`, without parameters, that is called once for a lambda in that place; leaves
        out what is never called."""
        loads = self.names.reaches(node.name, block, index)
        if not loads:
            idle = isinstance(node, ast.ClassDef) and not (node.bases or node.keywords) and self.says_nothing(node)
            quiet = isinstance(node, ast.FunctionDef) and not _takes_values(node.args)
            if loads is not None and (idle or quiet) and not node.decorator_list:
                self.dropped.add(id(node))
            return
        last = node.body[0] if isinstance(node, ast.FunctionDef) and len(node.body) == 1 else None
        if not isinstance(last, ast.Return) or last.value is None or node.decorator_list:
            return
        if isinstance(node, ast.ClassDef):
            return
        at_once = _takes_defaults(node.args) and _is_run_by(block[index + 1 :], loads[0])
        if takes_something(node.args) and _takes_values(node.args) and not at_once:
            return
        if len(loads) != 1 or any(item is loads[0] for item in every_node(node)):
            return
        if any(isinstance(item, ast.Call) and item.func is loads[0] for item in nodes_run_here(self.owner)):
            self.given[id(loads[0])] = ast.copy_location(ast.Lambda(args=node.args, body=last.value), loads[0])
            self.dropped.add(id(node))

    def says_nothing(self, node: ast.ClassDef) -> bool:
        """Whether the body of a class does nothing but to name what is quiet, and functions."""
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                quiet = not (item.decorator_list or item.returns or _takes_values(item.args))
            else:
                said = [getattr(item, name, None) for name in ("value", "annotation")]
                quiet = isinstance(item, NAMING) and all(self.known.is_quiet(each) for each in said if each)
            if not quiet or not all(isinstance(each, ast.Name) for each in targets_of(item)):
                return False
        return True

    def goes_with(self, value: ast.expr, load: ast.Name, behind: list[ast.stmt]) -> bool:
        """Whether a value is the same where its one reading stands."""
        if is_spread(value, load, self.owner, behind, self.is_settled, self.known):
            return True
        return bool(behind) and self.handed(value, load, behind[0])

    def handed(self, value: ast.expr, load: ast.Name, following: ast.stmt) -> bool:
        """Takes what a name stands for to the call in the next statement that alone reads it: a method, a partial
        call, or arguments."""
        begun = _begins_with(following)
        if begun is load:
            return self.local and not isinstance(value, ast.Await)
        if self.local and isinstance(value, ast.Attribute) and not _does(value):
            whole = begun or (following.value if isinstance(following, SIMPLE) else None)
            if whole not in (None, load) and is_read_first(whole, load):
                return True
        if isinstance(value, ast.Dict) and is_copied(value, load, following, self.known):
            return True
        call = following.value if isinstance(following, SIMPLE) else None
        row = self.local and (isinstance(value, ROWS) or self.is_namespace(value))
        if row and call is not None and _root(getattr(call, "func", call), through=PARTS) is load is not call:
            return True
        part = isinstance(value, ast.Attribute | ast.Subscript) and not _does(value)
        if not isinstance(call, ast.Call):
            return part and call is not None and call is not load and _root(call, through=PARTS) is load
        if call.func is load:
            return isinstance(value, ast.Attribute | ast.Lambda) or self.is_partial(value)
        if any(isinstance(item, WORKING) for item in every_node(call.func)):
            return False
        if _root(call.func) is load:
            return is_super(value) or part
        given = [*call.args, *(item.value for item in call.keywords)]
        first = [call.func, *itertools.takewhile(lambda item: not _is_of(item, load), given)]
        if len(first) > len(given) or not (self.is_method(call.func, value) or self.is_plain(call.func, value)):
            return False
        if not all(self.is_plain(item, beside=value) for item in first[1:]):
            return False
        if row and any(isinstance(item, ast.Subscript) and item.value is load for item in given):
            return True
        if isinstance(value, ast.Dict):
            return any(item.arg is None and item.value is load for item in call.keywords)
        spread = (item.value for item in call.args if isinstance(item, ast.Starred))
        if isinstance(value, ast.List | ast.Tuple) and any(item is load for item in spread):
            return True
        return self.local and any(item is load for item in given) and (not _does(value) or self.is_partial(value))

    def is_plain(self, node: ast.expr, beside: ast.expr) -> bool:
        """Whether it is the same when an expression is worked out in front of another and behind it."""
        if self.known.is_quiet(beside):
            calls = any(isinstance(item, ast.Call) for item in every_node(node))
            return (isinstance(node, ast.Attribute) and not calls) or self.known.is_quiet(node)
        if not _does(node) and (not _does(beside) or self.is_apart(node, beside)):
            return True
        return all(
            isinstance(item, ast.Constant | ast.expr_context)
            or (isinstance(item, ast.Name) and self.is_settled(item.id))
            or (isinstance(item, ast.Attribute) and self.known.dotted(item) is not None)
            for item in every_node(node)
        )

    def is_method(self, node: ast.expr, beside: ast.expr) -> bool:
        """Whether it is an attribute of a name that another expression does not bind, and nothing in the module sets
        one that is called so."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or not self.local:
            return False
        set_somewhere = node.attr in self.known.set_attributes or node.attr in self.known.said
        bound = any(isinstance(item, ast.NamedExpr) for item in every_node(beside))
        return not (set_somewhere or bound) and self.is_settled(node.value.id)

    def is_apart(self, node: ast.expr, beside: ast.expr) -> bool:
        """Whether an attribute is one of an object that another expression does not speak of."""
        root = _root(node)
        if not isinstance(node, ast.Attribute) or not isinstance(root, ast.Name) or not self.is_settled(root.id):
            return False
        return all(getattr(item, "id", "") != root.id for item in every_node(beside))

    def is_settled(self, name: str) -> bool:
        """Whether nothing that is called binds a name."""
        own = name not in self.names.elsewhere and bool(self.names.stores[name])
        return (own and self.local) or self.known.names.stores[name] <= 1

    def is_namespace(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self.known.dotted(value.func) in NAMESPACES

    def is_partial(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self.known.dotted(value.func) == PARTIAL

    def swaps(self) -> dict[int, ast.AST]:
        """The new nodes by the identity of the old ones."""
        found = dict(self.given)
        for value, loads in self.atoms.values():
            atom, seen = value, {""}
            while isinstance(atom, ast.Name) and atom.id in self.atoms and atom.id not in seen:
                seen.add(atom.id)
                atom = self.atoms[atom.id][0]
            found.update({id(load): at(atom, load) for load in loads})
        return found

    def is_over(self, name: str, block: list[ast.stmt], index: int) -> bool:
        """Whether a name that is bound once in front of a statement is read in front of it alone, in its block."""
        if self.names.stores[name] != 2 or name in self.names.parameters or name in self.names.elsewhere:
            return False
        front = [item for item in block[:index] if not isinstance(item, DEFINING)]
        here = [id(inner) for item in front for inner in nodes_run_here(item)]
        bound = any(isinstance(item, ast.Assign) and getattr(item.targets[0], "id", "") == name for item in front)
        loads = self.names.loads.get(name, [])
        return bound and bool(loads) and {id(load) for load, _ in loads} <= set(here)

    def deleted(self, node: ast.Delete, block: list[ast.stmt], index: int) -> None:
        """Leaves out the `del` of names that are read no more; of names that are never read and bound to something
        idle what binds them, too."""
        targets = [item.id for item in node.targets if isinstance(item, ast.Name)]
        if len(targets) == len(node.targets) and all(self.is_over(name, block, index) for name in targets):
            self.dropped.add(id(node))
            return
        found = []
        for name in targets:
            if self.names.reads[name] or self.names.stores[name] != 2 or name in self.names.parameters:
                return
            for body in blocks(self.owner):
                found += [item for item in body if self._sets(item, name)]
        if len(targets) == len(node.targets) == len(found):
            self.dropped |= {id(node), *map(id, found)}

    def _sets(self, node: ast.stmt, name: str) -> bool:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        return (
            isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id == name and self.is_idle(node)
        )

    def is_given_back(self, load: ast.Name, block: list[ast.stmt], index: int) -> bool:
        """Whether a statement does nothing with what it reads but to give it back, or to keep it elsewhere."""
        node = block[index]
        if isinstance(node, ast.Assign) and self.local and node.value is load and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                return self.names.reaches(target.id, block, index) is None
            if isinstance(target, ast.Tuple | ast.List):
                roots = map(_root, target.elts)
                return all(isinstance(item, ast.Name) and item.id != load.id for item in roots)
            return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
        return isinstance(node, ast.Return) and node.value is load

    def is_atom(self, node: ast.expr, block: list[ast.stmt], index: int) -> bool:
        """Whether an expression is the same wherever behind the statement at that position it is read."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, NEGATIVE) and isinstance(node.operand, ast.Constant)
        if isinstance(node, ast.Name):
            if not self.names.steady(node.id, block, index) or node.id == "super":
                return False
            return bool(self.names.stores[node.id]) or self.known.names.stores[node.id] <= 1
        if not isinstance(node, ast.Attribute) or node.attr in self.known.set_attributes:
            return False
        return self.known.dotted(node) is not None or self.is_own_method(node)

    def is_own_method(self, node: ast.Attribute) -> bool:
        """Whether it is a method of `self`, as far as its name and the module say."""
        own = isinstance(node.value, ast.Name) and node.value.id == "self" and self.names.stores["self"] == 1
        method = node.attr in ALWAYS - self.known.decorated or node.attr in self.known.methods
        return own and "self" in self.names.parameters and method and node.attr not in self.known.said


def _begins_with(node: ast.stmt) -> ast.expr | None:
    """What a loop, a test or a context works out before it does anything else."""
    if isinstance(node, ast.For):
        return node.iter
    if isinstance(node, ast.With):
        return node.items[0].context_expr
    return node.test if isinstance(node, ast.If) else None


def _root(node: ast.expr, through: tuple[type[ast.expr], ...] = (ast.Attribute,)) -> ast.expr:
    """What a chain of attributes, or of items too, begins with."""
    while isinstance(node, through):
        node = node.value  # type: ignore[attr-defined]
    return node


def _does(node: ast.expr) -> bool:
    """Whether an expression may do something, as a call does."""
    return any(isinstance(item, WORKING) for item in every_node(node))


def _is_of(item: ast.expr, load: ast.Name) -> bool:
    picked = isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Constant)
    return item is load or ((picked or isinstance(item, ast.Starred)) and item.value is load)  # type: ignore[attr-defined]


def _takes_defaults(arguments: ast.arguments) -> bool:
    """Whether all parameters have defaults and no annotations."""
    every = [item for item in every_node(arguments) if isinstance(item, ast.arg)]
    given = [*arguments.defaults, *(item for item in arguments.kw_defaults if item)]
    return len(given) == len(every) and not any(item.annotation for item in every)


def _is_run_by(behind: list[ast.stmt], load: ast.Name) -> bool:
    """Whether the next statement is one call of a name, or keeps or gives back what that gives."""
    call = behind[0].value if behind and isinstance(behind[0], SIMPLE) else None
    return isinstance(call, ast.Call) and call.func is load and not call.args and not call.keywords


def _takes_values(arguments: ast.arguments) -> bool:
    """Whether parameters have defaults or annotations, which are worked out where the function is defined."""
    annotated = (item.annotation for item in every_node(arguments) if isinstance(item, ast.arg))
    return bool(arguments.defaults) or any(arguments.kw_defaults) or any(annotated)
