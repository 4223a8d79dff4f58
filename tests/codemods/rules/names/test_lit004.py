"""LIT004: which uses of TestTubeLogger become ones of TensorBoardLogger, and that its arguments mean the same."""

from __future__ import annotations

import ast
import inspect

import pytest
from lightning.pytorch import loggers

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning.loggers import TestTubeLogger\n\n"


def text(before: str) -> str:
    after = rewritten({"a.py": before}, rule("LIT004"), unsafe=True)["a.py"]
    assert rewritten({"a.py": after}, rule("LIT004"), unsafe=True)["a.py"] == after
    return after


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('"logs", "first"', '"logs", "first"'),
        ('"logs", "first", debug=False', '"logs", "first"'),
        ('debug=False, save_dir="logs", name="first", version=0', 'save_dir="logs", name="first", version=0'),
        ('"logs", create_git_tag=False, version=3', '"logs", name="default", version=3'),
        ('"logs", create_git_tag=True, name="first", description=args.note', '"logs", name="first"'),
        ('save_dir="logs", log_graph=True, description=None', 'save_dir="logs", name="default", log_graph=True'),
        ('save_dir="a", debug=False, create_git_tag=False, prefix="b"', 'save_dir="a", name="default", prefix="b"'),
    ],
)  # fmt: skip
def test_a_call_keeps_what_both_take(given: str, kept: str) -> None:
    after = text(f"{HEAD}logger = TestTubeLogger({given})\n")
    assert after == f"from pytorch_lightning.loggers import TensorBoardLogger\n\nlogger = TensorBoardLogger({kept})\n"
    call = ast.parse(after).body[1].value  # type: ignore[attr-defined]
    values = {item.arg: ast.literal_eval(item.value) for item in call.keywords}
    bound = inspect.signature(loggers.TensorBoardLogger).bind(*map(ast.literal_eval, call.args), **values)
    assert bound.arguments["name"] in ("first", "default") and bound.arguments["save_dir"] in ("a", "logs")


def test_each_argument_has_its_line() -> None:
    before = f'{HEAD}logger = TestTubeLogger(\n    save_dir="logs",\n    debug=False,\n    version=0,  # the one\n)\n'
    after = text(before)
    assert 'TensorBoardLogger(\n    save_dir="logs",\n    name="default",\n    version=0,  # the one\n)\n' in after


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('save_dir=join("a", (\n    "b")), version=3', 'save_dir=join("a", (\n    "b")), name="default", version=3'),
        (
            '\n    join(\n        "a"\n    ),\n    version=3,\n',
            '\n    join(\n        "a"\n    ),\n    name="default",\n    version=3,\n',
        ),
    ],
)
def test_a_name_stands_as_the_argument_before_it_begins(given: str, kept: str) -> None:
    assert text(f"{HEAD}logger = TestTubeLogger({given})\n").endswith(f"logger = TensorBoardLogger({kept})\n")


@pytest.mark.parametrize(
    "code",
    [
        "known = type(logger) is TestTubeLogger\n",
        "def show(logger: TestTubeLogger | None) -> list[TestTubeLogger]:\n    return [logger]\n",
        "logger: Optional[TestTubeLogger] = None\n",
        "logger = TestTubeLogger('logs', 'a') if TestTubeLogger else None\n",
        "assert not issubclass(kind, (list, TestTubeLogger))\n",
    ],
)
def test_a_question_of_the_class_is_one_of_the_other(code: str) -> None:
    assert text(HEAD + code) == (HEAD + code).replace("TestTube", "TensorBoard")


@pytest.mark.parametrize("module", ["loggers", "logging", "loggers.test_tube", "logging.test_tube"])
def test_it_is_imported_from_wherever_it_was(module: str) -> None:
    before = f"from pytorch_lightning.{module} import TestTubeLogger as Log\n\nshow = {{Log: 1}}\n"
    assert text(before) == (
        "from pytorch_lightning.loggers import TensorBoardLogger as Log\n\nshow = {Log: 1}\n"
    )  # fmt: skip


def test_places_that_ask_for_the_class() -> None:
    before = (
        "import lightning.pytorch as pl\nfrom lightning.pytorch import loggers\n\n"
        "known = isinstance(logger, (pl.loggers.TestTubeLogger, pl.loggers.CSVLogger))\n"
        "ways = {loggers.TestTubeLogger: draw}\n"
    )
    assert text(before) == before.replace("TestTube", "TensorBoard")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("logger = TestTubeLogger('logs', debug=quick)\n", "`debug=quick` may ask"),
        ("logger = TestTubeLogger('logs', create_git_tag=tag())\n", "`create_git_tag=tag()` may ask"),
        ("logger = TestTubeLogger('logs', 'a', 'words')\n", "by position"),
        ("logger = TestTubeLogger(**given)\n", "`**` may ask"),
        ("class Log(TestTubeLogger):\n    pass\n", "a class derives from it"),
        ("logger = TestTubeLogger('logs')\nlogger.experiment.tag({'a': 1})\n", "experiment.tag("),
        (
            "from pytorch_lightning.loggers import TensorBoardLogger\n\nways = {TestTubeLogger: TensorBoardLogger}\n",
            "too",
        ),
        ("if quick:\n    TestTubeLogger = make\nlogger = TestTubeLogger('logs')\n", "something else too"),
        ("logger = TestTubeLogger('logs')\nname = 'TestTubeLogger'\n", "by name"),
        ("def build(kind=TestTubeLogger, **more):\n    return kind(debug=True, **more)\n", "passed on"),
        ("build = partial(TestTubeLogger, debug=True)\n", "passed on"),
        ("known = {'test': TestTubeLogger}\n", "passed on"),
        ("kind = TestTubeLogger\nlogger = kind('logs')\n", "passed on"),
        ("known = isinstance(logger, TestTubeLogger)\nlogger.experiment.log({'a': 1})\n", "experiment.log("),
        ("logger = TestTubeLogger(\n    'logs',\n    # no tag\n    debug=False,\n)\n", "there is a comment"),
    ],
)
def test_left_whole(code: str, why: str) -> None:
    reasons = refusals({"a.py": HEAD + code}, "LIT004")
    assert reasons and all("write `TensorBoardLogger(" in reason for reason in reasons)
    assert any(why in reason for reason in reasons)


@pytest.mark.parametrize(
    "value",
    ['{"target": NAME, "params": {"save_dir": d, "debug": False}}', '{"target": NAME, "params": given}', "make(NAME)"],
)
def test_a_string_whose_arguments_are_not_all_known_is_left(value: str) -> None:
    code = f"config = {value}\n".replace("NAME", '"pytorch_lightning.loggers.TestTubeLogger"')
    (reason,) = refusals({"a.py": code}, "LIT004")
    assert "fixer cannot tell" in reason


def test_an_experiment_of_another_logger_is_not_test_tubes() -> None:
    other = "import wandb\n\n\ndef show(module, image):\n    module.logger.experiment.log({'a': wandb.Image(image)})\n"
    files = {"a.py": f"{HEAD}logger = TestTubeLogger('logs', 'a')\n", "b.py": other}
    assert "TensorBoardLogger('logs', 'a')" in rewritten(files, rule("LIT004"), unsafe=True)["a.py"]
    own = other.replace("import wandb\n", "").replace("wandb.Image(image)", "image")
    assert "b.py calls experiment.log(" in refusals({**files, "b.py": own}, "LIT004")[0]


def test_a_name_that_another_file_takes_from_here_is_left() -> None:
    files = {"a.py": HEAD, "b.py": "from a import TestTubeLogger\n\nlogger = TestTubeLogger('logs')\n"}
    assert "from here" in refusals(files, "LIT004")[0]


@pytest.mark.parametrize(
    "before",
    [
        "from test_tube import TestTubeLogger\n\nlogger = TestTubeLogger('logs')\n",
        "from ours.loggers import TestTubeLogger\n\nlogger = TestTubeLogger('logs')\n",
        "try:\n    from pytorch_lightning.loggers import TestTubeLogger\nexcept ImportError:\n"
        "    from ours import TestTubeLogger\n",
        "name = 'TestTubeLogger'\n",
    ],
)
def test_no_use_of_it(before: str) -> None:
    made = run_rules({"a.py": before}, rule("LIT004"))
    assert made.findings == () and made.changes == ()


def test_the_rule_for_names_is_silent_where_this_one_speaks() -> None:
    before = f'{HEAD}logger = TestTubeLogger("logs")\nname = "pytorch_lightning.loggers.TestTubeLogger"\n'
    made = run_rules({"a.py": before}, rule("LIT001"), rule("LIT004"))
    assert {finding.code for finding in made.findings} == {"LIT004"} and len(made.findings) == 3
