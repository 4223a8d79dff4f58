"""The calls of Lightning's argparse methods in a script, and what is done with the Trainers that they build."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.calls import called, keywords, space_of
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import TRAINER, ClassFact, Facts
from codemods.lightning.kinds import bound_to
from codemods.lightning.namespace_from_dict import DictionaryEdits, configured
from codemods.lightning.trainer_variables import calls_of, is_called_unseen, kept_in, reads_lightning

WORDS = ("add_argparse_args", "from_argparse_args")
NAMES = ("add_arguments", "from_arguments", "plain_value")
OF_OPTIONS = "from_options"
"""What the functions are called that take the place of the methods."""


@dataclass(frozen=True)
class ArgparseCall:
    """A call of one of the methods. `owner` is what it is called of, `level` how surely that is Lightning's."""

    call: CallNode
    method: str
    owner: ast.expr
    trainer: bool
    level: Fix

    @property
    def adds(self) -> bool:
        return self.method == "add_argparse_args"

    @property
    def given(self) -> ast.expr | None:
        """The parser, or what was parsed."""
        node = self.call.node
        return node.args[0] if node.args else keywords(node).get("parent_parser" if self.adds else "args")


def read_site(file: PythonFile, facts: Facts, call: CallNode) -> ArgparseCall | None:
    """The call as one of the methods, None where it is not Lightning's. One of an instance that is made for it alone
    is as one of its class."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in WORDS:
        return None
    owner = function.value
    dotted = call.scope.resolve(owner)
    if dotted == TRAINER:
        return ArgparseCall(call, function.attr, owner, True, "safe")
    made = isinstance(owner, ast.Call)
    if isinstance(owner, ast.Call):
        owner = owner.func
        dotted = call.scope.resolve(owner)
        if dotted == TRAINER:
            return ArgparseCall(
                call, function.attr, owner, True, "safe" if is_idle_trainer(function.value) else "unsafe"
            )
    if ast.unparse(owner) in ("super", "self", "cls"):
        return None
    fact = facts.find_class(dotted, file.path) or _reexported(facts, dotted, file.path) if dotted else None
    if fact is not None:
        if any(function.attr in member.methods for member in facts.ancestry(fact)):
            return None
        kind = facts.kind(fact)
        if kind == "other":
            return None
        return ArgparseCall(call, function.attr, owner, kind == TRAINER, "safe" if kind else "unsafe")
    if made:
        return None
    own = any(facts.mentions.get(f"def {word}".encode()) for word in WORDS)
    if own or not reads_lightning(file):
        return None
    sure = _is_one_of_lightnings(file, facts, call, owner)
    return ArgparseCall(call, function.attr, owner, False, "safe" if sure else "unsafe")


def _reexported(facts: Facts, dotted: str, near: str) -> ClassFact | None:
    """The project's class of that name behind re-exports of files that speak of nothing of Lightning's."""
    found = facts.find_opened(dotted, near)
    home = facts.files.get(found[0].path) if found else None
    return home.find(found[1].qualname) if found and home else None


def _is_one_of_lightnings(file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr) -> bool:
    """Whether a name is bound to classes of the project alone that are Lightning's modules, or their data."""
    values = bound_to(facts, file, call, owner.id) if isinstance(owner, ast.Name) else []
    names = [call.scope.resolve(value) for value in values]
    facts_of = [facts.find_class(name, file.path) if name else None for name in names]
    return bool(values) and all(fact and facts.kind(fact) not in (None, "other", TRAINER) for fact in facts_of)


def trainer_sites(file: PythonFile) -> list[ArgparseCall]:
    return [
        ArgparseCall(call, call.node.func.attr, called(call.node.func.value), True, "safe")
        for call in file.calls_near(WORDS)
        if isinstance(call.node.func, ast.Attribute)
        and is_argparse_call(call)
        and call.scope.resolve(called(call.node.func.value)) == TRAINER
    ]


def is_idle_trainer(node: ast.expr) -> bool:
    """Whether a Trainer is made with nothing given, and so of no use but to call a method of its class."""
    return isinstance(node, ast.Call) and not node.args and not node.keywords


def configurations(file: PythonFile) -> list[DictionaryEdits]:
    """What becomes of the Trainers of a file that are built of a dictionary."""
    built = [site.call for site in trainer_sites(file) if not site.adds]
    return [change for call in built if (change := configured(file, call)) is not None]


def is_argparse_call(call: CallNode) -> bool:
    return isinstance(call.node.func, ast.Attribute) and call.node.func.attr in WORDS


def declares_trainers(file: PythonFile) -> bool:
    """Whether the file has Trainer declare its options."""
    return any(site.adds for site in trainer_sites(file))


def parser_of(file: PythonFile, site: ArgparseCall) -> str | None:
    """The name of the parser that a call adds options to: the one that it is given, or that its result gets."""
    if isinstance(site.given, ast.Name):
        return site.given.id
    targets = next(
        (
            item.node.targets
            for item in file.assignments
            if item.node.value is site.call.node and isinstance(item.node, ast.Assign)
        ),
        [],
    )
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def fits_of(file: PythonFile, site: ArgparseCall) -> list[CallNode] | None:
    """The `fit` calls of the Trainer that a site builds."""
    name = kept_in(file, site.call) or _kept_in_arms(file, site)
    fits = calls_of(file, site.call, name, "fit") if name else []
    usable = all(fit.node.args or fit.node.keywords for fit in fits)
    if name and is_called_unseen(file, site.call, name, "fit"):
        return None
    return fits if fits and usable and not any("ckpt_path" in keywords(fit.node) for fit in fits) else None


def _kept_in_arms(file: PythonFile, site: ArgparseCall) -> str | None:
    """The name that keeps either of several Trainers, all built of the same options."""
    space, given = space_of(file, site.call), file.source_of(site.given) if site.given else ""
    built = {
        ast.unparse(node.targets[0])
        for node in walk(space)
        if isinstance(node, ast.Assign) and node.value is site.call.node and isinstance(node.targets[0], ast.Name)
    }
    stores = [node for node in walk(space) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    alike = {
        id(node.targets[0])
        for node in walk(space)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_built(file, node.value, given)
    }
    return next((name for name in built if all(id(node) in alike for node in stores if node.id == name)), None)


def _is_built(file: PythonFile, node: ast.Call, given: str) -> bool:
    plain = isinstance(node.func, ast.Attribute) and node.func.attr == WORDS[1] and len(node.args) == 1
    return plain and file.source_of(node.args[0]) == given


def statement_of(file: PythonFile, site: ArgparseCall) -> ast.stmt | None:
    """The statement that a site is the whole value of; None where it stands inside an expression."""
    return next(
        (
            node
            for node in walk(space_of(file, site.call))
            if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return) and node.value is site.call.node
        ),
        None,
    )


def modules(adds: bool, builds: bool) -> tuple[str, ...]:
    """The modules that they import."""
    return ("ast", "inspect") if adds else ("inspect",) if builds else ()
