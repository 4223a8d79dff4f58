"""LIT230: `ModelCheckpoint(prefix=...)` goes into the name of the files."""

from __future__ import annotations

import pytest
from lightning.pytorch.callbacks import ModelCheckpoint

from tests.codemods.support import rule, run_rules

HEAD = "import os\n\nfrom pytorch_lightning.callbacks import ModelCheckpoint\n\n"


def made(call: str) -> tuple[str, str]:
    """The call after all rewrites, and the level."""
    result = run_rules({"a.py": f"{HEAD}save = {call}\n"}, rule("LIT230"), unsafe=True)
    [finding] = [item for item in result.findings if "prefix" in item.message]
    return result.final().get("a.py", f"{HEAD}save = {call}\n".encode()).decode()[len(HEAD) + 7 : -1], finding.fix


@pytest.mark.parametrize(
    ("call", "wanted", "level"),
    [
        ('ModelCheckpoint(filename="{epoch}", prefix="best")', 'ModelCheckpoint(filename="best-{epoch}")', "safe"),
        ("ModelCheckpoint(prefix='a', filename='m')", "ModelCheckpoint(filename='a-m')", "safe"),
        ('ModelCheckpoint(prefix="best")', 'ModelCheckpoint(filename="best-{epoch}-{step}")', "unsafe"),
        (
            "ModelCheckpoint(filename='{epoch}', save_last=True, prefix='a')",
            "ModelCheckpoint(filename='a-{epoch}', save_last=True)",
            "unsafe",
        ),
        (
            "ModelCheckpoint(filename='{epoch}', prefix=f'{args.name}')",
            "ModelCheckpoint(filename=f'{args.name}' + '-{epoch}')",
            "unsafe",
        ),
        (
            "ModelCheckpoint(prefix=name)",
            'ModelCheckpoint(filename=(name + "-" if name else "") + "{epoch}-{step}")',
            "unsafe",
        ),
        ("ModelCheckpoint(filename=f'm{a}', prefix='b')", "ModelCheckpoint(filename=\"b-\" + f'm{a}')", "safe"),
        (
            "ModelCheckpoint(filename=f'{a}', prefix='b')",
            'ModelCheckpoint(filename="b-" + (f\'{a}\' or "{epoch}-{step}"))',
            "unsafe",
        ),
        (
            "ModelCheckpoint(filename='', prefix='b')",
            'ModelCheckpoint(filename="b-" + (\'\' or "{epoch}-{step}"))',
            "unsafe",
        ),
        (
            'ModelCheckpoint(prefix="b", filepath="out/{epoch}")',
            'ModelCheckpoint(dirpath="out", filename="b-{epoch}")',
            "unsafe",
        ),
        ("ModelCheckpoint(filename=r'{epoch}', prefix='b')", "ModelCheckpoint(filename=\"b-\" + r'{epoch}')", "safe"),
        (
            "ModelCheckpoint(filename=name, prefix='a')",
            'ModelCheckpoint(filename="a-" + (name or "{epoch}-{step}"))',
            "unsafe",
        ),
        (
            "ModelCheckpoint(filename='{epoch}', prefix=find())",
            "ModelCheckpoint(filename=find() + '-{epoch}')",
            "unsafe",
        ),
        (
            "ModelCheckpoint(filename=a if b else None, prefix=c)",
            'ModelCheckpoint(filename=(c + "-" if c else "") + ((a if b else None) or "{epoch}-{step}"))',
            "unsafe",
        ),
        (
            'ModelCheckpoint(filepath="out/{epoch}", prefix="b")',
            'ModelCheckpoint(dirpath="out", filename="b-{epoch}")',
            "unsafe",
        ),
        (
            "ModelCheckpoint(filepath=os.getcwd(), prefix=find())",
            'ModelCheckpoint(dirpath=os.getcwd(), filename=find() + "-{epoch}-{step}")',
            "unsafe",
        ),
    ],
)
def test_joined(call: str, wanted: str, level: str) -> None:
    assert made(call) == (wanted, level)


def test_the_newest_writes_that_name() -> None:
    save = ModelCheckpoint(filename="best-{epoch}-{loss:.1f}")
    assert save.format_checkpoint_name({"epoch": 3, "loss": 0.5}) == "best-epoch=3-loss=0.5.ckpt"


@pytest.mark.parametrize(
    "call",
    [
        "ModelCheckpoint(filepath=find(), prefix='a')",
        "ModelCheckpoint(filepath='{epoch}', dirpath='a', prefix='b')",
        "ModelCheckpoint(filename='{epoch}', prefix='{a}')",
        "ModelCheckpoint(filename='{epoch}', prefix=a + b)",
        "ModelCheckpoint(filename='{epoch}', prefix=3)",
    ],
)
def test_left_to_a_person(call: str) -> None:
    assert made(call) == (call, "manual")


def found(arguments: str, pins: tuple[str, ...], unsafe: bool = True) -> tuple[set[str], str]:
    """The levels of what is found of a call, and its arguments afterwards."""
    text = f"{HEAD}save = ModelCheckpoint({arguments})\n"
    done = run_rules({"a.py": text}, rule("LIT230"), unsafe=unsafe, pins=pins)
    after = done.final().get("a.py", text.encode()).decode()
    return {each.fix for each in done.findings}, after.partition("save = ModelCheckpoint(")[2][:-2]


OLD, NEW, BOTH = ("pytorch-lightning==0.9.0",), ("pytorch-lightning>=0.10,<1.3",), ("pytorch-lightning>=0.8",)
NAMED = 'filepath="out/{epoch}", prefix="b_"'


@pytest.mark.parametrize(
    ("pins", "level", "name"),
    [
        (OLD, "safe", "b_{epoch}"),
        (NEW, "safe", "b_-{epoch}"),
        (BOTH, "unsafe", "b_{epoch}"),
        ((), "unsafe", "b_{epoch}"),
    ],
    ids=["0.9", "0.10", "both", "open"],
)
def test_a_dash_stands_behind_it_since_0_10(pins: tuple[str, ...], level: str, name: str) -> None:
    after = f'dirpath="out", filename="{name}"'
    assert found(NAMED, pins) == ({level}, after)
    assert found(NAMED, pins, unsafe=False) == ({level}, after if level == "safe" else NAMED)


@pytest.mark.parametrize("pins", [(), BOTH])
def test_arguments_of_1_0_tell_the_release(pins: tuple[str, ...]) -> None:
    assert found('dirpath="a", filename="m", prefix="b_"', pins) == ({"safe"}, 'dirpath="a", filename="b_-m"')
    assert found('filepath="out/m", prefix="b"', pins) == ({"unsafe"}, 'dirpath="out", filename="b-m"')
    assert found('filepath="out/{epoch}", prefix=""', pins) == ({"safe"}, 'dirpath="out", filename="{epoch}"')


@pytest.mark.parametrize(
    ("prefix", "name"),
    [
        ("name", '(name or "") + "{epoch}"'),
        ("f'{name}'", "f'{name}' + \"{epoch}\""),
        ("find()", 'find() + "{epoch}"'),
    ],
)
def test_no_dash_behind_what_is_not_plain(prefix: str, name: str) -> None:
    assert found(f'filepath="out/{{epoch}}", prefix={prefix}', OLD)[1] == f'dirpath="out", filename={name}'
