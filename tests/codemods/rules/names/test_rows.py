"""Rows of an organisation's own: what they rewrite, and what they leave to a person or alone."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rule import Rule
from codemods.rules.names.read_rows import RowsError, rules_of_rows
from codemods.testing.texts import sources

HEAD = '[rule]\ncode = "ACM001"\nkeyword-code = "ACM002"\n'
ROWS = (
    HEAD
    + """
[[rename]]
id = "A01"
old = "acme.training.FastTrainer"
new = "acme.trainers.Trainer"
since = "acme 3.0"

[[rename]]
id = "A02"
old = "acme.old"
new = "acme.attic"
since = "acme 3.0"

[[rename]]
id = "A03"
old = "acme.old.Odd"
new = "acme.odds.Odd"
since = "acme 3.0"

[[rename]]
old = "acme.helper"
new = "acme_tools.helper"
since = "acme 3.0"
level = "unsafe"
why = "it rounds otherwise"

[[rename]]
old = "acme.Gone"
new = "acme.Other"
since = "acme 3.0"
level = "manual"
why = "its arguments come in another order"

[[rename]]
old = "plain"
new = "plainer"
since = "acme 3.0"

[[rename]]
old = "deep"
new = "deeper.still"
since = "acme 3.0"

[[rename]]
old = "acme.far.Far"
new = "farther.place.Far"
since = "acme 3.0"

[[rename]]
old = "acme.apart"
new = "apart"
since = "acme 3.0"

[[keyword]]
id = "A11"
of = "acme.trainers.Trainer"
old = "n_gpus"
new = "devices"
since = "acme 3.0"

[[keyword]]
of = "acme.load"
old = "path"
new = "folder"
since = "acme 3.0"
"""
)
RULES = rules_of_rows(ROWS.encode())
OLD = "from acme.training import FastTrainer\n"
NEW = "from acme.trainers import Trainer\n"


def planned(files: dict[str, str] | str, *, unsafe: bool = False, rules: tuple[Rule, ...] = RULES) -> Plan:
    made = plan(sources({"train.py": files} if isinstance(files, str) else files), Options(rules, unsafe=unsafe))
    assert made.bugs == ()
    return made


def after(text: str, *, unsafe: bool = False) -> str:
    return planned(text, unsafe=unsafe).final().get("train.py", text.encode()).decode()


def left(files: dict[str, str] | str) -> list[str]:
    """The reasons for which places are left, where nothing is changed."""
    made = planned(files)
    assert made.changes == ()
    return [finding.reason for finding in made.findings]


@pytest.mark.parametrize(
    ("before", "rewritten"),
    [
        (f"{OLD}\nFastTrainer()\n", f"{NEW}\nTrainer()\n"),
        ("from acme.training import FastTrainer as F\n\nF()\n", "from acme.trainers import Trainer as F\n\nF()\n"),
        (
            "from acme.training import (\n    FastTrainer,\n    other,\n)\n\nFastTrainer(other)\n",
            "from acme.training import (\n    other,\n)\nfrom acme.trainers import Trainer\n\nTrainer(other)\n",
        ),
        (
            f"{OLD}from lightning import Trainer\n\nTrainer(FastTrainer())\n",
            f"{NEW.strip()} as FastTrainer\nfrom lightning import Trainer\n\nTrainer(FastTrainer())\n",
        ),
        ("from acme.old import thing\n\nthing()\n", "from acme.attic import thing\n\nthing()\n"),
        ("from acme.old.deep import thing\n\nthing()\n", "from acme.attic.deep import thing\n\nthing()\n"),
        ("import acme.old as old\n\nold.thing()\n", "import acme.attic as old\n\nold.thing()\n"),
        ("import acme.old\n\nacme.old.thing()\n", "import acme.attic\n\nacme.attic.thing()\n"),
        (
            "from acme.old import Odd, even\n\nOdd(even)\n",
            "from acme.attic import even\nfrom acme.odds import Odd\n\nOdd(even)\n",
        ),
        ("from plain import *\n", "from plainer import *\n"),
        ("import plain\n\nplain.go(plain.x)\n", "import plainer\n\nplainer.go(plainer.x)\n"),
        ("import plain\n\nprint(plain, 'plain')\n", "import plainer as plain\n\nprint(plain, 'plain')\n"),
        (
            "import plain\n\n\ndef run(plainer):\n    return plain.go(plainer)\n",
            "import plainer as plain\n\n\ndef run(plainer):\n    return plain.go(plainer)\n",
        ),
        (
            f"{OLD}\nmade = [FastTrainer(Trainer) for Trainer in range(3)]\n",
            f"{NEW.strip()} as FastTrainer\n\nmade = [FastTrainer(Trainer) for Trainer in range(3)]\n",
        ),
        ("import plain as p\n\np.go()\n", "import plainer as p\n\np.go()\n"),
        ("import deep\n\ndeep.go()\n", "import deeper.still as deep\n\ndeep.go()\n"),
        ("import plain, os\n\nplain.go(os)\n", "import plainer, os\n\nplainer.go(os)\n"),
        ("from plain.sub import go\n\ngo()\n", "from plainer.sub import go\n\ngo()\n"),
        ("import acme\n\nacme.far.Far()\n", "import acme\nimport farther.place\n\nfarther.place.Far()\n"),
        ('NAME = "acme.training.FastTrainer"\n', 'NAME = "acme.trainers.Trainer"\n'),
        (
            "from acme.training import FastTrainer\n\nFastTrainer(n_gpus=1)\n",
            "from acme.trainers import Trainer\n\nTrainer(devices=1)\n",
        ),
        (
            "from acme.trainers import Trainer\n\nTrainer(  # ours\n    n_gpus=1,\n)\n",
            "from acme.trainers import Trainer\n\nTrainer(  # ours\n    devices=1,\n)\n",
        ),
        ("import acme\n\nacme.load(path='x')\n", "import acme\n\nacme.load(folder='x')\n"),
        (
            "import acme\n\ngiven = {'path': 'x'}\nacme.load(**given)\n",
            "import acme\n\ngiven = {'folder': 'x'}\nacme.load(**given)\n",
        ),
        (
            "from acme.trainers import Trainer\n\n\nclass Own(Trainer):\n    pass\n\n\nOwn(n_gpus=1)\n",
            "from acme.trainers import Trainer\n\n\nclass Own(Trainer):\n    pass\n\n\nOwn(devices=1)\n",
        ),
    ],
)  # fmt: skip
def test_rewritten(before: str, rewritten: str) -> None:
    assert after(before) == rewritten
    assert not planned(rewritten).changes


@pytest.mark.parametrize(
    "text",
    [
        "from other.training import FastTrainer\n\nFastTrainer(n_gpus=1)\n",
        "from acme.training import other\n\nother(n_gpus=1)\n",
        "from acme.training_more import FastTrainer\n",
        "import acmes\n\nacmes.training.FastTrainer()\n",
        "class FastTrainer:\n    pass\n\n\nFastTrainer(n_gpus=1)\n",
        f"try:\n    {NEW}except ImportError:\n    {OLD.strip()} as Trainer\n",
        "import acme\n\nacme.load('x', n_gpus=1)\n",
        "import acme\n\nif acme.__version__ < '3':\n    acme.load(path=1)\nelse:\n    acme.load(folder=1)\n",
        "import acme\n\ntry:\n    acme.load(folder=1)\nexcept TypeError:\n    acme.load(path=1)\n",
        "def run(acme):\n    return acme.training.FastTrainer()\n",
        'SAID = "acme.training.FastTrainer was here"\n',
        "# acme.training.FastTrainer\nimport acme\n",
        "import acme\n\n\nclass Own(acme.trainers.Trainer):\n    def __init__(self, n_gpus):\n"
        "        super().__init__()\n\n\nOwn(n_gpus=1)\n",
    ],
)  # fmt: skip
def test_left_alone_and_nothing_said(text: str) -> None:
    made = planned(text, unsafe=True)
    assert made.changes == () and made.findings == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from acme import Gone\n\nGone(1)\n", "its arguments come in another order"),
        ("import acme\n\nif acme.__version__ < '3':\n    from acme.training import FastTrainer\n", "version check"),
        ("from acme.training import *\n\nFastTrainer()\n", "a star may bring it here"),
        ("from acme.old import *\n", "a star brings names that are elsewhere"),
        ("import acme.old as old\n\nold.Odd(old.even)\n", "fixer cannot change it at this place"),
        ("from acme import old\n\nold.Odd(old.even)\n", "fixer cannot change it at this place"),
        ("import plain\nimport plain.sub\n\nplain.sub.go()\n", "fixer cannot change it at this place"),
        ("import plain.sub\n\nplain.sub.go()\n", "fixer cannot change it at this place"),
        ("import acme\n\nacme.training.FastTrainer = None\n", "it is set here"),
        ("import sys\n\nsys.modules['acme.old'] = sys\n", "it is a key of sys.modules"),
        ("from acme.trainers import Trainer\n\nTrainer(n_gpus=1, devices=2)\n", "`devices=` is given too"),
        ("from acme.trainers import Trainer\n\n\ndef f(**k):\n    Trainer(n_gpus=1, **k)\n", "may hold `devices` too"),
        (
            "import functools, acme\n\nf = functools.partial(acme.load, path=1)\n",
            "what the partial makes may be called",
        ),
        ("import acme\n\n\ndef f(load=acme.load):\n    load(path=1)\n", "may hand it on to"),
        (
            "import acme\n\n\nclass Own(acme.trainers.Trainer):\n    def __init__(self, **k):\n"
            "        k['n_gpus'] += 1\n        super().__init__(**k)\n\n\nOwn(n_gpus=1)\n",
            "may hand it on to Trainer",
        ),
    ],
)
def test_left_to_a_person(text: str, reason: str) -> None:
    assert any(reason in said for said in left(text)), left(text)


def test_what_the_table_calls_unsafe_waits_for_a_word() -> None:
    text = "from acme import helper\n\nhelper()\n"
    (finding,) = planned(text).findings
    assert (finding.fix, finding.reason) == ("unsafe", "It is `acme_tools.helper` now; it rounds otherwise.")
    assert after(text, unsafe=True) == "from acme_tools import helper\n\nhelper()\n"


def test_a_chain_to_a_module_that_nothing_here_imports_is_unsafe() -> None:
    text = "import acme\n\nacme.training.FastTrainer()\n"
    (finding,) = planned(text).findings
    assert finding.fix == "unsafe" and "`acme.trainers` is taken to be imported" in finding.reason
    assert after(text, unsafe=True) == "import acme\n\nacme.trainers.Trainer()\n"
    loaded = text.replace("import acme\n", "import acme\nimport acme.trainers\n")
    assert "acme.trainers.Trainer()" in after(loaded)


def test_a_chain_that_goes_on_may_lead_through_a_module_that_nothing_imports() -> None:
    text = "import acme\n\nacme.old.thing()\n"
    (finding,) = planned(text).findings
    assert finding.fix == "unsafe" and "`acme.attic` is taken to be imported" in finding.reason
    loaded = text.replace("import acme\n", "import acme\nimport acme.attic\n")
    assert "acme.attic.thing()" in after(loaded)
    assert after("import acme\n\nacme.old()\n") == "import acme\n\nacme.attic()\n"
    assert after("import acme\n\nacme.apart.go()\n") == "import acme\nimport apart\n\napart.go()\n"


@pytest.mark.parametrize(
    "rest",
    [
        "def run():\n    from lightning import Trainer\n\n    return FastTrainer(Trainer)\n",
        "def run(given):\n    match given:\n        case {**Trainer}:\n            return FastTrainer(Trainer)\n",
        "from lightning import *\n\nFastTrainer(Trainer())\n",
        f"FastTrainer()\n\n{NEW}",
        f"{NEW}from lightning import Trainer\n\nFastTrainer(Trainer())\n",
        f"if given:\n    {NEW}\nFastTrainer()\n",
        f"def run():\n    made = FastTrainer()\n    {NEW}    return made, Trainer\n",
    ],
)
def test_a_name_that_is_taken_is_not_given_again(rest: str) -> None:
    assert after(f"{OLD}{rest}") == f"{NEW.strip()} as FastTrainer\n{rest}"


def test_a_name_of_pythons_own_is_not_hidden() -> None:
    text = ROWS.replace('new = "acme_tools.helper"', 'new = "acme_tools.print"').replace('level = "unsafe"', "")
    made = planned("from acme import helper\n\nprint(helper())\n", rules=rules_of_rows(text.encode()))
    assert made.final()["train.py"] == b"from acme_tools import print as helper\n\nprint(helper())\n"


def test_an_import_that_stands_behind_is_not_what_a_name_is_taken_from() -> None:
    rows = ROWS.replace('new = "acme.trainers.Trainer"', 'new = "acme.trainers.FastTrainer"', 1)
    later = f"made = FastTrainer()\n\n{NEW.replace('Trainer', 'FastTrainer')}"
    made = planned(f"{OLD}{later}", rules=rules_of_rows(rows.encode()))
    assert made.final()["train.py"].decode() == f"from acme.trainers import FastTrainer\n{later}"


@pytest.mark.parametrize(
    "text",
    [
        "import acme.old\n\nmade = lambda acme: acme.old.thing()\n",
        "from acme.trainers import Trainer\n\nmade = lambda Trainer: Trainer(n_gpus=1)\n",
        "import acme\n\n\ndef run():\n    return lambda *acme: acme.load(path=1)\n",
    ],
)
def test_a_parameter_of_a_lambda_is_not_the_module_of_its_name(text: str) -> None:
    assert "lambda" in text and text.partition("lambda")[2] == after(text, unsafe=True).partition("lambda")[2]


def test_an_import_is_not_added_where_a_lambda_has_its_name() -> None:
    text = "import acme.far\n\nmade = lambda farther: acme.far.Far(farther)\n"
    assert left(text) == ["Not rewritten: it is reached by a chain of attributes. Write `farther.place.Far` instead."]


def test_a_name_that_another_file_reads_of_this_one_stays() -> None:
    for reading in ("import train\n\ntrain.plain.go()\n", "from train import plain\n\nplain.go()\n"):
        files = {"train.py": "import plain\n\nplain.go()\n", "other.py": reading}
        assert planned(files).final()["train.py"] == b"import plainer as plain\n\nplain.go()\n"
    files = {"train.py": f"{OLD}\nFastTrainer()\n", "other.py": "import train\n\ntrain.FastTrainer()\n"}
    assert planned(files).final()["train.py"].decode() == f"{NEW.strip()} as FastTrainer\n\nFastTrainer()\n"


def test_a_module_in_another_package_is_not_what_is_imported() -> None:
    text = "from acme.training import FastTrainer\n\nFastTrainer()\n"
    files = {"own/train.py": text, "own/__init__.py": "", "own/acme.py": ""}
    assert planned(files).final()["own/train.py"].decode() == f"{NEW}\nTrainer()\n"


def test_a_package_of_the_project_itself_is_another_one() -> None:
    files = {"train.py": "from acme.training import FastTrainer\n", "acme/__init__.py": "", "acme/training.py": ""}
    assert ["acme/__init__.py is the project's own package" in said for said in left(files)] == [True]
    files = {"train.py": "import acme\n\nacme.load(path=1)\n", "acme.py": "def load(path):\n    return path\n"}
    assert ["acme.py is the project's own package" in said for said in left(files)] == [True]


@pytest.mark.parametrize(
    ("manifest", "text", "level"),
    [
        ("requirements.txt", "acme>=3.0\n", "safe"),
        ("requirements.txt", "Acme[all]~=3.2\ntorch\n", "safe"),
        ("requirements.txt", "acme\n", "safe"),
        ("requirements.txt", "acme-extra==1.0\n", "safe"),
        ("requirements.txt", "acme==2.4\n", "unsafe"),
        ("requirements.txt", "acme<4\n", "unsafe"),
        ("requirements.txt", "acme>=2.0,<4\n", "unsafe"),
        ("pyproject.toml", '[project]\ndependencies = ["acme (>=2.9)"]\n', "unsafe"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nacme = "^3.1"\n', "safe"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nacme = "^2"\n', "unsafe"),
        ("environment.yaml", "dependencies:\n  - acme=2.8\n", "unsafe"),
    ],
)
def test_requirements_that_admit_an_older_release_make_it_unsafe(manifest: str, text: str, level: str) -> None:
    files = {"train.py": "from acme.training import FastTrainer\n\nFastTrainer(n_gpus=1)\n", manifest: text}
    found = [item for item in planned(files).findings if item.path == "train.py"]
    assert [(item.code, item.fix) for item in found] == [("ACM001", level), ("ACM002", level)]


@pytest.mark.parametrize(
    ("text", "level"),
    [("plain", None), ("plain.yaml", "unsafe"), ("plain.sub.go", "unsafe"), ("acme.old.go", "unsafe"),
     ("acme.old", "unsafe"), ("acme.old.csv", "unsafe"), ("acme.old.Go", "safe")],
)  # fmt: skip
def test_a_text_that_may_name_a_file_is_not_rewritten_safely(text: str, level: str | None) -> None:
    found = planned(f"NAME = '{text}'\n").findings
    assert [item.fix for item in found] == ([level] if level else [])
    found = planned({"config.yaml": f"a:\n  file: {text}\n"}).findings
    assert [item.fix for item in found] == ([level] if level else [])
    found = planned({"config.yaml": f"a:\n  _target_: {text}\n"}).findings
    assert [item.fix for item in found] == (["safe"] if level else [])


def test_configurations_are_read() -> None:
    text = "trainer:\n  _target_: acme.training.FastTrainer  # acme.old\n  n_gpus: 2\nnote: see acme.old.thing there\n"
    made = planned({"config.yaml": text})
    assert made.final()["config.yaml"].decode() == text.replace("acme.training.FastTrainer", "acme.trainers.Trainer")
    told = [(item.code, item.span.line, item.fix) for item in made.findings]
    assert told == [("ACM001", 2, "safe"), ("ACM002", 3, "manual")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = ", "not valid TOML"),
        (HEAD, "it has no rows"),
        ('[[rename]]\nold = "a.b"\nnew = "a.c"\nsince = "a 1.0"\n', "[rule] has no code"),
        ('[rule]\ncode = "ACM001"\n[[rename]]\nold = "a.b"\nsince = "a 1.0"\n', "[[rename]] 1 has no new"),
        ('[rule]\ncode = "ACM001"\n[[renames]]\n', "unknown key 'renames'"),
        (ROWS.replace('since = "acme 3.0"', 'since = "3.0"', 1), 'since must be a package and a release'),
        (ROWS.replace('"acme.old"', '"acme old"', 1), "[[rename]] 2 old must be a dotted name, not 'acme old'"),
        (ROWS.replace('"unsafe"', '"sure"'), "level must be manual, unsafe, safe, not 'sure'"),
        (ROWS.replace('keyword-code = "ACM002"\n', ""), "[rule] has one code for two rules"),
        (ROWS.replace('"acme.old.Odd"', '"acme.old"'), "`acme.old` has two rows"),
        (ROWS.replace("[rule]\n", '[rule]\nurl = "javascript:alert(1)"\n'), "url must be an address"),
        (ROWS.replace('new = "acme.Other"', 'new = "acme.Gone"'), "old and new are the same"),
        (ROWS.replace('"acme.attic"', '"acme.class"'), "[[rename]] 2 new holds `class`"),
        (ROWS + '[[example]]\nbefore = "import acme"\npath = 3\n', "[[example]] 1 path must be a text"),
        ("rename = 1\n" + HEAD, "rename must be written as [[rename]]"),
        ("rule = 1\n", "[rule] must be a table"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_meant_are_told(text: str, told: str) -> None:
    with pytest.raises(RowsError) as error:
        rules_of_rows(text.encode())
    assert told in str(error.value)
