"""`fixer verify`: the proof alone, of the work tree or of one revision against another."""

from __future__ import annotations

import time
from pathlib import Path

from fixer.errors import UsageError
from fixer.pipeline import Progress
from fixer.project import Project, export, open_commit, open_tree
from fixer.result import Result
from fixer.settings import NEWEST, checked_target, pins_of, sources_of
from verify.process import scratch
from verify.prove import TIMEOUT_S, Request, prove


def compare(
    path: Path,
    base: str,
    head: str | None,
    target: str | None,
    python: Path | None,
    timeout: float | None,
    progress: Progress,
) -> Result:
    """The evidence on `head` (the work tree where None) against `base`.

    Raises UsageError outside a repository, for an unknown revision, or where no file differs.
    """
    started = time.monotonic()
    before = open_commit(path, base)
    after = open_commit(path, head) if head else open_tree(path)
    release = checked_target(target or after.config.target or NEWEST)
    changed = _changed(before, after)
    if not changed:
        raise UsageError(f"{path}: nothing differs between {base} and {head or 'the work tree'}; name another --base")
    with scratch() as folder:
        export(before, folder / "before", {})
        export(after, folder / "after", {})
        limit = timeout or after.config.verify.timeout
        evidence = prove(
            folder / "before",
            folder / "after",
            Request(
                group=f"{base}..{head or 'work tree'}",
                codes=(),
                changed=changed,
                target=release,
                baseline_below=None,
                before_pins=pins_of(sources_of(before)),
                after_pins=pins_of(sources_of(after)),
                python=python,
                timeout=limit or TIMEOUT_S,
            ),
            progress,
        )
    return Result(
        "verify",
        before.base,
        release,
        evidence=(evidence,),
        skipped=after.skipped,
        duration_s=time.monotonic() - started,
    )


def _changed(before: Project, after: Project) -> tuple[str, ...]:
    old = {source.path: source.data for source in before.sources}
    new = {source.path: source.data for source in after.sources}
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))
