"""Questions for the version of Lightning, or of torchmetrics: what they give on the release to move to."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from codemods.code.nodes import CHILD_FIELDS, children, every_node
from codemods.code.reaching import definitions, reaching
from codemods.code.scopes import ROOT
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, returns, takes
from codemods.lightning.attribute_stores import is_rebound
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.version_names import STRING_METHODS, may_speak
from codemods.lightning.versions import newest_admitted, pinned_names

NEWEST = "2.6.6"
WORDS = ("ersion", "ERSION", "_GREATER", "get_distribution", "RequirementCache")
"""One of these stands in a project that asks for a version."""
METRICS = "1.9.0"
"""A release of torchmetrics that every current Lightning takes."""
_ASKING = frozenset({"importlib.metadata.version", "importlib_metadata.version"})
_PARSING = ("packaging.version.", "pkg_resources.parse_version", "distutils.version.", "looseversion.")
_CACHES = ("lightning_utilities.", "lightning.", "pytorch_lightning.", "lightning_fabric.")
_FOUND = "pkg_resources.get_distribution"
_OPERATORS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
}  # fmt: skip
_BUILTINS: Mapping[str, Callable[..., Any]] = {
    "int": int, "float": float, "str": str, "bool": bool, "tuple": tuple, "list": list, "len": len,
}  # fmt: skip
_PARTS = frozenset({"major", "minor", "micro", "release", "base_version", "public", "version", "parsed_version"})
_DEEP = 8
SPEAKING = (b"__version__", b"metadata", b"get_distribution", b"RequirementCache")
"""One of these stands in a file that binds a name to an answer about a version: what a scan looks for everywhere."""
Within = Sequence[ast.AST]


class _Unknown(Exception):
    """What an expression gives is not seen."""


@dataclass(frozen=True)
class _ExpressionPlace:
    """Where an expression is read: its file and what stands around it."""

    file: PythonFile
    within: Within


@dataclass(frozen=True)
class VersionedPackage:
    """A package whose version a question may ask for: how that is spelled, and its distributions."""

    spelled: frozenset[str]
    distributions: frozenset[str]


LIGHTNING = VersionedPackage(
    frozenset({f"{ROOT}.__version__", "lightning.__version__", "lightning.fabric.__version__"}),
    frozenset({"lightning", "pytorch-lightning", "lightning-fabric"}),
)
TORCHMETRICS = VersionedPackage(frozenset({"torchmetrics.__version__"}), frozenset({"torchmetrics"}))


def answer(
    file: PythonFile,
    facts: Facts,
    test: ast.expr,
    within: Within,
    release: str = "",
    package: VersionedPackage = LIGHTNING,
) -> bool | None:
    """Whether a question that asks for a package's version holds on a release, which is the target where none is
    named; None where it asks for something else too."""
    if not may_speak(file, facts, test):
        return None
    reader = _VersionEvaluator(facts, Version(release or facts.target or NEWEST), package)
    try:
        found = reader.holds(_ExpressionPlace(file, within), test, 0)
    except (_Unknown, InvalidVersion, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        return None
    return found if reader.asked else None


def _flags(facts: Facts) -> frozenset[str]:
    """The names that modules of the project bind to an answer about the version, which others import."""
    if "version flags" not in facts.of_sources:
        found: set[str] = set()
        for path in sorted({path for word in SPEAKING for path in facts.mentions.get(word, ())}):
            source = facts.sources[path]
            if source.kind not in ("python", "notebook") or b"ightning" not in source.unescaped:
                continue
            home = facts.open(path)
            for node in home.tree.body if home else ():
                if isinstance(node, ast.Assign) and home and answer(home, facts, node.value, ()) is not None:
                    found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
                elif isinstance(node, ast.FunctionDef) and home and not node.args.args and len(returns(node)) == 1:
                    value = returns(node)[0].value
                    if value is not None and answer(home, facts, value, (node,)) is not None:
                        found.add(node.name)
        facts.of_sources["version flags"] = frozenset(found)
    named: frozenset[str] = facts.of_sources["version flags"]
    return named


@dataclass(frozen=True)
class Question:
    """A choice that Lightning's version decides: what stands around it, and what it gives with the target."""

    node: ast.If | ast.IfExp
    within: Within
    holds: bool


def questions(file: PythonFile, facts: Facts, package: VersionedPackage = LIGHTNING) -> tuple[Question, ...]:
    """The choices of a file that a package's version decides, Lightning's where none is named."""
    if not any(word in file.text for word in (*WORDS, *_flags(facts))):
        return ()
    made: dict[str, tuple[Question, ...]] = memo_of(file, facts)
    asked = f"version questions: {min(package.distributions)}"
    if asked not in made:
        made[asked] = tuple(_questions(file, facts, package))
    return made[asked]


def _questions(file: PythonFile, facts: Facts, package: VersionedPackage) -> Iterator[Question]:
    releases = _installed(facts, package)
    for node, within in _choices(file):
        said = {answer(file, facts, node.test, within, release, package) for release in releases}
        if len(said) == 1 and (holds := said.pop()) is not None:
            yield Question(node, within, holds)


def _installed(facts: Facts, package: VersionedPackage) -> tuple[str, ...]:
    """The releases of a package that the result may run on: of Lightning the target, of torchmetrics the newest that
    each pin admits; none where that is not known."""
    if package is LIGHTNING:
        return (facts.target or NEWEST,)
    newest = newest_admitted(facts, "torchmetrics", METRICS)
    return () if None in newest else tuple(map(str, newest)) or (METRICS,)


def _choices(file: PythonFile) -> list[tuple[ast.If | ast.IfExp, Within]]:
    """The choices of a file, each with what stands around it."""
    if "choices" not in file.memo:
        file.memo["choices"] = list(_walked_choices(file.tree))
    known: list[tuple[ast.If | ast.IfExp, Within]] = file.memo["choices"]
    return known


def _walked_choices(tree: ast.Module) -> Iterator[tuple[ast.If | ast.IfExp, Within]]:
    stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(child, ()) for child in children(tree)]
    while stack:
        node, within = stack.pop()
        inner = (*within, node)
        stack += [(child, inner) for child in children(node) if type(child) in CHILD_FIELDS]
        if isinstance(node, ast.If | ast.IfExp):
            yield node, within


class _VersionEvaluator:
    """Works out an expression with one release; `asked` says whether that was needed."""

    def __init__(self, facts: Facts, release: Version, package: VersionedPackage) -> None:
        self.facts, self.release, self.package, self.asked = facts, release, package, False

    def value(self, place: _ExpressionPlace, node: ast.expr, depth: int) -> Any:
        if depth > _DEEP:
            raise _Unknown
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Tuple | ast.List):
            made = [self.value(place, item, depth + 1) for item in node.elts]
            return made if isinstance(node, ast.List) else tuple(made)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.value(place, node.operand, depth + 1)
        if isinstance(node, ast.BoolOp):
            return self._joined(place, node, depth)
        if isinstance(node, ast.Compare):
            return self._compared(place, node, depth)
        if isinstance(node, ast.Subscript):
            return self._item(place, node, depth)
        if isinstance(node, ast.Call):
            return self._call(place, node, depth)
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            return self._each(place, node, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(place, node, depth)
        raise _Unknown

    def holds(self, place: _ExpressionPlace, node: ast.expr, depth: int) -> bool:
        """Whether a test holds: of several that are joined the one that decides, whatever the others are."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.holds(place, node.operand, depth + 1)
        if not isinstance(node, ast.BoolOp):
            return bool(self.value(place, node, depth))
        decides, unknown = isinstance(node.op, ast.Or), False
        for part in node.values:
            try:
                if self.holds(place, part, depth + 1) is decides:
                    return decides
            except _Unknown:
                unknown = True
        if unknown:
            raise _Unknown
        return not decides

    def _joined(self, place: _ExpressionPlace, node: ast.BoolOp, depth: int) -> Any:
        """The operand that `and` or `or` gives."""
        for part in node.values[:-1]:
            if bool(found := self.value(place, part, depth + 1)) is isinstance(node.op, ast.Or):
                return found
        return self.value(place, node.values[-1], depth + 1)

    def _compared(self, place: _ExpressionPlace, node: ast.Compare, depth: int) -> bool:
        values = [self.value(place, item, depth + 1) for item in (node.left, *node.comparators)]
        for index, kind in enumerate(node.ops):
            if type(kind) not in _OPERATORS:
                raise _Unknown
            left, right = values[index : index + 2]
            if isinstance(left, Version) != isinstance(right, Version):
                left, right = Version(str(left)), Version(str(right))
            if not _OPERATORS[type(kind)](left, right):
                return False
        return True

    def _item(self, place: _ExpressionPlace, node: ast.Subscript, depth: int) -> Any:
        owner = self.value(place, node.value, depth + 1)
        if not isinstance(node.slice, ast.Slice):
            return owner[self.value(place, node.slice, depth + 1)]
        ends = [self.value(place, item, depth + 1) if item else None for item in (node.slice.lower, node.slice.upper)]
        return owner[slice(*ends)]

    def _each(
        self, place: _ExpressionPlace, node: ast.GeneratorExp | ast.ListComp, depth: int
    ) -> list[Any] | tuple[Any, ...]:
        """`int(part) for part in ...`."""
        only, made = node.generators[0], node.elt
        plain = len(node.generators) == 1 and not only.ifs and isinstance(only.target, ast.Name)
        if not plain or not isinstance(made, ast.Call) or ast.unparse(made) != f"int({ast.unparse(only.target)})":
            raise _Unknown
        found = [int(item) for item in self.value(place, only.iter, depth + 1)]
        return found if isinstance(node, ast.ListComp) else tuple(found)

    def _call(self, place: _ExpressionPlace, node: ast.Call, depth: int) -> Any:
        function = node.func
        dotted = self._dotted(place, function)
        given = [] if self._is_map(place, node) else [self.value(place, item, depth + 1) for item in node.args]
        if self._is_map(place, node):
            return tuple(map(int, self.value(place, node.args[1], depth + 1)))
        if node.keywords:
            raise _Unknown
        if dotted in _ASKING or dotted == _FOUND:
            return self._release(given)
        if dotted and dotted.startswith(_PARSING):
            return Version(str(given[0]))
        if dotted and dotted.startswith(_CACHES) and dotted.endswith(".RequirementCache") and len(given) == 1:
            return self._fits(str(given[0]))
        if isinstance(function, ast.Name) and dotted is None and function.id in _BUILTINS:
            return _BUILTINS[function.id](*given)
        if isinstance(function, ast.Attribute) and function.attr in STRING_METHODS:
            owner = self.value(place, function.value, depth + 1)
            if isinstance(owner, str):
                return getattr(owner, function.attr)(*given)
        if not given and (found := self._function(place, dotted)):
            home, made = found
            ends = returns(made)
            if len(ends) == 1 and ends[0].value is not None and ends[0] in made.body:
                return self.value(_ExpressionPlace(home, (made,)), ends[0].value, depth + 1)
        raise _Unknown

    def _is_map(self, place: _ExpressionPlace, node: ast.Call) -> bool:
        return ast.unparse(node.func) == "map" and len(node.args) == 2 and ast.unparse(node.args[0]) == "int"

    def _function(self, place: _ExpressionPlace, dotted: str | None) -> tuple[PythonFile, Function] | None:
        """The function of the project, without arguments, that a dotted name stands for."""
        module, _, name = (dotted or "").rpartition(".")
        if module == place.file.module:
            own = [item for item in place.file.tree.body if isinstance(item, ast.FunctionDef) and item.name == name]
            return (place.file, own[0]) if len(own) == 1 and not own[0].decorator_list else None
        found = self.facts.find_definition(dotted, place.file.path) if dotted and module else None
        plain = found is not None and isinstance(found[1], ast.FunctionDef) and not found[1].decorator_list
        return found if plain else None  # type: ignore[return-value]

    def _release(self, given: Sequence[Any]) -> str:
        asked = canonicalize_name(str(given[0])) if len(given) == 1 else ""
        pinned = pinned_names(self.facts) & self.package.distributions
        if asked not in (pinned or self.package.distributions):
            raise _Unknown
        self.asked = True
        return str(self.release)

    def _fits(self, text: str) -> bool:
        try:
            asked = Requirement(text)
        except InvalidRequirement:
            raise _Unknown from None
        self._release([asked.name])
        return asked.specifier.contains(self.release, prereleases=True)

    def _dotted(self, place: _ExpressionPlace, node: ast.expr) -> str | None:
        return place.file.scope_within(tuple(place.within)).resolve(node)

    def _named(self, place: _ExpressionPlace, node: ast.Name | ast.Attribute, depth: int) -> Any:
        dotted = self._dotted(place, node)
        if dotted in self.package.spelled:
            self.asked = True
            return str(self.release)
        if isinstance(node, ast.Attribute) and node.attr in _PARTS and not (dotted and self._home(place, dotted)):
            owner = self.value(place, node.value, depth + 1)
            if isinstance(owner, Version):
                return getattr(owner, node.attr)
            if node.attr in ("version", "parsed_version"):
                return owner
        if isinstance(node, ast.Name):
            for index in range(len(place.within) - 1, -1, -1):
                space: Any = place.within[index]
                if isinstance(space, Function):
                    if takes(space, node.id):
                        raise _Unknown
                    if definitions(space, node.id):
                        return self._bound(_ExpressionPlace(place.file, place.within[: index + 1]), space, node, depth)
            if definitions(place.file.tree, node.id) and dotted in (None, f"{place.file.module}.{node.id}"):
                return self._of_module(place.file, node.id, depth)
        if dotted and (home := self._home(place, dotted)):
            return self._of_module(home, dotted.rpartition(".")[2], depth)
        raise _Unknown

    def _home(self, place: _ExpressionPlace, dotted: str) -> PythonFile | None:
        module = dotted.rpartition(".")[0]
        if module == place.file.module:
            return place.file
        path = self.facts.path_of(module, place.file.path) if module else None
        return self.facts.open(path) if path else None

    def _bound(self, place: _ExpressionPlace, space: Any, use: ast.Name, depth: int) -> Any:
        found = [item.value for item in reaching(space, use.id, use)]
        if len(found) != 1 or found[0] is None:
            raise _Unknown
        return self.value(place, found[0], depth + 1)

    def _of_module(self, file: PythonFile, name: str, depth: int) -> Any:
        """What a name of a module is bound to, once and nowhere else."""
        found = definitions(file.tree, name)
        if len(found) != 1 or found[0].value is None:
            raise _Unknown
        if name in _set_inside(file):
            raise _Unknown
        asked = self.asked
        try:
            value = self.value(_ExpressionPlace(file, ()), found[0].value, depth + 1)
        except _Unknown:
            self.asked = self.asked and (asked or not is_rebound(self.facts, file.path, name))
            raise
        except Exception:
            self._be_bound_once(file, name, asked)
            raise
        self._be_bound_once(file, name, asked)
        return value

    def _be_bound_once(self, file: PythonFile, name: str, asked: bool) -> None:
        """Takes back what was asked for a name that another file may bind, which is slow to tell."""
        if is_rebound(self.facts, file.path, name):
            self.asked = asked
            raise _Unknown


def _set_inside(file: PythonFile) -> frozenset[str]:
    """The names of a module that functions of it may bind."""
    if "set inside" not in file.memo:
        every = (node.names for node in every_node(file.tree) if isinstance(node, ast.Global))
        file.memo["set inside"] = frozenset(name for names in every for name in names)
    known: frozenset[str] = file.memo["set inside"]
    return known
