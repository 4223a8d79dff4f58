"""LIT110: arguments of Trainer that were removed or renamed, as the rows of `arguments.csv`."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import keyword, keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.finding import Fix
from codemods.lightning.arguments import ArgumentRow, current, find, later, once, removal, rows
from codemods.lightning.calls import FROM_ARGS, builds_trainer, trainer_calls
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.keyword_flow import handed
from codemods.lightning.kinds import bound_to
from codemods.lightning.lightning_cli import DEFAULTS
from codemods.lightning.spelling import Spelled
from codemods.lightning.trainer_subclasses import between, is_lightnings, own_arguments, receivers
from codemods.rewrite.advice import brief
from codemods.rewrite.fields import field_matches, structured
from codemods.rewrite.keywords import is_commented, replaced, with_callback
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.trainer.argument_words import (
    ADVICE,
    FILLED,
    advice_for,
    advised,
    message_of,
    renamed,
    row_of,
    sentence,
)
from codemods.rules.trainer.bars import BAR, bar_among
from codemods.rules.trainer.beside import clash, is_bar_shown, may_be_brought, shown_or_not
from codemods.rules.trainer.callbacks import are_callbacks, spelled
from codemods.rules.trainer.domains import is_plain, kinds_of
from codemods.rules.trainer.handed_arguments import OTHERS, guarded_row, handed_over, text_for
from codemods.rules.trainer.refused import ELSEWHERE, REASON, asks_nothing, refused
from codemods.rules.trainer.special import NORM_MENTIONS, SPECIAL, ArgumentOutcome, Held

if TYPE_CHECKING:
    import libcst as cst

CODE = "LIT110"
ELSEWHERE_WHOLE = ("auto_lr_find", "auto_scale_batch_size", "resume_from_checkpoint")
"""Those that another rule answers for whatever their value is."""
MIXED_ALONE = ("amp_backend", "amp_level")
"""What Lightning 0.9 to 1.9 looked at for mixed precision alone (read in 0.9.0, 1.1.8, 1.3.8, 1.5.10, 1.8.6, 1.9.5)."""
FIRST = "2.0.0"
"""The oldest release to move to."""
CONDITION = ") if {}"
"""How the text of a callback ends that is there only where the value counts as true."""
NONE = "it may be None, which is no longer accepted"
SHOWN = "0 meant no progress bar, and None or 1 the usual one"
UNFOLDED = "fixer assumes that `**` does not give it too"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    gone = {name for name in once() - current() if name in file.text}
    seen: set[int] = set()
    fields = field_matches(file, facts)
    yield from fields.values()
    for field in structured(file, facts):
        if field.name in once() - current() - {"gpus"} - fields.keys():
            reason = f"Hydra passes it to Trainer: {advice_for(field.name)}."
            what = removal(field.name, field.name)
            yield Match(file.span(field.place), what, "manual", reason, row_of(field.name))
        elif field.name in FILLED and field.value and literal(field.value) == (True, None):
            what = f"`{field.name}=` of Trainer no longer takes this value"
            reason = f"Hydra passes it to Trainer: write {FILLED[field.name]}, since None is an error in 2.x."
            yield Match(file.span(field.place), what, "manual", reason)
    for call, built in receivers(file, facts):
        yield from handed_over(file, facts, call, seen, built)
    for call in file.calls_near({*file.spellings("Trainer"), *gone}):
        if builds_trainer(call):
            for item in call.node.keywords:
                if item.arg is None:
                    continue
                if release := later(facts.target).get(item.arg):
                    reason = f"Not rewritten: it exists since {release}, and the target is older; delete it."
                    message = f"Trainer has no argument `{item.arg}` in Lightning {facts.target}"
                    yield Match(file.span(item), message, "manual", reason)
                elif item.arg not in current() or item.arg in rows():
                    yield from _argument(file, facts, call, item)
        elif through := _passed_on(file, facts, call):
            own = own_arguments(file, facts, call)
            if own is None:
                continue
            named = {item for item in call.node.keywords if item.arg in own or id(item) in seen}
            for item in call.node.keywords if is_lightnings(file, facts, call) else ():
                if item.arg and (item.arg not in current() or item.arg in rows()):
                    found = [*_argument(file, facts, call, item)]
                    yield from found
                    named |= {item} if found or item.arg not in OTHERS else set()
            yield from _handed(file, call, through, named)


def _present(file: PythonFile) -> bool:
    """Whether a Trainer is given what the newest does not take, or a file speaks of such an argument."""
    if any(name in file.text for name in once() - current()) or "_target_" in file.text:
        return True
    fine = current() - rows().keys() - later(FIRST).keys()
    return any(item.arg not in fine for call in trainer_calls(file) for item in call.node.keywords)


def _argument(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword) -> Iterator[Match]:
    name = item.arg or ""
    if name in ELSEWHERE_WHOLE and not is_super_call(call.node, "__init__"):
        return
    row = find(name, item.value, kinds_of(facts, file, call, item.value))
    if row is None:
        own = name == "args" and call.scope.resolve(call.node.func) == FROM_ARGS
        if name not in current() and name not in OTHERS and not own:
            reason = "Not rewritten: no release since 0.7 had it; delete it, or write the argument that replaced it."
            yield Match(file.span(item), f"Trainer has no argument `{name}`", "manual", reason)
        elif is_super_call(call.node, "__init__") and guard_of(file, facts, call, name) == "none":
            yield from _refusal(file, call, item)
        return
    guard = guard_of(file, facts, call, name) if name not in current() else "none"
    if guard == "both":
        return
    if guard == "unclear":
        yield _left(file, item, row, "it is inside a version check; if this code never runs on 2.x, leave it")
        return
    outcome = _outcome(file, facts, call, item, row)
    if isinstance(outcome, str) or (outcome.level == "unsafe" and BAR not in outcome.callback):
        refusal = [*_refusal(file, call, item, _told(outcome, name), row.row)]
        if refusal or isinstance(outcome, str):
            yield from refusal or [_left(file, item, row, str(outcome))]
            return
    level, reason = outcome.level, outcome.reason
    if any(other.arg is None for other in call.node.keywords):
        new = {"callbacks"} if outcome.callback else {written for written, _ in outcome.new}
        if there := sorted(new & {entry.name for entry in handed(file, facts, call)}):
            yield _left(file, item, row, f"`{there[0]}` comes by `**` too: set it there")
            return
    if may_be_brought(file, facts, call, [name for name, _ in outcome.new], bool(outcome.callback)):
        level, reason = "unsafe", f"{reason}; {UNFOLDED}"
    edit = NodeEdit(call.node, partial(_changed, name=name, outcome=outcome))
    yield Match(
        file.span(item), message_of(row), level, sentence(reason), row.row, (edit, *outcome.beside), outcome.imports
    )


def _told(outcome: ArgumentOutcome | str, name: str) -> str:
    """What to do in the place of an argument that is refused."""
    if isinstance(outcome, str):
        return outcome
    return advice_for(name) if outcome.new or outcome.callback else outcome.reason


def _refusal(
    file: PythonFile, call: CallNode, item: ast.keyword, advice: str = "", row: str | None = None
) -> Iterator[Match]:
    """The match of an argument that a constructor takes to hand it on, which is refused where it asks for anything."""
    name = item.arg or ""
    what = removal(name)
    edit = NodeEdit(call.node, partial(_changed, name=name, outcome=ArgumentOutcome("safe", REASON)))
    if found := refused(file, call, item):
        told = ELSEWHERE[name][1] if name in ELSEWHERE else advice or ADVICE[name]
        edits = (edit, found.edit(name, told))
        yield Match(file.span(item), what, "safe", f"{REASON}.", row or row_of(name), edits)
    elif name in ELSEWHERE and asks_nothing(name, item.value) and not is_commented(file, call.node, item, beside=False):
        yield Match(file.span(item), what, "safe", "It had no effect.", row or row_of(name), (edit,))


def _computes_in_full(call: CallNode) -> bool:
    """Whether a Trainer is seen to train without mixed precision."""
    if not builds_trainer(call) or call.node.args or any(item.arg is None for item in call.node.keywords):
        return False
    given = keyword(call.node, "precision")
    return given is None or literal(given.value) in ((True, 32), (True, 64), (True, "32"), (True, "64"))


def _outcome(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    """What becomes of an argument, or why it is left."""
    if row.argument in MIXED_ALONE and (literal(item.value)[0] or is_plain(item.value)) and _computes_in_full(call):
        return ArgumentOutcome("safe", "it had no effect without precision=16")
    if row.argument == "progress_bar_refresh_rate" and (shown := shown_or_not(file, facts, call, item.value)):
        return _settled(file, facts, call, item, ArgumentOutcome("safe", SHOWN, (("enable_progress_bar", shown),)))
    guarded = guarded_row(file, facts, call, item.value, row)
    if guarded is None:
        return f"{NONE}; {advice_for(row.argument)}"
    row, text = guarded, text_for(file, item.value, guarded)
    outcome: ArgumentOutcome | str
    if row.action == "manual":
        return advised(row.reason, brief(file, item.value), literal(item.value)[0])
    if row.action == "special":
        outcome = SPECIAL[row.target](file, facts, call, item, row)
    elif row.action == "callback":
        outcome = ArgumentOutcome(row.level, row.reason, callback=row.text(text))
    elif row.action == "write":
        outcome = ArgumentOutcome(row.level, row.reason, ((row.keyword, row.text(text)),))
    else:
        outcome = ArgumentOutcome(row.level, row.reason)
    settled = outcome if isinstance(outcome, str) else _settled(file, facts, call, item, outcome)
    return (
        _with_callback(facts, file, call, settled, row)
        if not isinstance(settled, str) and settled.callback
        else settled
    )


def _settled(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, outcome: ArgumentOutcome
) -> ArgumentOutcome | str:
    """An outcome as what is given beside it lets it stand, or why it does not."""
    if told := clash(facts, file, call, item, outcome.new):
        return told
    if BAR in outcome.callback and (shown := is_bar_shown(item, keywords(call.node))) is not True:
        if shown is None:
            return "no progress bar may be asked for beside it, and then 2.x takes none among the callbacks"
        outcome = ArgumentOutcome(outcome.level, "no progress bar is shown")
    beside = _beside_bars(facts, file, call, outcome)
    if not isinstance(beside, str) and not beside.new and is_commented(file, call.node, item, beside=False):
        return "there is a comment next to it; delete both by hand"
    return beside


def _beside_bars(facts: Facts, file: PythonFile, call: CallNode, outcome: ArgumentOutcome) -> ArgumentOutcome | str:
    """The outcome where it is about the progress bar and the callbacks hold none, or why there may be no other."""
    given = keywords(call.node).get("callbacks")
    hidden = any(name == "enable_progress_bar" and text != "True" for name, text in outcome.new)
    if given is None or not (hidden or BAR in outcome.callback):
        return outcome
    found = bar_among(facts, file, call, given)
    if found == "yes" and hidden:
        return "the callbacks hold a progress bar, which 2.x does not take together with enable_progress_bar=False"
    if found == "yes":
        return "the callbacks hold a progress bar already; give it refresh_rate= and process_position="
    if found == "perhaps":
        reason = f"{outcome.reason}; fixer assumes that there is no progress bar among the callbacks"
        return replace(outcome, level="unsafe", reason=reason)
    return outcome


def _with_callback(
    facts: Facts, file: PythonFile, call: CallNode, outcome: ArgumentOutcome, row: ArgumentRow
) -> ArgumentOutcome | str:
    """The outcome with the callback spelled as the file spells Lightning, where the callbacks can take one more."""
    given = keywords(call.node).get("callbacks")
    level: Fix = outcome.level
    reason = outcome.reason
    values = bound_to(facts, file, call, given.id) if isinstance(given, ast.Name) else []
    held: Held = "optional" if any(literal(value) == (True, None) for value in values) else "list"
    if given is not None:
        state = are_callbacks(facts, file, call, given)
        if state == "no":
            return f"callbacks= is not a list; add {outcome.callback} to the callbacks"
        if state == "one":
            held = "one"
        if state == "perhaps":
            taken = "a list, where it is not None" if held == "optional" else "a list"
            level, reason = "unsafe", f"{reason}; fixer assumes that `{file.source_of(given)}` is {taken}"
    if row.action == "special":
        return ArgumentOutcome(level, reason, outcome.new, outcome.callback, outcome.imports, held)
    name = outcome.callback.partition("(")[0]
    how = spelled(file, call, f"callbacks.{name}")
    if not isinstance(how, Spelled):
        return how
    text = how.text + outcome.callback[len(name) :]
    if row.target.endswith(CONDITION):
        made, _, condition = text.partition(") if ")
        text = f"*([{made})] if {condition} else [])"
    return ArgumentOutcome(level, reason, outcome.new, text, how.imports, held)


@touches("arguments")
def _changed(call: cst.Call, *, name: str, outcome: ArgumentOutcome) -> cst.Call:
    if outcome.callback:
        call = with_callback(call, outcome.callback, outcome.held)
    return replaced(call, name, outcome.new)


def _left(file: PythonFile, item: ast.keyword, row: ArgumentRow, why: str) -> Match:
    return Match(file.span(item), message_of(row), "manual", f"Not rewritten: {why}.", row.row)


def _passed_on(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    """What stands between a call that is no `Trainer(...)` and the Trainer that it builds."""
    if not any(item.arg in once() - current() for item in call.node.keywords):
        return None
    return between(file, facts, call)


def _handed(file: PythonFile, call: CallNode, through: str, named: Container[ast.keyword]) -> Iterator[Match]:
    """One finding for all that a call hands on, but for what is named already."""
    gone = [item for item in call.node.keywords if item.arg in once() - current() - {"gpus"} and item not in named]
    if gone:
        names = ", ".join(renamed(item.arg or "") for item in gone)
        what = removal(gone[0].arg or "") if len(gone) == 1 else f"{names} of Trainer were removed"
        it = "they reach" if len(gone) > 1 else "it reaches"
        reason = f"Not rewritten: {it} Trainer through {through}; remove {names} from the call and from what fills it."
        if any(item.arg == "resume_from_checkpoint" for item in gone):
            reason = f"{reason[:-1]}, and {ADVICE['resume_from_checkpoint']}."
        yield Match(file.span(gone[0]), what, "manual", reason, row_of(gone[0].arg or ""))


_IMPORT = "from pytorch_lightning import Trainer\n"
BEFORE = f"""\
{_IMPORT}from pytorch_lightning.callbacks import ModelCheckpoint

checkpoint = ModelCheckpoint(monitor="val_loss")
trainer = Trainer(
    max_epochs=3,
    checkpoint_callback=checkpoint,
    weights_summary="full",
    progress_bar_refresh_rate=20,
    replace_sampler_ddp=False,
    terminate_on_nan=False,
)
"""
AFTER = f"""\
{_IMPORT}from pytorch_lightning.callbacks import ModelSummary, TQDMProgressBar, ModelCheckpoint

checkpoint = ModelCheckpoint(monitor="val_loss")
trainer = Trainer(
    max_epochs=3,
    use_distributed_sampler=False,
    callbacks=[checkpoint, ModelSummary(max_depth=-1), TQDMProgressBar(refresh_rate=20)],
)
"""
LEFT = f"{_IMPORT}\ntrainer = Trainer(stochastic_weight_avg=True, prepare_data_per_node=each)\n"
OTHER = "from cluster import Trainer\n\ntrainer = Trainer(weights_summary=None)\n"


def _rows() -> tuple[tuple[str, Fix], ...]:
    return best_levels((row.row, row.level) for items in rows().values() for row in items)


RULE = Rule(
    code=CODE,
    name="trainer-arguments",
    summary="Arguments of Trainer that were removed or renamed, by their values",
    why=(
        "Between 0.7 and 2.0 Trainer lost some fifty arguments (guide rows M044 to M052, M064, M088, M168 to M191): "
        "the call is a TypeError. A table says for each what does the same now: "
        "nothing where it was the default, another argument, or a callback. What needs a decision is left to you."
    ),
    fix="safe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(b"Trainer", DEFAULTS.encode(), *(f"{name}=".encode() for name in sorted(once() - current()))),
    check=_check,
    rows=_rows,
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT), Example(OTHER, OTHER)),
    present=_present,
    breaks_in="2.0.0",
    needs="2.0.0",
    mentions=NORM_MENTIONS,
    references=("https://lightning.ai/docs/pytorch/stable/upgrade/migration_guide.html",),
)
