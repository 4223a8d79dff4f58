"""Notebooks: what rules see of them, and that an edit leaves every other byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.code.notebook import Notebook
from codemods.code.source import Source, Unreadable
from codemods.engine.plan import Plan
from codemods.finding import Span
from tests.codemods.support import cell, notebook, rule, run_rules


def book(*cells: str | tuple[str, str], indent: int | None = 1, listed: bool = True, **metadata: Any) -> str:
    """A notebook of some cells, of which those of code have printed their text."""
    made = []
    for item in cells:
        kind, text = ("code", item) if isinstance(item, str) else item
        printed = {"output_type": "stream", "name": "stdout", "text": [text]}
        run = {"execution_count": 1, "outputs": [printed]} if kind == "code" else {}
        made.append(cell(text, kind, listed=listed, **run))
    return notebook(*made, indent=indent, **metadata)


def parsed(text: str) -> Notebook:
    return Notebook.parse(Source("a/b.ipynb", "notebook", text.encode()))


def repaired(text: str, code: str = "LIT101", **files: str) -> Plan:
    made = run_rules({"a.ipynb": text, **files}, rule(code))
    assert made.bugs == ()
    return made


IMPORT = "import pytorch_lightning as pl\nfrom torch import nn"
TRAIN = "# train\ntrainer = pl.Trainer(gpus=1, max_epochs=3)\ntrainer.fit(model)"


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
@pytest.mark.parametrize("listed", [True, False])
def test_names_resolve_across_cells_and_only_one_line_changes(indent: int | None, listed: bool) -> None:
    cells: list[str | tuple[str, str]] = [
        "%matplotlib inline\n!pip install x",
        IMPORT,
        ("markdown", "`pl.Trainer(gpus=1)` é"),
        TRAIN,
    ]
    before = book(*cells, indent=indent, listed=listed)
    made = repaired(before)
    after = made.final()["a.ipynb"].decode()
    old, new = (
        "trainer = pl.Trainer(gpus=1, max_epochs=3)",
        'trainer = pl.Trainer(accelerator=\\"gpu\\", devices=1, max_epochs=3)',
    )
    place = before.index(old)
    assert after == before[:place] + new + before[place + len(old) :]
    (finding,) = made.findings
    assert (finding.cell, finding.span.line, finding.path) == (3, 2, "a.ipynb")


def test_what_is_printed_is_not_touched() -> None:
    before = book(IMPORT, TRAIN)
    after = json.loads(repaired(before).final()["a.ipynb"])
    assert [cell["outputs"] for cell in after["cells"]] == [cell["outputs"] for cell in json.loads(before)["cells"]]


def test_lines_that_come_and_go_keep_the_layout() -> None:
    code = "trainer = pl.Trainer(\n    gpus=1,\n    max_epochs=3,\n)"
    after = repaired(book(IMPORT, code, indent=2)).final()["a.ipynb"].decode()
    new = 'trainer = pl.Trainer(\n    accelerator="gpu",\n    devices=1,\n    max_epochs=3,\n)'
    outputs = json.loads(after)["cells"][1].pop("outputs")
    assert outputs[0]["text"] == [code]
    assert json.loads(after)["cells"][1]["source"] == new.splitlines(keepends=True)
    assert after.count("\n") == book(IMPORT, code, indent=2).count("\n") + 1


@pytest.mark.parametrize(
    "cell",
    [
        "%load_ext tensorboard\n%tensorboard --logdir logs",
        "!pip install a \\\n  b",
        "%%bash\nfor x in 1 2; do echo $x; done",
        "%%time\nx = 1",
        "%%capture out\n!ls\nx = 1",
        "files = !ls\nname = %pwd",
        "if True:\n    !ls\nelse:\n    %cd ..",
        "pl.Trainer?",
        "?x",
        "# only a comment",
        "x = 1;",
        "text = '''\n%not magic\n'''",
    ],
)
def test_magics_are_kept(cell: str) -> None:
    text = book(IMPORT, cell, TRAIN)
    found = parsed(text)
    assert found.encode(found.text) == text.encode()
    after = json.loads(repaired(text).final()["a.ipynb"])
    assert "".join(after["cells"][1]["source"]) == cell
    assert "devices=1" in "".join(after["cells"][2]["source"])


def test_what_a_magic_gives_is_not_known() -> None:
    made = repaired(book(IMPORT, "n = %env GPUS", "trainer = pl.Trainer(gpus=n)"))
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["unsafe"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "it has no cells"),
        ("version https://git-lfs", "cannot be read as a notebook"),
        ('{"cells": [', "cannot be read as a notebook"),
        (book("x = ("), r"cell 1, line 1: does not parse"),
        (book(("markdown", "a"), "# ok", "print 'x'"), r"cell 3, line 1: does not parse"),
        (book("x <- 1", kernelspec={"language": "R"}), "its cells are in R"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parsed(text)


def test_a_notebook_that_cannot_be_read_is_named() -> None:
    made = run_rules({"a.ipynb": book("import pytorch_lightning as pl", "pl.Trainer(gpus=1) (")}, rule("LIT101"))
    assert [path for path, _ in made.skipped] == ["a.ipynb"]


def test_an_edit_beyond_a_cell_is_refused() -> None:
    found = parsed(book("a = 1", "b = 2"))
    with pytest.raises(ValueError, match="beyond a cell"):
        found.encode(found.text.replace("\n# [fixer cell 1]\n", " +\\\n"))
    with pytest.raises(ValueError, match="beyond a cell"):
        found.encode("import os\n" + found.text)
    with pytest.raises(ValueError, match="beyond a cell"):
        found.encode(found.text.replace("# [fixer cell 1]\n", "# [fixer cell 0]\n"))


def test_the_first_statement_of_a_cell_may_go() -> None:
    """The comment that parts the cells goes with it."""
    found = parsed(book("a = 1", "b = 2\nc = 3", "d = 4", "e = 5"))
    one = found.encode(found.text.replace("# [fixer cell 1]\nb = 2\n", ""))
    assert [cell.source for cell in parsed(one.decode()).cells] == ["a = 1", "c = 3", "d = 4", "e = 5"]
    two = found.encode(found.text.replace("# [fixer cell 1]\nb = 2\nc = 3\n# [fixer cell 2]\nd = 4\n", ""))
    assert ["".join(cell["source"]) for cell in json.loads(two)["cells"]] == ["a = 1", "", "", "e = 5"]


def test_a_lost_magic_is_refused() -> None:
    found = parsed(book("!ls\na = 1"))
    with pytest.raises(ValueError, match="not Python"):
        found.encode(found.text.replace("pass  # [fixer kept 0]\n", ""))


def test_an_import_that_a_rule_adds_stands_in_a_cell() -> None:
    cells = ["!ls", "from pytorch_lightning import Trainer", "trainer = Trainer(progress_bar_refresh_rate=5)"]
    after = json.loads(repaired(book(*cells), "LIT110").final()["a.ipynb"])
    source = ["".join(cell["source"]) for cell in after["cells"]]
    assert source[0] == "!ls"
    assert "TQDMProgressBar" in source[1]
    assert source[2] == "trainer = Trainer(callbacks=[TQDMProgressBar(refresh_rate=5)])"


def test_a_notebook_hides_no_module_of_the_same_name() -> None:
    own = "from helper import Base\n\n\nclass Net(Base):\n    def training_epoch_end(self, outputs):\n        pass\n"
    base = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"
    files = {"net.py": own, "helper.py": base}
    alone = run_rules(files, rule("LIT201"))
    both = run_rules({**files, "helper.ipynb": book("import pytorch_lightning as pl", "Base = 1")}, rule("LIT201"))
    assert alone.findings == both.findings
    assert alone.changes == both.changes


def test_places_are_counted_in_their_cell() -> None:
    found = parsed(book("a = 1\nb = 2", ("markdown", "text"), "c = 3"))
    line = found.text.split("\n").index("c = 3") + 1
    assert found.place(Span(line, 1, line, 6)) == (2, Span(1, 1, 1, 6))


LINES = st.sampled_from(
    ["a = 1", "", "# c", "%time x", "!ls é", "print('é\\n')", "if a:\n    !b", 'q = "\\u00e9 \\\\"', "x?"]
)
CELLS = st.lists(
    st.tuples(st.sampled_from(["code", "markdown"]), st.lists(LINES, max_size=4).map("\n".join)), max_size=5
)


@settings(deadline=None)
@given(CELLS, st.sampled_from([None, 1, 2]), st.booleans())
def test_reading_and_writing_gives_the_same_bytes(
    cells: list[tuple[str, str]], indent: int | None, listed: bool
) -> None:
    text = book(*cells, indent=indent, listed=listed)
    found = parsed(text)
    assert found.encode(found.text) == text.encode()


@settings(deadline=None)
@given(CELLS, st.sampled_from([None, 1, 2]), st.booleans())
def test_a_new_line_changes_its_cell_alone(cells: list[tuple[str, str]], indent: int | None, listed: bool) -> None:
    text = book(*cells, ("code", "last = 0\nend = 0"), indent=indent, listed=listed)
    found = parsed(text)
    after = json.loads(found.encode(found.text.replace("last = 0", "last = 1")))
    before = json.loads(text)
    assert "".join(after["cells"][-1]["source"]) == "last = 1\nend = 0"
    assert after["cells"][:-1] == before["cells"][:-1]


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("lead", ["", "x = 'ä\\n\"'\n", "# \U0001f600 \t\n\n"])
def test_a_requirement_in_a_command_is_placed_in_its_cell(lead: str, listed: bool) -> None:
    text = f"{lead}!pip install -q torchmetrics pytorch-lightning==1.5.0 rich\nimport pytorch_lightning"
    for escaped in (True, False):
        data = notebook(
            cell("words", "markdown", listed=False), cell(text, listed=listed), indent=None, escaped=escaped
        )
        found = [item for item in run_rules({"a.ipynb": data}).findings if item.code == "PIN001"]
        assert found
        for item in found:
            assert item.cell == 1
            line = text.split("\n")[item.span.line - 1]
            assert line[item.span.column - 1 : item.span.end_column - 1] == "pytorch-lightning==1.5.0"


def test_a_cell_that_is_no_python_is_left_and_the_others_are_read() -> None:
    text = book("from pytorch_lightning import Trainer", "x = read()y = 1\nprint 'x'", "Trainer(gpus=2)")
    made = run_rules({"a.ipynb": text}, rule("LIT101"))
    assert made.bugs == ()
    ((path, why),) = made.skipped
    assert path == "a.ipynb"
    assert why.startswith("cell 2, line 1: does not parse as Python 3") and why.endswith(
        "the other cells were looked at"
    )
    cells = ["".join(cell["source"]) for cell in json.loads(made.final()["a.ipynb"])["cells"]]
    assert cells[1] == "x = read()y = 1\nprint 'x'"
    assert cells[2] == 'Trainer(accelerator="gpu", devices=2)'
