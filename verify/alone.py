"""Trains LightningModules by themselves, on batches that are made up.

Runs in the target's interpreter, beside the harness. `search` finds, for each module, arguments to build it with and
batches that its training step takes; `replay` trains what was found, so that two trees can be compared on the same.
"""

from __future__ import annotations

import contextlib
import heapq
import importlib
import inspect
import itertools
import json
import re
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any, TypeVar

from . import alone_arguments as arguments
from . import alone_batches as batches
from . import alone_errors as errors
from . import alone_sizes as sizes
from . import alone_values
from .alone_arguments import Hints
from .alone_data import Offers
from .alone_shapes import Shape, is_recorded
from .alone_stubs import PackageMissing, Stubs
from .alone_tries import (
    STEP_SCORE,
    Attempt,
    Bench,
    Doubtful,
    NothingLearned,
    State,
    TooLarge,
    TooSlow,
    attempt,
    constructed,
    fit,
    generator,
    is_lightning,
    takes_batch,
)
from .alone_weights import blank, unreached, wanted

T = TypeVar("T")
Waiting = tuple[float, int, State, str]
"""A state in the queue of a search, after how far it may lead, and with what was said before it."""
CHILDREN = 24
TRIES = 240
STUCK = 80
STARTS = 0.4
"""How much of a module's time goes to what the project says of its arguments, before the best of it is followed."""
DOUBT = 20
EXTRA = 24
"""How many tries batches of recorded shapes get beyond `TRIES`."""
BATCHES, EPOCHS = 8, 2
"""As many as a proof trains."""
MISSING = 12
_EVALUATE = {"validates": "validation_step", "tests": "test_step"}
"""What of a state says that a module is evaluated, and the step that does it."""
_NO_TIME = "there was no time to try it"


# -- finding modules


def load(bench: Bench, names: list[str]) -> ModuleType:
    """Import a file of the project by the first of its names that works, standing in for packages that are missing."""
    told: Exception | None = None
    for name in names:
        last: Exception | None = None
        for _ in range(MISSING):
            try:
                Stubs.loading = True
                return importlib.import_module(name)
            except ImportError as error:
                last = error
                if not bench.stubs.stands_in(error, bench.root):
                    break
            except Exception as error:
                last = error
                break
            finally:
                Stubs.loading = False
        told = last if told is None or "relative import" in str(told) else told
    raise told or ImportError(f"{names[0]} cannot be imported")


def modules_of(module: ModuleType) -> Iterator[type]:
    """The LightningModules that a file defines and that can train."""
    for value in list(vars(module).values()):
        if (
            isinstance(value, type)
            and value.__module__ == module.__name__
            and any(is_lightning(base) for base in value.__mro__)
            and not inspect.isabstract(value)
            and not is_lightning(_owner(value, "training_step"))
        ):
            yield value


def _owner(cls: type, name: str) -> type | None:
    return next((base for base in cls.__mro__ if name in base.__dict__), None)


# -- searching


def search(bench: Bench, spec: dict[str, Any], record: Callable[..., None]) -> None:
    """Find a recipe for each class of each file, and record it, or why there is none."""
    end = time.monotonic() + spec["budget"]
    bench.memory = spec["memory"]
    for number, file in enumerate(spec["modules"]):
        if time.monotonic() > end:
            if file["steps"]:
                record("unfound", path=file["path"], cls=None, why=_NO_TIME)
            continue
        try:
            module = load(bench, file["names"])
        except BaseException as error:
            record("unfound", path=file["path"], cls=None, why=f"it cannot be imported: {_said(error, bench.root)}")
            continue
        found = list(modules_of(module))
        order = {name: place for place, name in enumerate(file["classes"])}
        offers = Offers(bench, load, file["data"], file["shapes"])
        found.sort(key=lambda cls: order.get(cls.__name__, len(order)))
        for place, cls in enumerate(found):
            if time.monotonic() > end:
                record("unfound", path=file["path"], cls=cls.__name__, tries=0, why=_NO_TIME)
                continue
            others = sum(other["steps"] for other in spec["modules"][number + 1 :])
            seconds = max(5.0, (end - time.monotonic()) / (others + len(found) - place))
            values = file["hints"]
            calls = tuple(values["calls"].get(cls.__name__, ()))
            hints = Hints(values["values"], calls, tuple(values.get("groups", ())))
            _search_one(bench, file, cls, hints, spec["trainer"], seconds, record, offers)


def _search_one(
    bench: Bench,
    file: dict[str, Any],
    cls: type,
    hints: Hints,
    trainer: dict[str, Any],
    seconds: float,
    record: Callable[..., None],
    offers: Offers,
) -> None:
    bench.absent.clear()
    offers.begin(seconds)
    state, tries, best = _climb(bench, cls, hints, trainer, seconds, offers)
    about = {"path": file["path"], "cls": cls.__name__, "tries": tries}
    if state is None:
        why = _said(best.error, bench.root) if best and best.error else _NO_TIME
        record("unfound", **about, why=f"no arguments and batches were found in {tries} tries; the furthest: {why}")
        return
    recipe = {
        **about,
        **state.described,
        "names": file["names"],
        "absent": list(bench.absent) if state.weights else [],
        "trainer": trainer,
        "stubs": list(bench.stubs.names),
        "told": {
            "arguments": alone_values.told(state.arguments),
            "attributes": alone_values.told(state.attributes),
            "batch": batches.told(state.batch or {"items": []}) + offers.told(state.shaped, state.batch),
            "smaller": ", ".join(sizes.reduced(state.full or {}, state.arguments)),
        },
    }
    state, left = _evaluated(bench, cls, state, trainer)
    record("recipe", **{**recipe, **state.described}, left=left)


def _evaluated(bench: Bench, cls: type, state: State, trainer: dict[str, Any]) -> tuple[State, dict[str, str]]:
    """A state that trains, with the evaluation that its class defines and that works too, and why another does not."""
    left = {}
    for name, step in _EVALUATE.items():
        if getattr(state, name) or is_lightning(_owner(cls, step)):
            continue
        more = State.of({**state.described, name: True})
        tried = attempt(bench, cls, more, None, trainer)
        if tried.error is None:
            state = more
        else:
            left[name] = _said(tried.error, bench.root)
    return state, left


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


def _climb(
    bench: Bench,
    cls: type,
    hints: Hints,
    trainer: dict[str, Any],
    seconds: float,
    offers: Offers,
) -> tuple[State | None, int, Attempt | None]:
    """The first state that trains, how many were tried, and the attempt that came furthest: the first that wanted what
    no server gave, where no module was built at all."""
    end = time.monotonic() + seconds
    queue: list[Waiting] = []
    known: set[str] = set()
    order = 0
    best: Attempt | None = None
    wanting: Attempt | None = None
    doubted: State | None = None
    pace = _Pace(offers.shapes)
    offered: set[str] = set()
    waiting: deque[State] = deque()
    others: list[State]
    built: tuple[str, Any] | None = None

    def push(score: float, state: State, text: str) -> None:
        nonlocal order
        if state.key not in known:
            known.add(state.key)
            order += 1
            heapq.heappush(queue, (-score, order, state, text))

    slow = False
    begin = deque(State(given) for given in arguments.starts(cls, hints))
    tries = 0
    while (waiting or begin or queue) and tries - pace.extra < TRIES and time.monotonic() < end:
        early = not queue or (not slow and end - time.monotonic() > seconds * (1 - STARTS))
        is_start = bool(begin) and early and not waiting
        chosen = waiting or (begin if is_start else None)
        state, before = (chosen.popleft(), "") if chosen else heapq.heappop(queue)[2:]
        if is_start and state.key in known:
            continue
        plain, others = state, []
        shapes: Sequence[Shape] = ()
        if state.batch is None and state.key not in offered:
            plain = replace(state, shaped="")
            offered.add(plain.key)
            state, *others = [*offers.states(cls, plain), plain]
            shapes = () if others else pace.recorded()
        known.add(state.key)
        tries += 1
        held = json.dumps(state.arguments, sort_keys=True, default=str)
        made = built[1] if built and built[0] == held else None
        left = max(1.0, end - time.monotonic())
        tried = attempt(bench, cls, state, made, trainer, seconds=left, shapes=shapes)
        if made is not None and tried.error is not None and not errors.is_about_inputs(_text(tried)):
            left = max(1.0, end - time.monotonic())
            tried = attempt(bench, cls, state, None, trainer, seconds=left, shapes=shapes)
        state = replace(state, shaped=tried.shaped)
        is_extra = is_recorded(state.shaped) and (bool(shapes) or chosen is waiting)
        pace.extra += is_extra
        built = (held, tried.module) if tried.module is not None and tries % 20 else None
        if tried.error is None:
            took = tried.seconds * BATCHES * EPOCHS
            if took <= seconds / 2:
                return replace(state, batch=tried.spec), tries, tried
            doubted = replace(state, batch=tried.spec, slow=True)
            pace.hurry()
            tried = replace(tried, error=TooSlow(f"the training takes about {took:.0f} seconds"), score=4 * STEP_SCORE)
            queue, begin = [], deque()
        if tried.module is not None:
            waiting.extend(others)
            waiting.extend(replace(state, batch=spec, shaped=where) for spec, where in tried.others)
        elif others:
            known.add(plain.key)
            state, tried = plain, replace(tried, spec=None)
        if is_extra and isinstance(tried.error, TooSlow | TooLarge):
            pace.shapes = ()
            waiting = deque(one for one in waiting if not is_recorded(one.shaped))
            if waiting:
                continue
        slow = slow or isinstance(tried.error, TooSlow | TooLarge)
        text = _text(tried)
        is_further = not state.weights or tried.score >= 2 * STEP_SCORE
        if best is None or (tried.score > best.score and is_further):
            best = tried
        if isinstance(tried.error, Doubtful) and doubted is None:
            doubted = replace(state, batch=tried.spec)
            pace.hurry()
        if wanting is None and unreached(tried.error):
            wanting = tried
        if not is_extra:
            pace.note(text, tried.score, is_further)
        if pace.since > STUCK:
            kept = pace.rid(queue)
            if kept is None:
                break
            queue = kept
        if _is_final(tried) or (pace.is_rid and is_recorded(state.shaped)):
            continue
        score = tried.score + (0.5 if text != before else 0.0)
        state = replace(state, batch=tried.spec)
        for child, back in _quietly(_children(bench, cls, state, tried, hints)):
            push(score - back, child, text)
    return doubted, tries, wanting if wanting and best and best.module is None else best


def _text(tried: Attempt) -> str:
    return f"{type(tried.error).__name__}: {tried.error}"


def _quietly(found: Iterator[T]) -> Iterator[T]:
    """The values of an iterator up to its end or its first error: what objects of the project do is not known."""
    with contextlib.suppress(Exception):
        yield from found


def _is_final(tried: Attempt) -> bool:
    """Whether nothing that the error says will help: only other arguments from the project may."""
    return isinstance(tried.error, PackageMissing) or "empty parameter list" in str(tried.error)


def _children(bench: Bench, cls: type, state: State, tried: Attempt, hints: Hints) -> Iterator[tuple[State, float]]:
    """What to try after an attempt that failed, and how far each is to be put back."""
    error = tried.error
    if isinstance(error, TooSlow | TooLarge) and state.batch and tried.module is not None:
        found = batches.sized(state.batch, (batches.SIDE, batches.SIDE))
        if found != state.batch:
            yield replace(state, batch=found), 0
    if isinstance(error, TooLarge | TooSlow):
        default = sizes.defaults(cls)
        full = state.full or {**default, **state.arguments}
        for less in sizes.smaller(state.arguments, default):
            yield from (
                (replace(state, arguments=less, batch=batch, full=full), 0)
                for batch in ((state.batch, None) if state.batch else (None,))
            )
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
        value = arguments.guess(lacking[1], hints)
        yield replace(state, attributes={**state.attributes, lacking[1]: value}), 0
    given = _quietly(arguments.following(error, own, state.arguments, hints))
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
    for pair in sizes.sides(state.arguments, hints.values):
        yield replace(state, batch=batches.sized(state.batch, pair)), 0
    yield from ((replace(state, batch=found, shaped=""), 0) for found in list(batches.guesses(tried.module))[1:])


def _line(pair: tuple[FrameType, int]) -> str:
    import linecache

    return linecache.getline(pair[0].f_code.co_filename, pair[1])


def _said(error: BaseException | None, root: str) -> str:
    """An error in one line, with its place in the project."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__ if error else None):
        name = frame.f_code.co_filename
        if name.startswith(root):
            where = f" at {name[len(root) :].lstrip('/')}:{line}"
    return f"{text if len(text) <= 200 else text[:199] + '…'}{where}"


def replay(bench: Bench, recipe: dict[str, Any]) -> None:
    """Build a module as a recipe says and train it on its batches; errors are the caller's to record."""
    module = getattr(load(bench, recipe["names"]), recipe["cls"])
    state = State.of(recipe)
    with blank(bench.absent if state.weights else None):
        built = constructed(bench, module, state.arguments)
        made = [batches.make(recipe["batch"], generator(bench.seed + number)) for number in range(BATCHES)]
        runner, loader = fit(built, made, state, dict(recipe["trainer"]))
        for name in recipe["left"]:
            _try_evaluation(bench, name, runner, built, loader)


def _try_evaluation(bench: Bench, name: str, runner: Any, module: Any, loader: Any) -> None:
    """Record whether what fails in the other tree works here: nothing else of it counts."""
    own, bench.watch.record = bench.watch.record, lambda event, **values: None
    try:
        (runner.test if name == "tests" else runner.validate)(module, loader)
    except Exception:
        return
    finally:
        bench.watch.record = own
    own("evaluated", name=name)


__all__ = ["Bench", "replay", "search"]
