"""FLEET.toml and lists: what they come to, one error for what cannot be meant, and the schema that editors read."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest
import tomlkit

from fixer.errors import UsageError
from fixer.fleet.asked import (
    FleetOptions,
    RepositoryOptions,
    name_of,
    read_fleet,
    schema,
    structured,
    unstructured,
)
from tests.fixer.command import Ask

WHOLE = """
[fleet]
open-pull-requests = 20
open-per-repository = 1
canary = 5
hours = "09:00-17:00"
plans = 4
proofs = 2
tries = 3

[defaults]
deliver = "pull-request"
labels = ["lightning"]
budget = 15
require = "trains"

[[repository]]
address = "https://github.com/acme/vision.git"

[[repository]]
address = "git@gitlab.com:acme/group/speech.git"
name = "speech"
select = ["LIT", "PIN"]
deliver = "branch"
gpus = 1
memory = 16
"""


def written(folder: Path, text: str) -> str:
    place = folder / "FLEET.toml"
    place.write_text(text)
    return str(place)


def test_options_of_all_and_of_one(tmp_path: Path) -> None:
    fleet = read_fleet([written(tmp_path, WHOLE)])
    assert fleet.options == FleetOptions(20, 1, 5, "09:00-17:00", 4, 2, 3)
    one, other = fleet.repositories
    assert (one.name, one.options.deliver, one.options.labels) == ("acme/vision", "pull-request", ("lightning",))
    assert (one.options.budget, one.options.require, one.options.select) == ("900s", "trains", None)
    assert (other.name, other.address) == ("speech", "git@gitlab.com:acme/group/speech.git")
    assert (other.options.deliver, other.options.select, other.options.gpus) == ("branch", ("LIT", "PIN"), 1)
    assert other.options.require == "trains"


def test_paths_are_those_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "there" / "project").mkdir(parents=True)
    place = written(tmp_path / "there", '[[repository]]\naddress = "project"\n')
    (one,) = read_fleet([place]).repositories
    assert (one.name, one.address) == ("project", str(tmp_path / "there" / "project"))


def test_a_list_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    listed = tmp_path / "list.txt"
    listed.write_text("# ours\na\n\nhttps://github.com/acme/b\n")
    fleet = read_fleet([str(listed), "ssh://git@example.org/acme/c.git"])
    assert [one.name for one in fleet.repositories] == ["a", "acme/b", "acme/c"]
    assert {one.options for one in fleet.repositories} == {RepositoryOptions()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[fleet\n", "not valid TOML"),
        ("", "it names no repository"),
        ('repository = "a"', "it names no repository"),
        ("[[repository]]\n", "[[repository]] 1 has no address"),
        ('[[repository]]\naddress = "nowhere"\n', "there is no such folder"),
        ('[[repository]]\naddress = "--upload-pack=x"\n', "no path and no address"),
        ('[[repository]]\naddress = "ext::sh -c x"\n', "no path and no address"),
        ('[[repository]]\naddress = "ftp://example.org/a"\n', "over http, ssh, git or from a path"),
        ("[flet]\n", "unknown key 'flet', did you mean 'fleet'?"),
        ("[fleet]\ncanarry = 1\n", "[fleet] unknown key 'canarry', did you mean 'canary'?"),
        ("[fleet]\ncanary = -1\n", "[fleet] canary must be a whole number from 0 on"),
        ("[fleet]\nproofs = true\n", "[fleet] proofs must be a whole number from 1 on"),
        ('[fleet]\nhours = "9-5"\n', "[fleet] hours must be two times of the day"),
        ('[defaults]\nbudgett = "1m"\n', "[defaults] unknown key 'budgett', did you mean 'budget'?"),
        ('[defaults]\ndeliver = "mail"\n', '[defaults] deliver must be "nothing" or "branch" or "pull-request"'),
        ('[defaults]\nselect = ["NIX"]\n', "[defaults] select: no rule is called 'NIX'"),
        ('[defaults]\ntarget = "1.9"\n', "fixer moves to releases from"),
        ('[defaults]\nprove = false\nrequire = "trains"\n', "require asks for a proof"),
        ("[defaults]\nbudget = 120\n", "[defaults] budget is 7200s, but a proof is ended after 7200s, its `limit`"),
        ('[[repository]]\naddress = "https://[abc/x"\n', "[[repository]] 1 address: no address: Invalid IPv6 URL"),
        ('[[repository]]\naddress = "a\\u0000b"\n', "address 'a\\x00b': it holds a control character"),
        ('[[repository]]\naddress = "https://g.org/a/b"\nname = "a\\u001b"\n', "the name 'a\\x1b' holds a control"),
        (
            '[[repository]]\naddress = "https://g.org/a/b"\n[[repository]]\nname = "x"\naddress = "git@g.org:a/b.git"',
            "https://g.org/a/b and git@g.org:a/b.git are one repository",
        ),
        (
            '[[repository]]\naddress = "https://g.org/a/b"\n[[repository]]\naddress = "https://h.org/a/b"\n',
            "1 names are used for several repositories, such as 'a/b'",
        ),
    ],
)
def test_what_cannot_be_meant_is_one_error(ask: Ask, tmp_path: Path, text: str, told: str) -> None:
    said = ask("fleet", "run", written(tmp_path, text), "--state", tmp_path / "state")
    assert told in said.complaint()
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("address", ["https://[abc/x", "odd\udcff", "a\x1b[31m"])
def test_an_argument_that_cannot_be_meant_is_one_error(ask: Ask, tmp_path: Path, address: str) -> None:
    said = ask("fleet", "run", address, "--state", tmp_path / "state")
    assert said.code == 2 and "address" in said.complaint() and "\x1b" not in said.err


def test_one_repository_is_taken_once_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    text = '[[repository]]\naddress = "https://github.com/Acme/B.git/"\nname = "mine"\n'
    text += f'[[repository]]\naddress = "{tmp_path}/a"'
    fleet = read_fleet([written(tmp_path, text)])
    more = [
        ("acme/b", "git@github.com:acme/b.git"),
        ("acme/c", "https://github.com/acme/c"),
        ("", f"file://{tmp_path}/a"),
    ]
    assert [one.name for one in fleet.and_of(more, "--org").repositories] == ["mine", "a", "acme/c"]
    twice = text.replace(f"{tmp_path}/a", "https://github.com/acme/b")
    with pytest.raises(UsageError, match="are one repository; name it once, or give each a `branch` of its own"):
        read_fleet([written(tmp_path, twice)])
    assert len(read_fleet([written(tmp_path, f'{twice}\nbranch = "fixer/next"\n')]).repositories) == 2


def test_one_repository_may_do_without_the_proof_that_all_have_to_pass(tmp_path: Path) -> None:
    text = '[defaults]\nrequire = "trains"\n[[repository]]\naddress = "https://g.org/a/b"\nprove = false\n'
    (one,) = read_fleet([written(tmp_path, text)]).repositories
    assert (one.options.prove, one.options.require) == (False, None)
    with pytest.raises(UsageError, match="require asks for a proof"):
        read_fleet([written(tmp_path, f'{text}require = "same"\n')])


@pytest.mark.parametrize("address", ["https://x:glpat-123@example.org/a", "https://glpat-123@example.org/a"])
def test_an_address_with_a_password_is_refused_and_not_shown(ask: Ask, address: str) -> None:
    said = ask("fleet", "run", address)
    assert "it holds a name or a password; remove it" in said.complaint()
    assert "glpat" not in said.out + said.err


def test_a_fleet_is_a_file_or_a_list(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give one of the two"):
        read_fleet([written(tmp_path, WHOLE), "https://github.com/acme/b"])
    with pytest.raises(UsageError, match="no repository is named"):
        read_fleet([])
    with pytest.raises(UsageError, match="No such file"):
        read_fleet([str(tmp_path / "none.toml")])


def test_names(tmp_path: Path) -> None:
    assert name_of("https://github.com/acme/b.git/") == "acme/b"
    assert name_of("git@github.com:acme/b") == "acme/b"
    assert name_of(str(tmp_path / "project.git")) == "project"


def test_the_schema_takes_what_is_read_and_refuses_what_is_not() -> None:
    jsonschema.validate(tomlkit.parse(WHOLE).unwrap(), schema())
    jsonschema.validate({"defaults": {"prove": False}}, schema())
    known = {one.name.replace("_", "-") for one in fields(RepositoryOptions)} - {"plugins", "rules"}
    parts = schema()["properties"]
    assert set(parts["defaults"]["properties"]) == known
    assert set(parts["repository"]["items"]["properties"]) == known | {"address", "name"}
    assert set(parts["fleet"]["properties"]) == {one.name.replace("_", "-") for one in fields(FleetOptions)}
    for wrong in ("[fleet]\ncanary = -1\n", '[fleet]\nhours = "9-5"\n', '[defaults]\ndeliver = "mail"\n'):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomlkit.parse(f'{wrong}[[repository]]\naddress = "a"\n').unwrap(), schema())


def test_the_schema_is_printed_for_editors(ask: Ask) -> None:
    said = ask("fleet", "schema")
    assert said.code == 0 and '"FLEET.toml"' in said.out


def test_options_are_kept_as_they_were() -> None:
    options = RepositoryOptions(select=("LIT",), deliver="branch", labels=("a", "b"), gpus=2)
    assert unstructured(options).keys() == {"select", "deliver", "labels", "gpus"}
    assert structured(unstructured(options)) == options
