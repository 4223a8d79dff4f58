"""Bringing what was proven to the remote, as a branch or a pull request, by what was kept of its proof.

This is done where the fleet is run, never where plans and proofs are made: nothing else ever has a token.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codemods.engine.plan import Change, Plan, plan
from fixer.config import Config
from fixer.delivery import Delivery
from fixer.errors import UsageError
from fixer.fleet.asked import FleetRepository, RepositoryOptions
from fixer.fleet.clones import clone_at, is_there, remote_of
from fixer.fleet.failures import LOST, StepFailure, failure_of
from fixer.fleet.owners import Owners, owners_in
from fixer.fleet.state import FleetRow
from fixer.fleet.words import State
from fixer.gitio import Repository
from fixer.in_force import in_force, on_disk
from fixer.kept_runs import RESULT, KeptRun
from fixer.project import open_commit
from fixer.pulls import life
from fixer.pulls.body import Templates
from fixer.pulls.life import current
from fixer.pulls.offer import Visit, templates_of, visit
from fixer.reports.rule_text import rule_texts
from fixer.result import Result
from fixer.runs import load
from fixer.settings import NEWEST, SharedOptions, checked_target, options_for, sources_of
from fixer.tokens import Tokens

OURS = "fixer/"
"""How the branches begin that fixer names itself."""


@dataclass(frozen=True)
class FleetDelivery:
    """What became of a result at the remote; it is queued again where rules are switched off in its pull request.
    `waits` says that it may not be delivered now, `is_open` whether the pull request is open (None: as before)."""

    state: State
    reason: str = ""
    pull_request: str | None = None
    waits: bool = False
    is_open: bool | None = None


def asked_for(options: RepositoryOptions, clone: Path) -> SharedOptions:
    """The options as `fixer run` takes them."""
    return SharedOptions(
        clone, options.select, options.ignore, options.unsafe_fixes, options.target, 1, namespace=options.namespace,
        plugins=options.plugins,
    )  # fmt: skip


def settings_in(clone: Path) -> Config:
    """The project's settings, as they are checked out. Raises UsageError where they cannot be read."""
    found = on_disk(clone)
    return in_force(found, found).config


def branch_of(options: RepositoryOptions, clone: Path) -> str:
    """The branch that the result is on, which is `fixer run`'s own choice where none is named. Raises UsageError where
    the project's settings cannot be read."""
    if options.branch:
        return options.branch
    target = options.target or settings_in(clone).target
    return f"fixer/lightning-{checked_target(target or NEWEST)}"


def deliver(
    row: FleetRow, clone: Path, kept: Path, tokens: Tokens, most: int | None, may_open: bool = True
) -> FleetDelivery:
    """Brings a kept result to the remote; what is there already is left as it is, and no new pull request is opened
    where `most` are, or where the fleet `may_open` none. Raises StepFailure."""
    with _told(row, tokens):
        return _delivered(row, clone, kept, tokens, most, may_open)


def _delivered(
    row: FleetRow, clone: Path, kept: Path, tokens: Tokens, most: int | None, may_open: bool
) -> FleetDelivery:
    repository, options, git, result = row.repository, row.options, _repository(clone), _result(kept)
    branch, pr = result.branch, options.deliver == "pull-request"
    head = git.resolve(f"refs/heads/{branch}") if branch else None
    if branch is None or head is None or result.base is None:
        raise StepFailure("its branch is missing in its clone; `fixer fleet retry` makes it again", LOST)
    delivery = _way(row, clone, result, branch, tokens, pr=pr)
    changes = tuple(changes_of(git, result))
    waiting: State = "proven" if options.prove else "planned"
    if seen := delivery.visit:
        before = row.pull_branch if row.pull_open else None
        if before and before != branch and current(seen.forge.pulls(before)):
            why = f"its pull request from {before} is to be merged or closed before one from {branch} is opened"
            return FleetDelivery(waiting, why, waits=True)
        codes = {change.code for change in changes}
        off = sorted(seen.off & codes)
        if off and seen.off >= codes and current(seen.pulls):
            return _concluded(delivery, result, repository, tokens, off=True)
        if off and not set(off) <= set(options.ignore or ()):
            why, pull = f"switched off in its pull request: {', '.join(off)}", seen.pulls[0]
            return FleetDelivery("queued", why, pull.url, is_open=pull.state == "open")
        if refused := _refused(seen, changes):
            return refused
        if not may_open and not current(seen.pulls):
            return FleetDelivery(row.state, "its pull request is not open any more", row.pull_request, is_open=False)
        if most and not current(seen.pulls) and (many := seen.forge.open_from(OURS)) >= most:
            why = f"{many} of fixer's pull requests are open there, and no more than {most} may be"
            return FleetDelivery(waiting, why, waits=True)
    there = delivery.look()
    told = delivery.bring(result, Plan(changes=changes), rule_texts(), head, there)
    if there.of_people and pr is not bool(told.error):  # `offer` tells of them, `publish` refuses
        why = f"branch {branch} there holds commit {there.of_people[:10]} of people, and is left as it is"
        return FleetDelivery("left out", why, told.pull_request, is_open=bool(told.pull_request) if seen else None)
    if told.error:
        raise failure_of(tokens.hidden(told.error), repository.address)
    said = list(told.messages[len(result.messages) :][-1:])
    if seen and told.pull_request and options.labels:
        said += _tried(tokens, "labels", lambda number: seen.forge.label(number, options.labels), seen)
    if seen and told.pull_request and options.ask_owners:
        said += _asked(seen, result, row, tokens)
    is_open = bool(told.pull_request) if seen else None
    return FleetDelivery("delivered", "; ".join(said), told.pull_request, is_open=is_open)


def _way(row: FleetRow, clone: Path, result: Result, branch: str, tokens: Tokens, *, pr: bool) -> Delivery:
    """The way of a result to its remote, and what is seen there of its pull requests."""
    git, remote = clone_at(clone), remote_of(clone, row.repository, tokens)
    assert result.base is not None
    if not pr:
        return Delivery(git, remote, None, branch, result.base)
    own = settings_in(clone).pull_request
    templates = templates_of(git, result.base, own.title, own.body)
    asked = life.asked_of(asked_for(row.repository.options, clone), "")
    seen = visit(remote, branch, row.options.base, templates, False, asked, apart=True)
    return Delivery(git, remote, seen, branch, result.base)


def _tried(tokens: Tokens, what: str, give: Callable[[int], None], seen: Visit) -> list[str]:
    """Gives the open pull request something; what was wrong where it cannot have that. It is open all the same."""
    try:
        if pull := current(seen.forge.pulls(seen.branch)):
            give(pull.number)
    except UsageError as error:
        return [f"without its {what}: {tokens.hidden(str(error))}"]
    return []


def _asked(seen: Visit, result: Result, row: FleetRow, tokens: Tokens) -> list[str]:
    """Asks those whom CODEOWNERS names for a review, once: of a pull request that is not known yet."""
    assert seen.target.place and result.base
    paths = [file.path for file in result.files]
    if row.pull_request:
        return []
    owners = owners_in(seen.remote.repository, result.base, seen.target.place.kind, paths)
    if owners == Owners():
        return []
    return _tried(tokens, "reviewers", lambda number: seen.forge.ask(number, owners.people, owners.teams), seen)


def left_out(row: FleetRow, clone: Path, tokens: Tokens) -> tuple[str, ...] | None:
    """All rules that a plan is to leave out, by the check boxes of its pull request as they are now; None where none is
    switched off in it. Raises StepFailure."""
    options = row.repository.options
    if row.pull_request is None or options.deliver != "pull-request":
        return None
    with _told(row, tokens):
        off = _visited(row, clone, branch_of(options, clone), tokens).off
        if not off:
            return None
        ignored = settings_in(clone).ignore if options.ignore is None else options.ignore
        return (*ignored, *sorted(off))


def _refused(seen: Visit, changes: tuple[Change, ...]) -> FleetDelivery | None:
    """That its owners did not want this, or a part of it."""
    refused = seen.refused(changes)
    if not refused:
        return None
    if {(change.code, change.path) for change in changes} <= refused:
        closed = next((pull for pull in seen.pulls if pull.state != "open"), None)
        return FleetDelivery(
            "closed", "the same was offered, and closed", closed.url if closed else None, is_open=False
        )
    codes = ", ".join(sorted({code for code, _ in refused}))
    why = f"its owners closed an offer of {codes} in some files; `fixer run --pr` there offers the rest"
    return FleetDelivery("left out", why)


def conclude(row: FleetRow, clone: Path, kept: Path, tokens: Tokens) -> FleetDelivery:
    """Closes the pull request of a repository in which nothing is left to change, as `fixer run --pr` does. Raises
    StepFailure."""
    repository = row.repository
    with _told(row, tokens):
        _repository(clone)
        result = _result(kept)
        branch = row.pull_branch or branch_of(row.options, clone)
        delivery = _way(row, clone, result, branch, tokens, pr=True)
        return _concluded(delivery, result, repository, tokens, off=bool(row.ignored) and _is_off(row, clone, result))


def _is_off(row: FleetRow, clone: Path, result: Result) -> bool:
    """Whether a rule that is switched off in the pull request has something to change."""
    project = open_commit(clone, result.base)
    left = plan(sources_of(project), options_for(asked_for(row.repository.options, clone), project)).changes
    return any(change.code in (row.ignored or ()) for change in left)


def _concluded(
    delivery: Delivery, result: Result, repository: FleetRepository, tokens: Tokens, *, off: bool
) -> FleetDelivery:
    told = delivery.conclude(result, off=off)
    if told.error:
        raise failure_of(tokens.hidden(told.error), repository.address)
    seen = delivery.visit
    assert seen is not None
    said = told.messages[len(result.messages) :]
    offered, left = current(seen.pulls), current(seen.forge.pulls(delivery.branch))
    return FleetDelivery(
        "left out", said[-1] if said else "nothing to change", offered.url if offered else None, is_open=bool(left)
    )


def looked(row: FleetRow, clone: Path, tokens: Tokens) -> FleetDelivery:
    """What became of the pull request from a repository's branch. Raises StepFailure."""
    with _told(row, tokens):
        _repository(clone)
        branch = row.pull_branch or row.branch or branch_of(row.repository.options, clone)
        pulls = _visited(row, clone, branch, tokens).pulls
    found = current(pulls) or next((pull for pull in pulls if pull.url == row.pull_request), None)
    if found is None:
        return FleetDelivery("closed", is_open=False)
    state: State = "delivered" if found.state == "open" else "merged" if found.state == "merged" else "closed"
    return FleetDelivery(state, "", found.url, is_open=found.state == "open")


def _visited(row: FleetRow, clone: Path, branch: str, tokens: Tokens) -> Visit:
    """The pull requests of a repository's branch."""
    remote = remote_of(clone, row.repository, tokens)
    return visit(remote, branch, row.repository.options.base, Templates(), False, "", apart=True)


@contextmanager
def _told(row: FleetRow, tokens: Tokens) -> Iterator[None]:
    """What goes wrong becomes a failure of the repository, or of what is around it, without a token in it."""
    try:
        with tokens.hiding():
            yield
    except (UsageError, OSError) as error:
        raise failure_of(tokens.hidden(str(error)), row.repository.address) from None


def _repository(clone: Path) -> Repository:
    """The clone itself, never a repository around it. Raises StepFailure where it is gone."""
    if not is_there(clone):
        raise StepFailure("its clone is missing; `fixer fleet retry` makes it again", LOST)
    return clone_at(clone)


def _result(kept: Path) -> Result:
    if not (kept / RESULT).is_file():
        raise StepFailure("its result is missing; `fixer fleet retry` makes it again", LOST)
    return load(KeptRun(kept))


def changes_of(repository: Repository, result: Result) -> Iterator[Change]:
    """The changes that the commits of a branch hold, by the codemod of each. Raises StepFailure where one is gone."""
    codes, parts = {commit.id: commit.code for commit in result.commits}, []
    asked = "".join(f"{id}\n" for id in codes).encode()
    listing = repository.git("diff-tree", "--stdin", "-r", "-z", "--no-renames", data=asked)
    fields, code = iter(listing.decode("utf-8", "surrogateescape").split("\0")), ""
    for field in filter(None, fields):
        if field.startswith(":"):
            parts.append((code, next(fields), *field.split()[2:4]))
        else:
            code = codes.pop(field)
    if codes:  # git passes over what is not there
        raise StepFailure("a commit of its branch is missing; `fixer fleet retry` makes it again", LOST)
    wanted = dict.fromkeys(id for _, _, *ids in parts for id in ids if id.strip("0"))
    held = {blob.id: blob.data for blob in repository.blobs((id, sys.maxsize) for id in wanted)}
    for code, path, *ids in parts:
        before, after = (held.get(id, b"") for id in ids)
        if before is None or after is None:
            raise StepFailure(f"what its branch had for {path} is missing; `fixer fleet retry` makes it again", LOST)
        yield Change(code, path, before, after)
