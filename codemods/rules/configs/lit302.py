"""LIT302: names of Lightning that moved, in the strings of YAML, JSON and TOML files."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.code.source import TextFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.metrics.table import TASK, metric_of
from codemods.rules.names.in_configurations import names_in
from codemods.rules.names.table import NAMESPACES, Gone, find, message, spelled, split

CODE = "LIT302"


def _check(file: TextFile, facts: Facts) -> Iterator[Match]:
    target = tuple(int(part) for part in facts.target.split(".")[:2]) if facts.target else (2, 6)
    for start, end in names_in(file, NAMESPACES):
        parts = split(file.text[start:end])
        entry = find(parts[1]) if parts else None
        if parts and entry and entry.release < target:
            yield _match(file, start, end, parts[0], entry)


def _match(file: TextFile, start: int, end: int, namespace: str, entry: Gone) -> Match:
    span = file.span(start, end)
    if not entry.new or entry.expression:
        reason = (
            f"It has no replacement of the same kind: {entry.advice}." if entry.advice else "It has no replacement."
        )
        return Match(span, message(namespace, entry), "manual", reason, entry.row)
    now = spelled(entry.new, namespace)
    if metric_of(now):
        why = f"Not rewritten: {TASK}. Write `{now}` instead."
        return Match(span, message(namespace, entry), "manual", why, entry.row)
    reason = f"It is `{now}` now" + (f"; {entry.caution}." if entry.caution else ".")
    edit = TextEdit(start, end, now)
    return Match(
        span,
        message(namespace, entry),
        "unsafe" if entry.caution else "safe",
        reason,
        entry.row,
        (edit,),
        needs=entry.since,
    )


BEFORE = """\
trainer:
  callbacks:
    - class_path: "pytorch_lightning.callbacks.base.Callback"  # ours
    - {_target_: pytorch_lightning.callbacks.ModelCheckpoint, monitor: val_loss}
"""
AFTER = BEFORE.replace("callbacks.base.Callback", "callbacks.callback.Callback")
COMMENT = (
    "# _target_: pytorch_lightning.callbacks.base.Callback\nnote: see pytorch_lightning.callbacks.base.Callback there\n"
)

RULE = Rule(
    code=CODE,
    name="config-moved-name",
    summary="Moved names in `_target_`, `class_path` and their like are spelled as they are now",
    why=(
        "Hydra and LightningCLI import what a string of the configuration names: a name that moved is an ImportError "
        "when the configuration is used. The table is that of LIT001."
    ),
    fix="safe",
    versions="every release before the target; each name goes by the last release that had it",
    triggers=(b"pytorch_lightning.", b"lightning.pytorch."),
    check=_check,
    kinds=("yaml", "json", "toml"),
    examples=(
        Example(BEFORE, AFTER, path="config.yaml"),
        Example(COMMENT, COMMENT, path="config.yaml"),
    ),
    breaks_in="2.0.0",
    needs="2.0.0",
)
