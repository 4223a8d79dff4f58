"""How the search for arguments and batches of one module goes on: from what the project says of it, by what each try
that failed says, to a state that trains.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import linecache
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, TypeVar

from . import alone_argument_errors as argument_errors
from . import alone_arguments as arguments
from . import alone_batches as batches
from . import alone_errors as errors
from . import alone_sizes as sizes
from .alone_arguments import ArgumentHints
from .alone_data import Offers
from .alone_shapes import Shape, is_recorded
from .alone_stubs import PackageMissing
from .alone_tries import (
    BATCHES,
    EPOCHS,
    ONE_TRY_S,
    STEP_SCORE,
    Attempt,
    Doubtful,
    NothingLearned,
    TooLarge,
    TooSlow,
    TryBench,
    TryState,
    attempt,
    said,
    takes_batch,
)
from .alone_values import is_called, unbuilt
from .alone_weights import unreached, wanted

T = TypeVar("T")
Waiting = tuple[float, int, TryState, str]
"""A state in the queue of a search, after how far it may lead, and with what was said before it."""
CHILDREN = 24
TRIES = 240
STUCK = 80
STARTS = 0.4
"""How much of a module's time goes to what the project says of its arguments, before the best of it is followed."""
DOUBT = 20
MENDED = 60
"""How many tries go to arguments that the project passes and that were not made, before guesses are followed."""
_REFUSED = re.compile(r"Support for `\w+` has been removed in v\d")
_NUMBERS = re.compile(r"\d+")
CALLED = 10
"""How many other arguments a method that is called before gets after an error in it."""
QUICK_S, QUICK = 8.0, 6
"""A try may first take so many seconds, or a share of the search: what is too slow then waits until nothing else is
left, or most of the time is gone, as one that takes more shows little of the many that a search needs."""
LAST = 3
"""The share of the search that is left then."""
LARGE = 2
"""Pictures that are so many times as large as those that a step took part of are tried after what its error says."""
LATER = 1000
"""How far back is more than any number of layers that a try came through puts ahead."""
EXTRA = 24
"""How many tries batches of recorded shapes get beyond `TRIES`."""


@dataclass
class _Pace:
    """Whether a search gets further: the furthest that it `reached`, and for how many tries it did not. What the tries
    of recorded `shapes` are is `extra`: they say nothing of that."""

    shapes: Sequence[Shape]
    extra: int = 0
    said: str = ""
    since: int = 0
    reached: float = 0.0
    is_rid: bool = False

    def recorded(self) -> Sequence[Shape]:
        """The shapes to begin with."""
        return self.shapes if self.extra < EXTRA else ()

    def note(self, text: str, score: float, is_further: bool) -> None:
        self.reached = max(self.reached, score) if is_further else self.reached
        self.since = self.since + 1 if text == self.said or score < self.reached else 0
        self.said = text

    def hurry(self) -> None:
        self.since = max(self.since, STUCK - DOUBT)

    def rid(self, queue: list[Waiting]) -> list[Waiting] | None:
        """The queue of a search that is stuck without what recorded shapes led to; None where they led to nothing."""
        kept = [one for one in queue if not is_recorded(one[2].shaped)]
        if len(kept) == len(queue):
            return None
        heapq.heapify(kept)
        self.shapes, self.is_rid, self.since, self.reached = (), True, 0, 0.0
        return kept


@dataclass
class _Turn:
    """A state that is tried, with what was said before it; of one without a batch `plain` is as it came, `others` are
    the batches that come next, and `shapes` those that its first batch may have. `is_extra` says that its batch has a
    recorded shape that is tried besides."""

    state: TryState
    before: str
    is_waiting: bool
    plain: TryState
    others: Sequence[TryState] = ()
    shapes: Sequence[Shape] = ()
    is_extra: bool = False


class Climb:
    """The search for a state of one class that trains, within some seconds."""

    def __init__(
        self, bench: TryBench, cls: type, hints: ArgumentHints, trainer: dict[str, Any], seconds: float, offers: Offers
    ) -> None:
        self.bench, self.cls, self.hints, self.trainer, self.offers = bench, cls, hints, trainer, offers
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.begin = deque(TryState(given) for given in arguments.starts(cls, hints))
        self.waiting: deque[TryState] = deque()
        self.queue: list[Waiting] = []
        self.mending: deque[tuple[TryState, str]] = deque()
        self.late: deque[TryState] = deque()
        self.most = min(ONE_TRY_S, max(QUICK_S, seconds / QUICK))
        self.mended = 0
        self.order = self.tries = 0
        self.known: set[str] = set()
        self.heard: set[str] = set()
        self.offered: set[str] = set()
        self.pace = _Pace(offers.shapes)
        self.built: tuple[str, Any] | None = None
        self.is_slow = False
        self.best: tuple[float, str] | None = None
        self.wanting = ""
        self.doubted: TryState | None = None

    def run(self) -> tuple[TryState | None, int, str]:
        """The first state that trains, how many were tried, and what the try that came furthest ended with: the first
        that wanted what no server gave, where no module was built at all."""
        while self._is_on() and (self.pace.since <= STUCK or self._rid()):
            turn = self._next()
            if turn is not None and (found := self._step(turn)) is not None:
                return found, self.tries, ""
        score, furthest = self.best or (0.0, "")
        return self.doubted, self.tries, (self.wanting if score < STEP_SCORE else "") or furthest

    def _step(self, turn: _Turn) -> TryState | None:
        """Try one state: what it is where it trains; else what its error says is waiting to be tried."""
        tried = self._try(turn)
        if tried.error is None:
            if not self._is_long(tried):
                return replace(turn.state, batch=tried.spec)
            tried = self._too_slow(turn, tried)
        tried = self._with_others(turn, tried)
        if turn.is_extra and isinstance(tried.error, TooSlow | TooLarge) and self._without_shapes():
            return None
        self._note(turn, tried)
        if _is_of_class(tried):
            self.queue, self.begin, self.waiting, self.mending = [], deque(), deque(), deque()
        self._follow(turn, tried)
        return None

    def _is_on(self) -> bool:
        left = bool(self.mending or self.waiting or self.begin or self.queue or self.late)
        return left and self.tries - self.pace.extra < TRIES and time.monotonic() < self.end

    def _next(self) -> _Turn | None:
        """What is tried next; None where it was before."""
        left = self.end - time.monotonic()
        early = not self.queue or (not self.is_slow and left > self.seconds * (1 - STARTS))
        is_waiting = bool(self.waiting)
        is_start = bool(self.begin) and early and not is_waiting
        if self.mending:
            state, before = self.mending.popleft()
            is_waiting = is_start = False
        elif is_waiting or is_start:
            state, before = (self.waiting if is_waiting else self.begin).popleft(), ""
        elif self.late and (not self.queue or left < self.seconds / LAST):
            self.most = ONE_TRY_S
            state, before = self.late.popleft(), ""
        else:
            state, before = heapq.heappop(self.queue)[2:]
        if is_start and state.key in self.known:
            return None
        turn = _Turn(state, before, is_waiting, state)
        if state.batch is None and state.key not in self.offered:
            turn.plain = replace(state, shaped="")
            self.offered.add(turn.plain.key)
            turn.state, *turn.others = [*self.offers.states(self.cls, turn.plain), turn.plain]
            turn.shapes = () if turn.others else self.pace.recorded()
        self.known.add(turn.state.key)
        self.tries += 1
        return turn

    def _try(self, turn: _Turn) -> Attempt:
        """Train a state, on the module that the try before built where that is the same; once more on a new one where
        an error may come from what was done to it."""
        held = json.dumps(turn.state.arguments, sort_keys=True, default=str)
        same = self.built is not None and self.built[0] == held
        same = same and not any(map(is_called, turn.state.attributes.values()))
        tried = self._attempt(turn, same)
        if same and tried.error is not None and not errors.is_about_inputs(_text(tried)):
            del tried
            tried = self._attempt(turn, False)
        turn.state = replace(turn.state, shaped=tried.shaped)
        turn.is_extra = is_recorded(tried.shaped) and (bool(turn.shapes) or turn.is_waiting)
        self.pace.extra += turn.is_extra
        self.built = (held, tried.module) if tried.module is not None and self.tries % 20 else None
        return tried

    def _attempt(self, turn: _Turn, same: bool) -> Attempt:
        """Train a state on the module that was built before or on a new one; there are no two at a time."""
        left = max(1.0, self.end - time.monotonic())
        module = self.built[1] if self.built and same else None
        self.built = None
        tried = attempt(
            self.bench, self.cls, turn.state, module, self.trainer, seconds=left, most=self.most, shapes=turn.shapes
        )
        if isinstance(tried.error, TooSlow) and self.most < ONE_TRY_S:
            self.late.append(replace(turn.state, batch=tried.spec, shaped=tried.shaped))
        return tried

    def _is_long(self, tried: Attempt) -> bool:
        """Whether a training whose steps take as long as those of a try takes most of the time."""
        return _took(tried) > self.seconds / 2

    def _too_slow(self, turn: _Turn, tried: Attempt) -> Attempt:
        """A try that trains, but takes most of the time: smaller ones alone are looked for in what is left."""
        self.doubted = replace(turn.state, batch=tried.spec, slow=True)
        self.pace.hurry()
        self.queue, self.begin, self.late = [], deque(), deque()
        error = TooSlow(f"the training takes about {_took(tried):.0f} seconds")
        return replace(tried, error=error, score=4 * STEP_SCORE)

    def _with_others(self, turn: _Turn, tried: Attempt) -> Attempt:
        """Put the other batches of a module that was built next; one that was not goes on without a batch."""
        if tried.module is not None:
            self.waiting.extend(turn.others)
            self.waiting.extend(replace(turn.state, batch=spec, shaped=where) for spec, where in tried.others)
        elif turn.others:
            self.known.add(turn.plain.key)
            turn.state, tried = turn.plain, replace(tried, spec=None)
        return tried

    def _without_shapes(self) -> bool:
        """Leave recorded shapes, of which one was too much; whether other batches come next."""
        self.pace.shapes = ()
        self.waiting = deque(one for one in self.waiting if not is_recorded(one.shaped))
        return bool(self.waiting)

    def _note(self, turn: _Turn, tried: Attempt) -> None:
        """Keep the furthest try, and whether the search gets further."""
        self.is_slow = self.is_slow or isinstance(tried.error, TooSlow | TooLarge)
        is_further = not turn.state.weights or tried.score >= 2 * STEP_SCORE
        if self.best is None or (tried.score > self.best[0] and is_further):
            self.best = tried.score, said(tried.error, self.bench.root)
        if isinstance(tried.error, Doubtful) and self.doubted is None:
            self.doubted = replace(turn.state, batch=tried.spec)
            self.pace.hurry()
        if not self.wanting and unreached(tried.error):
            self.wanting = said(tried.error, self.bench.root)
        if not turn.is_extra:
            self.pace.note(_text(tried), tried.score, is_further)

    def _rid(self) -> bool:
        """Go on without what recorded shapes led to, where the search is stuck; whether anything is left then."""
        kept = self.pace.rid(self.queue)
        self.queue = self.queue if kept is None else kept
        return kept is not None

    def _follow(self, turn: _Turn, tried: Attempt) -> None:
        """Put what the error suggests into the queue."""
        if _is_final(turn.state, tried) or (self.pace.is_rid and is_recorded(turn.state.shaped)):
            return
        text = _text(tried)
        score = tried.score + (0.5 if text != turn.before else 0.0) + self._news(text)
        state = replace(turn.state, batch=tried.spec)
        found = _quietly(children(self.bench, self.cls, state, tried, self.hints))
        if isinstance(tried.error, NothingLearned) and self._is_long(tried):
            found = _smaller_first(self.cls, state, found)
        first: list[TryState] = []
        for child, back in found:
            if self.mended < MENDED and (unbuilt(tried.error) or _calls_anew(child, state)) and len(first) < MENDED:
                first.append(child)
            else:
                self._push(score - back, child, text)
        if text != turn.before:
            self._mend(first, text)

    def _news(self, text: str) -> float:
        """How far what nothing was said like before goes ahead of what others said: the latest the farthest."""
        plain, had = _NUMBERS.sub("", text), len(self.heard)
        self.heard.add(plain)
        return 0.2 + had / 1000 if len(self.heard) > had else 0.0

    def _mend(self, found: Sequence[TryState], text: str) -> None:
        """Try next what may mend an argument that was not made, or a method that was not called: what the project
        passes and does is followed before a guess."""
        new = [child for child in found if child.key not in self.known]
        self.known.update(child.key for child in new)
        self.mended += len(new)
        self.mending.extendleft((child, text) for child in reversed(new))

    def _push(self, score: float, state: TryState, text: str) -> None:
        if state.key not in self.known:
            self.known.add(state.key)
            self.order += 1
            heapq.heappush(self.queue, (-score, self.order, state, text))


def _text(tried: Attempt) -> str:
    return f"{type(tried.error).__name__}: {tried.error}"


def _quietly(found: Iterator[T]) -> Iterator[T]:
    """The values of an iterator up to its end or its first error: what objects of the project do is not known."""
    with contextlib.suppress(Exception):
        yield from found


def _is_final(state: TryState, tried: Attempt) -> bool:
    """Whether nothing that the error says will help: only other arguments from the project may."""
    is_empty = "empty parameter list" in str(tried.error) and not argument_errors.unbuilt_networks(state.arguments)
    return is_empty or isinstance(tried.error, PackageMissing) or _is_of_class(tried)


def _is_of_class(tried: Attempt) -> bool:
    """Whether Lightning refuses the class for a hook that it calls no more, whatever it is built with and given."""
    return isinstance(tried.error, NotImplementedError) and _REFUSED.search(str(tried.error)) is not None


def _took(tried: Attempt) -> float:
    return tried.seconds * BATCHES * EPOCHS


def _smaller(cls: type, state: TryState) -> Iterator[TryState]:
    """A state with smaller arguments, with its batch before without one."""
    default = sizes.defaults(cls)
    full = state.full or {**default, **state.arguments}
    for less in sizes.smaller(state.arguments, default):
        for batch in (state.batch, None) if state.batch else (None,):
            yield replace(state, arguments=less, batch=batch, full=full)


def _smaller_first(
    cls: type, state: TryState, found: Iterator[tuple[TryState, float]]
) -> Iterator[tuple[TryState, float]]:
    """What to try after a state that learns nothing and is slow at that: what its error says is followed on a smaller
    one, and on itself where those lead to nothing."""
    smaller = [one for one in _smaller(cls, state) if one.batch]
    yield from ((one, 0) for one in smaller)
    yield from ((child, back + (LATER if smaller else 0)) for child, back in found)


def children(
    bench: TryBench, cls: type, state: TryState, tried: Attempt, hints: ArgumentHints
) -> Iterator[tuple[TryState, float]]:
    """What to try after an attempt that failed, and how far each is to be put back."""
    error = tried.error
    if isinstance(error, TooSlow | TooLarge) and state.batch and tried.module is not None:
        found = batches.sized(state.batch, (batches.SIDE, batches.SIDE))
        if found != state.batch:
            yield replace(state, batch=found), 0
    if isinstance(error, TooLarge | TooSlow):
        yield from ((one, 0) for one in _smaller(cls, state))
    if error is None or isinstance(error, TooLarge | TooSlow):
        return
    own = [pair for pair in reversed(tried.frames) if pair[0].f_code.co_filename.startswith(bench.root)]
    hooks = [frame.f_code.co_name for frame, _ in own if frame.f_code.co_name in ("setup", "prepare_data")]
    if hooks and hooks[0] not in state.skipped:
        yield replace(state, skipped=(*state.skipped, hooks[0])), 0
    if "datamodule" in str(error) or any("datamodule" in _line(pair) for pair in own[:1]):
        yield replace(state, datamodule=True), 0
    if wanted(error, tried.frames) and not state.weights:
        yield replace(state, weights=True), 0
    if "conditioned on metric" in str(error) and not state.validates:
        yield replace(state, validates=True), 0
    lacking = re.match(rf"'{cls.__name__}' object has no attribute '(\w+)'", str(error))
    if lacking and lacking[1] not in state.attributes:
        for name, kwargs in arguments.preparing(cls, lacking[1], hints):
            if name not in state.attributes:
                yield replace(state, attributes={**state.attributes, name: {"@": "called", "kwargs": kwargs}}), 0
        value = arguments.guess(lacking[1], hints)
        yield replace(state, attributes={**state.attributes, lacking[1]: value}), 0
    for name, called in _calling(own, state):
        more = argument_errors.following(error, own, called["kwargs"], hints)
        for kwargs in itertools.islice(_quietly(more), CALLED):
            yield replace(state, attributes={**state.attributes, name: {**called, "kwargs": kwargs}}), 0
    given = _quietly(argument_errors.following(error, own, state.arguments, hints))
    in_step = takes_batch(tried.frames)
    if state.batch is None or tried.module is None or not (in_step or isinstance(error, NothingLearned | Doubtful)):
        yield from ((replace(state, arguments=found, batch=None, shaped=""), 0) for found in given)
        return
    trouble = errors.Trouble(error, tried.frames, state.batch, tried.made, tried.module, bench.root)
    other = ((replace(state, batch=found), back) for found, back in _quietly(errors.following(trouble)))
    inside = ((replace(state, arguments=found), 0.0) for found in given)
    first = errors.is_about_inputs(trouble.text) or isinstance(error, NothingLearned)
    yield from itertools.islice(other if first else inside, CHILDREN * 2 // 3)
    yield from itertools.islice(inside if first else other, CHILDREN)
    largest = max((part["shape"][-1] for _, part in batches.leaves(state.batch) if len(part["shape"]) == 4), default=0)
    for pair in sizes.sides(state.arguments, hints.values):
        yield replace(state, batch=batches.sized(state.batch, pair)), float(in_step and max(pair) > LARGE * largest)
    yield from ((replace(state, batch=found, shaped=""), 0) for found in list(batches.guesses(tried.module))[1:])


def _calls_anew(child: TryState, state: TryState) -> bool:
    return child.attributes != state.attributes and any(map(is_called, child.attributes.values()))


def _calling(own: Sequence[tuple[FrameType, int]], state: TryState) -> list[tuple[str, dict[str, Any]]]:
    """The method that a state has called, where an error passed it."""
    running = {frame.f_code.co_name for frame, _ in own}
    return [(name, value) for name, value in state.attributes.items() if is_called(value) and name in running]


def _line(pair: tuple[FrameType, int]) -> str:
    return linecache.getline(pair[0].f_code.co_filename, pair[1])
