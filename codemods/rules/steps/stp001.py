"""STP001: Trainer(max_steps=...) that is computed from samples, batches and epochs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import PythonFile, TextFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts, is_trainer_call
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.steps.budget import told
from codemods.rules.steps.call_context import CallContext, copy_of
from codemods.rules.steps.configured import CLI, LIMITS, MESSAGE, configured
from codemods.rules.steps.dead import dead_after
from codemods.rules.steps.modules import manual
from codemods.rules.steps.plain import PlainExpression
from codemods.rules.steps.step_count_terms import Count, Leaf
from codemods.rules.steps.trainers import Trainers, builds_trainer, dropped, gives_limit, item_of, processes, ranks
from codemods.rules.steps.training_loader import counted_in, is_odd, is_trained_on, other_size, set_anew, unseen

if TYPE_CHECKING:
    import libcst as cst

CODE = "STP001"
READS = b"trainer.max_steps"


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        yield from configured(file, facts, reads=bool(facts.mentions.get(READS)))
        return
    for call in file.calls_near(("max_steps",)):
        keyword = next((item for item in call.node.keywords if item.arg == "max_steps"), None)
        if keyword and builds_trainer(call, file, facts):
            trainer = Trainers(CallContext(file, call, facts), keyword)
            count = trainer.count_of(keyword.value)
            epochs = _epochs(trainer, count) if count else None
            if count and epochs and not _is_right(trainer, count):
                yield _match(file, facts, trainer, count, epochs)
            elif not epochs:
                yield from _budget(file, trainer)
                yield from islice(chain(_in_one_case(file, trainer), _unfollowed(file, trainer)), 1)
    yield from _spread(file, facts)
    yield from _kept(file, facts)


def _in_one_case(file: PythonFile, trainer: Trainers) -> Iterator[Match]:
    """A number of steps that is computed from the length of an epoch in one of several cases."""
    reader = trainer.script.reader()
    node = trainer.script.follow(trainer.keyword.value)
    cases: list[ast.expr] = []
    if isinstance(node, ast.IfExp):
        cases = [node.body, node.orelse]
    elif isinstance(node, ast.BoolOp):
        cases = node.values
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        cases = node.args
    elif isinstance(node, ast.Name):
        cases = trainer.script.values(node.id)
    for case in cases:
        count = reader.read(trainer.script.follow(case))
        epochs = _epochs(trainer, count) if count and count.is_total else None
        if count and epochs and not _is_right(trainer, count):
            advice = (
                f"Not rewritten: give max_epochs={epochs} there; if another limit is "
                "given, training ends at the one that is reached first"
            )
            yield manual(file, trainer.keyword, f"{MESSAGE} in one case: there it means max_epochs={epochs}", advice)
            return


def _unfollowed(file: PythonFile, trainer: Trainers) -> Iterator[Match]:
    """A number of steps that counts the batches of another loader of what is trained on, or of one of several, or is
    rounded by a function of the project's own."""
    trained = trainer.script.trained_on()
    reader = trainer.script.reader()
    plain = PlainExpression(reader, trained=ast.unparse(trained) if trained is not None else "")
    count = reader.read(plain.visit(copy_of(trainer.script.follow(trainer.keyword.value))))
    epochs = _epochs(trainer, count) if count and count.is_total and plain.why else None
    if epochs:
        advice = f"Not rewritten: {plain.why[0]}; give the Trainer only max_epochs={epochs} if that is the intention"
        yield manual(file, trainer.keyword, f"{MESSAGE}: it seems to mean max_epochs={epochs}", advice)


def _spread(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """`max_steps` in a dictionary that a Trainer is given by `**`."""
    for call in file.calls_near(("Trainer",)):
        for word in call.node.keywords if is_trainer_call(call) else ():
            script = CallContext(file, call, facts)
            held = script.follow(word.value) if word.arg is None else None
            value = item_of(held, "max_steps") if held is not None else None
            count = script.reader().read(script.follow(value)) if value is not None else None
            if value is None or count is None:
                continue
            trainer = Trainers(script, ast.keyword("max_steps", value))
            if (epochs := _epochs(trainer, count)) and not _is_right(trainer, count):
                message = f"{MESSAGE}: it means max_epochs={epochs}"
                yield manual(file, value, message, f"Not rewritten: it is passed on by `**`; give max_epochs={epochs}")


def _epochs(trainer: Trainers, count: Count) -> str | None:
    """The epochs that a number of steps stands for, as source text; None where it stands for none."""
    over, under = count.shape
    leaf = count.first("epochs")
    if count.is_total and leaf and "estimated" not in over:
        return _source(trainer.script.file, leaf.node)
    whole = count.number >= 1 and count.number % 1 == 0 and count.cut == 1
    loader = count.first("batches")
    seen = over == ("batches",) and loader is not None and loader.origin == "loader"
    data = seen or (over == ("samples",) and "batch_size" in under)
    return str(int(count.number)) if data and whole and set(under) <= {"accumulate", "devices", "batch_size"} else None


def _source(file: PythonFile, node: ast.expr) -> str:
    """The text of an expression, which may be one that was put together, on one line."""
    text = file.source_of(node) if any(inner is node for inner in walk(file.tree)) else "\n"
    return ast.unparse(node) if "\n" in text else text


def _is_right(trainer: Trainers, count: Count) -> bool:
    """Whether a count is what one device steps: the windows of an epoch, rounded up, times epochs."""
    over, under = count.shape
    accumulates = literal(trainer.given.get("accumulate_grad_batches", ast.Constant(1))) != (True, 1)
    if "floor" in count.marks or "divided" in count.marks or "spans" in count.marks or "batches" not in over:
        return False
    leaf = count.first("batches")
    parts = processes(trainer, leaf.node) if leaf else None
    asked = any(text.startswith("max(1, ") for text in parts or ())
    wanted = [role for role, there in (("accumulate", accumulates), ("devices", asked)) if there]
    return parts is not None and (asked or not parts) and list(under) == wanted


def _match(file: PythonFile, facts: Facts, trainer: Trainers, count: Count, epochs: str) -> Match:
    place, call = trainer.keyword, trainer.script.call.node
    message = f"{MESSAGE}: it means max_epochs={epochs}"
    refusal = _refusal(trainer, count)
    if refusal:
        return manual(file, place, message, f"Not rewritten: {refusal}; give the Trainer only max_epochs={epochs}")
    doubts = " ".join(_doubts(trainer, count))
    level: Fix = "unsafe" if doubts else "safe"
    known = trainer.given.get("max_epochs")
    same = known is not None and file.source_of(known) == epochs
    if known is not None and not same and literal(known) not in ((True, None), (True, -1)):
        return manual(
            file,
            place,
            message,
            "Not rewritten: max_epochs is given too, and training ends at the "
            "limit that is reached first; keep one of the two",
        )
    if any(facts.mentions.get(READS, ())):
        return _computed(file, trainer, count, epochs, Match(file.span(place), message, level, doubts))
    dead = dead_after(file, trainer.script.space, [place.value], epochs)
    change = partial(_as_epochs, epochs=None if same else epochs)
    reason = "max_epochs ends at the same place on any number of devices, with accumulation and drop_last as they are."
    edits = (NodeEdit(call, change), *dead.edits)
    return Match(file.span(place), message, level, f"{reason} {doubts}".rstrip() + dead.note, edits=edits)


def _doubts(trainer: Trainers, count: Count) -> Iterator[str]:
    """What is not seen of a number of steps that seems to be that of some epochs."""
    counted = counted_in(count)
    if counted is None or is_trained_on(trainer.script, counted) != "same":
        what = ast.unparse(counted) if counted is not None else _source(trainer.script.file, _measure(count).node)
        yield f"fixer assumes that `{what}` is that of the training."
    if size := other_size(trainer.script, count):
        yield f"The batch size of its loader is `{size}`, which fixer assumes to be the same."
    over, under = count.shape
    if "batches" in over and "batch_size" in under:
        yield "The number of batches is divided by the batch size again, which fixer assumes to be a mistake."


def _measure(count: Count) -> Leaf:
    """The batches or samples of a count."""
    return next(leaf for leaf in (*count.all("batches"), *count.all("samples")))


def _refusal(trainer: Trainers, count: Count) -> str | None:
    call = trainer.script.call.node
    if call.args or None in trainer.given:
        return "the call takes arguments by position or `**`, which may hold max_epochs"
    limit = next((name for name in LIMITS if name in trainer.given), None)
    if limit:
        return f"{limit} makes an epoch shorter than the loader is"
    leaf = count.first("epochs")
    if leaf and isinstance(trainer.script.constant(leaf.node), float):
        return "the number of epochs is not whole"
    if leaf and isinstance(leaf.node, ast.Name) and len(trainer.script.values(leaf.node.id)) > 1:
        return f"`{leaf.node.id}` is assigned several times"
    if "cases" in count.marks:
        return "in one case it is another number of steps, for which max_epochs has to differ too"
    counted, trained = counted_in(count), trainer.script.trained_on()
    for node in (leaf.node if leaf else None, counted):
        if node is not None and unseen(trainer.script, node):
            return f"`{ast.unparse(node)}` is another name where the Trainer is built"
    renewed = (set_anew(trainer.script, node) for node in (counted, leaf.node if leaf else None) if node is not None)
    if anew := next(filter(None, renewed), None):
        return f"`{anew}` is assigned again after it"
    if odd := is_odd(trainer.script, count):
        return odd
    if counted is not None and is_trained_on(trainer.script, counted) == "another":
        other = f"`{ast.unparse(trained)}` is trained on" if trained is not None else "something else is trained on"
        return f"`{ast.unparse(counted)}` is counted, but {other}"
    batches = count.first("batches")
    if batches and batches.origin == "named" and type(trainer.script.constant(batches.node)) is int:
        return f"`{ast.unparse(batches.node)}` is a fixed number, not the length of a loader"
    return None


def _computed(file: PythonFile, trainer: Trainers, count: Count, epochs: str, found: Match) -> Match:
    """The right steps of each device, where something reads `trainer.max_steps`; as sure as what was found."""
    leaf = count.first("batches")
    loader = leaf.node if leaf and leaf.origin == "loader" else None
    parts = processes(trainer, loader) if loader else None
    batches = _source(file, loader) if loader and parts is not None else dropped(trainer, loader)
    if batches is None:
        reason = (
            "Not rewritten: the project reads trainer.max_steps, and fixer cannot tell how many devices there will be; "
        )
        advice = f"read trainer.estimated_stepping_batches there and give max_epochs={epochs}"
        return manual(file, trainer.keyword, found.message, reason + advice)
    accumulate = trainer.given.get("accumulate_grad_batches")
    window = _atom(file.source_of(accumulate)) if accumulate is not None else "1"
    shares = [text for text in (*(parts or ()), window) if text != "1"]
    under = shares[0] if len(shares) == 1 else f"({' * '.join(shares)})"
    text = f"{_atom(epochs)} * {f'math.ceil({batches} / {under})' if shares else _atom(batches)}"
    change = partial(_with_value, text=text)
    dead = dead_after(file, trainer.script.space, [trainer.keyword.value], text)
    reason = (
        f"The steps of {'one' if parts == () else 'each'} device: the windows of an epoch, "
        f"including the last short one, times epochs. The project reads trainer.max_steps, so it stays. {found.reason}"
    )
    imports = (("math", None),) if "math." in text else ()
    edits = (NodeEdit(trainer.keyword, change),)
    return replace(found, reason=reason.rstrip() + dead.note, edits=edits, imports=imports)


def _atom(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+(\(.*\))?|\[.*\]", text) else f"({text})"


def _as_epochs(call: cst.Call, *, epochs: str | None) -> cst.Call:
    """The call with `max_epochs` in the place of `max_steps`, or without it where `max_epochs` is there already."""
    import libcst as cst

    from codemods.rewrite.edits import without_arguments

    if epochs is None:
        return without_arguments(call, frozenset({"max_steps"}))
    call = without_arguments(call, frozenset({"max_epochs"}))
    args = [
        item.with_changes(keyword=cst.Name("max_epochs"), value=cst.parse_expression(epochs))
        if item.keyword and item.keyword.value == "max_steps"
        else item
        for item in call.args
    ]
    return call.with_changes(args=args)


def _with_value(node: cst.Arg, *, text: str) -> cst.Arg:
    import libcst as cst

    return node.with_changes(value=cst.parse_expression(text))


def _budget(file: PythonFile, trainer: Trainers) -> Iterator[Match]:
    """A plain number of steps, with the epochs that it comes to, where the project's text decides how long one is and
    no other limit comes first."""
    script, given = trainer.script, trainer.given
    shares = ranks(trainer)
    steps, epochs = script.constant(trainer.keyword.value), script.constant(given.get("max_epochs"))
    window = script.constant(given.get("accumulate_grad_batches", ast.Constant(1)))
    batches = script.trained_batches(shares)
    if {*LIMITS, None} & set(given):
        return
    unlimited = literal(given.get("max_epochs", ast.Constant(None))) in ((True, None), (True, -1))
    if "max_epochs" in given and not unlimited and type(epochs) is not int:
        return
    found = told(steps, None if unlimited else epochs, window, batches, shares)
    if found is None:
        return
    message, reason = found
    if script.assumed:
        reason += (
            " fixer assumed the defaults of these options: "
            f"{', '.join(f'`{name}`' for name in dict.fromkeys(script.assumed))}."
        )
    yield manual(file, trainer.keyword, message, reason)


def _kept(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Totals that are kept as `something.max_steps`, for a scheduler or a Trainer elsewhere."""
    for item in file.assignments:
        target = item.node.targets[0] if isinstance(item.node, ast.Assign) else item.node.target
        if not isinstance(target, ast.Attribute) or target.attr != "max_steps" or item.node.value is None:
            continue
        call = next((call for call in file.calls if call.within == item.within), None)
        count = CallContext(file, call, facts).reader().read(item.node.value) if call else None
        if count and count.is_total and facts.uses_lightning and count.marks & {"floor", "divided", "spans"}:
            reason = (
                "Rounding down leaves out the last, shorter accumulation window of each epoch, which steps too. Not "
                "rewritten: fixer cannot tell what reads it; a scheduler in the module takes "
                "self.trainer.estimated_stepping_batches, a Trainer max_epochs alone."
            )
            yield manual(file, item.node, f"`{ast.unparse(target)}` is too small: it counts whole windows only", reason)


_HEAD = "from lightning.pytorch import Trainer\nfrom torch.utils.data import DataLoader\n\n\n"
BEFORE = (
    (
        _HEAD
        + """\
def main(model, dataset, epochs, accumulate):
    loader = DataLoader(dataset, batch_size=64, drop_last=True)
    max_steps = len(dataset) // (64 * accumulate) * epochs
    trainer = Trainer(max_steps=max_steps, accumulate_grad_batches=accumulate)
    trainer.fit(model, loader)
"""
    )
    .replace("64 * accumulate", "batch_size * accumulate")
    .replace("batch_size=64", "batch_size=batch_size")
    .replace("accumulate):", "accumulate, batch_size):")
)
AFTER = BEFORE.replace("    max_steps = len(dataset) // (batch_size * accumulate) * epochs\n", "").replace(
    "max_steps=max_steps", "max_epochs=epochs"
)
BUDGET = _HEAD + "trainer = Trainer(max_steps=100000, max_epochs=-1)\n"

RULE = Rule(
    code=CODE,
    name="computed-max-steps",
    summary="`Trainer(max_steps=...)` computed from samples, batches and epochs becomes `max_epochs=`",
    why=(
        "An epoch steps ceil(batches / accumulate_grad_batches) times on each device: the last, shorter window steps, "
        "and `drop_last` makes batches a floor. `samples // (batch_size * accumulate) * epochs` is another number: "
        "with 2500 samples, batch 64 and accumulation 8 training ends after epoch 8 of 10. Where a Trainer is built "
        "the distributed sampler is not there yet, so `len(loader)` is the length for all devices together and a "
        "`max_steps` made of it trains n times as long on n devices. `max_epochs` is right in every case. A plain "
        "number stays: it is a budget, of which a finding says what it comes to where the project tells how long an "
        "epoch is."
    ),
    fix="safe",
    versions="every Lightning",
    triggers=(b"max_steps",),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(BUDGET, BUDGET)),
    present=gives_limit,
    mentions=(READS, CLI),
    kinds=("python", "yaml"),
)
