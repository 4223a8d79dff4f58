"""Drawing programs that train on 1.9.5, with Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.training.programs import Part, Program, Scheduler

OPTIMIZERS = st.sampled_from(["SGD", "Adam"])
HOOKS = ["before step", "after batch", "epoch end", "outputs", "zero grad", "step"]
LIMITS = ["limit_train_batches=2", "max_steps=5"]
CHECKS = ["check_val_every_n_epoch=2", "val_check_interval=0.5", "max_steps=7"]
SELDOM = st.integers(0, 7).map(lambda number: number == 7)


@st.composite
def schedulers(draw: st.DrawFn, plateau: bool) -> Scheduler:
    """A scheduler; `plateau` says whether there is a metric to monitor."""
    kind = draw(st.sampled_from(["step", "exponential", *(["plateau"] if plateau else [])]))
    interval = draw(st.sampled_from([None, "epoch"] if kind == "plateau" else [None, "step", "epoch"]))
    return Scheduler(kind, interval, draw(st.sampled_from([1, 1, 2, 3])))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A program; what 1.9.5 cannot run (a state with skipped batches, a metric nobody logs) is not drawn."""
    count = draw(st.sampled_from([1, 2, 2, 3]))
    state = draw(st.sampled_from([None, "tensor", "tuple", "nested"]))
    validation = draw(st.booleans())
    logging = draw(st.sampled_from(["plain", "none", "epoch", "dict"]))
    plateau = validation or (count == 1 and logging != "none")
    frequency = count > 1 and draw(SELDOM)
    clip = draw(st.sampled_from([None, "norm", "value"]))
    parts = tuple(
        Part(
            draw(OPTIMIZERS),
            draw(st.none() | schedulers(plateau)),
            draw(st.integers(1, 2)) if frequency else 0,
        )
        for _ in range(count)
    )
    several = ["elif", "else", "in", "return", "shared", "end", "default", "handed"]
    return Program(
        parts=parts,
        returned="dicts" if frequency else draw(st.sampled_from(["single", "list", "dicts"][: 2 + (count > 1)])),
        branches=draw(st.sampled_from(several)) if count > 1 else "elif",
        state=state,
        state_name=draw(st.sampled_from(["hiddens", "hiddens", "memory"])) if state else "hiddens",
        chunk=draw(st.integers(1, 4)) if state else 2,
        length=draw(st.integers(2, 6)) if state else 5,
        batch=draw(st.sampled_from(["tuple", "tuple", "dict"])),
        split=draw(st.sampled_from(["default", "default", "even", "short first"])) if state else "default",
        flag=draw(st.sampled_from(["init", "class"])) if state else "init",
        clip=clip,
        own_clipping=draw(SELDOM),
        accumulate=draw(st.integers(2, 3)) if not draw(st.booleans()) and (not state or draw(SELDOM)) else 1,
        logging=logging,
        result=draw(st.sampled_from(["tensor", "dict"])) if not state else "tensor",
        skip=not state and clip is None and draw(SELDOM),
        validation=validation,
        hook=draw(st.sampled_from([None] * 15 + HOOKS)),
        dropout=draw(st.booleans()),
        batches=draw(st.integers(1, 5)),
        epochs=draw(st.integers(1, 3)),
        trainer=draw(st.sampled_from(["function", "function", "other file", "keywords", "module"])),
        limit=draw(st.sampled_from([None] * 4 + LIMITS))
        if not validation
        else draw(st.sampled_from([None] * 4 + CHECKS)),
        imports=draw(st.sampled_from(["names", "pl"])),
        style=draw(st.sampled_from(["plain", "typed", "base"])),
        groups=draw(st.booleans()),
    )
