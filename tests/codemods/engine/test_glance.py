"""A glance at one file that changed gives what a look at the whole tree does, as far as the file says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codemods.code.source import Source
from codemods.engine.glance import glance
from codemods.engine.scan import Options, Scan, scan
from codemods.finding import Finding
from codemods.lightning.pins.stated import is_forked, pins_of
from codemods.rule import all_rules
from fixer.files import kind_of
from tests.codemods.support import sources

PROJECTS = sorted(path for path in (Path(__file__).parents[2] / "projects").iterdir() if path.is_dir())
EVERY = 3
ADDED = "\n\ndef _late(trainer):\n    return trainer.fit\n"
BROKEN = b"\n\ndef broken(:\n"
FOUND = b"\n\nimport pytorch_lightning as late\n\nlate.Trainer(gpus=1)  # fixer: ignore[LIT999]\n"


def files_of(folder: Path) -> Iterator[Source]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and (kind := kind_of(name)):
            yield Source(name, kind, path.read_bytes())


def looked_at(every: list[Source]) -> tuple[Options, Scan]:
    options = Options(all_rules(), pins=pins_of(every), forked=is_forked(every))
    return options, scan(every, options)


def of_file(look: Scan, path: str) -> list[Finding]:
    return [finding for finding in look.findings if finding.path == path]


@pytest.mark.parametrize("folder", PROJECTS[::EVERY], ids=lambda folder: folder.name)
def test_a_glance_is_a_look(folder: Path) -> None:
    every = list(files_of(folder))
    options, look = looked_at(every)
    for number, source in enumerate(every):
        if source.kind != "python":
            continue
        for more in (ADDED.encode(), FOUND, b""):
            made = replace(source, data=source.data + more)
            early: list[tuple[Finding, ...]] = []
            found = glance(look, made, options, look.facts.trees.known, early.append)
            assert isinstance(found, Scan)
            if more == ADDED.encode():
                assert early == [tuple(of_file(found, source.path))]
            whole = scan([*every[:number], made, *every[number + 1 :]], options)
            assert of_file(found, source.path) == of_file(whole, source.path)
            look = found
    assert look.findings == looked_at(every)[1].findings


def test_what_does_not_parse_is_said() -> None:
    every = sources({"train.py": "import pytorch_lightning as pl\n\npl.Trainer(gpus=1)\n"})
    options, look = looked_at(every)
    found = glance(look, replace(every[0], data=every[0].data + BROKEN), options, look.facts.trees.known)
    assert isinstance(found, str) and "line 6" in found


def test_what_another_file_says_is_known() -> None:
    base = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"
    net = "from base import Base\n\n\nclass Net(Base):\n    pass\n"
    every = sources({"base.py": base, "net.py": net})
    options, look = looked_at(every)
    assert look.findings == ()
    ended = f"{net.removesuffix('    pass')}\n    def training_epoch_end(self, outputs):\n        print(len(outputs))\n"
    made = replace(every[1], data=ended.encode())
    found = glance(look, made, options, look.facts.trees.known)
    assert isinstance(found, Scan)
    assert {finding.path for finding in found.findings} == {"net.py"}
    assert found.findings == scan([every[0], made], options).findings
    again = glance(found, every[1], options, look.facts.trees.known)
    assert isinstance(again, Scan) and again.findings == ()


def test_other_files_stay_as_they_were_found() -> None:
    """What changes elsewhere is seen by the next look at everything."""
    base = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"
    net = "from base import Base\n\n\nclass Net(Base):\n    def training_epoch_end(self, outputs):\n        print(1)\n"
    every = sources({"base.py": base, "net.py": net})
    options, look = looked_at(every)
    assert look.findings
    made = replace(every[0], data=b"class Base:\n    pass\n")
    found = glance(look, made, options, look.facts.trees.known)
    assert isinstance(found, Scan) and found.findings == look.findings
    assert scan([made, every[1]], options).findings == ()


def told_early(before: str, after: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The lines and codes that are told of a changed file early, and in the end."""
    every = sources({"train.py": before})
    options, look = looked_at(every)
    early: list[tuple[Finding, ...]] = []
    found = glance(look, replace(every[0], data=after.encode()), options, look.facts.trees.known, early.append)
    assert isinstance(found, Scan) and len(early) == 1
    places = [[(finding.span.line, finding.code) for finding in findings] for findings in (early[0], found.findings)]
    return places[0], places[1]


IMPORT = "import pytorch_lightning as pl\n\n"
THROUGH = "given = 50\npl.Trainer(\n    progress_bar_refresh_rate=given,\n)\n"


def test_what_is_typed_is_told_early() -> None:
    early, found = told_early(IMPORT, f"{IMPORT}pl.Trainer(gpus=1)\n")
    assert early == found == [(3, "LIT101")]


def test_what_is_mended_is_no_more() -> None:
    early, found = told_early(f"{IMPORT}pl.Trainer(gpus=1)\n", f"{IMPORT}pl.Trainer(devices=1)\n")
    assert early == found == []


def test_what_is_seen_through_stands_where_its_lines_do() -> None:
    early, found = told_early(f"{IMPORT}{THROUGH}", f"{IMPORT}# more\n\n{THROUGH}\nx = 1\n")
    assert found and early == found


def test_what_stood_in_a_changed_line_is_seen_again_in_the_end() -> None:
    """It depends on what an import brings, which is two lines above."""
    before = f"{IMPORT}pl.Trainer(gpus=1)\n"
    early, found = told_early(before, before.replace("import pytorch_lightning as pl", "import other as pl"))
    assert early == [(3, "LIT101")] and found == []


def test_a_glance_ends_where_somebody_types_on() -> None:
    every = sources({"train.py": f"{IMPORT}pl.Trainer(gpus=1)\n"})
    options, look = looked_at(every)
    early: list[tuple[Finding, ...]] = []

    def ask() -> None:
        raise KeyError

    made = replace(every[0], data=every[0].data + b"\n")
    with pytest.raises(KeyError):
        glance(look, made, options, look.facts.trees.known, early.append, ask)
    assert [finding.code for finding in early[0]] == ["LIT101"]
