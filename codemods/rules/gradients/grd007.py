"""GRD007: Hugging Face's optimizers on a Lightning that trains inside their `no_grad` step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.scopes import ROOT, canonical
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.code.syntax import uses
from codemods.lightning.facts import Facts
from codemods.lightning.pins.manifest import read_pins
from codemods.lightning.pins.pin import Pin
from codemods.lightning.pins.reach import home_of
from codemods.lightning.pins.specifier import Clause, admits, clauses, guarded
from codemods.lightning.pins.toml import Unparsable
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, is_open
from codemods.rule import Example, Match, NodeEdit, Rule, TextEdit, best_levels

if TYPE_CHECKING:
    import libcst as cst

CODE = "GRD007"
FIXED = "2.0.7"
LAST = "2.0.6"
ADAMW = frozenset({"transformers.AdamW", "transformers.optimization.AdamW"})
ADAFACTOR = frozenset({"transformers.Adafactor", "transformers.optimization.Adafactor"})
NAMES = ("params", "lr", "betas", "eps", "weight_decay")
DEFAULTS = (("eps", "1e-6"), ("weight_decay", "0.0"))
FAILS = "`{}` of Hugging Face steps under `no_grad`, and up to Lightning 2.0.6 the training step runs inside it"
RAISE = "raise Lightning to 2.0.7 or later, which leaves the optimizer as it is"
OTHER = (
    "the defaults of Hugging Face are spelled out, but torch decays the weights before the step and corrects `eps`: "
    "numbers change a little. To keep them, " + RAISE
)


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        home = home_of(file.path, facts)
        if any(not home or path.startswith(f"{home}/") for path in facts.collected(CODE)):
            yield from _pins(file, facts)
    elif (
        not is_open(facts, LIGHTNING)
        and admits_below(facts, LIGHTNING, FIXED)
        and not admits_from(facts, LIGHTNING, FIXED)
    ):
        for call in optimizers(file):
            yield _match(file, call)


def optimizers(file: PythonFile) -> list[CallNode]:
    """The calls of a file that build one of those optimizers, where it imports Lightning."""
    targets = {target for found in file.scope.bindings.values() for target in found}
    if not any(canonical(target).startswith(ROOT) for target in targets):
        return []
    near = file.calls_near(["AdamW", "Adafactor"])
    return [call for call in near if call.scope.resolve(call.node.func) in ADAMW | ADAFACTOR]


def _match(file: PythonFile, call: CallNode) -> Match:
    dotted = call.scope.resolve(call.node.func) or ""
    message = FAILS.format(dotted.rpartition(".")[2])
    why = _refused(call.node, dotted)
    if why:
        return Match(file.span(call.node), message, "manual", f"{why}; {RAISE}", row="B09")
    given = {item.arg for item in call.node.keywords} | set(NAMES[: len(call.node.args)])
    added = tuple((name, text) for name, text in DEFAULTS if name not in given)
    edits = [NodeEdit(call.node, partial(_torch_call, added=added))]
    if statement := _unused_import(file, call.node):
        edits.append(NodeEdit(statement, partial(_without_name, name=getattr(call.node.func, "id", ""))))
    return Match(
        file.span(call.node), message, "unsafe", OTHER, "B09", tuple(edits), (("torch", None),), unit=file.path
    )


def _refused(node: ast.Call, dotted: str) -> str:
    if dotted in ADAFACTOR:
        return "torch's Adafactor is another algorithm with other arguments"
    if not node.args and not node.keywords:
        return "it is given no parameters"
    if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
        return "fixer cannot tell what `*` or `**` gives"
    if len(node.args) > len(NAMES):
        return "it is given `correct_bias` by position"
    for item in node.keywords:
        if item.arg == "correct_bias" and not (isinstance(item.value, ast.Constant) and item.value.value is True):
            return "torch has no `correct_bias=False`"
    return ""


def _unused_import(file: PythonFile, node: ast.Call) -> ast.ImportFrom | None:
    """The import of the name that a call uses, where every use of it is such a call."""
    if not isinstance(node.func, ast.Name):
        return None
    name = node.func.id
    built = optimizers(file)
    calls = {call.node.func for call in built if not _refused(call.node, call.scope.resolve(call.node.func) or "")}
    if any(use not in calls for use in uses(file.tree, name)):
        return None
    found = [
        statement
        for statement in file.tree.body
        if isinstance(statement, ast.ImportFrom) and any((item.asname or item.name) == name for item in statement.names)
    ]
    if len(found) != 1 or (len(found[0].names) == 1 and file.lines[found[0].lineno - 2].lstrip().startswith("#")):
        return None
    return found[0]


def _torch_call(call: cst.Call, *, added: tuple[tuple[str, str], ...]) -> cst.Call:
    """The call of torch's AdamW, with the defaults of Hugging Face spelled out."""
    import libcst as cst

    dropped = ("correct_bias", "no_deprecation_warning")
    kept = [item for item in call.args if not (item.keyword and item.keyword.value in dropped)]
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = [cst.Arg(cst.parse_expression(text), keyword=cst.Name(name), equal=plain) for name, text in added]
    kept = [*kept[:-1], *_laid_out(call, [*kept[-1:], *new])]
    return call.with_changes(func=cst.parse_expression("torch.optim.AdamW"), args=kept)


def _laid_out(call: cst.Call, args: list[cst.Arg]) -> list[cst.Arg]:
    """The last arguments of a call with commas between them, each on a line of its own where the others are; the last
    one closes the call as it was closed."""
    import libcst as cst

    last = call.args[-1]
    gap = call.args[-2].comma.whitespace_after if len(call.args) > 1 else call.whitespace_before_args  # type: ignore[union-attr]
    inside = not isinstance(last.comma, cst.MaybeSentinel)
    end = last.comma.whitespace_after if inside else last.whitespace_after_arg  # type: ignore[union-attr]
    first: Any = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    others, closing = first, end
    if isinstance(gap, cst.ParenthesizedWhitespace) and isinstance(end, cst.ParenthesizedWhitespace):
        line = gap.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        first = cst.Comma(whitespace_after=line.with_changes(first_line=end.first_line))
        others, closing = cst.Comma(whitespace_after=line), end.with_changes(first_line=cst.TrailingWhitespace())
        if len(args) == 1:
            closing = end
    final = {"comma": cst.Comma(whitespace_after=closing)} if inside else {"whitespace_after_arg": closing}
    none = cst.SimpleWhitespace("")
    spread = [
        item.with_changes(comma=others if index else first, whitespace_after_arg=none)
        for index, item in enumerate(args[:-1])
    ]
    open_end = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=none)
    return [*spread, open_end.with_changes(**final)]


def _without_name(statement: cst.ImportFrom, *, name: str) -> Any:
    """The import without a name; nothing where that was all."""
    import libcst as cst

    if isinstance(statement.names, cst.ImportStar):
        return statement
    kept = [item for item in statement.names if _bound(item) != name]
    if not kept:
        return cst.RemovalSentinel.REMOVE
    if len(kept) == len(statement.names):
        return statement
    kept[-1] = kept[-1].with_changes(comma=statement.names[-1].comma)
    return statement.with_changes(names=kept)


def _bound(item: cst.ImportAlias) -> str:
    import libcst as cst

    name = item.asname.name if item.asname else item.name
    return name.value if isinstance(name, cst.Name) else ""


# -- pins


def _pins(file: TextFile, facts: Facts) -> Iterator[Match]:
    """Requirements on Lightning that admit releases in which it fails, and later ones."""
    try:
        pins = read_pins(file.kind, file.text)
    except Unparsable:
        return
    for pin in pins:
        if pin.name not in LIGHTNING or pin.problem or pin.is_address:
            continue
        if any(part.operator != "!=" for part in clauses(pin.specifier)):
            below = admits(pin.specifier, LAST, pin.language) or admits(pin.specifier, "2.0.0", pin.language)
            if below and (raised := _raised(pin, facts.target)):
                message = f"`{pin.name}{pin.specifier}` allows releases in which Hugging Face's optimizers fail"
                reason = f"2.0.7 trains with them as they are: {pin.specifier} becomes {raised}"
                edit = TextEdit(pin.start, pin.end, raised)
                yield Match(file.span(pin.place, pin.end), message, "safe", reason, "B09", edits=(edit,))


def _raised(pin: Pin, target: str) -> str | None:
    """The specifier from 2.0.7 on; None where it cannot be written that simply."""
    parts = list(clauses(pin.specifier))
    lower = [part for part in parts if part.operator in (">=", ">", "^")]
    if len(lower) == 1:
        operator = "^" if lower[0].operator == "^" and lower[0].version.startswith("2") else ">="
        parts[parts.index(lower[0])] = replace(lower[0], operator=operator, version=FIXED)
    elif not lower and pin.language == "pep440":
        parts.insert(0, Clause(">=", FIXED))
    text = guarded(",".join(map(str, parts)), target, pin.language)
    fits = text and admits(text, FIXED, pin.language) and not admits(text, LAST, pin.language)
    return text if fits and not admits(text or "", "1.9.5", pin.language) else None


def collect(file: PythonFile) -> bool | None:
    """Whether a file builds such an optimizer."""
    return True if optimizers(file) else None


def _present(file: PythonFile | TextFile) -> bool:
    return isinstance(file, TextFile) or bool(optimizers(file))


_BEFORE = """\
import torch
from lightning.pytorch import LightningModule
from transformers import AdamW, get_linear_schedule_with_warmup


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=2e-5)
"""
_OPEN = "lightning>=2.0,<3\ntransformers\n"
_PINNED = "pytorch-lightning==1.9.5\ntransformers\n"

RULE = Rule(
    code=CODE,
    name="hugging-face-optimizer",
    summary="a project that trains with Hugging Face's AdamW or Adafactor asks for Lightning 2.0.7 or later",
    why=(
        "Hugging Face's optimizers decorate `step` with `torch.no_grad()`. Up to 2.0.6 Lightning ran the training step "
        "inside of it, and backward fails: 'element 0 of tensors does not require grad' (run on 1.8.6 and 1.9.5). "
        "2.0.7 repaired it. `torch.optim.AdamW` is another answer, but has other defaults (weight_decay 0.01 and eps "
        "1e-8 against 0.0 and 1e-6), which tutorials forget, and another order of decay. transformers 5 has no AdamW "
        "any more."
    ),
    fix="safe",
    versions="Lightning before 2.0.7",
    triggers=(b"AdamW", b"Adafactor"),
    text_triggers=(b"lightning",),
    check=_check,
    collect=collect,
    present=_present,
    kinds=("python", "requirements", "pyproject"),
    needs=FIXED,
    keeps=FIXED,
    rows=partial(best_levels, (("B09", "safe"),)),
    examples=(
        Example(
            _OPEN, "lightning>=2.0.7,<3,!=2.6.2,!=2.6.3\ntransformers\n", "requirements.txt", (("train.py", _BEFORE),)
        ),
        Example(_BEFORE, _BEFORE, files=(("requirements.txt", _PINNED),)),
        Example(_PINNED, _PINNED, "requirements.txt", (("train.py", _BEFORE.replace("transformers", "torch.optim")),)),
    ),
    references=("https://github.com/Lightning-AI/pytorch-lightning/issues/18254",),
)
