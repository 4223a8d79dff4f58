"""Taking the branch to the remote, and the pull request with it: looked up before the work, carried out after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codemods.engine.plan import Change, Plan
from codemods.engine.scan import Options
from fixer.gitio import Repository, find_repository
from fixer.ownership import may_move
from fixer.project import Project
from fixer.pulls.life import asked_of
from fixer.pulls.offer import Visit, conclude, offer, templates_of, visit
from fixer.push import Remote, RemoteBranch, find_remote, look, publish
from fixer.reports import Rules
from fixer.result import Result
from fixer.settings import SharedOptions
from fixer.tokens import Tokens

ORIGIN = "origin"


@dataclass(frozen=True)
class Delivery:
    """The remote to push to, and what was seen of its pull requests (None where none is asked for)."""

    repository: Repository
    remote: Remote
    visit: Visit | None
    branch: str
    base: str

    def options(self, options: Options) -> Options:
        """The options less the rules that are switched off in the pull request."""
        return self.visit.without_off(options) if self.visit else options

    def unwanted(self, options: Options, changes: Sequence[Change]) -> tuple[Options, str | None]:
        """The options less the changes that were offered before and not wanted, and what to say of them."""
        refused = self.visit.refused(changes) if self.visit else frozenset()
        if not refused:
            return options, None
        ignored = dict(options.ignored_in)
        for code, path in sorted(refused):
            ignored[path] = (*ignored.get(path, ()), code)
        codes = ", ".join(sorted({code for code, _ in refused}))
        files = len({path for _, path in refused})
        message = (
            f"not offered again, since a pull request with the same was closed or taken back: {codes} in {files} "
            f"file{'s' * (files > 1)}; --force offers it"
        )
        return replace(options, ignored_in=ignored), message

    def may_move(self) -> bool:
        """Whether nothing is lost when the branch here is moved."""
        return may_move(self.repository, self.branch, self.base)

    def look(self) -> RemoteBranch:
        """What the branch of the remote holds now."""
        return look(self.remote, self.branch, self.base)

    def deliver(self, result: Result, made: Plan, rules: Rules) -> Result:
        """The result with what became of its branch. What is refused loses nothing: it is an error of the result."""
        head = self.repository.resolve(f"refs/heads/{self.branch}")
        if result.branch is None or head is None:
            return result
        return self.bring(result, made, rules, head, self.look())

    def bring(self, result: Result, made: Plan, rules: Rules, head: str, seen: RemoteBranch) -> Result:
        """The same for a branch whose last commit is known, given what was seen at the remote."""
        if self.visit:
            return offer(self.visit, made, result, seen, head, rules)
        done, error = publish(self.remote, self.branch, head, seen)
        return replace(result, messages=(*result.messages, *filter(None, [done])), error=error)

    def conclude(self, result: Result, *, off: bool) -> Result:
        """The result with what became of a pull request for which nothing is left to do, or nothing but what is
        switched off in it."""
        if self.visit is None:
            return result
        return conclude(self.visit, result, self.look(), off=off)


def prepare(
    project: Project,
    asked: SharedOptions,
    branch: str,
    base: str | None,
    push: str | None,
    tokens: Tokens,
    *,
    pr: bool,
    again: bool,
) -> Delivery | None:
    """The way to the remote; None where nothing is to be pushed. Raises UsageError where there is none."""
    repository = find_repository(project.root) if push or pr else None
    if repository is None or project.base is None:
        return None
    remote = find_remote(repository, push or ORIGIN, tokens)
    seen = None
    if pr:
        settings = project.config.pull_request
        templates = templates_of(repository, project.base, settings.title, settings.body)
        seen = visit(remote, branch, base, templates, again, asked_of(asked, project.scope))
    return Delivery(repository, remote, seen, branch, project.base)
