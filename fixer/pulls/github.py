"""Pull requests on GitHub: https://docs.github.com/rest/pulls/pulls and https://docs.github.com/rest/issues/comments"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from fixer.errors import UsageError
from fixer.forge import ForgeRepository
from fixer.pulls.life import Issue, Pull
from fixer.tokens import Token

if TYPE_CHECKING:
    from github import Github
    from github.Issue import Issue as GitHubIssue
    from github.PullRequest import PullRequest
    from github.Repository import Repository

_NEWEST = 50
_SEARCHED = 500


@dataclass(frozen=True)
class GitHub:
    """The pull requests from a branch of one repository to another, or to itself."""

    repository: Repository
    owner: str

    def pulls(self, branch: str) -> tuple[Pull, ...]:
        """Those from a branch, in any state, the newest first."""
        with answers():
            found = self.repository.get_pulls(
                state="all", head=f"{self.owner}:{branch}", sort="created", direction="desc"
            )
            return tuple(map(_pull, islice(found, _NEWEST)))

    def open(self, branch: str, base: str, title: str, body: str, *, draft: bool) -> Pull:
        """A new one; no draft where the repository has none."""
        import github

        make = partial(self.repository.create_pull, base=base, head=f"{self.owner}:{branch}", title=title, body=body)
        with answers():
            try:
                return _pull(make(draft=True) if draft else make())
            except github.GithubException as error:
                if not (draft and error.status == 422 and "draft" in str(error.data).lower()):
                    raise
            return _pull(make())

    def rewrite(self, number: int, title: str, body: str, *, draft: bool) -> bool:
        """Another title and body, and made a draft or marked as ready; whether the latter could be done."""
        import github

        with answers():
            pull = self.repository.get_pull(number)
            pull.edit(title=title, body=body)
            try:
                if pull.draft is not draft:
                    pull.convert_to_draft() if draft else pull.mark_ready_for_review()
            except github.GithubException:
                return False
        return True

    def comments(self, number: int) -> tuple[str, ...]:
        """What was said below it."""
        with answers():
            return tuple(comment.body or "" for comment in self.repository.get_issue(number).get_comments())

    def comment(self, number: int, text: str) -> None:
        """Says something below it."""
        with answers():
            self.repository.get_issue(number).create_comment(text)

    def close(self, number: int, body: str) -> None:
        """Closes it, with another body."""
        with answers():
            self.repository.get_pull(number).edit(body=body, state="closed")

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Gives it labels, besides those that it has."""
        with answers():
            self.repository.get_issue(number).add_to_labels(*labels)

    def ask(self, number: int, people: Sequence[str], teams: Sequence[str]) -> None:
        """Asks for a review of it."""
        with answers():
            self.repository.get_pull(number).create_review_request(list(people), list(teams))

    def open_from(self, prefix: str) -> int:
        """How many are open from branches whose names begin so."""
        with answers():
            return sum(pull.head.ref.startswith(prefix) for pull in self.repository.get_pulls(state="open"))

    def issue(self, number: int) -> Issue:
        """The issue of a number, open or not."""
        with answers():
            return _issue(self.repository.get_issue(number))

    def find_issue(self, mark: str) -> Issue | None:
        """The open issue that holds a mark."""
        with answers():
            found = islice(self.repository.get_issues(state="open"), _SEARCHED)
            return next((_issue(one) for one in found if mark in (one.body or "")), None)

    def open_issue(self, title: str, body: str) -> Issue:
        """A new issue."""
        with answers():
            return _issue(self.repository.create_issue(title, body))

    def rewrite_issue(self, number: int, body: str) -> None:
        """Gives an issue another body."""
        with answers():
            self.repository.get_issue(number).edit(body=body)


def connect(target: ForgeRepository, head: ForgeRepository, token: Token) -> GitHub:
    """The pull requests of a repository, without asking the server anything yet."""
    try:
        import github  # noqa: F401
    except ImportError:
        raise UsageError("--pr on GitHub needs PyGithub; run `pip install 'fixer[bot]'`") from None
    return GitHub(client(target, token).get_repo(target.path), head.owner)


def client(place: ForgeRepository, token: Token | None) -> Github:
    """The API of a server, without asking it anything yet."""
    import github

    return github.Github(
        auth=github.Auth.Token(token.value) if token else None,
        base_url=place.api,
        lazy=True,
        retry=github.GithubRetry(total=3),
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


def _pull(pull: PullRequest) -> Pull:
    state = "merged" if pull.merged_at else "open" if pull.state == "open" else "closed"
    return Pull(pull.number, pull.html_url, state, pull.body or "", bool(pull.draft))  # type: ignore[arg-type]


def _issue(issue: GitHubIssue) -> Issue:
    return Issue(issue.number, issue.html_url, (issue.body or "").replace("\r", ""), issue.state == "open")


@contextmanager
def answers() -> Iterator[None]:
    """What the server refuses becomes an error of use."""
    import github
    import requests

    try:
        yield
    except github.GithubException as error:
        errors = error.data.get("errors", []) if isinstance(error.data, dict) else []
        more = "; ".join(str(one.get("message", "")) for one in errors if isinstance(one, dict))
        said = ": ".join(filter(None, [error.message or "", more]))
        raise UsageError(
            f"GitHub answers {error.status} {said}".rstrip() + "; the token needs contents and pull-requests: write"
        ) from None
    except requests.RequestException as error:
        raise UsageError(f"GitHub cannot be reached: {type(error).__name__}; look at GITHUB_API_URL") from None
