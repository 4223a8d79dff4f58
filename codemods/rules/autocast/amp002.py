"""AMP002: weights changed in place between two forwards of one autocast region: the second uses the old ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.autocast.cache_state import Frame, Meeting, TraceSite
from codemods.rules.autocast.find import TraceFindings, traced
from codemods.rules.autocast.regions import MENTIONS, collect
from codemods.rules.autocast.repair import SCRIPTED, Anchor, clearing, is_scripted, line_anchor
from codemods.rules.autocast.report import line_of, listed, place_of, unfinished

CODE = "AMP002"
IMPORT = (("torch", None),)
CLEARED = "the next forward must see the new weights"
ADVICE = "call torch.clear_autocast_cache() after the change, or open the region again for each forward"
CHANGES = (
    *(".step(", '"step"', "'step'", "first_step(", "second_step(", "ascent_step(", "descent_step("),
    *(".data.", ".data =", ".data=", ".data +=", ".data -=", ".data *="),
    *("load_state_dict", "copy_(", "add_(", "sub_(", "mul_(", "lerp_(", "clamp_(", "vector_to_parameters"),
    *(" += ", " -= ", " *= "),
)


@dataclass(frozen=True)
class _StaleForward:
    """A forward that uses weights from before a change, the call in which these change, and how sure that is."""

    meeting: Meeting
    frame: Frame
    name: str
    fix: Fix
    doubt: str


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every statement that changes weights whose old half-precision copies a later forward of the region uses."""
    if not present(file):
        return
    groups: dict[ast.AST, list[_StaleForward]] = {}
    for item in traced(file, facts, CODE, CHANGES, here=True):
        yield from unfinished(file, item, ADVICE)
        for meeting in item.stale:
            frame = _frame(meeting, item, facts)
            judged = _judge(meeting, item) if frame and frame.path == file.path else None
            if judged is not None and frame is not None:
                groups.setdefault(frame.steps[-1].statement, []).append(
                    _StaleForward(meeting, frame, item.trace.reader.shown(meeting.key), *judged)
                )
    for found in groups.values():
        yield _match(file, found)


def _frame(meeting: Meeting, item: TraceFindings, facts: Facts) -> Frame | None:
    """The innermost call in which weights are changed and whose file sees that itself."""
    changed = meeting.cast.changed
    for frame in reversed(changed.frames if changed else ()):
        file = facts.open(frame.path) if item.seen_from(frame.path) else None
        if file is not None and present(file):
            return frame
    return None


def _judge(meeting: Meeting, item: TraceFindings) -> tuple[Fix, str] | None:
    """How sure it is that the changed weights are used again; None where there certainly are none."""
    cast, shown = meeting.cast, item.trace.reader.shown
    if cast.key != meeting.key or cast.key == ("self",):
        return None
    verdict = item.trace.reader.verdict(cast.key, meeting.members, meeting.prefix)
    if verdict == "nothing":
        return None
    if verdict == "unknown":
        return "unsafe", f"fixer cannot tell what `{shown(cast.key)}` is: it may have no weights"
    if not cast.sure:
        return "unsafe", f"fixer cannot tell whether the weights of `{shown(cast.key)}` are among those changed"
    if item.region == "possible" and meeting.regions[0].lightning:
        return "unsafe", "the Trainer's precision is only known when the program runs"
    return "safe", ""


def _match(file: PythonFile, found: list[_StaleForward]) -> Match:
    names = listed(item.name for item in found)
    first = found[0].meeting
    place = min((item.meeting.read for item in found), key=lambda site: (site.frames[-1].path, line_of(site.node)))
    where = "Lightning's autocast region" if first.regions[0].lightning else "one autocast region"
    message = f"{names} runs again at {place.shown(file.path)} with the weights from before this change, in {where}"
    frame = found[0].frame
    span = place_of(file, frame.steps[-1].statement)
    anchor = _anchor(frame, [item.meeting.read for item in found])
    if anchor is None:
        return Match(span, message, "manual", f"no line can be put after the change; {ADVICE}")
    if (taken := taken_name(file.scope.bindings, IMPORT)) is not None:
        return Match(span, message, "manual", f"this file uses the name `{taken}` for something else; {ADVICE}")
    if is_scripted(file, frame.function):
        return Match(span, message, "manual", f"{SCRIPTED}; {ADVICE}")
    fix: Fix = "safe" if any(item.fix == "safe" for item in found) else "unsafe"
    doubt = next((item.doubt for item in found if item.fix == fix), "")
    reason = "autocast keeps the half-precision copies of weights while the region lasts: the cache is cleared"
    return Match(
        span,
        message,
        fix,
        f"{reason}; {doubt}" if doubt else reason,
        edits=clearing(anchor, CLEARED),
        imports=IMPORT,
    )


def _anchor(frame: Frame, reads: list[TraceSite]) -> Anchor | None:
    """The place behind the outermost loop of a call around a change that is left before every forward which uses the
    weights, or behind the change itself."""
    for step in frame.steps:
        inside = any(
            other.statement is step.statement and other.turn == step.turn
            for read in reads
            for held in read.frames
            for other in held.steps
        )
        loop = isinstance(step.statement, ast.For) and not inside
        if loop and not any(isinstance(node, ast.Return) for node in walk(step.statement)):
            return Anchor(step.statement, None, step.turn)
    return line_anchor(frame, frame.steps[-1])


def present(file: PythonFile) -> bool:
    """Whether the file changes weights or takes what does, and has a region or a step that Lightning may run in one."""
    text = file.text
    return any(word in text for word in (*CHANGES, "optimizers")) and any(
        word in text for word in ("autocast", "auto_fp16", "training_step", "optimizers")
    )


_GAN = """import lightning.pytorch as pl
import torch
from torch import nn


class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Linear(8, 8)
        self.critic = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        opt_g, opt_c = self.optimizers()
        fake = self.generator(batch)
        opt_c.zero_grad()
        self.manual_backward(self.critic(fake.detach()).mean() - self.critic(batch).mean())
        opt_c.step()
        opt_g.zero_grad()
        self.manual_backward(-self.critic(fake).mean())
        opt_g.step()

    def configure_optimizers(self):
        opt_g = torch.optim.Adam(self.generator.parameters())
        opt_c = torch.optim.Adam(self.critic.parameters())
        return [opt_g, opt_c], []
"""
_GAN_AFTER = _GAN.replace(
    "        opt_c.step()\n", f"        opt_c.step()\n        torch.clear_autocast_cache()  # {CLEARED}\n"
)
_TOGGLED = _GAN.replace(
    "        opt_c.zero_grad()\n", "        self.toggle_optimizer(opt_c)\n        opt_c.zero_grad()\n"
)
_TOGGLED = _TOGGLED.replace(
    "        opt_g.zero_grad()\n",
    "        self.untoggle_optimizer(opt_c)\n        self.toggle_optimizer(opt_g)\n        opt_g.zero_grad()\n",
)
_MIXED = (("fit.py", 'from lightning.pytorch import Trainer\n\ntrainer = Trainer(precision="bf16-mixed")\n'),)
_LOOP = """import torch

model = torch.nn.Linear(8, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.autocast("cuda"):
    for batch in torch.rand(3, 4, 8).cuda():
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
"""
_LOOP_AFTER = _LOOP + f"        torch.clear_autocast_cache()  # {CLEARED}\n"
_EACH = """import torch

model = torch.nn.Linear(8, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.rand(3, 4, 8).cuda():
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        loss = model(batch).mean()
    loss.backward()
    optimizer.step()
"""

RULE = Rule(
    code=CODE,
    name="autocast-stale-weights",
    summary="a forward after a change of the weights no longer uses autocast's copies of the old ones",
    why=(
        "Autocast keeps the half-precision copies of weights until the outermost region ends, and does not see that "
        "an optimizer, an EMA swap or a clipping changed the weights in place. A second forward in the same region "
        "then computes with the weights from before the change, and its gradients are those of the old weights, on "
        "every torch, without an error. Lightning up to 2.5.4 runs the whole `training_step` in such a region under "
        "mixed precision, so every manual loop that steps twice is concerned; 2.5.5 to 2.6.6 open it without a cache. "
        "The cache is cleared after the change. Weights that `toggle_optimizer` switches off are not cached, and a "
        "region that is opened again for each step has nothing to clear."
    ),
    fix="safe",
    versions="every torch; in Lightning's own region lightning <= 2.5.4",
    triggers=(b"autocast", b"auto_fp16", b"optimizers", b"precision="),
    check=check,
    collect=collect,
    present=present,
    mentions=(*MENTIONS, *(word.encode() for word in CHANGES)),
    examples=(
        Example(_GAN, _GAN_AFTER, "model.py", _MIXED),
        Example(_LOOP, _LOOP_AFTER),
        Example(_TOGGLED, _TOGGLED, "model.py", _MIXED),
        Example(_EACH, _EACH),
    ),
    references=(
        "https://docs.pytorch.org/docs/stable/amp.html",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
)
