"""`fixer verify`: the proof alone, of the work tree, of one revision, or of one against another."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from codemods.engine.plan import find
from codemods.lightning.pins.stated import is_forked, pins_of
from fixer.command_line_entry import EntryOptions, laid_over
from fixer.errors import UsageError
from fixer.pipeline import Progress
from fixer.project import Project, export, open_commit, open_tree, written_on
from fixer.proof import broken_in, proof_options, request
from fixer.result import Result, RunInterrupted
from fixer.settings import NEWEST, OLDEST, SharedOptions, options_for, sources_of
from verify.budget import Interrupted
from verify.environments.baseline import LIGHTNING, named
from verify.environments.releases import MINORS
from verify.evidence import Evidence, Rung
from verify.prove import prove
from verify.sandbox.process import scratch

FURTHER = "give it more with --budget"
ANOTHER = "--target takes another"


@dataclass(frozen=True)
class ComparedTrees:
    """What is compared: `head` (the work tree where None) with `base`; `asked` says whether the user named either."""

    path: Path
    base: str
    head: str | None
    asked: bool

    @classmethod
    def named(cls, words: Sequence[str], base: str | None, head: str | None) -> ComparedTrees:
        """The trees that a command line names: a path that is there, and one revision or `OLD..NEW`."""
        paths = [word for word in words if Path(word).exists()]
        revisions = [word for word in words if word not in paths]
        if len(paths) > 1 or len(revisions) > 1:
            raise UsageError(f"{' '.join(words)}: give at most one path that is there and one revision, or two as A..B")
        path = Path(paths[0]) if paths else Path()
        if not revisions:
            return cls(path, base or "HEAD", head, bool(base or head))
        if base or head:
            raise UsageError(f"{revisions[0]}: revisions are named already; leave out --base and --head")
        if "..." in revisions[0]:
            raise UsageError(f"{revisions[0]}: give two revisions with two dots between them, as OLD..NEW")
        old, dots, new = revisions[0].partition("..")
        return cls(path, old or "HEAD", new or "HEAD", True) if dots else cls(path, f"{old}~1", old, True)


def compare(
    trees: ComparedTrees,
    conforms: bool,
    target: str | None,
    python: Path | None,
    timeout: float | None,
    readable: tuple[Path, ...],
    progress: Progress,
    records: Path | None = None,
    budget: float | None = None,
    required: Rung | None = None,
    given: EntryOptions | None = None,
) -> Result:
    """The evidence on one tree against another. With `conforms` nothing of them is run, and without a revision the
    whole work tree is looked at. What is recorded is kept in `records`. `given` is to be run, this one time.

    Raises UsageError outside a repository, for an unknown revision, where no file differs, or where the settings
    switch the proof off.
    """
    started = time.monotonic()
    after = open_commit(trees.path, trees.head) if trees.head else open_tree(trees.path)
    after = laid_over(after, given) if given else after
    before = after if conforms and not trees.asked else open_commit(trees.path, trees.base)
    if not conforms and not after.config.verify.enabled:
        raise UsageError("verify.enabled is false in pyproject.toml; set it, or look only at names with --conforms")
    options = options_for(SharedOptions(trees.path, target=target, plugins=()), after)
    between = f"{trees.base} and {trees.head or 'the work tree'}"
    changed = tuple(source.path for source in after.sources) if before is after else _changed(before, after)
    if not changed:
        raise UsageError(f"{trees.path}: nothing differs between {between}; name two revisions as OLD..NEW")
    said = after.about_settings
    is_chosen = target or python or after.config.target or after.config.verify.target_python
    if before is not after and not is_chosen and (own := newest_admitted(options.pins)):
        options = replace(options, target=own)
        said = (*said, f"on Lightning {own}, the newest that {trees.head or 'the work tree'} admits: {ANOTHER}")
    old = sources_of(before)
    pins = pins_of(old)
    then = replace(options, pins=pins, forked=is_forked(old))
    below = None if conforms else broken_in(find(old, then).findings, then, pins, old)
    with scratch() as folder:
        if conforms:
            _write_what_names_lightning(after, folder / "after")
        else:
            export(before, folder / "before", {})
            export(after, folder / "after", {})
        how = proof_options(after, python, timeout, readable, records, budget, required, FURTHER)
        if how.clock:
            how.clock.begin(started)
        asked = request(
            how,
            group="work tree" if before is after else f"{trees.base}..{trees.head or 'work tree'}",
            codes=(),
            changed=changed,
            target=options.target,
            below=below,
            before_pins=pins,
            after_pins=options.pins,
            written=written_on(before),
            conforms_only=conforms,
        )
        stopped, evidence = False, tuple[Evidence, ...]()
        try:
            evidence = (prove(folder / ("after" if conforms else "before"), folder / "after", asked, progress),)
        except Interrupted as stop:
            stopped, evidence = True, stop.evidence
    result = Result(
        "verify",
        before.base,
        options.target,
        project=after.root.resolve().name,
        evidence=evidence,
        skipped=after.skipped,
        messages=said,
        duration_s=time.monotonic() - started,
    )
    if stopped:
        raise RunInterrupted(replace(result, error="interrupted"))
    return result


def newest_admitted(pins: Iterable[str]) -> str | None:
    """The newest release of those that fixer moves to which requirements admit, where these leave the newest of all
    out; None where they do not, or admit none of them."""
    wanted = [one.specifier for one in named(pins, LIGHTNING)]
    every = [release for minor in MINORS for release in minor.versions if release >= Version(OLDEST)]
    admitted = [release for release in every if all(release in specifier for specifier in wanted)]
    found = str(max(admitted)) if admitted else NEWEST
    return None if found == NEWEST else found


def _write_what_names_lightning(project: Project, folder: Path) -> None:
    """The files that the first rung has to look at: no others can use anything of Lightning's."""
    folder.mkdir()
    for source in project.sources:
        if source.kind == "python" and b"lightning" in source.data:
            (folder / source.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / source.path).write_bytes(source.data)


def _changed(before: Project, after: Project) -> tuple[str, ...]:
    old = {source.path: source.data for source in before.sources}
    new = {source.path: source.data for source in after.sources}
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))
