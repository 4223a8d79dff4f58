"""LIT004: the TestTubeLogger, which went with the package that it wrote through."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codemods.code.literals import literal
from codemods.code.nodes import parents_of, walk
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rewrite.advice import brief
from codemods.rewrite.import_statement import ImportTarget, moved, why_not
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.names.sites import Arms, Sites, dotted_of, read_sites, serves_both, under_version_check
from codemods.rules.names.table import TEST_TUBE, gone, spelled, split
from codemods.rules.names.uses import is_handed_on

NEW = "TensorBoardLogger"
OLD = "TestTubeLogger"
SHARED = frozenset({"save_dir", "name", "version", "log_graph", "prefix"})
"""Arguments that both take, and mean the same by."""
IDLE = {"debug": (False, None), "create_git_tag": (False, None), "description": (None, "")}
"""Arguments that TensorBoardLogger does not take, with the values that asked for nothing."""
BESIDE = ("create_git_tag", "description")
"""Those of them that wrote beside what is logged, as test-tube's own files are."""
OWN = re.compile(r"experiment\.(?:argparse|log|save|tag|get_data_path|get_media_path|add_meta_from_hyperopt)\(")
"""What test-tube's experiment has besides the methods of a SummaryWriter."""
TAKEN = re.compile(rf"^\s*from\s+(?!(?:pytorch_)?lightning\b)[\w.]+\s+import\b[^\n]*\b{OLD}\b", re.MULTILINE)
"""An import of it from elsewhere than Lightning."""
REASON = (
    "TensorBoardLogger writes the same scalars, and what `experiment.add_...` is given, by the same folder, name and "
    "version (into `version_n` itself, test-tube into `version_n/tf`), without test-tube's own CSV and JSON files, "
    "git tags and descriptions; it needs tensorboard or tensorboardX installed."
)
ADVICE = "write `TensorBoardLogger({})`, or another of `lightning.pytorch.loggers`"


HANDED = "the class is passed on from here, and fixer cannot tell what it is built with"


@dataclass(frozen=True)
class LoggerUse:
    """A place that names the class, and the edits after which it names the other one; `why` it cannot."""

    node: ast.alias | ast.expr
    edits: tuple[TextEdit, ...] = ()
    why: str = ""


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    sites = read_sites(file)
    uses = list(_uses(file, sites))
    why = next((use.why for use in uses if use.why), "") or (_refusal(file, facts, sites, uses) if uses else "")
    for use in uses:
        last = gone()[TEST_TUBE[0]].last
        message = f"`{OLD}` was removed from Lightning after {last}"
        if why:
            reason = f"Not rewritten: {use.why or why}; {ADVICE.format(_shared(file, use.node))}."
            yield Match(file.span(use.node), message, "manual", reason, "M060")
        else:
            unit = f"{file.path}:{OLD}"
            yield Match(file.span(use.node), message, "unsafe", REASON, "M060", use.edits, unit=unit, needs="1.0.0")


def _shared(file: PythonFile, node: ast.AST) -> str:
    """The arguments of a call of the class that the other takes too."""
    call = next((each.node for each in file.calls_near([OLD]) if each.node.func is node), None)
    if call is None or call.args or any(item.arg is None for item in call.keywords):
        return "..."
    given = [f"{item.arg}={brief(file, item.value)}" for item in call.keywords if item.arg in SHARED]
    return ", ".join(given) if any(item.arg == "save_dir" for item in call.keywords) else ", ".join(["...", *given])


def _refusal(file: PythonFile, facts: Facts, sites: Sites, uses: Sequence[LoggerUse]) -> str:
    """Why no use of a file can be rewritten, though each by itself could."""
    if TAKEN.search(file.text):
        return "it is imported from another file of the project"
    if re.search(rf"\b{NEW}\b", file.text):
        return f"the file mentions {NEW} too"
    seen = {id(use.node) for use in uses}
    if any(name.id == OLD and id(name) not in seen for name, _ in sites.names):
        return "the name is used for something else too"
    if any(value == OLD for _, value in sites.strings) or is_handed_on(file, facts, OLD):
        return "it is imported by name from here"
    for path in sorted(facts.mentions.get(b".experiment.", ())):
        source = facts.sources[path]
        text = source.data.decode(errors="replace") if source.kind == "python" else ""
        if found := OWN.search(text) if "wandb" not in text else None:
            return f"{path} calls {found[0]}...), which test-tube's experiment alone has"
    return ""


def _uses(file: PythonFile, sites: Sites) -> Iterator[LoggerUse]:
    parents = parents_of(file.tree)
    both = False
    for node, scope, arms in sites.imports:
        for alias in node.names if isinstance(node, ast.ImportFrom) and not node.level else ():
            if isinstance(node, ast.ImportFrom) and _is_old(f"{node.module}.{alias.name}"):
                both = both or serves_both(node, arms)
                if not both:
                    yield _imported(file, node, alias, arms, scope.node is file.tree)
    for name, scope in sites.names:
        if _is_old(dotted_of(name, scope) or "") and not both:
            there = (TextEdit(*file.offsets(name), NEW),) if name.id == OLD else ()
            yield _used(file, name, there, parents)
    for chain, scope, arms in sites.chains:
        for part in walk(chain):
            if isinstance(part, ast.Attribute) and _is_old(dotted_of(part, scope) or ""):
                end = file.offsets(part)[1]
                use = _used(file, part, (TextEdit(end - len(OLD), end, NEW),), parents)
                module = (dotted_of(part.value, scope) or "").rpartition(".")[2]
                why = "its module is gone too" if module != "loggers" else _checked(arms)
                yield replace(use, why=use.why or why)
    for constant, value in sites.strings:
        if _is_old(value):
            yield _spelled(file, constant, value, parents)


def _is_old(dotted: str) -> bool:
    parts = split(dotted)
    return parts is not None and parts[1] in TEST_TUBE


def _checked(arms: Arms) -> str:
    return "it is inside a version check" if under_version_check(arms) else ""


def _imported(file: PythonFile, node: ast.ImportFrom, alias: ast.alias, arms: Arms, top: bool) -> LoggerUse:
    """An import of the class, which becomes one of the other."""
    why = why_not(file, node) or _checked(arms) or ("" if top else "it is imported inside a function")
    if why:
        return LoggerUse(alias, why=why)
    parts = split(f"{node.module}.{alias.name}")
    module = spelled("pl.loggers", parts[0]) if parts else ""
    return LoggerUse(alias, moved(file, node, {alias: ImportTarget(module, NEW, alias.asname or NEW)}, frozenset()))


def _used(file: PythonFile, node: ast.expr, edits: tuple[TextEdit, ...], parents: dict[ast.AST, ast.AST]) -> LoggerUse:
    """A use of the class: what it is built of has to mean the same to the other."""
    parent = parents.get(node)
    if isinstance(parent, ast.ClassDef):
        return LoggerUse(node, why="a class derives from it")
    if isinstance(parent, ast.Attribute):
        return LoggerUse(node, why="an attribute of the class is read")
    if not (isinstance(parent, ast.Call) and parent.func is node):
        return LoggerUse(node, edits, "" if _is_asked(node, parents) else HANDED)
    if len(parent.args) > 2 or any(isinstance(item, ast.Starred) for item in parent.args):
        return LoggerUse(node, why="its arguments go by position")
    for item in parent.keywords:
        if item.arg not in SHARED and not (item.arg in IDLE and _is_idle(item.arg, item.value)):
            what = f"`{item.arg}={file.source_of(item.value)}`" if item.arg else "`**`"
            return LoggerUse(node, why=f"{what} may ask for what {NEW} does not do")
    dropped = _dropped(file, parent)
    if dropped is None:
        return LoggerUse(node, why="there is a comment between its arguments")
    given = {item.arg for item in parent.keywords}
    return LoggerUse(node, (*edits, *dropped, *_named(file, parent, given)))


def _is_asked(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a place only asks what the class is, as a type test, an annotation, a comparison and the key of a
    dictionary do, or binds its name."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return True
    parent = parents.get(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.Subscript | ast.BinOp | ast.BoolOp | ast.UnaryOp):
        node, parent = parent, parents.get(parent)
    match parent:
        case ast.arg(annotation=place) | ast.AnnAssign(annotation=place):
            return place is node
        case ast.FunctionDef(returns=place) | ast.AsyncFunctionDef(returns=place):
            return place is node
        case ast.If(test=place) | ast.IfExp(test=place) | ast.Assert(test=place):
            return place is node
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, place]):
            return place is node
        case ast.Dict(keys=keys):
            return any(key is node for key in keys)
    return isinstance(parent, ast.Compare)


def _is_idle(name: str, value: ast.expr) -> bool:
    known, given = literal(value)
    if name in BESIDE and (known or isinstance(value, ast.Name | ast.Attribute)):
        return True
    return known and given in IDLE[name]


def _dropped(file: PythonFile, call: ast.Call) -> list[TextEdit] | None:
    """The edits that take out the arguments that asked for nothing; None where a comment would go with them."""
    items: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    edits = []
    start = file.text.index("(", file.offsets(call.func)[1]) + 1
    kept = start
    for item in items:
        first, end = file.offsets(item)
        if not (isinstance(item, ast.keyword) and item.arg in IDLE):
            kept = end
        elif kept > start:
            edits.append(TextEdit(kept, end, ""))
            kept = end
        else:
            following = next((file.offsets(other)[0] for other in items if file.offsets(other)[0] > first), end)
            edits.append(TextEdit(first, following, ""))
    if any("#" in file.text[edit.start : edit.end] for edit in edits):
        return None
    return edits


def _named(file: PythonFile, call: ast.Call, given: set[str | None]) -> list[TextEdit]:
    """The name that test-tube gave by itself, where the call gives none."""
    if "name" in given or len(call.args) == 2:
        return []
    kept: list[ast.expr | ast.keyword] = [*call.args, *(item for item in call.keywords if item.arg in SHARED)]
    if not kept:
        return []
    at = file.offsets(kept[0])[1]
    start = file.offsets(kept[0])[0]
    before = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    alone = not before.strip() and "\n" in file.source_of(call)
    newline = "\r\n" if "\r\n" in file.text else "\n"
    separator = f",{newline}{before}" if alone else ", "
    return [TextEdit(at, at, f'{separator}name="default"')]


def _spelled(file: PythonFile, node: ast.Constant, value: str, parents: dict[ast.AST, ast.AST]) -> LoggerUse:
    """The dotted name in a dictionary beside its arguments, or beside a dictionary of them."""
    around = parents.get(node)
    pairs = list(zip(around.keys, around.values, strict=True)) if isinstance(around, ast.Dict) else []
    own = [key for key, item in pairs if item is node]
    inner = [item for _, item in pairs if isinstance(item, ast.Dict)]
    others = [key for key, item in pairs if item is not node and not isinstance(item, ast.Dict)]
    keys = [*others, *(key for item in inner for key in item.keys)]
    names = {literal(key)[1] if key is not None else None for key in keys}
    if not own or not isinstance(around, ast.Dict) or len(inner) > 1 or names - SHARED:
        return LoggerUse(node, why="fixer cannot tell what it is built with")
    if "name" not in names:
        return LoggerUse(node, why='its name, "default" so far, is not given')
    parts = split(value)
    start = file.place_in(node, value)
    if start is None or parts is None:
        return LoggerUse(node, why="the string is written in parts")
    return LoggerUse(node, (TextEdit(start, start + len(value), spelled(f"pl.loggers.{NEW}", parts[0])),))


BEFORE = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers import TestTubeLogger

logger = TestTubeLogger(
    save_dir="logs",
    name="first",
    debug=False,
    create_git_tag=False,
)
trainer = pl.Trainer(logger=logger)
loggers = {pl.loggers.TestTubeLogger: "board"}
config = {"target": "pytorch_lightning.loggers.TestTubeLogger", "params": {"name": "first", "save_dir": "logs"}}
"""
AFTER = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers import TensorBoardLogger

logger = TensorBoardLogger(
    save_dir="logs",
    name="first",
)
trainer = pl.Trainer(logger=logger)
loggers = {pl.loggers.TensorBoardLogger: "board"}
config = {"target": "pytorch_lightning.loggers.TensorBoardLogger", "params": {"name": "first", "save_dir": "logs"}}
"""
SILENT = BEFORE.replace("debug=False", "debug=args.quick")

RULE = Rule(
    code="LIT004",
    name="test-tube-logger",
    summary="TestTubeLogger becomes TensorBoardLogger",
    why=(
        "Lightning 1.7 removed TestTubeLogger (guide row M060, pull request 9065; its own warning since 1.5 names "
        "TensorBoardLogger). Test-tube's experiment was a SummaryWriter of TensorBoard with a table and folders of its "
        "own: what is logged and drawn is the same, files beside it are not, so this waits for `--unsafe-fixes`. Calls "
        "that ask for silence by `debug`, which TensorBoardLogger does not have, are left."
    ),
    fix="unsafe",
    versions="Lightning 0.5 - 1.6 -> 1.7 and later",
    triggers=(OLD.encode(),),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(SILENT, SILENT)),
    breaks_in="1.7.0",
    needs="1.0.0",
    mentions=(b".experiment.",),
    rows=partial(best_levels, (("M060", "unsafe"),)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/9065",),
)
