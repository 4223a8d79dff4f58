"""One run's dealings with a pull request: what it remembers before the work, and what becomes of it after."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

from codemods.engine.plan import Change, Plan
from codemods.engine.scan import Options
from fixer.errors import UsageError
from fixer.forge import ForgeRepository
from fixer.gitio import GitError, Repository
from fixer.pulls import life
from fixer.pulls.body import Templates, body, title
from fixer.pulls.life import Issue, Part, Pull, PullAction, PullRequestMemo
from fixer.push import Remote, RemoteBranch, default_branch, find_remote, head_of, publish
from fixer.reports import Rules
from fixer.result import Result
from fixer.tokens import NAMES, Token

_MARKED = {True: " and made a draft", False: " and marked as ready for review"}
_UNMARKED = {
    True: "the server does not let fixer make this a draft: do not merge it before it is ready",
    False: "the server does not let fixer mark this as ready for review: press the button yourself",
}
_BASES = ("upstream", "origin")
_REFS = (("GITHUB_REF_TYPE", "branch", "GITHUB_REF_NAME"), ("CI_COMMIT_BRANCH", None, "CI_COMMIT_BRANCH"))


class Forge(Protocol):
    """The pull requests of a repository, on GitHub or GitLab."""

    def pulls(self, branch: str) -> tuple[Pull, ...]: ...
    def open(self, branch: str, base: str, title: str, body: str, *, draft: bool) -> Pull: ...
    def rewrite(self, number: int, title: str, body: str, *, draft: bool) -> bool: ...
    def comments(self, number: int) -> tuple[str, ...]: ...
    def comment(self, number: int, text: str) -> None: ...
    def close(self, number: int, body: str) -> None: ...
    def label(self, number: int, labels: Sequence[str]) -> None: ...
    def ask(self, number: int, people: Sequence[str], teams: Sequence[str]) -> None: ...
    def open_from(self, prefix: str) -> int: ...
    def issue(self, number: int) -> Issue: ...
    def find_issue(self, mark: str) -> Issue | None: ...
    def open_issue(self, title: str, body: str) -> Issue: ...
    def rewrite_issue(self, number: int, body: str) -> None: ...


@dataclass(frozen=True)
class Visit:
    """A look at the server before any work is done, from a clone that may be `apart`: fixer's own, in which nothing is
    checked out or built that a pull request could be for, and which has no other remote."""

    forge: Forge
    remote: Remote
    branch: str
    target: Remote
    asked_base: str | None
    pulls: tuple[Pull, ...]
    templates: Templates
    again: bool
    asked: str
    apart: bool = False

    def base(self, seen: RemoteBranch) -> str:
        """The branch that a pull request is for. Raises UsageError where none is known."""
        return _base(self, seen)

    @property
    def off(self) -> frozenset[str]:
        """The rules that are switched off in the check boxes."""
        return life.switched_off(self.pulls)

    def without_off(self, options: Options) -> Options:
        """The options less the rules that are switched off."""
        off = self.off
        return replace(options, rules=tuple(rule for rule in options.rules if rule.code not in off)) if off else options

    def refused(self, changes: Sequence[Change]) -> frozenset[Part]:
        """The parts that the project's owner did not want."""
        return frozenset() if self.again else life.refused(self.pulls, changes)


def visit(
    remote: Remote,
    branch: str,
    base: str | None,
    templates: Templates,
    again: bool,
    asked: str,
    *,
    apart: bool = False,
) -> Visit:
    """Looks up the pull requests of a branch. Raises UsageError where that cannot be done."""
    if remote.place is None:
        raise UsageError(
            f"{remote.name} ({remote.address}) is not known as GitHub or GitLab; push to a remote there, or name "
            "the server by GITHUB_SERVER_URL or CI_SERVER_URL"
        )
    target = remote if apart else _target(remote, remote.place)
    assert target.place is not None
    token = remote.tokens.of(target.place.kind) or _of_program(target.place)
    tokens = remote.tokens.and_of(token)
    with tokens.hiding():
        forge = connected(target.place, remote.place, token)
        remote = replace(remote, tokens=tokens)
        return Visit(forge, remote, branch, target, base, forge.pulls(branch), templates, again, asked, apart)


def connected(target: ForgeRepository, head: ForgeRepository, token: Token) -> Forge:
    """The API for pull requests from one repository to another, or to itself."""
    if target.kind == "github":
        from fixer.pulls.github import connect as connect_github

        return connect_github(target, head, token)
    from fixer.pulls.gitlab import connect as connect_gitlab

    return connect_gitlab(target, head, token)


def templates_of(repository: Repository, commit: str, title: str | None, body: str | None) -> Templates:
    """The project's own templates, as they are in a commit. Raises UsageError for one that is not there."""

    def text(path: str | None) -> str | None:
        if path is None:
            return None
        try:
            return repository.git("cat-file", "blob", f"{commit}:{path}").decode("utf-8", "replace")
        except GitError:
            raise UsageError(f"[tool.fixer.pull-request] {path}: there is no such file; commit it first") from None

    return Templates(text(title), text(body))


def offer(visit: Visit, made: Plan, result: Result, seen: RemoteBranch, head: str, rules: Rules) -> Result:
    """Brings the server to where the result is: the result with what was done, or with the error that it met."""
    try:
        with visit.remote.tokens.hiding():
            done, pull = _offer(visit, made, result, seen, head, rules)
    except UsageError as error:
        return replace(result, error=str(error))
    return replace(result, pull_request=pull.url if pull else None, messages=(*result.messages, *filter(None, done)))


def _offer(
    visit: Visit, made: Plan, result: Result, seen: RemoteBranch, head: str, rules: Rules
) -> tuple[list[str], Pull | None]:
    name = title(result, visit.templates)
    memo = PullRequestMemo(
        life.result_of(result.files),
        life.told_of(result, name, visit.off),
        frozenset(life.part_of(change) for change in made.changes),
        visit.asked,
        frozenset(life.path_of(file.path) for file in result.files),
        draft=result.readiness is not None and not result.readiness.ready,
    )
    text = body(result, visit.templates, memo, visit.off, rules)
    pulls = visit.forge.pulls(visit.branch)
    pull = life.current(pulls)
    people = seen.of_people is not None
    said = people and pull is not None and any(life.PEOPLE in one for one in visit.forge.comments(pull.number))
    steps = life.next_steps(pull, memo, there=seen.head is not None, people=people, said=said)
    done = []
    if PullAction.push in steps:
        pushed, error = publish(visit.remote, visit.branch, head, seen)
        if error:
            raise UsageError(error)
        done.append(pushed)
    if PullAction.open in steps:
        pull = _opened(visit, seen, name, text, draft=memo.draft)
        done.append(f"pull request opened{' as a draft' if pull.draft else ''}: {pull.url}")
    elif pull and PullAction.rewrite in steps:
        draft = life.is_draft(pull, memo)
        marked = visit.forge.rewrite(pull.number, name, text, draft=draft)
        if not marked:
            memo = replace(memo, draft=pull.draft)
            text = body(result, visit.templates, memo, visit.off, rules, note=_UNMARKED[draft])
            visit.forge.rewrite(pull.number, name, text, draft=pull.draft)
            done.append(_UNMARKED[draft])
        told = _MARKED[draft] if marked and draft is not pull.draft else ""
        done.append(f"pull request updated{told}: {pull.url}")
    elif people:
        if pull and PullAction.comment in steps:
            visit.forge.comment(pull.number, _comment(visit.branch, seen.of_people or ""))
        done.append(f"branch {visit.branch} of {visit.remote.name} holds commits of people and is left as it is")
    elif pull:
        done.append(f"pull request is up to date: {pull.url}")
    return done, pull


def conclude(visit: Visit, result: Result, seen: RemoteBranch, *, off: bool) -> Result:
    """Closes the open pull request, since the base needs nothing of it any more, or all that it needs is switched off
    in the check boxes (`off`). One with commits of people is left open, and told so; one of which this run cannot
    judge, since it was asked for something else or could not read a file, is left as it is."""
    try:
        with visit.remote.tokens.hiding():
            done = _conclude(visit, result, seen, off)
    except UsageError as error:
        return replace(result, error=str(error))
    return replace(result, messages=(*result.messages, *done))


def _conclude(visit: Visit, result: Result, seen: RemoteBranch, off: bool) -> list[str]:
    pull = life.current(visit.forge.pulls(visit.branch))
    if pull and (doubt := _doubt(pull, visit.asked, result)):
        return [f"nothing to change, but {pull.url} is left as it is, since {doubt}"]
    people = seen.of_people is not None
    said = people and pull is not None and any(life.NOTHING in one for one in visit.forge.comments(pull.number))
    steps = life.last_steps(pull, people=people, said=said)
    if pull is None:
        return []
    if PullAction.comment in steps:
        visit.forge.comment(pull.number, _farewell(visit, seen, people, off))
    if PullAction.close in steps:
        visit.forge.close(pull.number, pull.forgotten)
        why = "all that is left is switched off in it" if off else "nothing is left to do"
        return [f"pull request closed, since {why}: {pull.url}"]
    return [f"nothing is left to do, but {pull.url} holds commits of people and is left as it is"]


def _doubt(pull: Pull, asked: str, result: Result) -> str | None:
    """Why this run cannot tell whether the pull request has served."""
    if pull.memo is None:
        return "the line by which fixer remembers what it offers is gone from its text"
    if pull.memo.asked != asked:
        return "it was made with other options or another path"
    unread = next((item for item in result.skipped if life.path_of(item.path) in pull.memo.files), None)
    return f"it changes {unread.path}, which was skipped: {unread.reason}" if unread else None


def _farewell(visit: Visit, seen: RemoteBranch, people: bool, off: bool) -> str:
    base = visit.base(seen)
    then = (
        "This branch holds commits that fixer did not make, so it is left open: merge or close it."
        if people
        else f"So fixer closes this; the branch `{visit.branch}` can be deleted. "
        + ("Tick a box above to have its rule offered again." if off else "What comes up again is offered again.")
    )
    why = (
        f"All that `{base}` still needs is switched off in the check boxes above."
        if off
        else f"`{base}` needs none of these changes any more."
    )
    return f"{why} {then}\n\n{life.NOTHING}"


def _opened(visit: Visit, seen: RemoteBranch, name: str, text: str, *, draft: bool) -> Pull:
    """A new pull request, or the one that another run opened meanwhile."""
    try:
        return visit.forge.open(visit.branch, visit.base(seen), name, text, draft=draft)
    except UsageError:
        there = life.current(visit.forge.pulls(visit.branch))
        if there is None:
            raise
        visit.forge.rewrite(there.number, name, text, draft=draft)
        return there


def _comment(branch: str, commit: str) -> str:
    return (
        f"This branch holds commits that fixer did not make ({commit[:10]}), so fixer leaves it as it is from now on. "
        f"Delete the branch `{branch}`, or take those commits off it, to have it kept up to date.\n\n{life.PEOPLE}"
    )


def _target(remote: Remote, place: ForgeRepository) -> Remote:
    """The remote whose repository takes the pull request: `upstream`, else `origin`, else the one that is pushed to."""
    names = remote.repository.git("remote").decode("utf-8", "replace").split()
    for name in _BASES:
        if name in names:
            other = remote if name == remote.name else find_remote(remote.repository, name, remote.tokens)
            if other.place and other.place.server == place.server:
                return other
    return remote


def _base(visit: Visit, seen: RemoteBranch) -> str:
    """The branch that the pull request is for: the one that was named as the base, the one that is checked out or, in
    a pipeline, built, else the default branch."""
    target, asked = visit.target, visit.asked_base
    for name in filter(None, [(asked or "").removeprefix(f"{target.name}/"), *([] if visit.apart else _here(visit))]):
        if head_of(target, name):
            return name
    found = seen.default if target.address == visit.remote.address else default_branch(target)
    if found is None:
        raise UsageError(f"{target.name} ({target.address}): no default branch is known; name one with --base")
    return found


def _here(visit: Visit) -> list[str]:
    """The branch that is checked out, where no base was named, and the one that a pipeline builds."""
    git = visit.target.repository.git
    here = "" if visit.asked_base else git("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)).decode().strip()
    return [
        here,
        *(os.environ.get(at, "") for key, value, at in _REFS if value is None or os.environ.get(key) == value),
    ]


def _of_program(place: ForgeRepository) -> Token:
    """The token of the signed-in `gh` or `glab` program."""
    host = urlsplit(place.server).netloc
    programs = {
        "github": ["gh", "auth", "token", "--hostname", host],
        "gitlab": ["glab", "config", "get", "token", "--host", host],
    }
    command = programs[place.kind]
    if shutil.which(command[0]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        if done.returncode == 0 and done.stdout.strip():
            return Token(NAMES[place.kind][0], done.stdout.strip()).checked(f"the token of `{command[0]}`")
    names = " or ".join(NAMES[place.kind])
    raise UsageError(f"--pr needs a token for {host}; set {names}, or sign in with `{command[0]} auth login`")
