"""What the proof of a group says of each of its commits: by what was executed of what that commit changed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from codemods.engine.plan import Change
from verify.evidence import Evidence, FileCoverage, How, Outcome, Share, outcome_of
from verify.reading.idle import changed_functions, code_outside, same_code
from verify.reading.trainer_calls import MODULE


def with_shares(evidence: Evidence, changes: Iterable[Change]) -> Evidence:
    """The evidence of a group, with what it says of each of its codes; `changes` are those of the whole plan."""
    files = {file.path: file for file in evidence.touched}
    mine = [change for change in changes if change.code in evidence.codes and change.path in files]
    shares = [_share(code, evidence, files, mine) for code in evidence.codes if files]
    kept = tuple(file for file in evidence.touched if any(change.path == file.path for change in mine))
    return replace(evidence, touched=kept, shares=tuple(shares))


def _share(code: str, evidence: Evidence, files: Mapping[str, FileCoverage], changes: Iterable[Change]) -> Share:
    own = tuple(_part(files[path], steps) for path, steps in _by_path(code, changes).items())
    return Share(code, _outcome(evidence, own), own)


def _by_path(code: str, changes: Iterable[Change]) -> Mapping[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for change in changes:
        if change.code == code:
            found.setdefault(change.path, []).append(change)
    return found


def _outcome(evidence: Evidence, files: tuple[FileCoverage, ...]) -> Outcome:
    """A commit of which nothing ran has no verdict, however the others of its group did."""
    if files and not any(file.is_covered or file.how == "arguments" for file in files):
        return "not executed"
    return outcome_of(evidence.verdict, files)


def _part(file: FileCoverage, steps: Iterable[Change]) -> FileCoverage:
    """The file, by the functions and the code around them that one codemod changed. What it changed in a function
    counts where that function, as it is in the final tree, was called."""
    names: dict[str, None] = {}
    around, changed = False, False
    for step in steps:
        old, new = (_tree(text) if file.path.endswith(".py") else None for text in (step.before, step.after))
        if old is None or new is None:
            return file
        names |= dict.fromkeys(name for name, _ in changed_functions(old, new))
        around = around or code_outside(old) != code_outside(new)
        changed = changed or not same_code(old, new)
    if not changed:
        return replace(file, how="same code", called=(), idle=(), times=())
    argued = tuple(name for name in (*names, *([MODULE] if around else [])) if name in file.argued)
    if file.how == "arguments" and not argued:
        return replace(file, how="not called", argued=())
    if file.how not in ("executed", "not called") or not (file.called or file.idle or file.argued):
        return replace(file, argued=argued)
    called = tuple(name for name in names if name in file.called)
    idle = tuple(name for name in names if name in file.idle and name not in called)
    known = dict(zip(file.called, file.times, strict=False))
    times = tuple(known[name] for name in called if name in known)
    how: How = "executed" if called or not (idle or argued) or around else "arguments" if argued else "not called"
    return replace(file, how=how, called=called, idle=idle, times=times, argued=argued)


def _tree(text: bytes) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
