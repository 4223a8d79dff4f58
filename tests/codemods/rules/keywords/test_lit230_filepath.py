"""LIT230: the path of a ModelCheckpoint, parted as 1.x parted it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch.callbacks import ModelCheckpoint

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import os\nfrom pytorch_lightning.callbacks import ModelCheckpoint\n\n"


def call(path: str, before: str = "", unsafe: bool = False) -> str:
    """The call that becomes of one with that path."""
    text = f"{HEAD}{before}ModelCheckpoint(filepath={path})\n"
    after = rewritten({"a.py": text}, rule("LIT230"), unsafe=unsafe)["a.py"]
    rest = after.partition("\n\n")[2]
    assert HEAD.endswith(after.removesuffix(rest)) and rest.startswith(before)
    return rest.removeprefix(before).strip()


@pytest.mark.parametrize(
    ("path", "folder", "name"),
    [
        ('"a/b/x-{epoch}"', '"a/b"', '"x-{epoch}"'),
        ("'{epoch}'", "'.'", "'{epoch}'"),
        ("'/{epoch}'", "'/'", "'{epoch}'"),
        ('os.path.join(root, "{epoch:d}")', "root", '"{epoch:d}"'),
        ('os.path.join(root, name, "{epoch}")', "os.path.join(root, name)", '"{epoch}"'),
        ('os.path.join(root, "a/{epoch}")', 'os.path.join(root, "a")', '"{epoch}"'),
        ('f"{root}/{name}/{{epoch}}"', 'f"{root}/{name}"', '"{epoch}"'),
        ('f"{root}/{name}-{{epoch}}"', 'f"{root}"', 'f"{name}-{{epoch}}"'),
        ('f"{root[0]}/x/{{epoch}}-{{loss:.2f}}"', 'f"{root[0]}/x"', '"{epoch}-{loss:.2f}"'),
        ('root + "/{epoch}"', "root", '"{epoch}"'),
        ('root + "/x/{epoch}"', 'root + "/x"', '"{epoch}"'),
        ('root / "{epoch}"', "root", '"{epoch}"'),
        ('root.joinpath("{epoch}")', "root", '"{epoch}"'),
        ('root.joinpath(name, "{epoch}")', "root.joinpath(name)", '"{epoch}"'),
        ('Path(root).joinpath("a", "b/{epoch}")', 'Path(root).joinpath("a", "b")', '"{epoch}"'),
        ('str(root.joinpath("a/{epoch}"))', 'root.joinpath("a")', '"{epoch}"'),
    ],
)
def test_a_name_with_fields_stands_behind_its_folder(path: str, folder: str, name: str) -> None:
    assert call(path) == f"ModelCheckpoint(dirpath={folder}, filename={name})"


@pytest.mark.parametrize(
    "path",
    [
        'os.path.join(root, "x-{epoch}")',
        'f"{root}/x-{{epoch}}"',
        'root + "/x-{epoch}"',
        '(root or ".") + "/a/x-{epoch}"',
        '(root if root else ".") + "/a/x-{epoch}"',
        'Path(root).joinpath("a", "x-{epoch}")',
        'Path(root).joinpath("a/x-{epoch}")',
    ],
)
def test_the_parts_are_those_of_the_path(path: str, tmp_path: Path) -> None:
    space: dict[str, Any] = {"os": os, "Path": Path, "root": str(tmp_path), "ModelCheckpoint": ModelCheckpoint}
    made = eval(call(path), space)
    assert (made.dirpath, made.filename) == os.path.split(eval(path, space))


def test_a_path_that_has_a_name_is_parted_where_it_is_given() -> None:
    before = 'path = os.path.join(root, "{epoch}")\n'
    parts = "dirpath=os.path.dirname(path), filename=os.path.basename(path)"
    assert call("path", before) == f"ModelCheckpoint({parts})"


@pytest.mark.parametrize(
    ("before", "path"),
    [
        ("os.makedirs(path, exist_ok=True)\n", "path"),
        ("path = os.path.join(root, name)\nos.makedirs(path)\n", "os.path.join(root, name)"),
        ('folder = root / "checkpoints"\nif not folder.exists():\n    folder.mkdir()\n', 'root / "checkpoints"'),
    ],
)
def test_a_folder_that_is_made_before_stays_one(before: str, path: str) -> None:
    assert call(path, before) == f"ModelCheckpoint(dirpath={path})"


@pytest.mark.parametrize("path", ['"a/best"', 'os.path.join("a", "best")', '"a" + "/best"'])
def test_a_name_that_may_be_a_folder_is_unsafe(path: str) -> None:
    assert run_rules({"a.py": f"{HEAD}ModelCheckpoint(filepath={path})\n"}, rule("LIT230")).changes == ()
    assert call(path, unsafe=True) == 'ModelCheckpoint(dirpath="a", filename="best")'


@pytest.mark.parametrize(
    "path",
    [
        "where()",
        "os.path.join(root, where())",
        "os.path.join(*parts)",
        'f"{root}/{name}"',
        'f"{root}"',
        '"a/" "b-{epoch}"',
        '"%s" % where()',
        'os.path.join(*parts, "{epoch}")',
        'root.joinpath(*parts, "{epoch}")',
        'root.joinpath("a", where())',
        "root.joinpath()",
        'join(root, "{epoch}")',
    ],
)
def test_a_path_that_is_not_seen_through_is_left(path: str) -> None:
    [reason] = refusals({"a.py": f"{HEAD}ModelCheckpoint(filepath={path})\n"}, "LIT230")
    assert "dirpath=" in reason


NAMED = """\
def make(root, metric):
    if metric == "a":
        name = "{a:.2f}-{step}"
    else:
        name = "{b}"
"""


def test_a_name_that_is_one_of_some_texts() -> None:
    text = f"{HEAD}{NAMED}    return ModelCheckpoint(filepath=os.path.join(root, name))\n"
    made = run_rules({"a.py": text}, rule("LIT230"))
    assert [item.fix for item in made.findings] == ["safe"]
    assert "ModelCheckpoint(dirpath=root, filename=name)" in made.final()["a.py"].decode()
    assert call("str(root / '{epoch}')") == "ModelCheckpoint(dirpath=root, filename='{epoch}')"
    assert call("path", "path = str(root / 'x-{epoch}')\n").startswith("ModelCheckpoint(dirpath=os.path.dirname(path)")


@pytest.mark.parametrize("other", ['"best"', '"x/{b}"', "find()", "metric"])
def test_a_name_that_may_be_something_else_is_unsafe(other: str) -> None:
    text = f"{HEAD}{NAMED}    return ModelCheckpoint(filepath=os.path.join(root, name))\n".replace('"{b}"', other)
    made = run_rules({"a.py": text}, rule("LIT230"), unsafe=True)
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert "ModelCheckpoint(dirpath=root, filename=name)" in made.final()["a.py"].decode()


@pytest.mark.parametrize("path", ["args.save_to", "save_to", "config['save_to']"])
def test_a_path_of_which_nothing_is_known_is_asked(path: str, tmp_path: Path) -> None:
    [found] = run_rules({"a.py": f"{HEAD}ModelCheckpoint(filepath={path})\n"}, rule("LIT230")).findings
    assert found.fix == "unsafe" and "None" in found.reason
    written = call(path, unsafe=True).replace(path, "given")
    for given, wanted in (
        (str(tmp_path), (str(tmp_path), None)),
        (str(tmp_path / "a"), (str(tmp_path), "a")),
        ("name", (str(Path.cwd()), "name")),
    ):
        made = eval(written, {"os": os, "given": given, "ModelCheckpoint": ModelCheckpoint})
        assert (made.dirpath, made.filename) == wanted


def test_what_says_nothing_goes() -> None:
    text = HEAD + 'ModelCheckpoint(filepath=None, prefix="", monitor="loss")\n'
    assert rewritten({"a.py": text}, rule("LIT230"))["a.py"] == f'{HEAD}ModelCheckpoint(monitor="loss")\n'


@pytest.mark.parametrize(
    ("path", "folder", "name"),
    [
        ("root + '/a-' + kind + '-{epoch}'", "root + '/'", "'a-' + kind + '-{epoch}'"),
        ("f'm/{kind}/' + kind + '-{epoch}'", "f'm/{kind}'", "kind + '-{epoch}'"),
    ],
)
def test_a_sum_is_parted_at_the_last_slash_that_is_written(path: str, folder: str, name: str, tmp_path: Path) -> None:
    text = f"{HEAD}callback = ModelCheckpoint(filepath={path})\n"
    after = rewritten({"train.py": text}, rule("LIT230"), unsafe=True)["train.py"]
    assert f"ModelCheckpoint(dirpath={folder}, filename={name})" in after
    given = {"root": str(tmp_path), "kind": "net"}
    assert Path(eval(folder, given)) / eval(name, given) == Path(eval(path, given))
    assert os.path.split(eval(path, given))[1] == eval(name, given)
    assert run_rules({"train.py": text}, rule("LIT230")).changes == ()


@pytest.mark.parametrize("kind", ["net", "a/net", "/net", "a/"])
@pytest.mark.parametrize(
    ("path", "folder", "name"),
    [
        ("'m/' + kind + '{epoch}'", "'m/' + kind", "kind"),
        ("'m/' + kind + '_' + '{epoch}'", "'m/' + kind + '_'", "kind + '_'"),
        ("root + '/a/' + kind + '-' + kind + '{epoch}'", "root + '/a/' + kind + '-' + kind", "kind + '-' + kind"),
    ],
)
def test_what_a_sum_adds_behind_the_last_slash_may_have_folders(path: str, folder: str, name: str, kind: str) -> None:
    made = run_rules({"train.py": f"{HEAD}callback = ModelCheckpoint(filepath={path})\n"}, rule("LIT230"))
    assert [item.fix for item in made.findings] == ["safe"]
    written = call(path)
    assert (
        written
        == f"ModelCheckpoint(dirpath=os.path.dirname({folder}), filename=os.path.basename({name}) + '{{epoch}}')"
    )
    given = eval(written, {"os": os, "root": "r", "kind": kind, "ModelCheckpoint": lambda **given: given})
    assert (given["dirpath"], given["filename"]) == os.path.split(eval(path, {"root": "r", "kind": kind}))


@pytest.mark.parametrize("path", ["'m/' + find() + '{epoch}'", "'m/' + kind + '-best'", "'m/' + kind + f'{kind}'"])
def test_a_sum_that_cannot_be_written_twice_or_may_be_a_folder_is_not_safe(path: str) -> None:
    made = run_rules({"train.py": f"{HEAD}callback = ModelCheckpoint(filepath={path})\n"}, rule("LIT230"))
    assert "safe" not in [item.fix for item in made.findings]


BOUND = """\
from pytorch_lightning.callbacks import ModelCheckpoint


def make(args, root):
    path = {path}
    return ModelCheckpoint(filepath={given})
"""


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("str(root / 'x-{epoch}')", "path"),
        ("'m/' + args.kind + '-' + args.name + '-{epoch:02d}'", "path"),
        ("f'{args.kind}/{args.name}-{{epoch}}'", "path"),
        ("f'{args.kind}_{args.name}-{{epoch}}'", "os.path.join(args.kind, path)"),
    ],
)
def test_a_name_of_what_ends_in_a_field_is_parted(path: str, given: str) -> None:
    text = BOUND.format(path=path, given=given)
    text = f"import os\n{text}" if "os." in given else text
    made = run_rules({"a.py": text}, rule("LIT230"))
    assert [item.fix for item in made.findings] == ["safe"]
    space: dict[str, Any] = {}
    exec(made.final()["a.py"].decode().replace("ModelCheckpoint(", "dict("), space)
    args = type("Args", (), {"kind": "k/a", "name": "n/b"})
    folder, name = space["make"](args, Path("r")).values()
    exec(text.replace("ModelCheckpoint(", "dict("), space)
    assert (folder, name) == os.path.split(space["make"](args, Path("r"))["filepath"])


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("'m/' + args.kind", "path"),
        ("'m/{epoch}/' + args.kind", "path"),
        ("f'{args.kind}-{{epoch}}/best'", "path"),
        ("'{epoch}' if root else args.kind", "path"),
        ("'best'", "os.path.join(root, path)"),
        ("f'{root}-{{epoch}}'", "os.path.join(find(), path)"),
    ],
)
def test_a_name_of_what_may_be_a_folder_is_not_parted_safely(path: str, given: str) -> None:
    found = run_rules({"a.py": f"import os\n{BOUND.format(path=path, given=given)}"}, rule("LIT230")).findings
    assert "safe" not in [item.fix for item in found]


@pytest.mark.parametrize(
    "path",
    [
        "root + kind",
        "'s3://' + kind + '{epoch}'",
        "root + f'{1/2}' + '{epoch}'",
    ],
)
def test_a_sum_that_is_not_seen_through_is_left(path: str) -> None:
    assert refusals({"train.py": f"{HEAD}callback = ModelCheckpoint(filepath={path})\n"}, "LIT230")


def test_the_folder_of_the_process_is_one() -> None:
    text = f"{HEAD}callback = ModelCheckpoint(filepath=os.getcwd())\n"
    assert "ModelCheckpoint(dirpath=os.getcwd())" in rewritten({"train.py": text}, rule("LIT230"))["train.py"]


@pytest.mark.parametrize(
    ("given", "pin", "found"),
    [
        ('"a/{epoch}"', "", True),
        ('os.path.join(root, "{epoch}"), "val_loss"', "", True),
        ('"a"', "", False),
        ('"a", "{epoch}"', "", False),
        ('"a", "val_loss"', "==1.1.8", True),
        ("path", "==1.1.8", True),
        ("os.getcwd()", "==1.1.8", False),
        ("None", "==1.1.8", False),
        ("*paths", "==1.1.8", False),
        ('"a", "{epoch}"', "==1.2.0", False),
    ],
)
def test_a_path_that_is_given_by_position_is_told_of(given: str, pin: str, found: bool) -> None:
    pins = (f"pytorch-lightning{pin}",) if pin else ()
    made = run_rules({"a.py": f"{HEAD}ModelCheckpoint({given})\n"}, rule("LIT230"), pins=pins)
    assert [item.fix for item in made.findings] == (["manual"] if found else [])


@pytest.mark.parametrize(
    "path", ['"a/b/"', 'f"{root}/"', 'root + "/x/"', 'os.path.join(root, "x/")', 'os.path.join(root, "")']
)
def test_a_path_that_ends_in_a_slash_is_a_folder(path: str) -> None:
    text = f"{HEAD}ModelCheckpoint(filepath={path}, monitor='loss')\n"
    made = run_rules({"a.py": text}, rule("LIT230"))
    assert (made.changes, [item.fix for item in made.findings]) == ((), ["unsafe"])
    assert call(path, unsafe=True) == f"ModelCheckpoint(dirpath={path})"
    space: dict[str, Any] = {"os": os, "root": "r", "ModelCheckpoint": ModelCheckpoint}
    assert eval(call(path, unsafe=True), space).dirpath == os.path.realpath(eval(path, space))


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("'%s/{epoch}' % root", "safe"),
        ("'a/%s/{epoch}' % root", "safe"),
        ("'%s/best' % root", "unsafe"),
        ("'%s/%s' % (root, root)", "unsafe"),
        ("root + 'x-{epoch}'", "safe"),
        ("root + '.ckpt'", "unsafe"),
        ("'/' + root + '{epoch}'", "safe"),
        ("'m/' + root", "unsafe"),
    ],
)
def test_texts_that_names_are_put_into_are_parted_as_they_come_to(path: str, level: str) -> None:
    text = f"{HEAD}ModelCheckpoint(filepath={path})\n"
    assert [item.fix for item in run_rules({"a.py": text}, rule("LIT230")).findings] == [level]
    space: dict[str, Any] = {"os": os, "root": "r/s", "ModelCheckpoint": lambda **given: given}
    made = eval(call(path, unsafe=True), space)
    assert (made["dirpath"], made["filename"]) == os.path.split(eval(path, space))


OPTION = (
    "from argparse import ArgumentParser\n\nparser = ArgumentParser()\nparser.add_argument('--{}', default={})\n"
    "args = parser.parse_args()\n"
)


@pytest.mark.parametrize(
    "path",
    [
        "output_dir",
        "args.output_dir",
        "config['ckpt_folder']",
        "str(C.OUTPUT.CHECKPOINT_DIR)",
        "self.saveDir",
        "folder",
    ],
)
def test_what_is_called_a_folder_is_taken_for_one(path: str) -> None:
    assert call(path) == f"ModelCheckpoint(filepath={path})"
    assert call(path, unsafe=True) == f"ModelCheckpoint(dirpath={path})"


@pytest.mark.parametrize("default", ["None", "'out'", "'out/'"])
def test_an_option_that_is_called_a_folder_is_taken_for_one(default: str) -> None:
    before = OPTION.format("output_dir", default)
    assert call("args.output_dir", before, unsafe=True) == "ModelCheckpoint(dirpath=args.output_dir)"


@pytest.mark.parametrize("default", ["None", "'out'"])
def test_an_option_that_the_script_makes_a_folder_is_one(default: str) -> None:
    before = f"{OPTION.format('out', default)}os.makedirs(args.out, exist_ok=True)\n"
    assert call("args.out", before) == "ModelCheckpoint(dirpath=args.out)"


@pytest.mark.parametrize(
    ("path", "before"),
    [
        ("output_path", ""),
        ("args.model", ""),
        ("directed", ""),
        ("subdirname", ""),
        ("config['dirs']", ""),
        ("config[output_dir]", ""),
        ("args.ckpt_dir", OPTION.format("ckpt_dir", "'out/{epoch}'")),
    ],
)
def test_what_is_not_called_so_is_parted(path: str, before: str) -> None:
    assert "filename=" in call(path, before, unsafe=True)


def test_a_folder_by_its_name_that_is_bound_to_a_name_with_fields_is_parted() -> None:
    before = 'ckpt_dir = os.path.join(root, "x-{epoch}")\n'
    assert "dirpath=os.path.dirname(ckpt_dir)" in call("ckpt_dir", before)
