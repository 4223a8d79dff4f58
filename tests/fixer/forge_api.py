"""Stand-ins for the APIs of GitHub and GitLab, at HTTP level. The shapes follow their public documentation:
https://docs.github.com/rest/pulls/pulls, https://docs.github.com/rest/issues/comments,
https://docs.gitlab.com/api/merge_requests, https://docs.gitlab.com/api/notes"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

Answer = tuple[int, Any]
MADE = "2026-01-01T00:00:00Z"
DOCS = "https://docs.github.com/rest"
PROJECTS = {"someone/project": 7, "other/project": 8}


@dataclass
class Request:
    """A pull or merge request, and what was said below it."""

    number: int
    head: str
    base: str
    title: str
    body: str
    state: str = "open"
    owner: str = "someone"
    comments: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    writes: int = 0
    marked: bool = False

    @property
    def draft(self) -> bool:
        """Whether it is a draft: GitHub keeps a mark, GitLab goes by the title."""
        return self.marked or self.title.startswith("Draft:")

    def edit(self, title: str | None, body: str | None, state: str | None) -> None:
        """Changes what is given."""
        self.title, self.body, self.state = title or self.title, body or self.body, state or self.state
        self.writes += 1


@dataclass
class Api:
    """The pull requests of one repository, and who may ask for them."""

    token: str
    branches: Callable[[str], list[str]]
    path: str = "someone/project"
    address: str = ""
    requests: list[Request] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    drafts: bool = True
    graphql: bool = True
    issues: list[Request] = field(default_factory=list)

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Answer:
        """What the server says."""
        self.headers.append(headers)
        if path == "/api/graphql":
            return self._marked(body)
        if path.startswith("/api/v3"):
            return self._github(method, path.removeprefix("/api/v3"), query, body, headers.get("Authorization", ""))
        return self._gitlab(method, path.removeprefix("/api/v4"), query, body, headers.get("PRIVATE-TOKEN", ""))

    def _github(self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], shown: str) -> Answer:
        if shown not in (f"token {self.token}", f"Bearer {self.token}"):
            return 401, {
                "message": "Bad credentials",
                "documentation_url": DOCS,
                "status": "401",
            }
        root = f"/repos/{self.path}"
        if path == f"{root}/issues" or (path.startswith(f"{root}/issues/9") and path.count("/") == 5):
            return self._issues(method, path.rpartition("/")[2], body, self._github_issue)
        if (method, path) == ("GET", f"{root}/pulls"):
            asked = query.get("head"), query.get("state", "open")
            found = [one for one in self.requests if asked[0] in (None, f"{one.owner}:{one.head}")]
            found = [one for one in found if asked[1] in ("all", one.state)]
            return 200, [self._pull(one) for one in reversed(found)]
        if (method, path) == ("POST", f"{root}/pulls"):
            owner, _, head = body["head"].partition(":")
            if self.is_open(owner, head):
                return self._invalid(f"A pull request already exists for {owner}:{head}.")
            if head not in self.branches(owner):
                return self._invalid("head is invalid")
            if body.get("draft") and not self.drafts:
                return self._invalid("Draft pull requests are not supported in this repository.")
            made = self.add(owner, head, body["base"], body["title"], body["body"])
            made.marked = bool(body.get("draft"))
            return 201, self._pull(made)
        if match := re.fullmatch(rf"{root}/(pulls|issues)/(\d+)(/comments|/labels|/requested_reviewers)?", path):
            one = self.requests[int(match[2]) - 1]
            if method == "PATCH":
                one.edit(body.get("title"), body.get("body"), body.get("state"))
            if match[3] == "/labels":
                labels = body if isinstance(body, list) else body["labels"]
                one.labels += [name for name in labels if name not in one.labels]
                return 200, [{"name": name} for name in one.labels]
            if match[3] == "/requested_reviewers":
                one.reviewers += [*body["reviewers"], *(f"team {name}" for name in body["team_reviewers"])]
                return 201, self._pull(one)
            if match[3] and method == "POST":
                one.comments.append(body["body"])
                return 201, self._comment(one, len(one.comments) - 1)
            if match[3]:
                return 200, [self._comment(one, number) for number in range(len(one.comments))]
            return 200, self._pull(one)
        return 404, {"message": "Not Found", "documentation_url": DOCS, "status": "404"}

    def _issues(self, method: str, last: str, body: Mapping[str, Any], told: Callable[[Request], Any]) -> Answer:
        """Issues, numbered from 900: https://docs.github.com/rest/issues/issues, https://docs.gitlab.com/api/issues"""
        text = body.get("body") or body.get("description") or ""
        if last == "issues" and method == "GET":
            return 200, [told(one) for one in self.issues if one.state == "open"]
        if last == "issues":
            self.issues.append(Request(900 + len(self.issues), "", "", body["title"], text))
            return 201, told(self.issues[-1])
        one = self.issues[int(last) - 900]
        if method != "GET":
            one.edit(None, text, None)
        return 200, told(one)

    def _github_issue(self, one: Request) -> Any:
        return {
            **self._pull(one),
            "url": f"{self.address}/api/v3/repos/{self.path}/issues/{one.number}",
            "html_url": f"{self.address}/{self.path}/issues/{one.number}",
        }

    def _gitlab_issue(self, one: Request) -> Any:
        return {
            "id": 5000 + one.number,
            "iid": one.number,
            "project_id": 7,
            "title": one.title,
            "description": one.body,
            "state": "opened" if one.state == "open" else "closed",
            "web_url": f"{self.address}/{self.path}/-/issues/{one.number}",
        }

    def _marked(self, body: Mapping[str, Any]) -> Answer:
        """https://docs.github.com/graphql/reference/mutations: what fails there is an answer of 200, too."""
        if not self.graphql:
            errors = [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]
            return 200, {"data": None, "errors": errors}
        name = re.search(r"markPullRequestReadyForReview|convertPullRequestToDraft", body["query"])
        assert name
        one = self.requests[int(body["variables"]["input"]["pullRequestId"].removeprefix("PR_")) - 1]
        one.marked = name[0] == "convertPullRequestToDraft"
        return 200, {"data": {name[0]: {"clientMutationId": None, "pullRequest": {"isDraft": one.marked}}}}

    def _invalid(self, message: str) -> Answer:
        errors = [{"resource": "PullRequest", "code": "custom", "message": message}]
        return 422, {"message": "Validation Failed", "errors": errors, "status": "422"}

    def _pull(self, one: Request) -> Any:
        url = f"{self.address}/api/v3/repos/{self.path}"
        return {
            "url": f"{url}/pulls/{one.number}",
            "id": 1000 + one.number,
            "node_id": f"PR_{one.number}",
            "html_url": f"{self.address}/{self.path}/pull/{one.number}",
            "issue_url": f"{url}/issues/{one.number}",
            "comments_url": f"{url}/issues/{one.number}/comments",
            "number": one.number,
            "state": "open" if one.state == "open" else "closed",
            "locked": False,
            "title": one.title,
            "user": {"login": "fixer-bot", "id": 1, "type": "Bot"},
            "body": one.body,
            "created_at": MADE,
            "updated_at": MADE,
            "closed_at": None if one.state == "open" else MADE,
            "merged_at": MADE if one.state == "merged" else None,
            "head": {"label": f"{one.owner}:{one.head}", "ref": one.head, "sha": "0" * 40},
            "base": {"label": f"{self.path.partition('/')[0]}:{one.base}", "ref": one.base, "sha": "0" * 40},
            "draft": one.draft,
        }

    def _comment(self, one: Request, number: int) -> Any:
        url = f"{self.address}/api/v3/repos/{self.path}/issues/comments/{number}"
        user = {"login": "fixer-bot", "id": 1, "type": "Bot"}
        return {"id": number + 1, "url": url, "body": one.comments[number], "user": user, "created_at": MADE}

    def _gitlab(self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], shown: str) -> Answer:
        if shown != self.token:
            return 401, {"message": "401 Unauthorized"}
        if id := PROJECTS.get(unquote(path).removeprefix("/projects/")):
            return 200, {"id": id, "path_with_namespace": unquote(path)[10:], "default_branch": "main"}
        if (method, path) == ("GET", "/projects/7/merge_requests"):
            asked = query.get("source_branch"), query.get("state", "all")
            found = [one for one in self.requests if asked[0] in (None, one.head)]
            found = [one for one in found if asked[1] in ("all", {"open": "opened"}.get(one.state, one.state))]
            return 200, [self._merge_request(one) for one in reversed(found)]
        if (method, path) == ("GET", "/users"):
            return 200, [{"id": len(query["username"]), "username": query["username"]}]
        if path == "/projects/7/issues" or path.startswith("/projects/7/issues/"):
            return self._issues(method, path.rpartition("/")[2], body, self._gitlab_issue)
        owners = {f"/projects/{id}/merge_requests": path.partition("/")[0] for path, id in PROJECTS.items()}
        if method == "POST" and path in owners and body["target_project_id"] == 7:
            owner, head = owners[path], body["source_branch"]
            if self.is_open(owner, head):
                return 409, {"message": ["Another open merge request already exists for this source branch: !1"]}
            if head not in self.branches(owner):
                return 400, {"message": {"source_branch": ["does not exist"]}}
            made = self.add(owner, head, body["target_branch"], body["title"], body["description"])
            return 201, self._merge_request(made)
        if match := re.fullmatch(r"/projects/7/merge_requests/(\d+)(/notes)?", path):
            one = self.requests[int(match[1]) - 1]
            if method == "PUT":
                event = body.get("state_event")
                one.labels += filter(None, body.get("add_labels", "").split(","))
                one.reviewers += map(str, body.get("reviewer_ids", ()))
                one.edit(body.get("title"), body.get("description"), {"close": "closed", None: None}[event])
            if match[2] and method == "POST":
                one.comments.append(body["body"])
                return 201, self._note(one, len(one.comments) - 1)
            if match[2]:
                return 200, [self._note(one, number) for number in range(len(one.comments))]
            return 200, self._merge_request(one)
        return 404, {"message": "404 Not Found"}

    def _merge_request(self, one: Request) -> Any:
        return {
            "id": 1000 + one.number,
            "iid": one.number,
            "project_id": 7,
            "title": one.title,
            "draft": one.draft,
            "description": one.body,
            "state": {"open": "opened"}.get(one.state, one.state),
            "created_at": MADE,
            "updated_at": MADE,
            "merged_at": MADE if one.state == "merged" else None,
            "target_branch": one.base,
            "source_branch": one.head,
            "author": {"id": 1, "username": "fixer-bot", "state": "active"},
            "source_project_id": PROJECTS[f"{one.owner}/project"],
            "target_project_id": 7,
            "web_url": f"{self.address}/{self.path}/-/merge_requests/{one.number}",
        }

    def _note(self, one: Request, number: int) -> Any:
        author = {"id": 1, "username": "fixer-bot"}
        return {"id": number + 1, "body": one.comments[number], "author": author, "system": False, "created_at": MADE}

    def is_open(self, owner: str, head: str) -> bool:
        """Whether there is an open request from a branch."""
        return any((one.owner, one.head, one.state) == (owner, head, "open") for one in self.requests)

    def add(self, owner: str, head: str, base: str, title: str, body: str) -> Request:
        """A new request, as the web page would make it."""
        made = Request(len(self.requests) + 1, head, base, title, body, owner=owner)
        self.requests.append(made)
        return made
