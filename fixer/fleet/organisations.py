"""The repositories of an organisation on GitHub, or of a group on GitLab: https://docs.github.com/rest/repos/repos and
https://docs.gitlab.com/api/groups"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fixer.errors import UsageError
from fixer.fleet.asked import checked_address
from fixer.forge import ForgeRepository, place_of
from fixer.tokens import ForgeKind, Token, Tokens

_SERVERS: dict[ForgeKind, tuple[str, str]] = {
    "github": ("GITHUB_SERVER_URL", "https://github.com"),
    "gitlab": ("CI_SERVER_URL", "https://gitlab.com"),
}


def repositories_of(what: str, tokens: Tokens) -> list[tuple[str, str]]:
    """The name and the address of each repository of `github:NAME` or `gitlab:GROUP`, but of those that are archived or
    forks. Raises UsageError where it cannot be asked."""
    kind, _, name = what.partition(":")
    forge = next((one for one in _SERVERS if one == kind), None)
    if forge is None or not name.strip("/"):
        raise UsageError(f"--org {what}: give github:NAME or gitlab:GROUP")
    variable, public = _SERVERS[forge]
    place = place_of(f"{os.environ.get(variable) or public}/{name.strip('/')}/any")
    if place is None or place.kind != forge:
        raise UsageError(f"--org {what}: {variable} names a server that is not known; correct it")
    token = tokens.of(forge)
    try:
        with tokens.hiding():
            every = list(_of_github(place, name, token) if forge == "github" else _of_gitlab(place, name, token))
    except ImportError:
        raise UsageError(f"--org {what} asks the server; run `pip install 'fixer[bot]'`") from None
    except UsageError as error:
        raise UsageError(f"--org {what}: {error}") from None
    if not every:
        raise UsageError(f"--org {what}: it has no repository that can be worked on; is the name right?")
    return [(path, checked_address(address, f"--org {what}: address of {path}", Path())) for path, address in every]


def _of_github(place: ForgeRepository, name: str, token: Token | None) -> Iterator[tuple[str, str]]:
    """Those of an organisation, else of a user."""
    import github

    from fixer.pulls.github import answers, client

    api = client(place, token)
    with answers():
        try:
            every = list(api.get_organization(name).get_repos())
        except github.UnknownObjectException:
            every = list(api.get_user(name).get_repos())
        yield from ((one.full_name, one.clone_url) for one in every if not (one.archived or one.fork))


def _of_gitlab(place: ForgeRepository, name: str, token: Token | None) -> Iterator[tuple[str, str]]:
    """Those of a group and of the groups in it."""
    from fixer.pulls.gitlab import answers, client

    with answers():
        group = client(place, token).groups.get(name.strip("/"), lazy=True)
        for one in group.projects.list(iterator=True, include_subgroups=True, archived=False):
            if not (getattr(one, "forked_from_project", None) or one.empty_repo):
                yield one.path_with_namespace, one.http_url_to_repo
