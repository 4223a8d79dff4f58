"""TBP112: a loop over chunks, each cut from the one before, of which the loss of the last alone is returned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_name, is_self_attribute, own_nodes, results, self_name, targets_of
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.optimization import optimization
from codemods.rule import Example, Match, Rule
from codemods.rules.loops.loop_carried_state import STATE
from codemods.rules.loops.optimizer_events import EVENTS

CUTTING = ("detach", "apply_to_collection", "tree_map")
QUIET = frozenset({"log", "log_dict", "print", "append", "item", "detach", "float"})
"""What takes a loss and gives none back that trains."""
MESSAGE = "training_step returns the loss of the last chunk alone: those before it train nothing"
REASON = (
    "Not rewritten: each chunk begins with a state without a history, so what the others computed is lost. For one "
    "step a batch write `total = 0` before the loop, `total = total + {}` after this line, and return `total`; else "
    "make it a manual loop with a step for each chunk."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        step = item.methods.get("training_step")
        found = next((node for each in _giving(item, step) if (node := _last(item, each))), None) if step else None
        if step is None or found is None:
            continue
        fact = facts.find_class(f"{file.module}.{item.qualname}", file.path)
        if fact and facts.kind(fact) == MODULE and optimization(facts, file, fact) == "automatic":
            name = next((name for value in results(step) if (name := _named(step, _loss(value)))), "...")
            yield Match(file.span(found), MESSAGE, "manual", REASON.format(name))


def _giving(item: ClassNode, step: Function) -> Iterator[Function]:
    """The training step, and the method of the class whose result it gives as its own."""
    yield step
    values = [value for value in map(_loss, results(step)) if value is not None]
    named = {value.id for value in values if isinstance(value, ast.Name)}
    values += [
        node.value
        for node in own_nodes(step)
        if isinstance(node, ast.Assign) and any(is_name(target, name) for target in node.targets for name in named)
    ]
    if len(values) <= 1 + len(named):
        yield from (method for value in values if (method := _method(item, value, self_name(step))))


def _method(item: ClassNode, value: ast.expr, this: str) -> Function | None:
    """The method of the class that an expression calls."""
    func = value.func if isinstance(value, ast.Call) else None
    own = isinstance(func, ast.Attribute) and is_self_attribute(func, func.attr, this)
    return item.methods.get(func.attr) if own and isinstance(func, ast.Attribute) else None


def _last(item: ClassNode, step: Function) -> ast.stmt | None:
    """The statement of a loop that makes the loss of a chunk, where that of the last chunk is what is returned."""
    if any(isinstance(node, ast.Attribute) and node.attr in EVENTS for node in walk(step)):
        return None
    given = [name for value in results(step) if (name := _named(step, _loss(value)))]
    if len(set(given)) != 1 or len(given) != len(results(step)):
        return None
    name = given[0]
    stored = [node for node in own_nodes(step) if any(is_name(part, name) for part in _parts(node))]
    stores = [node for node in walk(step) if is_name(node, name) and not isinstance(node.ctx, ast.Load)]
    if len(stores) != 1 or len(stored) != 1:
        return None
    made = stored[0]
    for loop in step.body:
        if not isinstance(loop, ast.For) or made not in loop.body:
            continue
        if isinstance(made, ast.Assign) and not _reads(made.value, name) and _is_cut(item, step, loop, made):
            return made if all(_is_quiet(node, name) for node in loop.body if node is not made) else None
    return None


def _parts(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns to, the elements of a tuple one by one."""
    found = targets_of(node)
    return [*found, *(part for target in found if isinstance(target, ast.Tuple) for part in target.elts)]


def _loss(value: ast.expr) -> ast.expr | None:
    """The loss that is returned, by itself or in a dictionary."""
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        return next((node for key, node in pairs if isinstance(key, ast.Constant) and key.value == "loss"), None)
    return value


def _named(step: Function, value: ast.expr | None) -> str | None:
    """The name of a loss, through a second name that it is given behind the loop."""
    if not isinstance(value, ast.Name):
        return None
    bound = [node for node in step.body if any(is_name(target, value.id) for target in targets_of(node))]
    other = getattr(bound[0], "value", None) if len(bound) == 1 else None
    return other.id if isinstance(other, ast.Name) else value.id


def _reads(node: ast.AST, name: str) -> bool:
    return any(is_name(item, name) for item in walk(node))


def _is_cut(item: ClassNode, step: Function, loop: ast.For, made: ast.stmt) -> bool:
    """Whether the loop carries a state from chunk to chunk, which a call on self takes and gives back, and cuts it."""
    before = {
        text for node in own_nodes(step) if getattr(node, "lineno", loop.lineno) < loop.lineno for text in _texts(node)
    }
    carried: set[str] = set()
    cuts = {text: node for node in loop.body for text in _cut(node)}
    for node in loop.body[: loop.body.index(made) + 1]:
        call = getattr(node, "value", None)
        if isinstance(call, ast.Call) and _is_own(call, self_name(step)):
            given = {text for part in call.args for inner in walk(part) for text in _texts(inner)}
            taken = {text for part in targets_of(node) for inner in walk(part) for text in _texts(inner)}
            taken |= {name for name, cut in cuts.items() if _reads_any(cut, taken)}
            carried |= {text for text in given & taken & before if STATE.search(text.rpartition(".")[2])}
            cuts |= dict.fromkeys(_cut_by(item, call, node, self_name(step)), node)
    return bool(carried) and carried <= cuts.keys()


def _texts(node: ast.AST) -> list[str]:
    """The name or attribute that an expression is."""
    return [ast.unparse(node)] if isinstance(node, ast.Name | ast.Attribute) else []


def _cut(node: ast.stmt) -> list[str]:
    """What a statement cuts from its history."""
    cuts = any(word in ast.unparse(node) for word in CUTTING)
    return [text for target in targets_of(node) for text in _texts(target)] if cuts else []


def _reads_any(node: ast.stmt, texts: set[str]) -> bool:
    value = getattr(node, "value", None)
    return value is not None and any(text in texts for inner in walk(value) for text in _texts(inner))


def _cut_by(item: ClassNode, call: ast.Call, node: ast.stmt, this: str) -> list[str]:
    """What a method of the class cuts that gives it back."""
    method, target = _method(item, call, this), targets_of(node)[0] if targets_of(node) else None
    given = results(method) if method else []
    if len(given) != 1 or not isinstance(given[0], ast.Tuple) or not isinstance(target, ast.Tuple):
        return []
    pairs = zip(target.elts, given[0].elts, strict=False)
    return [text for one, other in pairs if any(word in ast.unparse(other) for word in CUTTING) for text in _texts(one)]


def _is_own(call: ast.Call, this: str) -> bool:
    func = call.func
    return is_name(func, this) or (isinstance(func, ast.Attribute) and is_self_attribute(func, func.attr, this))


def _is_quiet(node: ast.stmt, name: str) -> bool:
    """Whether a statement does nothing with the loss that would train: it logs it, or keeps its number."""
    if not _reads(node, name):
        return True
    calls = [item for item in walk(node) if isinstance(item, ast.Call) and _reads(item, name)]
    called = {getattr(item.func, "attr", getattr(item.func, "id", "")) for item in calls}
    kept = isinstance(node, ast.Expr) or {"item", "detach", "float"} & called
    return bool(calls) and called <= QUIET and bool(kept)


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(1, 8, batch_first=True)

    def training_step(self, batch, batch_idx):
        state = None
        for chunk in batch.split(4, dim=1):
            out, state = self.rnn(chunk, state)
            state = state.detach()
            loss = out.pow(2).mean()
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
WHOLE = BEFORE.replace("            state = state.detach()\n", "")

RULE = Rule(
    code="TBP112",
    name="last-chunk-alone",
    summary="A loop over chunks that returns the loss of the last one is named",
    why=(
        "Automatic optimization goes back from what training_step returns. Where each chunk begins with a state that "
        "is cut from its history, the loss of the last chunk knows nothing of those before: they cost time and train "
        "nothing."
    ),
    fix="manual",
    versions="any Lightning",
    triggers=(b"training_step",),
    words=tuple(word.encode() for word in CUTTING),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(WHOLE, WHOLE)),
)
