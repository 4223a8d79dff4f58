"""Results to report: one of each kind, and whatever Hypothesis can think of."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import strategies as st

from codemods.finding import Finding, Fix, Span
from fixer.readiness import Readiness, Stop
from fixer.reports import RuleText
from fixer.reports.diff import unified
from fixer.result import Command, Commit, FileDiff, Result, Skipped
from verify.evidence import Alone, Environment, Evidence, Failure, Recording, Role, Rung, Scheduler, Verdict

RULES = {
    "TBP001": RuleText(
        "TBP001",
        "truncated-bptt",
        "truncated backpropagation is written by hand",
        "Lightning 2.0 removed `truncated_bptt_steps`.",
        "safe",
        "https://lightning.ai/docs/pytorch/stable/upgrade/from_1_7.html",
    ),
    "LIT101": RuleText(
        "LIT101", "trainer-gpus", "`Trainer(gpus=...)` becomes `accelerator=`", "Removed in 2.0.", "safe"
    ),
}

BASE = "3f2a1bc49d0e8c7b6a5f4e3d2c1b0a9f8e7d6c5b"
BRANCH = "fixer/lightning-2.6.6"

SAFE = Finding(
    "LIT101",
    "train.py",
    Span(31, 23, 31, 29),
    "`gpus` was removed from Trainer in 2.0",
    "safe",
    "the same devices",
    row="M017",
    applied=True,
)
UNSAFE = Finding(
    "LIT101",
    "src/cli.py",
    Span(8, 5, 9, 12),
    "`gpus` takes a value that is not known here",
    "unsafe",
    "`args.gpus` may be a string, for which 1.x had other rules",
)
MANUAL = Finding(
    "TBP001",
    "src/model.py",
    Span(40, 9, 52, 20),
    "`training_step` takes `hiddens`, which Lightning 2 no longer passes",
    "manual",
    "the class builds its optimizers in a function of another package; write the loop over chunks by hand",
)

OLD = Environment(
    "baseline", "3.10.14", (("lightning", "1.9.5"), ("torch", "2.8.0")), "the newest the requirements allow"
)
NEW = Environment("target", "3.10.14", (("lightning", "2.6.6"), ("torch", "2.8.0")), "the target")
TRAINED = Recording(
    script="train.py",
    fitted=True,
    failure=None,
    losses=(2.3125, 1.25, 0.4075),
    metrics=(("val_loss", 0.5),),
    learning_rates=((0.001,), (0.0005,)),
    optimizer_steps=20,
    global_step=20,
    epochs=1,
    unreached=(),
    weights=(("layer.weight", 1.5),),
    device="cpu",
    precision="32-true",
    seconds=3.5,
)
FAILED = replace(
    TRAINED,
    fitted=False,
    failure=Failure("TypeError", "Trainer.__init__() got an unexpected keyword argument 'gpus'", "train.py:31"),
    losses=(),
    optimizer_steps=0,
    global_step=None,
)
REPAIRED = Evidence(
    "lightning-2.6.6",
    ("TBP001", "LIT101"),
    "trains",
    "repaired",
    "failed before (TypeError at train.py:31), trains now; no numbers to compare",
    (OLD, NEW),
    FAILED,
    TRAINED,
)
PRESERVED = Evidence(
    "AMP001",
    ("AMP001",),
    "same",
    "preserved",
    "20 losses, 20 optimizer steps and 4 weights are the same within 1e-06",
    (OLD, NEW),
    TRAINED,
    TRAINED,
    1.5e-08,
    1e-06,
)
DIFF = unified("train.py", "trainer = Trainer(gpus=1)\nfit()\n", "trainer = Trainer(devices=1)\nfit()\n")

CHECK = Result("check", BASE, "2.6.6", findings=(replace(SAFE, applied=False), UNSAFE, MANUAL), duration_s=0.4)
RUN = Result(
    "run",
    BASE,
    "2.6.6",
    "speech",
    BRANCH,
    findings=(SAFE, UNSAFE, MANUAL),
    files=(FileDiff("train.py", DIFF), FileDiff("src/model.py", unified("src/model.py", "a\nb\n", "a\nc\nd\n"))),
    commits=(
        Commit("b" * 40, "LIT101", "lightning-2.6.6", "LIT101: `Trainer(gpus=...)` becomes `accelerator=`", (SAFE.id,)),
    ),
    evidence=(REPAIRED, PRESERVED),
    skipped=(Skipped("data/huge.py", "larger than 1 MB"),),
    messages=("uncommitted changes in 1 file are left out",),
    duration_s=41.23,
)
STOP = Stop(MANUAL.path, 41, MANUAL.message, MANUAL.reason, "TBP001")
NOT_READY = replace(RUN, readiness=Readiness(False, "2.6.6", (STOP,)))
NOTHING = Result("check", BASE, "2.6.6", messages=("no file has anything that a rule checks: nothing to do",))
BROKEN = Result("run", None, "2.6.6", error="no repository here: run fixer inside a git repository")

HOSTILE = (
    "x\n::error file=a::pwned\r\n| a | b |\n</details><script>alert(1)</script> `tick` ``` "
    "[red]x[/red] @org #1 \x1b[31m"
)


def many(number: int, reason: str = "") -> tuple[Finding, ...]:
    """Findings that nothing repairs."""
    return tuple(
        Finding(
            "TBP001", f"src/part_{index % 7}.py", Span(index + 1, 1, index + 1, 9), f"place {index}", "manual", reason
        )
        for index in range(number)
    )


HARD_TEXT = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            HOSTILE,
            "",
            "a|b",
            "[red]x[/red]",
            "::error::x",
            "##[error]x",
            "a\\`b",
            "<b>",
            "- x",
            "1. x",
            "`",
            "[/]",
            "é → ü",
        ]
    ),
)
_FLOATS = st.floats()
_COUNTS = st.integers(0, 10**6)


def _span(line: int, column: int, lines: int, columns: int) -> Span:
    return Span(line, column, line + lines, column + columns)


SPANS = st.builds(_span, st.integers(1, 9999), st.integers(1, 200), st.integers(0, 50), st.integers(0, 80))
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(["TBP001", "LIT101", "OTHER9"]),
    path=HARD_TEXT,
    span=SPANS,
    message=HARD_TEXT,
    fix=st.sampled_from(get_args(Fix)),
    reason=HARD_TEXT,
    row=st.none() | st.just("M017"),
    cell=st.none() | st.integers(0, 9),
    applied=st.booleans(),
)
RECORDINGS = st.builds(
    Recording,
    script=HARD_TEXT,
    fitted=st.booleans(),
    failure=st.none() | st.builds(Failure, HARD_TEXT, HARD_TEXT, st.none() | HARD_TEXT),
    losses=st.lists(_FLOATS, max_size=4).map(tuple),
    metrics=st.lists(st.tuples(HARD_TEXT, _FLOATS), max_size=3).map(tuple),
    learning_rates=st.lists(st.lists(_FLOATS, max_size=2).map(tuple), max_size=3).map(tuple),
    optimizer_steps=_COUNTS,
    global_step=st.none() | _COUNTS,
    epochs=st.none() | _COUNTS,
    unreached=st.lists(HARD_TEXT, max_size=2).map(tuple),
    weights=st.lists(st.tuples(HARD_TEXT, _FLOATS), max_size=3).map(tuple),
    device=st.none() | HARD_TEXT,
    devices=st.none() | _COUNTS,
    precision=st.none() | HARD_TEXT,
    seconds=_FLOATS,
    logged=st.lists(st.tuples(HARD_TEXT, st.lists(_FLOATS, max_size=2).map(tuple)), max_size=2).map(tuple),
    graphs=st.lists(st.tuples(_COUNTS, _COUNTS), max_size=2).map(tuple),
    schedulers=st.lists(
        st.builds(Scheduler, HARD_TEXT, _COUNTS, st.lists(_FLOATS, max_size=2).map(tuple), st.none() | _FLOATS),
        max_size=1,
    ).map(tuple),
    planned=st.lists(st.tuples(HARD_TEXT, st.none() | _COUNTS), max_size=2).map(tuple),
)
ENVIRONMENTS = st.builds(
    Environment,
    role=st.sampled_from(get_args(Role)),
    python=HARD_TEXT,
    packages=st.lists(st.tuples(st.sampled_from(["lightning", "torch", "rich"]), HARD_TEXT), max_size=3).map(tuple),
    reason=HARD_TEXT,
)
ALONE = st.builds(
    Alone,
    module=HARD_TEXT,
    arguments=HARD_TEXT,
    batch=HARD_TEXT,
    notes=st.lists(HARD_TEXT, max_size=2).map(tuple),
    verdict=st.sampled_from(get_args(Verdict)),
    rung=st.none() | st.sampled_from(get_args(Rung)),
    reason=HARD_TEXT,
    max_difference=st.none() | _FLOATS,
    tolerance=st.none() | _FLOATS,
    before=st.none() | RECORDINGS,
    after=RECORDINGS,
)
EVIDENCE = st.builds(
    Evidence,
    group=HARD_TEXT,
    codes=st.lists(HARD_TEXT, max_size=3).map(tuple),
    rung=st.none() | st.sampled_from(get_args(Rung)),
    verdict=st.sampled_from(get_args(Verdict)),
    reason=HARD_TEXT,
    environments=st.lists(ENVIRONMENTS, max_size=2).map(tuple),
    before=st.none() | RECORDINGS,
    after=st.none() | RECORDINGS,
    max_difference=st.none() | _FLOATS,
    tolerance=st.none() | _FLOATS,
    problems=st.lists(HARD_TEXT, max_size=2).map(tuple),
    left=st.lists(HARD_TEXT, max_size=2).map(tuple),
    alone=st.lists(ALONE, max_size=1).map(tuple),
)
READINESS = st.builds(
    Readiness,
    ready=st.booleans(),
    target=st.just("2.6.6"),
    stops=st.lists(
        st.builds(Stop, HARD_TEXT, st.none() | _COUNTS, HARD_TEXT, HARD_TEXT, st.none() | HARD_TEXT), max_size=2
    ).map(tuple),
    caveat=HARD_TEXT,
)
RESULTS = st.builds(
    Result,
    command=st.sampled_from(get_args(Command)),
    base=st.none() | st.just(BASE),
    target=st.sampled_from(["2.6.6", "2.0.9"]),
    branch=st.none() | HARD_TEXT,
    findings=st.lists(FINDINGS, max_size=5).map(tuple),
    files=st.lists(st.builds(FileDiff, HARD_TEXT, st.just(DIFF) | HARD_TEXT), max_size=2).map(tuple),
    commits=st.lists(
        st.builds(Commit, HARD_TEXT, HARD_TEXT, HARD_TEXT, HARD_TEXT, st.lists(HARD_TEXT, max_size=2).map(tuple)),
        max_size=2,
    ).map(tuple),
    evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
    skipped=st.lists(st.builds(Skipped, HARD_TEXT, HARD_TEXT), max_size=3).map(tuple),
    messages=st.lists(HARD_TEXT, max_size=2).map(tuple),
    error=st.none() | HARD_TEXT,
    duration_s=_FLOATS,
    readiness=st.none() | READINESS,
)
