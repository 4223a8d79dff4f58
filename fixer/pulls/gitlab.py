"""Merge requests on GitLab: https://docs.gitlab.com/api/merge_requests and https://docs.gitlab.com/api/notes"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from fixer.errors import UsageError
from fixer.forge import ForgeRepository
from fixer.pulls.life import Issue, Pull
from fixer.tokens import Token

if TYPE_CHECKING:
    from gitlab import Gitlab
    from gitlab.v4.objects import Project

_NEWEST = 50
_SEARCHED = 500
_DRAFT = "Draft:"
_STATES = {"opened": "open", "merged": "merged"}


@dataclass(frozen=True)
class GitLab:
    """The merge requests from a branch of one project to another, or to itself."""

    target: Project
    source: Project

    def pulls(self, branch: str) -> tuple[Pull, ...]:
        """Those from a branch, in any state, the newest first."""
        with answers():
            found = self.target.mergerequests.list(
                source_branch=branch, state="all", order_by="created_at", sort="desc", per_page=_NEWEST, get_all=False
            )
            return tuple(_pull(one) for one in found if one.source_project_id == self.source.get_id())

    def open(self, branch: str, base: str, title: str, body: str, *, draft: bool) -> Pull:
        """A new one."""
        wanted = {
            "source_branch": branch,
            "target_branch": base,
            "target_project_id": self.target.get_id(),
            "title": _marked(title, draft),
            "description": body,
        }
        with answers():
            return _pull(self.source.mergerequests.create(wanted))

    def rewrite(self, number: int, title: str, body: str, *, draft: bool) -> bool:
        """Another title and body, and made a draft or marked as ready, which the title does."""
        with answers():
            self.target.mergerequests.update(number, {"title": _marked(title, draft), "description": body})
        return True

    def comments(self, number: int) -> tuple[str, ...]:
        """What was said below it."""
        with answers():
            notes = self.target.mergerequests.get(number, lazy=True).notes
            return tuple(note.body for note in notes.list(get_all=True))

    def comment(self, number: int, text: str) -> None:
        """Says something below it."""
        with answers():
            self.target.mergerequests.get(number, lazy=True).notes.create({"body": text})

    def close(self, number: int, body: str) -> None:
        """Closes it, with another body."""
        with answers():
            self.target.mergerequests.update(number, {"description": body, "state_event": "close"})

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Gives it labels, besides those that it has."""
        with answers():
            self.target.mergerequests.update(number, {"add_labels": ",".join(labels)})

    def ask(self, number: int, people: Sequence[str], teams: Sequence[str]) -> None:
        """Asks people for a review of it, who are known by numbers; of groups nobody can be asked."""
        api = self.target.manager.gitlab
        with answers():
            found = [one.get_id() for name in people for one in api.users.list(username=name, get_all=False)]
            self.target.mergerequests.update(number, {"reviewer_ids": found})

    def open_from(self, prefix: str) -> int:
        """How many are open from branches whose names begin so."""
        with answers():
            found = self.target.mergerequests.list(state="opened", iterator=True)
            return sum(one.source_branch.startswith(prefix) for one in found)

    def issue(self, number: int) -> Issue:
        """The issue of a number, open or not."""
        with answers():
            return _issue(self.target.issues.get(number))

    def find_issue(self, mark: str) -> Issue | None:
        """The open issue that holds a mark."""
        with answers():
            found = islice(self.target.issues.list(state="opened", iterator=True), _SEARCHED)
            return next((_issue(one) for one in found if mark in (one.description or "")), None)

    def open_issue(self, title: str, body: str) -> Issue:
        """A new issue."""
        with answers():
            return _issue(self.target.issues.create({"title": title, "description": body}))

    def rewrite_issue(self, number: int, body: str) -> None:
        """Gives an issue another body."""
        with answers():
            self.target.issues.update(number, {"description": body})


def connect(target: ForgeRepository, head: ForgeRepository, token: Token) -> GitLab:
    """The merge requests of a project. A job token is taken for what it is, though GitLab lets it do little."""
    try:
        import gitlab  # noqa: F401
    except ImportError:
        raise UsageError("--pr on GitLab needs python-gitlab; run `pip install 'fixer[bot]'`") from None
    api = client(target, token)
    with answers():
        project = api.projects.get(target.path)
        return GitLab(project, project if head.path == target.path else api.projects.get(head.path))


def client(place: ForgeRepository, token: Token | None) -> Gitlab:
    """The API of a server. A job token is taken for what it is."""
    import gitlab

    shown = {"job_token" if token.name == "CI_JOB_TOKEN" else "private_token": token.value} if token else {}
    return gitlab.Gitlab(place.api.removesuffix("/api/v4"), **shown, keep_base_url=True, timeout=60)  # type: ignore[arg-type]


def _marked(title: str, draft: bool) -> str:
    """A title as GitLab takes it: one that begins so is a draft."""
    return f"{_DRAFT} {title}" if draft else title


def _pull(request: Any) -> Pull:
    state, draft = _STATES.get(request.state, "closed"), request.title.startswith(_DRAFT)
    return Pull(request.iid, request.web_url, state, request.description or "", draft)  # type: ignore[arg-type]


def _issue(issue: Any) -> Issue:
    return Issue(issue.iid, issue.web_url, issue.description or "", issue.state == "opened")


@contextmanager
def answers() -> Iterator[None]:
    """What the server refuses becomes an error of use."""
    import gitlab
    import requests

    try:
        yield
    except gitlab.GitlabError as error:
        status = getattr(error, "response_code", None) or ""
        raise UsageError(
            f"GitLab answers {status} {error.error_message}; the token needs the scopes api and write_repository"
        ) from None
    except requests.RequestException as error:
        raise UsageError(f"GitLab cannot be reached: {type(error).__name__}; look at CI_API_V4_URL") from None
