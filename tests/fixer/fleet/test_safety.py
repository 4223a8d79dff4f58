"""A fleet with tokens and with repositories that mean harm: nothing of either reaches anything else.

No proof is made here: it is shown that clones, plans and deliveries run nothing of a repository. What a proof runs is
shut in, fleet or not, which tests/verify/sandbox and tests/fixer/test_secrets.py hold.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fixer.fleet.state import opened
from tests.fixer.command import NEW, OLD, Ask
from tests.fixer.fleet.organisation import SECRET, Organisation, standing
from tests.fixer.forges import BRANCH, commit
from tests.fixer.git_repos import Repo
from tests.fixer.test_secrets import recording_git
from tests.fixer.test_strange_repositories import hostile_tree, script
from tests.support import git

FILE = """
[fleet]
tries = 1
[defaults]
prove = false
deliver = "pull-request"
"""


def test_no_token_and_no_hostile_repository_reaches_anything(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker, secret, state = tmp_path / "marker", tmp_path / "secret" / "train.py", tmp_path / "state"
    secret.parent.mkdir()
    secret.write_text(f"# {SECRET[::-1]}\n")
    monkeypatch.setenv("WANDB_API_KEY", SECRET[::-1])
    with standing(tmp_path, monkeypatch, ["a", "tree", "files", "z"]) as acme:
        means_harm(acme.folder / "acme" / "files.git", marker, secret)
        origin = acme.folder / "acme" / "tree.git"
        git(origin, "update-ref", "refs/heads/main", hostile_tree(Repo(origin)))
        names = "".join(f'[[repository]]\naddress = "{acme.address}/acme/{name}.git"\n' for name in names_of(acme))
        (tmp_path / "FLEET.toml").write_text(FILE + names)
        before = {path: path.read_bytes() for path in outside(tmp_path)}
        calls = recording_git(tmp_path, monkeypatch)
        said = ask("fleet", "run", tmp_path / "FLEET.toml", "--state", state)
        assert said.code == 1, said
        assert acme.states() == {"a": ["open"], "tree": [], "files": ["open"], "z": ["open"]}
        bodies = [one.body for api in acme.apis.values() for one in api.requests]
    with opened(state) as held:
        found = {row.name: row for row in held.rows()}
    assert found["acme/tree"].state == "failed" and "invalid path" in found["acme/tree"].reason
    made = {name: git(tmp_path / "forge" / "acme" / f"{name}.git", "rev-parse", f"{BRANCH}^{{tree}}") for name in "az"}
    assert made["a"] == made["z"]
    assert not marker.exists()
    clone = next((state / "clones").glob("acme-files-*/0/files"))
    assert git(clone, "diff", "--name-only", f"{BRANCH}^", BRANCH) == "model.py"
    assert {path: path.read_bytes() for path in before} == before
    assert sorted(outside(tmp_path)) == sorted(before)
    arguments, environments = calls()
    assert len(arguments) > 25
    assert not [line for line in arguments if SECRET in line or "xtraHeader" in line]
    assert not [text for text in environments if SECRET in text]
    shown = {line.split("\t")[1] for line, text in zip(arguments, environments, strict=True) if "xtraHeader" in text}
    assert shown == {"fetch", "ls-remote", "push"}
    shutil.rmtree(tmp_path / "calls")
    texts = [said.out, said.err, *bodies]
    every = (Path(folder) / name for folder, _, names in os.walk(state) for name in names)
    texts += [place.read_bytes().decode("latin-1") for place in every if not place.is_symlink()]
    assert len(texts) > 50
    assert not [text for text in texts if SECRET in text or SECRET[::-1] in text]
    assert "GITHUB_TOKEN" not in os.environ


def names_of(acme: Organisation) -> list[str]:
    """The names of the repositories, as they are in the addresses."""
    return [path.partition("/")[2] for path in acme.apis]


def outside(folder: Path) -> list[Path]:
    """The files that no repository may touch: those beside the fleet's own and the server's."""
    kept = ("state", "forge", "calls")
    return [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in kept]


def means_harm(origin: Path, marker: Path, secret: Path) -> None:
    """Gives a repository links that lead out of it, filters, a submodule that runs a program, and templates that ask
    for what they may not see."""
    evil = script(marker.parent / "evil" / "evil", marker)
    commit(
        origin,
        {
            "train.py": NEW,
            "model.py": OLD,
            ".gitattributes": b"* filter=evil\n*.bin filter=lfs diff=lfs merge=lfs -text\n",
            "large.bin": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::{evil}\n\tupdate = !{evil}\n'.encode(),
            ".gitconfig": f"[core]\n\tfsmonitor = {evil}\n".encode(),
            "conftest.py": f"open({str(marker)!r}, 'w')\n".encode(),
            "setup.py": f"open({str(marker)!r}, 'w')\n".encode(),
            "body.md": b"{{ self }}",
            "pyproject.toml": f"[tool.fixer.verify]\ncommand = '{evil}'\n".encode(),
        },
    )
    place = origin.parent / "links"
    git(origin.parent, "clone", "--quiet", str(origin), str(place))
    (place / "linked.py").symlink_to(secret)
    (place / "folder").symlink_to(secret.parent)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "links")
    git(place, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    shutil.rmtree(place)
