"""LIT112: Trainers that an attribute keeps, that another function fits, or that are given back."""

from __future__ import annotations

import pytest

from tests.codemods.rules.trainer.test_lit112 import BUILD, HEAD, KEPT, after
from tests.codemods.support import refusals, rewritten, rule, run_rules


@pytest.mark.parametrize(
    "body",
    [KEPT, f"{BUILD}t = build()\nt.fit(m)\n", f"{BUILD}build().fit(m)\n", f"{BUILD}t = build()\nt.fit(m)\nt.fit(n)\n"],
)
def test_a_trainer_that_is_built_elsewhere(body: str) -> None:
    after = rewritten({"a.py": HEAD + body}, rule("LIT112"))["a.py"]
    assert after.count("ckpt_path='a'") == body.count(".fit(") and "resume" not in after


def test_a_trainer_that_is_built_at_once() -> None:
    after = rewritten({"a.py": f"{HEAD}Trainer(resume_from_checkpoint=p).fit(m)\n"}, rule("LIT112"))["a.py"]
    assert after == f"{HEAD}Trainer().fit(m, ckpt_path=p)\n"


def test_a_trainer_of_another_file_goes_with_its_fit_or_not_at_all() -> None:
    files = {"make.py": HEAD + BUILD, "a.py": "from make import build\n\nt = build()\nt.fit(m)\n"}
    after = rewritten(files, rule("LIT112"))
    assert after["make.py"] == (HEAD + BUILD).replace("resume_from_checkpoint='a'", "")
    assert after["a.py"].endswith("t.fit(m, ckpt_path='a')\n")
    held = {**files, "a.py": files["a.py"].replace("t.fit(m)\n", "t.fit(m)  # fixer: ignore[LIT112]\n")}
    assert rewritten(held, rule("LIT112")) == held
    other = {**files, "b.py": "import make\n\nrun(make.build)\n"}
    assert run_rules(other, rule("LIT112")).changes == ()


JOB = (
    "class Job:\n    def __init__(self):\n        self.trainer = Trainer(resume_from_checkpoint='a')\n\n"
    "    def run(self, model):\n        self.trainer.fit(model)\n"
)
ANOTHER = "trainer = Trainer(max_epochs=1)"
AGAIN = f"(Job):\n    def __init__(self):\n        self.{ANOTHER}\n"
RESUMING = JOB.replace("__init__", "resume")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{JOB}\n\nclass B{AGAIN}", "more than once"),
        (f"class Base{AGAIN}\n\n{RESUMING}".replace("(Job)", "").replace("Job:", "Job(Base):"), "more than once"),
        (RESUMING.replace("class Job:\n", f"class Job:\n    {ANOTHER}\n"), "more than once"),
        (JOB.replace("class Job", "class Job(Unknown)"), "fixer cannot"),
        (f"{JOB}\n\nt = Job().trainer\nt.fit(1)\n", "passed on"),
        (f"{JOB}\n\nj = Job()\nsetattr(j, 'trainer', find())\n", "by name"),
        (f"{JOB}\n\nj = Job()\nj.trainer, x = find(), 1\n", "every call of its"),
        (f"{JOB}\n    def second(self, other, m):\n        other.trainer.fit(m)\n", "every call of its"),
        (f"{JOB}\n    def second(self, m):\n        m.trainer.fit(m)\n", "every call of its"),
        (f"{JOB}\n    def second(self, m):\n        use(self.trainer.fit)\n", "every call of its"),
    ],
)  # fmt: skip
def test_an_attribute_that_may_be_another(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT112")
    assert why in reason and "ckpt_path=" in reason


def test_an_attribute_that_another_file_sets() -> None:
    other = f"from a import Job\nfrom pytorch_lightning import Trainer\n\n\nclass B{AGAIN}"
    [reason] = refusals({"a.py": HEAD + JOB, "b.py": other}, "LIT112")
    assert "more than once" in reason


@pytest.mark.parametrize(
    "more",
    [
        "class Model(LightningModule):\n    def on_fit_end(self):\n        print(self.trainer.current_epoch)\n",
        "def watch(model):\n    print(model.trainer.current_epoch)\n",
        "class Other:\n    def go(self):\n        self.trainer = find()\n        self.trainer.fit(1)\n",
    ],
)  # fmt: skip
def test_an_attribute_beside_others_of_its_name(more: str) -> None:
    text = HEAD.replace("Trainer", "LightningModule, Trainer") + f"{JOB}\n\n{more}"
    assert "self.trainer.fit(model, ckpt_path='a')" in rewritten({"a.py": text}, rule("LIT112"))["a.py"]


def test_a_module_whose_trainer_another_fits() -> None:
    module = f"{HEAD}t = Trainer(resume_from_checkpoint='a')\nt.fit(1)\n"
    for other in ("from a import t\n\nt.fit(2)\n", "import a\n\na.t.fit(2)\n"):
        [reason] = refusals({"a.py": module, "n.py": other}, "LIT112")
        assert "passed on" in reason
    build = {"b.py": HEAD + BUILD, "a.py": "from b import build\n\nt = build()\nt.fit(1)\n"}
    reasons = refusals({**build, "n.py": "from a import t\n\nt.fit(2)\n"}, "LIT112")
    assert any("passed on" in reason for reason in reasons)
    again = "from b import build\n\n\ndef f(m):\n    t = build()\n\n    def again():\n        t.fit(m)\n\n"
    again += "    t.fit(m)\n    again()\n"
    reasons = refusals({**build, "a.py": again}, "LIT112")
    assert any("passed on" in reason for reason in reasons)


HANDED = (
    "from notes import told\nfrom pytorch_lightning import Trainer\n\n\ndef run(path, model):\n"
    "    trainer = Trainer(resume_from_checkpoint=path)\n    told(CALL)\n    trainer.fit(model)\n"
)
TOLD = (
    "def told(model, trainer, **more):\n    trainer.logger.log_hyperparams(model.hparams)\n    trainer.callbacks = []\n"
)
NEXT = "\n    "


@pytest.mark.parametrize("call", ["model, trainer", "model, trainer=trainer", "trainer=trainer, model=model"])
@pytest.mark.parametrize("mark", ["", "from pytorch_lightning.utilities import rank_zero_only\n\n\n@rank_zero_only\n"])
def test_a_trainer_that_a_function_only_reads_is_fitted_where_it_was_built(call: str, mark: str) -> None:
    after = rewritten({"a.py": HANDED.replace("CALL", call), "notes.py": mark + TOLD}, rule("LIT112"))["a.py"]
    assert "Trainer()" in after and "trainer.fit(model, ckpt_path=path)" in after


@pytest.mark.parametrize(
    ("call", "notes"),
    [
        ("model, trainer", TOLD + "    trainer.fit(model)\n"),
        ("model, trainer", TOLD + "    again(trainer)\n"),
        ("model, trainer", TOLD + "    more['it'] = trainer\n"),
        ("model, trainer", TOLD + "    print(locals())\n"),
        ("model, trainer", TOLD + "    return lambda: trainer\n"),
        ("model, trainer", TOLD + "    print(vars())\n"),
        ("model, trainer", "@made\n" + TOLD),
        (
            "model, trainer",
            f"if made:\n    {TOLD.replace(NEXT, NEXT + NEXT[1:])}else:\n\n    def told(m, t):\n        t.fit(m)\n",
        ),
        ("model, trainer", TOLD + "\n\ndef told(model, trainer):\n    trainer.fit(model)\n"),
        ("model, trainer", TOLD + "\n\ntold = made(told)\n"),
        ("model, trainer", TOLD + "\n\ndef change():\n    global told\n    told = made(told)\n"),
        ("model, model, it=trainer", TOLD),
        ("*model, trainer", TOLD),
        ("model, trainer", "told = made()\n"),
        ("[trainer], model", TOLD),
    ],
)
def test_a_trainer_that_a_function_may_fit_keeps_its_checkpoint(call: str, notes: str) -> None:
    (reason,) = refusals({"a.py": HANDED.replace("CALL", call), "notes.py": notes}, "LIT112")
    assert "passed on" in reason


RUNNER = """\
class Runner:
    def load(self, c):
        self.t = Trainer(max_steps=3, resume_from_checkpoint=c.path)

    def run(self):
        self.t.fit(self.m)
        self.t.test(self.m)
"""


def test_a_trainer_of_an_instance_keeps_the_checkpoint_beside_it() -> None:
    wanted = RUNNER.replace("        self.t =", "        self.ckpt_path = c.path\n        self.t =")
    wanted = wanted.replace(", resume_from_checkpoint=c.path", "").replace(
        "fit(self.m)", "fit(self.m, ckpt_path=self.ckpt_path)"
    )
    assert after(RUNNER) == wanted
    assert after(wanted) == wanted


def test_another_attribute_keeps_it_where_the_first_is_there_already() -> None:
    given = RUNNER.replace("self.t.test(self.m)", "self.ckpt_path = 3")
    wanted = given.replace("        self.t =", "        self.resume_path = c.path\n        self.t =")
    wanted = wanted.replace(", resume_from_checkpoint=c.path", "")
    assert after(given) == wanted.replace("fit(self.m)", "fit(self.m, ckpt_path=self.resume_path)")


@pytest.mark.parametrize(
    "change",
    [
        ("self.t.test(self.m)", "self.ckpt_path = self.resume_path = 3"),
        ("self.t.test(self.m)", "use(self.t)"),
        ("def run(self)", "def run(this)"),
        ("resume_from_checkpoint=c.path", "resume_from_checkpoint=(p := c.path), logger=p"),
        ("self.t = Trainer", "self.t = self.u = Trainer"),
        ("class Runner:\n", "class Runner:\n    __slots__ = ('t', 'm')\n\n"),
    ],
)
def test_a_trainer_of_an_instance_that_is_left(change: tuple[str, str]) -> None:
    given = RUNNER.replace(*change)
    assert given != RUNNER and after(given, unsafe=True) == given


GIVEN_BACK = """\
from pytorch_lightning import Trainer


def run(model, args):
    trainer = Trainer(resume_from_checkpoint=args.path)
    trainer.fit(model)
    return {}
"""


@pytest.mark.parametrize("back", ["trainer", "trainer, model", "model, trainer"])
def test_a_trainer_that_is_given_back_behind_its_fit(back: str) -> None:
    before = GIVEN_BACK.format(back)
    made = run_rules({"a.py": before}, rule("LIT112"))
    assert made.changes == ()
    [found] = made.findings
    assert found.fix == "unsafe" and "does not fit it again" in found.reason
    wanted = before.replace("resume_from_checkpoint=args.path", "").replace(
        "fit(model", "fit(model, ckpt_path=args.path"
    )
    assert rewritten({"a.py": before}, rule("LIT112"), unsafe=True)["a.py"] == wanted


@pytest.mark.parametrize(
    "text",
    [
        GIVEN_BACK.format("keep(trainer)"),
        GIVEN_BACK.format("[trainer]"),
        GIVEN_BACK.format("trainer").replace("    return", "    keep(trainer)\n    return"),
        GIVEN_BACK.format("trainer").replace("    trainer.fit(model)\n", ""),
        GIVEN_BACK.format("trainer").replace("fit(model)", "fit(model, **more)"),
    ],
)
def test_a_trainer_that_leaves_in_another_way_is_for_a_person(text: str) -> None:
    assert refusals({"a.py": text}, "LIT112")


@pytest.mark.parametrize(
    "make",
    [
        "PATH = 'a'\n\n\ndef build():\n    return Trainer(resume_from_checkpoint=PATH)\n",
        "def build():\n    path = 'a'\n    return Trainer(resume_from_checkpoint=path)\n",
        "def build():\n    path = 'a'\n    trainer = Trainer(resume_from_checkpoint=path)\n    return trainer\n",
    ],
)
def test_a_checkpoint_that_only_the_normal_form_tells_does_not_leave_its_trainer_alone(make: str) -> None:
    files = {"make.py": f"{HEAD}{make}", "a.py": "from make import build\n\nt = build()\nt.fit(m)\n"}
    for unsafe in (False, True):
        after = rewritten(files, rule("LIT112"), unsafe=unsafe)
        assert ("resume_from" in after["make.py"]) == ("ckpt_path" not in after["a.py"]), after
