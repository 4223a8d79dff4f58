"""IGN001: comments that leave nothing out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.rule import all_rules, select_rules
from tests.codemods.support import notebook, refusals, rewritten, run_rules, sources

HEAD = "from pytorch_lightning import Trainer\n\n"


def after(line: str) -> str:
    """A line below the import of Trainer, after all rules."""
    return rewritten({"train.py": f"{HEAD}{line}\n"}, *all_rules())["train.py"].removeprefix(HEAD).removesuffix("\n")


def judged(line: str) -> list[str]:
    """What is said of the comments on a line."""
    found = run_rules({"train.py": f"{HEAD}{line}\n"}, *all_rules()).findings
    return [f"{item.message} [{item.fix}] {item.reason}" for item in found if item.code == "IGN001"]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("Trainer(max_epochs=1)  # fixer: ignore[LIT101]", "Trainer(max_epochs=1)"),
        ("Trainer(max_epochs=1)  # fixer: ignore", "Trainer(max_epochs=1)"),
        ("Trainer(max_epochs=1)  #fixer:ignore[LIT101,LIT110]", "Trainer(max_epochs=1)"),
        ("Trainer(max_epochs=1)  # fixer: ignore[lit101]", "Trainer(max_epochs=1)"),
        ("Trainer(max_epochs=1)  # noqa: E501  # fixer: ignore[LIT101]", "Trainer(max_epochs=1)  # noqa: E501"),
        ("Trainer(max_epochs=1)  # fixer: ignore[LIT101]  # noqa: E501", "Trainer(max_epochs=1)  # noqa: E501"),
        ("Trainer(max_epochs=1)  # fixer: ignore[LIT101] our own way", "Trainer(max_epochs=1)  # our own way"),
        ("Trainer(gpus=1)  # fixer: ignore[LIT110, LIT101]", "Trainer(gpus=1)  # fixer: ignore[LIT101]"),
        ("Trainer(gpus=1)  # fixer: ignore[LIT101:M999]", 'Trainer(accelerator="gpu", devices=1)'),
        ('x = "ä"; Trainer(max_epochs=1)  # fixer: ignore[LIT101]', 'x = "ä"; Trainer(max_epochs=1)'),
    ],
)
def test_idle_codes_go_and_the_rest_stays(before: str, expected: str) -> None:
    assert after(before) == expected
    assert after(expected) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Trainer(gpus=1)  # fixer: ignore[LIT101]",
        "Trainer(gpus=1)  # fixer: ignore",
        "Trainer(gpus=1)  # fixer: ignore[lit101] our own way",
        "Trainer(\n    max_epochs=1,\n    gpus=1,  # fixer: ignore[LIT101]\n)",
        'x = "# fixer: ignore[LIT101]"',
        '"""\n# fixer: ignore[LIT101]\n"""',
        "Trainer(max_epochs=1)  # fixer: ignored",
        "Trainer(max_epochs=1)  # ignore[LIT101]",
        "Trainer(max_epochs=1)  # fixer: ignore[PIN001]",
        "Trainer(max_epochs=1)  # fixer: ignore[IGN001, LIT101]",
    ],
)
def test_what_serves_or_cannot_be_judged_stays(line: str) -> None:
    assert judged(line) == []
    assert after(line) == line


def test_a_code_that_no_rule_has_is_named_with_the_nearest() -> None:
    line = "Trainer(gpus=1)  # fixer: ignore[LIT101, AMP0O1, LIT, QXQXQX]"
    assert judged(line) == [
        "`AMP0O1` in `# fixer: ignore[...]` is not a rule [manual] It silences nothing; write "
        "`# fixer: ignore[AMP001]` or `# fixer: ignore[AMP006]` or `# fixer: ignore[AMP005]` if you meant it.",
        "`LIT` in `# fixer: ignore[...]` is not a rule [manual] A comment "
        "needs whole codes, and LIT is the beginning of "
        "several: name the ones that it is for.",
        "`QXQXQX` in `# fixer: ignore[...]` is not a rule [manual] It silences nothing: remove it.",
    ]


def test_a_comment_alone_on_its_line_is_told_where_it_belongs() -> None:
    text = f"{HEAD}# fixer: ignore[LIT101]\ntrainer = Trainer(gpus=1)\n"
    made = run_rules({"train.py": text}, *all_rules())
    assert [(item.code, item.fix) for item in made.findings] == [("IGN001", "manual"), ("LIT101", "safe")]
    assert made.findings[0].reason == (
        "It is alone on its line, where no finding begins or ends: put it at the end of the line that it is for."
    )


@pytest.mark.parametrize(
    ("select", "ignore", "judges"),
    [((), (), True), (("LIT101", "IGN"), (), True), (("LIT1",), (), False), (("LIT11", "IGN"), (), False),
     ((), ("LIT101",), False), ((), ("IGN",), False)],
)  # fmt: skip
def test_only_codes_that_were_looked_for_are_judged(
    select: tuple[str, ...], ignore: tuple[str, ...], judges: bool
) -> None:
    text = f"{HEAD}Trainer(max_epochs=1)  # fixer: ignore[LIT101]\n"
    found = plan(sources({"train.py": text}), Options(select_rules(select, ignore))).findings
    assert bool(found) is judges


@pytest.mark.parametrize("leave_out", ["LIT101", "PIN001"])
def test_a_comment_for_all_rules_is_judged_only_where_all_looked(leave_out: str) -> None:
    text = f"{HEAD}Trainer(max_epochs=1)  # fixer: ignore\n"
    assert plan(sources({"train.py": text}), Options(all_rules())).findings
    assert not plan(sources({"train.py": text}), Options(select_rules((), (leave_out,)))).findings


def test_files_that_are_left_out_are_not_judged() -> None:
    text = f"{HEAD}Trainer(max_epochs=1)  # fixer: ignore[LIT101]\n"
    options = Options(all_rules())
    given = sources({"train.py": text})
    assert not plan(given, replace(options, left_out=frozenset({"train.py"}))).findings
    assert not plan(given, replace(options, ignored_in={"train.py": ("IGN",)})).findings


def test_a_comment_serves_where_other_settings_leave_the_same_out() -> None:
    text = f"{HEAD}Trainer(gpus=1)  # fixer: ignore[LIT101]\n"
    for options in (
        Options(all_rules(), ignored_in={"train.py": ("LIT101",)}),
        Options(all_rules(), ignored_rows=frozenset({"LIT101:M164"})),
    ):
        assert not plan(sources({"train.py": text}), options).findings


def test_with_other_rewrites_in_the_same_file() -> None:
    before = (
        f"{HEAD}Trainer(max_epochs=1)  # fixer: ignore[LIT101]\n"
        "one = Trainer(gpus=1)\ntwo = Trainer(gpus=2)  # fixer: ignore[LIT101]\n"
    )
    expected = (
        f"{HEAD}Trainer(max_epochs=1)\n"
        'one = Trainer(accelerator="gpu", devices=1)\ntwo = Trainer(gpus=2)  # fixer: ignore[LIT101]\n'
    )
    files = {"train.py": before}
    assert rewritten(files, *all_rules())["train.py"] == expected
    assert run_rules({"train.py": expected}, *all_rules()).changes == ()


def test_line_ends_and_many_processes() -> None:
    text = f"{HEAD}Trainer(max_epochs=1)  # fixer: ignore[LIT101]\nx = 1\n".replace("\n", "\r\n")
    made = run_rules({"train.py": text}, *all_rules(), jobs=2)
    assert made.final()["train.py"].decode() == text.replace("  # fixer: ignore[LIT101]", "")


def test_cells_of_notebooks() -> None:
    before = notebook(
        f"{HEAD}Trainer(max_epochs=1)  # fixer: ignore[LIT101]\nTrainer(gpus=1)  # fixer: ignore[LIT101]\n"
    )
    made = run_rules({"train.ipynb": before}, *all_rules())
    text = made.final()["train.ipynb"].decode()
    assert "max_epochs=1)\\n" in text and "gpus=1)  # fixer: ignore[LIT101]" in text
    found = next(item for item in made.findings if item.code == "IGN001")
    assert (found.cell, found.span.line) == (0, 3)


def test_a_comment_behind_a_command_of_a_notebook_stays() -> None:
    before = notebook(
        "!pip install pytorch-lightning==1.5.0  # fixer: ignore[PIN001]\nimport pytorch_lightning as pl\n"
    )
    assert run_rules({"train.ipynb": before}, *all_rules()).changes == ()


def test_yaml() -> None:
    before = "trainer:\n  gpus: 1  # fixer: ignore[LIT301]\n  max_epochs: 1  # fixer: ignore[LIT301]\n"
    files = {"config.yaml": before, "train.py": "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"}
    made = run_rules(files, *all_rules())
    found = [(item.code, item.span.line) for item in made.findings if item.path == "config.yaml"]
    assert found == [("IGN001", 3)]
    assert made.final()["config.yaml"].decode() == before.replace(
        "max_epochs: 1  # fixer: ignore[LIT301]", "max_epochs: 1"
    )


def test_a_text_in_quotes_of_yaml_is_no_comment() -> None:
    assert refusals({"config.yaml": 'say: "a # fixer: ignore[LIT301]"\n'}, "IGN001") == []


def test_requirements_are_not_judged() -> None:
    files = {"requirements.txt": "pytorch-lightning==1.5.0  # fixer: ignore[PIN001]\n"}
    assert run_rules(files, *all_rules()).findings == ()
