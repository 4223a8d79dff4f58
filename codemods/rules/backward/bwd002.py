"""BWD002: several backward passes through one graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import every_node
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.finding import Fix
from codemods.lightning.class_family import definitions
from codemods.lightning.facts import CALLBACK, MODULE, Facts
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.backward.passes import UNSEEN, Pass, is_looped, is_plain, runs, told
from codemods.rules.backward.raw import on_tensor
from codemods.rules.backward.training import ROOTS, ProjectTraining, collect
from codemods.rules.backward.weights_changed_before_backward import find_stale

if TYPE_CHECKING:
    import libcst as cst

CODE = "BWD002"
MERGED = "several backward passes go through one graph"
MERGED_REASON = (
    "The gradient of the sum is the sum of the gradients, to rounding; one pass walks the graph, and reduces between "
    "processes, once."
)
LEFT = (
    "Not rewritten: there is a comment at them, or two are on one line. "
    "Go backward once, through the sum of the losses."
)
HOOK = "the backward hook keeps every graph (retain_graph=True)"
HOOK_REASON = (
    "Not rewritten: automatic optimization goes backward once for each forward pass, so this is only needed where "
    "something computed for an earlier batch is still used with its history: a buffer, a hidden state, a cached "
    "output. Detach that where it is kept, and remove retain_graph."
)
STALE = "a backward pass goes through weights that a step has changed since the forward pass"
ENDS = "ends where it meets them"
HELD = "is held to those of {}; under DDP, which waits for the others, compute the loss again after the step instead"
UNHEARD = {"on_before_backward", "on_after_backward"}


def _present(file: PythonFile) -> bool:
    return "backward" in file.text and bool(file.classes)


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    manual = any(noted.mode in ("manual", "unknown") for found in collected.values() for noted in found)
    return definitions(UNHEARD) if manual else ()


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    notes = ProjectTraining(facts, CODE)
    for item in file.classes:
        fact = notes.fact(file, item)
        if fact is None or facts.kind(fact) != MODULE:
            continue
        modes = notes.modes(fact)
        if modes == {"automatic"}:
            yield from _hook(file, item)
            continue
        reached = notes.reached(fact, ROOTS) - {"backward"}
        for name, method in item.methods.items():
            if name in reached:
                yield from _merged(file, facts, item, method)
                yield from _stale(file, item, method)


def _merged(file: PythonFile, facts: Facts, item: ClassNode, method: Function) -> Iterator[Match]:
    level, why = _level(file, facts)
    unit = f"{file.path}:{item.qualname}"
    truth = told(facts, file, (item.node, method))
    for run in runs(method, truth):
        if not all(on_tensor(file, found.call, item, method) for found in run):
            continue
        if (unseen := any(found.retains is None for found in run)) or _commented(file, run):
            yield Match(file.span(run[0].call), MERGED, "manual", UNSEEN if unseen else LEFT)
            continue
        others = tuple(ast.unparse(found.loss) for found in run[1:])
        retain = bool(run[-1].retains)
        edits = (
            NodeEdit(run[0].call, partial(summed, others=others, raw=run[0].raw, retain=retain)),
            *(NodeEdit(found.statement, _removed) for found in run[1:]),
        )
        yield Match(file.span(run[0].call), MERGED, level, f"{MERGED_REASON}{why}", edits=edits, unit=unit)
    for node in every_node(method):
        found = is_looped(node, method, truth) if isinstance(node, ast.For) else None
        if found and isinstance(node, ast.For) and not found.raw and not _used_behind(node, method):
            if not (written := _losses(node.iter)):
                continue
            if found.retains is None or _commented_loop(file, node):
                yield Match(file.span(found.call), MERGED, "manual", UNSEEN if found.retains is None else LEFT)
                continue
            if written == "kept":
                level, why = "unsafe", f"{why} Without any loss the loop did nothing, where the sum has no gradient."
            edit = NodeEdit(node, _as_sum)
            yield Match(file.span(found.call), MERGED, level, f"{MERGED_REASON}{why}", edits=(edit,), unit=unit)


def _level(file: PythonFile, facts: Facts) -> tuple[Fix, str]:
    """Unsafe where something looks at each backward pass by itself."""
    if "register_hook" in file.text or "register_post_accumulate_grad_hook" in file.text:
        return "unsafe", " Hooks on gradients in this file see one pass instead of several."
    for other in facts.classes():
        hooks = sorted(other.methods & UNHEARD)
        if hooks and facts.kind(other) in (CALLBACK, MODULE, None):
            return "unsafe", f" {hooks[0]} of {other.name} ({other.path}) is called once instead of several times."
    return "safe", ""


def _commented(file: PythonFile, run: list[Pass]) -> bool:
    """Whether a comment stands at or between backward passes, in the first one left out, or two on one line."""
    return file.has_comment(run[0].statement.lineno, run[-1].statement.end_lineno or 0) or any(
        first.statement.end_lineno == second.statement.lineno for first, second in pairwise(run)
    )


def _commented_loop(file: PythonFile, loop: ast.For) -> bool:
    return file.has_comment(loop.lineno, loop.end_lineno or loop.lineno)


def _losses(iterated: ast.expr) -> str:
    """Whether the losses of a loop are all `written` out, or `kept` in a collection; empty where they may be
    computed one by one."""
    if isinstance(iterated, ast.List | ast.Tuple):
        plain = bool(iterated.elts) and not any(isinstance(item, ast.Starred) for item in iterated.elts)
        return "written" if plain and all(map(is_plain, iterated.elts)) else ""
    values = isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute) and not iterated.args
    if values and isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute):
        return "kept" if iterated.func.attr == "values" and is_plain(iterated.func.value) else ""
    return "kept" if isinstance(iterated, ast.Name | ast.Attribute) else ""


def _used_behind(loop: ast.For, method: Function) -> bool:
    """Whether the loop's variable is read after the loop."""
    name = loop.target.id if isinstance(loop.target, ast.Name) else ""
    end = loop.end_lineno or loop.lineno
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node.lineno > end
        for node in every_node(method)
    )


def _stale(file: PythonFile, item: ClassNode, method: Function) -> Iterator[Match]:
    for found in find_stale(item, method):
        place = file.span(found.call)
        if found.uses or found.only:
            reason = (
                f"torch refuses to go back through {found.module}, whose weights the step in line {found.step.lineno} "
                f"changed (modified by an inplace operation). What this pass would add to their gradients is set to "
                f"zero before it is used, so it {ENDS if found.uses else HELD.format(found.only)}."
            )
            held = NodeEdit(found.call, partial(_held, module=found.only))
            edits = tuple(NodeEdit(node, _detached) for node in found.uses) or (held,)
            yield Match(place, STALE, "safe" if found.uses else "unsafe", reason, edits=edits)
            continue
        reason = (
            f"Not rewritten: `{found.name}` was computed through {found.module} before the step in line "
            f"{found.step.lineno} changed its weights; torch refuses to go back through it (modified by an inplace "
            "operation). Compute it again after that step, detach it if "
            f"{found.module} is not to learn from this loss, "
            "or make both backward passes before the first step."
        )
        yield Match(place, STALE, "manual", reason)


def _detached(node: cst.Name) -> cst.BaseExpression:
    import libcst as cst

    return cst.Call(cst.Attribute(node, cst.Name("detach")))


def _held(node: cst.Call, module: str) -> cst.Call:
    """The pass with `inputs`, the weights of one module."""
    import libcst as cst

    last = cst.Arg(
        cst.parse_expression(f"list({module}.parameters())"),
        cst.Name("inputs"),
        cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    return node.with_changes(args=[*node.args, last])


def _hook(file: PythonFile, item: ClassNode) -> Iterator[Match]:
    """`def backward(self, loss): loss.backward(retain_graph=True)` under automatic optimization."""
    hook = item.methods.get("backward")
    for node in every_node(hook) if hook else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward"
            and any(
                keyword.arg == "retain_graph"
                and isinstance(keyword.value, ast.Constant)
                and keyword.value.value is True
                for keyword in node.keywords
            )
        ):
            yield Match(file.span(node), HOOK, "manual", HOOK_REASON)


@touches("whole")
def _removed(node: Any) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()


def summed(node: cst.Call, others: tuple[str, ...], raw: bool, retain: bool) -> cst.Call:
    """The backward call with more losses added to its own, and without `retain_graph` where nothing needs it."""
    import libcst as cst

    from codemods.rules.backward.raw import bare, operand

    def total(value: cst.BaseExpression) -> cst.BaseExpression:
        for text in others:
            value = cst.BinaryOperation(operand(value), cst.Add(), operand(cst.parse_expression(text)))
        return value

    keywords = [cst.parse_expression("f(retain_graph=True)").args[0]] if retain else []  # type: ignore[attr-defined]
    if not raw:
        return node.with_changes(args=[cst.Arg(total(node.args[0].value)), *keywords])
    function = cst.ensure_type(node.func, cst.Attribute)
    value = total(bare(function.value)).with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node.with_changes(func=function.with_changes(value=value), args=keywords)


@touches("spelled")
def _as_sum(node: cst.For) -> cst.SimpleStatementLine:
    """A loop over losses as one statement: `self.manual_backward(sum(losses), retain_graph=True)`."""
    import libcst as cst

    line = node.body.body[0]
    expression = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    call = cst.ensure_type(cst.ensure_type(expression, cst.Expr).value, cst.Call)
    total = cst.Call(cst.Name("sum"), [cst.Arg(node.iter)])
    changed = call.with_changes(args=[call.args[0].with_changes(value=total), *call.args[1:]])
    return cst.SimpleStatementLine([cst.Expr(changed)], leading_lines=node.leading_lines)


BEFORE = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        out = self.net(batch)
        fit, penalty = self.fit(out, batch), out.pow(2).mean()
        optimizer.zero_grad()
        self.manual_backward(fit, retain_graph=True)
        self.manual_backward(0.1 * penalty)
        optimizer.step()
"""
AFTER = BEFORE.replace(
    "        self.manual_backward(fit, retain_graph=True)\n        self.manual_backward(0.1 * penalty)\n",
    "        self.manual_backward(fit + 0.1 * penalty)\n",
)
LOOP = BEFORE.replace(
    "        self.manual_backward(fit, retain_graph=True)\n        self.manual_backward(0.1 * penalty)\n",
    "        for loss in (fit, penalty):\n            self.manual_backward(loss, retain_graph=True)\n",
)
LOOP_AFTER = BEFORE.replace(
    "        self.manual_backward(fit, retain_graph=True)\n        self.manual_backward(0.1 * penalty)\n",
    "        self.manual_backward(sum((fit, penalty)), retain_graph=True)\n",
)
BETWEEN = BEFORE.replace(
    "        self.manual_backward(0.1", '        self.log("norm", self.norm())\n        self.manual_backward(0.1'
)
STEPPED = """\
import torch
from lightning.pytorch import LightningModule


class GAN(LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        g, d = self.optimizers()
        fake = self.generator(batch)
        g.zero_grad()
        self.manual_backward(-self.critic(fake).mean())
        g.step()
        loss = self.critic(fake).mean() - self.critic(batch).mean()
        d.zero_grad()
        self.manual_backward(loss)
        d.step()

    def configure_optimizers(self):
        g = torch.optim.Adam(self.generator.parameters())
        return g, torch.optim.Adam(self.critic.parameters())
"""
STEPPED_AFTER = STEPPED.replace("loss = self.critic(fake)", "loss = self.critic(fake.detach())")

RULE = Rule(
    code=CODE,
    name="several-backward",
    summary="backward passes through one graph, one after the other, become one on the sum of the losses",
    why=(
        "Two `manual_backward` with `retain_graph=True` give the same gradient as one on the sum, with twice the graph "
        "walks, twice the reductions between processes, and hooks that run twice. A backward pass through weights that "
        "a step has changed since the forward pass is refused by torch: where the gradient that it would leave there "
        "is zeroed before it is used, it ends before them, else it is named. So is a `backward` hook that keeps "
        "every graph, which hides a tensor that should have been detached. Passes with anything between them, and "
        "those of graphs of their own, are left alone."
    ),
    fix="safe",
    versions="every Lightning release since 1.5",
    triggers=(b"automatic_optimization", b".backward(", b"def training_step"),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(LOOP, LOOP_AFTER),
        Example(BETWEEN, BETWEEN),
        Example(STEPPED, STEPPED_AFTER),
    ),
    needs="1.5.0",
    collect=collect,
    context=_context,
    present=_present,
    references=("https://docs.pytorch.org/docs/stable/notes/autograd.html",),
)
