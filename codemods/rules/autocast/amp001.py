"""AMP001: a forward without gradient leaves weights in autocast's cache, and a later one with gradient uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import TORCH, admits_below
from codemods.rule import Example, Match, Rule, best_levels
from codemods.rules.autocast.cache_state import Meeting
from codemods.rules.autocast.find import TraceFindings, traced
from codemods.rules.autocast.members import looks_weightless
from codemods.rules.autocast.names import region_of
from codemods.rules.autocast.outermost_regions import is_outermost
from codemods.rules.autocast.regions import MENTIONS, TORCH_FIXED, collect, context
from codemods.rules.autocast.repair import (
    SCRIPTED,
    Anchor,
    anchor_behind,
    blocks,
    clearing,
    is_scripted,
    shared,
    splitting,
)
from codemods.rules.autocast.report import line_of, listed, place_of, unfinished

CODE = "AMP001"
IMPORT = (("torch", None),)
CLEARED = "weights cast without gradient (PyTorch issue 65766)"
SPLIT = "a region of its own: the cache of the one above holds weights cast without gradient (PyTorch issue 65766)"
WORDS = ("no_grad", "inference_mode", "set_grad_enabled")
RUNS = ("def training_step", "autocast", "auto_fp16")


@dataclass(frozen=True)
class _PoisonedForward:
    """A meeting that is reported, how sure it is, and where the cache can be cleared."""

    meeting: Meeting
    traced: TraceFindings
    fix: Fix
    doubt: str
    anchor: Anchor | None


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every statement that leaves weights without gradient in the cache of a region in which they are then trained."""
    if not admits_below(facts, TORCH, TORCH_FIXED):
        return
    groups: dict[ast.AST, list[_PoisonedForward]] = {}
    for item in traced(file, facts, CODE, WORDS):
        yield from unfinished(file, item, ADVICE)
        for meeting in item.poisoned:
            if not _is_its_own(meeting, item, file, facts) or (judged := _judge(meeting, item, file)) is None:
                continue
            anchor = anchor_behind(meeting.cast.site, meeting.read, file.path)
            if (place := anchor.statement if anchor else _nearest(meeting, file)) is not None:
                groups.setdefault(place, []).append(_PoisonedForward(meeting, item, *judged, anchor))
    for place in _needed(groups):
        yield _match(file, facts, place, groups[place])


def _is_its_own(meeting: Meeting, item: TraceFindings, file: PythonFile, facts: Facts) -> bool:
    """Whether a meeting is this file's to report: the call that holds both forwards stands in it, or in a file that
    does not see it itself, and it is the innermost of those that do among the calls of the one without gradient."""
    first = shared(meeting.cast.site, meeting.read)[0]
    frames = meeting.cast.site.frames
    inner = frames[frames.index(first) + 1 :]
    outer = reversed(frames[: frames.index(first)])
    for frame in (first, *inner, *outer):
        if frame.path == file.path:
            return True
        other = facts.open(frame.path) if item.seen_from(frame.path) else None
        if other is not None and present(other):
            return False
    return False


def _nearest(meeting: Meeting, file: PythonFile) -> ast.AST | None:
    """The statement that runs the forward without gradient, in the call that holds both, or else in the first call
    that stands in the file."""
    first = shared(meeting.cast.site, meeting.read)[0]
    if first.path == file.path:
        return first.steps[-1].statement if first.steps else meeting.cast.site.node
    own = [frame for frame in meeting.cast.site.frames if frame.path == file.path and frame.steps]
    return own[0].steps[-1].statement if own else None


def _judge(meeting: Meeting, item: TraceFindings, file: PythonFile) -> tuple[Fix, str] | None:
    """How sure it is that trainable weights are used by both forwards, and what is in doubt; None for those
    that certainly hold none."""
    cast, key, shown = meeting.cast.key, meeting.key, item.trace.reader.shown
    if ("self",) in (cast, key):
        return None
    verdict = item.trace.reader.verdict(min(cast, key, key=len), meeting.members, meeting.prefix)
    if verdict == "nothing":
        return None
    if cast != key:
        if abs(len(cast) - len(key)) > 1 or looks_weightless(max(cast, key, key=len)[-1]):
            return None
        return "unsafe", f"fixer cannot tell whether `{shown(cast)}` and `{shown(key)}` share weights"
    if verdict == "unknown":
        return "unsafe", f"fixer cannot tell what `{shown(key)}` is: it may have no weights"
    if (place := _freezing(meeting, file)) is not None:
        return "unsafe", f"`{shown(key)}` may be frozen ({place}), and then there is nothing to lose"
    if item.region == "possible" and meeting.regions[0].lightning:
        return "unsafe", "the Trainer's precision is only known when the program runs"
    return "safe", ""


def _freezing(meeting: Meeting, file: PythonFile) -> str | None:
    """The place at which the weights of a module, or of what it is a part of, may be frozen."""
    for members, prefix in reversed(meeting.owners):
        rest = ("self", *meeting.key[len(prefix) :])
        within = meeting.key[: len(prefix)] == prefix
        found = next((at for key, at in members.freezable.items() if within and rest[: len(key)] == key), None)
        if found:
            return f"line {found[1]}" if found[0].path == file.path else f"{found[0].path}:{found[1]}"
    return None


def _needed(groups: Mapping[ast.AST, list[_PoisonedForward]]) -> list[ast.AST]:
    """The places, less those whose cast is met only after a later place of the same block has cleared the cache."""
    needed = []
    for place, found in groups.items():
        anchors = [item.anchor for item in found]
        later = [
            other[0].anchor
            for key, other in groups.items()
            if key is not place and other[0].anchor and other[0].traced.root is found[0].traced.root
        ]
        spared = all(anchors) and any(
            _follows(item, found) for item in later if item is not None and item.statement is not place
        )
        if not spared:
            needed.append(place)
    return needed


def _follows(later: Anchor, found: list[_PoisonedForward]) -> bool:
    """Whether a place stands behind those of `found` in their block, with no meeting in between."""
    for item in found:
        if item.anchor is None:
            return False
        frame = shared(item.meeting.cast.site, item.meeting.read)[0]
        places = blocks(frame.function) if frame.function else {}
        own, other = places.get(item.anchor.statement), places.get(later.statement)
        if own is None or other is None or own[0] != other[0] or own[1] >= other[1]:
            return False
        if not item.anchor.turn < later.turn < item.meeting.read.turn:
            return False
    return True


def _match(file: PythonFile, facts: Facts, place: ast.AST, found: list[_PoisonedForward]) -> Match:
    best: Fix = "safe" if any(item.fix == "safe" for item in found) else "unsafe"
    names = listed(item.traced.trace.reader.shown(item.meeting.cast.key) for item in found if item.fix == best)
    read = min((item.meeting.read for item in found), key=lambda site: (site.frames[-1].path, line_of(site.node)))
    where = "Lightning's autocast region" if found[0].meeting.regions[0].lightning else "one autocast region"
    message = f"{names} runs without gradient, and with gradient at {read.shown(file.path)}, in {where}"
    span = place_of(file, place)
    anchor = found[0].anchor
    doubt = next((item.doubt for item in found if item.fix == best), "")
    if anchor is None:
        between = shared(found[0].meeting.cast.site, found[0].meeting.read)[0].path
        where = "" if between == file.path else f", which {between} calls"
        return Match(span, message, "manual", f"no line can be put between the two{where}; {ADVICE}")
    if (taken := taken_name(file.scope.bindings, IMPORT)) is not None:
        return Match(span, message, "manual", f"this file uses the name `{taken}` for something else; {ADVICE}")
    region = _split_region(file, facts, found)
    if region is not None:
        reason = "up to torch 2.10 the second forward gets weights without gradient: it runs in its own region"
        edits = splitting(region, region.body.index(anchor.statement), SPLIT)
        return Match(span, message, "safe", reason, edits=edits)
    if is_scripted(file, shared(found[0].meeting.cast.site, found[0].meeting.read)[0].function):
        return Match(span, message, "manual", f"{SCRIPTED}; {ADVICE}")
    reason = "up to torch 2.10 the second forward gets weights without gradient: the cache is cleared in between"
    reason += f"; {doubt}" if doubt else ", which changes no number"
    return Match(span, message, best, reason, edits=clearing(anchor, CLEARED), imports=IMPORT)


ADVICE = (
    "up to torch 2.10 the second gets weights without gradient: call torch.clear_autocast_cache() after the part "
    "without gradient, or run that in torch.autocast(..., cache_enabled=False)"
)


def _split_region(file: PythonFile, facts: Facts, found: list[_PoisonedForward]) -> ast.With | None:
    """The region of the user's own that can be split behind the place: the outermost one for certain, the place is a
    statement of its own body, and the context is made where it is entered (not all can be entered twice)."""
    for item in found:
        opened = item.meeting.regions[0].opened
        if len(item.meeting.regions) != 1 or not isinstance(opened, ast.With) or item.anchor is None:
            return None
        if len(opened.items) != 1 or opened.items[0].optional_vars is not None:
            return None
        if region_of(opened.items[0].context_expr, file.scope) is None:
            return None
        if opened.lineno == opened.body[0].lineno or item.anchor.statement not in opened.body[:-1]:
            return None
        if not isinstance(item.anchor.statement, ast.With) or not is_outermost(file, facts, item.traced.root):
            return None
        steps = shared(item.meeting.cast.site, item.meeting.read)
        if not all(any(step.statement is opened for step in frame.steps) for frame in steps):
            return None
    opened = found[0].meeting.regions[0].opened
    return opened if isinstance(opened, ast.With) else None


def present(file: PythonFile) -> bool:
    """Whether the file switches gradients off, or may hold what runs a part of another file that does."""
    return any(word in file.text for word in (*WORDS, *RUNS))


_HEAD = """import torch
from torch import nn


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)

"""
_STEP = """    @torch.autocast("cuda")
    def loss(self, x):
        with torch.no_grad():
            target = self.encoder(x)
        return (self.encoder(x + 1) - target).pow(2).mean()
"""
_STEP_AFTER = _STEP.replace(
    "        return (self", f"        torch.clear_autocast_cache()  # {CLEARED}\n        return (self"
)
_SCRIPT = """import torch

model = torch.nn.Linear(8, 8).cuda()
x = torch.rand(4, 8).cuda()
with torch.autocast("cuda"):
    with torch.no_grad():
        target = model(x)
    loss = (model(x + 1) - target).pow(2).mean()
loss.backward()
"""
_SCRIPT_AFTER = _SCRIPT.replace("    loss =", f'# {SPLIT}\nwith torch.autocast("cuda"):\n    loss =')
_TEACHER = _HEAD.replace(
    "        self.encoder = nn.Linear(8, 8)\n",
    "        self.encoder = nn.Linear(8, 8)\n        self.teacher = nn.Linear(8, 8)\n",
) + _STEP.replace("target = self.encoder(x)", "target = self.teacher(x)")
_MODULE = """import pytorch_lightning as pl
import torch
from torch import nn


class Clip(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)

    def training_step(self, batch, batch_idx):
        target = self.targets(batch)
        return (self.encoder(batch) - target).pow(2).mean()

    @torch.no_grad()
    def targets(self, batch):
        return self.encoder(batch)
"""
_MODULE_AFTER = _MODULE.replace(
    "        return (self", f"        torch.clear_autocast_cache()  # {CLEARED}\n        return (self"
)
_TRAIN = (("fit.py", "from pytorch_lightning import Trainer\n\ntrainer = Trainer(precision=16)\n"),)
_FULL = (("fit.py", "from pytorch_lightning import Trainer\n\ntrainer = Trainer(precision=32)\n"),)

RULE = Rule(
    code=CODE,
    name="autocast-cache-without-gradient",
    summary="a forward under `no_grad` no longer leaves its half-precision weights to the forward that trains them",
    why=(
        "Autocast keeps the half-precision copies of weights until the outermost region ends. Up to torch 2.10 a "
        "forward under `no_grad` or `inference_mode` fills that cache with copies that have no gradient history, "
        "and a later forward with gradient uses them: `element 0 of tensors does not require grad`, or, where a "
        "layer kept in float32 or another weight keeps the loss differentiable, silently no gradient at all for "
        "those weights. A second region nested around the later forward changes nothing, nor do `enable_grad` and "
        "`empty_cache`. The cache is cleared after the part without gradient, or the region split in two where it "
        "is the user's own and certainly the outermost one; the numbers of the forwards stay as they are. "
        "Lightning up to 2.5.4 runs the whole `training_step` in such a region under mixed precision; 2.5.5 to "
        "2.6.6 open it without a cache. Nothing is reported where the pins exclude torch <= 2.10, or, for "
        "Lightning's own region, lightning <= 2.5.4."
    ),
    fix="safe",
    versions="torch <= 2.10; in Lightning's own region also lightning <= 2.5.4",
    triggers=(*(word.encode() for word in (*WORDS, *RUNS)), b"precision="),
    check=check,
    collect=collect,
    context=context,
    present=present,
    mentions=(*MENTIONS, *(word.encode() for word in WORDS)),
    rows=partial(best_levels, (("B10", "safe"),)),
    examples=(
        Example(_HEAD + _STEP, _HEAD + _STEP_AFTER),
        Example(_SCRIPT, _SCRIPT_AFTER),
        Example(_MODULE, _MODULE_AFTER, "model.py", _TRAIN),
        Example(_MODULE, _MODULE, "model.py", _FULL),
        Example(_TEACHER, _TEACHER),
    ),
    references=(
        "https://github.com/pytorch/pytorch/issues/65766",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
)
