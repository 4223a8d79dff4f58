"""LIT112: where the checkpoint of a Trainer goes, and that fit resumes from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import pytest
import torch

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n\n"


def after(body: str, unsafe: bool = False) -> str:
    return rewritten({"a.py": HEAD + body}, rule("LIT112"), unsafe=unsafe)["a.py"][len(HEAD) :]


BUILD = "def build():\n    return Trainer(resume_from_checkpoint='a')\n\n\n"
KEPT = (
    "class A:\n    def __init__(self):\n        self.t = Trainer(resume_from_checkpoint='a')\n\n"
    "    def go(self):\n        self.t.fit(self)\n"
)


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


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path=a.q)\n",
            "t = Trainer()\nt.fit(m, ckpt_path=a.q or p)\n",
        ),
        (
            "trainer = Trainer(resume_from_checkpoint='a.ckpt')\ntrainer.fit(model)\n",
            "trainer = Trainer()\ntrainer.fit(model, ckpt_path='a.ckpt')\n",
        ),
        (
            "def f(a):\n    t = Trainer(1, resume_from_checkpoint=a[0])\n    if a:\n        t.fit(m, d)\n    t.te()\n",
            "def f(a):\n    t = Trainer(1)\n    if a:\n        t.fit(m, d, ckpt_path=a[0])\n    t.te()\n",
        ),
        (
            "t = Trainer(resume_from_checkpoint=p)\nt.fit(a)\nt.fit(b)\n",
            "t = Trainer()\nt.fit(a, ckpt_path=p)\nt.fit(b, ckpt_path=p)\n",
        ),
        (
            "k = {'train_dataloaders': d}\nt = Trainer(resume_from_checkpoint=p)\nt.fit(m, **k)\n",
            "k = {'train_dataloaders': d}\nt = Trainer()\nt.fit(m, ckpt_path=p, **k)\n",
        ),
    ],
)  # fmt: skip
def test_moves(before: str, wanted: str) -> None:
    assert after(before) == wanted


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("t = Trainer(resume_from_checkpoint=p)\nrun(t)\nt.fit(m)\n", "passed on"),
        ("t = Trainer(resume_from_checkpoint=p)\n", "cannot find the `fit`"),
        ("t = Trainer(resume_from_checkpoint=p)\np = None\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=find())\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=a.p)\na.p = None\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path='b')\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path=q if x else r)\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(**k)\n", "already"),
        ("k = {'ckpt_path': q}\nt = Trainer(resume_from_checkpoint=p)\nt.fit(m, **k)\n", "already"),
        ("k = {'datamodule': d}\nk[n] = q\nt = Trainer(resume_from_checkpoint=p)\nt.fit(m, **k)\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt = other\nt.fit(m)\n", "fixer cannot"),
        ("self.t = Trainer(resume_from_checkpoint=p)\nself.t.fit(m)\n", "fixer cannot"),
        (BUILD + "t = build()\nuse(t)\nt.fit(m)\n", "passed on"),
        (BUILD + "t = build()\nt.fit(m)\nother = build\n", "every use of"),
        (BUILD.replace("'a'", "p") + "u = build()\nt = build()\nt.fit(m)\n", "fixer cannot"),
        (KEPT + "        use(self.t)\n", "passed on"),
        (KEPT + "        self.t.fit(self, ckpt_path='b')\n", "already"),
        (KEPT + "\n\na = A()\na.t.fit(m)\n", "every call of its"),
        (KEPT + "\n\na = A()\na.t = find()\n", "every call of its"),
    ],
)
def test_left_to_a_person(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT112")
    assert why in reason and "ckpt_path=" in reason


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


RESUMED = "    t = Trainer(resume_from_checkpoint=%s)\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"def f(m):\n{RESUMED % 1}    def again():\n        t.fit(m)\n    t.fit(m)\n    run(again)\n", "passed on"),
        ("t = Trainer(resume_from_checkpoint='a')\ndef again(m):\n    t.fit(m)\nt.fit(1)\nagain(2)\n", "passed on"),
        (f"def f(m):\n    global t\n{RESUMED % 1}    t.fit(m)\n", "fixer cannot"),
        (f"def f(m):\n{RESUMED % 1}    go = t.fit\n    t.fit(m)\n    go(m)\n", "passed on"),
        ("t = Trainer(resume_from_checkpoint=c[0])\nc[0] = None\nt.fit(1)\n", "may change"),
        (f"def f(c, ckpt_path, resume_path):\n{RESUMED % 'c.a'}    setup(c)\n    t.fit(ckpt_path)\n", "may change"),
        (f"def f(c):\n    global ckpt_path, resume_path\n{RESUMED % 'c.a'}    setup(c)\n    t.fit(1)\n", "may change"),
        (f"def f(c):\n{RESUMED % 'c.a'}    setup(c)\n    t.fit(1)\n    save(locals())\n", "may change"),
        ("def f(c):\n    a = 1; t = Trainer(resume_from_checkpoint=c.a)\n    setup(c)\n    t.fit(1)\n", "may change"),
    ],
)  # fmt: skip
def test_a_fit_or_a_change_that_is_not_seen(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT112")
    assert why in reason and "ckpt_path=" in reason


@pytest.mark.parametrize(
    ("value", "then"),
    [
        ("c[0]", "c[0] = None"),
        ("c.get", "setup(c)"),
        ("c.a", "setup(vars(c))"),
        ("c.a.b", "setup(c.a)"),
        ("c.a", "c.change()"),
        ("c.a", "d = [c]; d[0].b = 1"),
        ("find(c) if c.a else None", "setup(c)"),
        ("os.path.join(c.a, 'last.ckpt')", "setup(c)"),
    ],
)
def test_a_checkpoint_that_may_change_is_kept_as_it_was(value: str, then: str) -> None:
    head = "def f(c):\n    # The loop.\n"
    fit = f"    {then}\n    t.fit(1%s)\n    t.fit(2%s)\n"
    wanted = f"{head}    ckpt_path = {value}\n    t = Trainer(callbacks=[])\n{fit % ((', ckpt_path=ckpt_path',) * 2)}"
    assert after(f"{head}    t = Trainer(callbacks=[], resume_from_checkpoint={value})\n{fit % ('', '')}") == wanted


def test_a_name_that_the_text_has_otherwise_is_taken_for_no_checkpoint() -> None:
    own = f"def f(c, ckpt_path):\n{RESUMED % 'c.a'}    setup(c)\n    t.fit(ckpt_path)\n"
    kept = "    resume_path = c.a\n    t = Trainer()\n    setup(c)\n    t.fit(ckpt_path, ckpt_path=resume_path)\n"
    assert after(own) == f"def f(c, ckpt_path):\n{kept}"
    given = "ckpt_path = 'own'\n\n\ndef f(c):\n    def own():\n        return ckpt_path\n\n    p = c.p\n"
    given += "    t = Trainer(resume_from_checkpoint=p)\n    p = None\n    use(own())\n    t.fit(1)\n"
    assert "    resume_path = p\n" in after(given) and "t.fit(1, ckpt_path=resume_path)\n" in after(given)
    both = given.replace("return ckpt_path", "return ckpt_path, resume_path")
    assert after(both) == both


def test_a_checkpoint_of_the_module_that_another_function_sets_is_kept() -> None:
    given = f"c = g()\n\n\ndef other():\n    c.a = None\n\n\ndef f():\n{RESUMED % 'c.a'}    other()\n    t.fit(1)\n"
    assert "    ckpt_path = c.a\n    t = Trainer()\n    other()\n    t.fit(1, ckpt_path=ckpt_path)\n" in after(given)
    assert "t.fit(1, ckpt_path=c.a)" in after(given.replace("c.a = None", "c.b = None"))


def test_two_checkpoints_of_one_function_are_not_kept_by_one_name() -> None:
    two = f"def f(c):\n{RESUMED % 'c.a'}    u = Trainer(resume_from_checkpoint=c.b)\n    t.fit(g(c))\n    u.fit(g(c))\n"
    reasons = refusals({"a.py": HEAD + two}, "LIT112")
    assert len(reasons) == 2 and all("may change" in reason for reason in reasons)


def test_a_checkpoint_is_kept_behind_what_its_parts_say_nothing_of() -> None:
    given = "def f(c):\n    t = Trainer(max_epochs=c.n, logger=Logs(), resume_from_checkpoint=c.a)\n    t.fit(f(c))\n"
    kept = "def f(c):\n    ckpt_path = c.a\n    t = Trainer(max_epochs=c.n, logger=Logs())\n"
    assert after(given) == f"{kept}    t.fit(f(c), ckpt_path=ckpt_path)\n"


@pytest.mark.parametrize(
    ("others", "value"),
    [
        ("logger=make(c)", "c.a"),
        ("max_epochs=c.n", "find(c)"),
        ("callbacks=[Own(c)]", "None\n        if c.a else sorted(glob(c.p))[-1]"),
    ],
)
def test_a_checkpoint_that_the_arguments_before_it_may_change_is_assumed_not_to(others: str, value: str) -> None:
    given = f"def f(c):\n    t = Trainer({others}, resume_from_checkpoint={value})\n    t.fit(f(c))\n"
    (finding,) = run_rules({"a.py": HEAD + given}, rule("LIT112")).findings
    assert (finding.fix, "assumes" in finding.reason) == ("unsafe", True)
    written = f"({value})".replace("        if", "            if") if "\n" in value else value
    wanted = f"def f(c):\n    ckpt_path = {written}\n    t = Trainer({others})\n    t.fit(f(c), ckpt_path=ckpt_path)\n"
    assert after(given, unsafe=True) == wanted


LOOKING = """\
import os
from glob import glob
from pytorch_lightning import Callback, Trainer


class Own(Callback):
    def __init__(self, path, k=3):
        \"\"\"Keeps some.\"\"\"
        super().__init__()
        self.path = path
        self.queue, self.k = [], k
        self.old: str | None = None

    def on_train_end(self, trainer, module):
        os.remove(self.path)


def f(c):
    t = Trainer(
        callbacks=[Own(os.path.join(c.p, f"{c.n}.pt"))],
        resume_from_checkpoint=None if c.a is None else sorted(glob(os.path.join(c.p, "*.ckpt")))[-1],
    )
    t.fit(g(c))
"""


def test_a_callback_that_only_keeps_what_it_is_given_may_come_behind() -> None:
    made = run_rules({"a.py": LOOKING}, rule("LIT112"))
    assert [item.fix for item in made.findings] == ["safe"]
    written = made.final()["a.py"].decode()
    assert written.index("ckpt_path = None if") < written.index("t = Trainer(") < written.index("ckpt_path=ckpt_path")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.path = path\n", "self.path = path\n        os.makedirs(path)\n"),
        ("self.path = path\n", "self.path = clear(path)\n"),
        ("self.path = path\n", "path.old = self\n"),
        ("self.path = path\n", "self.on_train_end = path\n"),
        ("self.path = path\n", "for self.path in path:\n            pass\n"),
        ("(Callback):", "(Callback, Other):"),
        ("(Callback):", "(Other):"),
        ("class Own", "@made\nclass Own"),
        ("    def on_train_end", "    def __new__(cls, *given):\n        clear()\n\n    def on_train_end"),
        ("    def on_train_end", "    def __setattr__(self, name, value):\n        clear()\n\n    def on_train_end"),
        ("callbacks=[Own(", "callbacks=[others.Own("),
        ("callbacks=[Own(", "logger=make(c), callbacks=[Own("),
        ("sorted(glob(", "sorted(find("),
        ("def f(c):", "def sorted(files):\n    return files\n\n\ndef f(c):"),
        ("def f(c):", "def f(c, Own):"),
    ],
)
def test_what_may_touch_files_may_not(old: str, new: str) -> None:
    assert old in LOOKING
    (finding,) = run_rules({"a.py": LOOKING.replace(old, new)}, rule("LIT112")).findings
    assert finding.fix == "unsafe"


ARMS = """\
def f(c, p):
    if c.many:
        t = Trainer(max_epochs=1, resume_from_checkpoint=p)
    elif c.two:
        t = Trainer(resume_from_checkpoint=p)
    else:
        t = Trainer(resume_from_checkpoint=p, max_epochs=3)
    t.fit(1)
    t.test(1)
"""


def test_trainers_of_all_branches_that_resume_from_the_same() -> None:
    wanted = ARMS.replace(", resume_from_checkpoint=p", "").replace("resume_from_checkpoint=p, ", "")
    wanted = wanted.replace("resume_from_checkpoint=p", "").replace("t.fit(1)", "t.fit(1, ckpt_path=p)")
    assert after(ARMS) == wanted


@pytest.mark.parametrize(
    "change",
    [
        ("elif c.two:\n        t = Trainer(resume_from_checkpoint=p)", "elif c.two:\n        t = Trainer()"),
        ("elif c.two:\n        t = Trainer(resume_from_checkpoint=p)", "elif c.two:\n        t = make(p)"),
        ("Trainer(resume_from_checkpoint=p)", "Trainer(resume_from_checkpoint=c.p)"),
        ("t.fit(1)", "p = None\n    t.fit(1)"),
        ("t.test(1)", "again(t)"),
        ("t.fit(1)", "t.fit(1, ckpt_path=c.own)"),
    ],
)
def test_trainers_of_all_branches_that_do_not(change: tuple[str, str]) -> None:
    given = ARMS.replace(*change)
    assert given != ARMS and after(given, unsafe=True) == given


MAIN = "c = parse()\nt = Trainer(resume_from_checkpoint=find(c))\nt.fit(f(c))\n"


def test_a_script_keeps_a_checkpoint_by_a_name_that_nobody_imports() -> None:
    head = "if __name__ == '__main__':\n"
    lines = ["c = parse()", "ckpt_path = find(c)", "t = Trainer()", "t.fit(f(c), ckpt_path=ckpt_path)"]
    wanted = head + "".join(f"    {line}\n" for line in lines)
    assert after(head + "".join(f"    {line}\n" for line in MAIN.splitlines())) == wanted
    assert after(MAIN) == MAIN
    imported = "if __name__ == '__main__':\n    pass\nelse:\n" + "".join(f"    {line}\n" for line in MAIN.splitlines())
    assert after(imported) == imported


def test_each_turn_of_a_loop_fits_with_the_checkpoint_of_its_trainer() -> None:
    head = "def f(ps):\n    for i in range(3):\n        p = ps[i]\n        if i == 0:\n"
    given = f"{head}            t = Trainer(resume_from_checkpoint=p)\n        t.fit(1)\n"
    kept = f"{head}            ckpt_path = p\n            t = Trainer()\n        t.fit(1, ckpt_path=ckpt_path)\n"
    assert after(given) == kept


@pytest.mark.parametrize(
    "body",
    [
        f"def f(c):\n{RESUMED % 'c.a'}    print(c)\n    m = Model(c.b, **vars(c))\n    c.d = 1\n    t.fit(m)\n",
        f"def f(c):\n{RESUMED % 'c'}    c2 = 1\n    t.fit(c2)\n",
        f"def f(c):\n{RESUMED % 'c[0]'}    m = Model(c.get(1), *c[1])\n    t.fit(m)\n",
        f"def f(cs):\n    for c in cs:\n    {RESUMED % 'c.a'}        t.fit(1)\n",
    ],
)
def test_what_changes_nothing_of_the_path(body: str) -> None:
    assert "ckpt_path=c" in after(body)


def test_a_nested_function_that_is_called_once_is_seen_through() -> None:
    found = after(f"def f(m):\n{RESUMED % 1}\n    def again():\n        t.fit(m)\n\n    t.fit(m)\n    again()\n")
    assert found.count("t.fit(m, ckpt_path=1)") == 2


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


def test_none_had_no_effect() -> None:
    assert after("t = Trainer(resume_from_checkpoint=None)\nuse(t)\n") == "t = Trainer()\nuse(t)\n"


def test_what_may_be_none_is_said_once() -> None:
    text = f"{HEAD}def f(c):\n    p = c.p if c.r else None\n{RESUMED % 'p'}    use(t)\n    t.fit(1)\n"
    assert [each.code for each in run_rules({"a.py": text}, rule("LIT110"), rule("LIT112")).findings] == ["LIT112"]


class Line(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        return self.layer(batch).sum()  # type: ignore[no-any-return]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), 0.1)


def test_fit_resumes(tmp_path: Path) -> None:
    loader = torch.utils.data.DataLoader(torch.ones(4, 1))
    options = "logger=False, accelerator='cpu', enable_progress_bar=False, enable_model_summary=False, max_epochs=n"
    options += ", enable_checkpointing=False"
    body = f"    t = Trainer({options}, resume_from_checkpoint=p)\n    t.fit(m, loader)\n"
    build = f"{HEAD}def run(n, p):\n{body}    saved.append(t.global_step)\n    t.save_checkpoint(path)\n"
    moved = rewritten({"a.py": build}, rule("LIT112"))["a.py"].replace("pytorch_lightning", "lightning.pytorch")
    saved: list[int] = []
    names: dict[str, Any] = {"m": Line(), "loader": loader, "saved": saved, "path": tmp_path / "a.ckpt"}
    exec(moved, names)
    names["run"](1, None)
    names["run"](3, tmp_path / "a.ckpt")
    assert saved == [4, 12]


BAR = "from pytorch_lightning.callbacks import TQDMProgressBar\n\n\n"


@pytest.mark.parametrize(
    ("bar", "kept"),
    [
        ("TQDMProgressBar(refresh_rate=c.n * c.m if c.n else 1)", True),
        ("TQDMProgressBar()", True),
        ("TQDMProgressBar(c)", False),
        ("TQDMProgressBar(*c)", False),
        ("TQDMProgressBar(refresh_rate=find(c))", False),
        ("TQDMProgressBar(refresh_rate=c.find())", False),
        ("Bar(refresh_rate=c.n)", False),
    ],
)
def test_a_checkpoint_is_kept_behind_a_callback_that_only_reads(bar: str, kept: bool) -> None:
    head = f"{BAR}def f(c):\n"
    given = f"{head}    t = Trainer(callbacks=[{bar}], resume_from_checkpoint=c.a)\n    t.fit(g(c))\n"
    wanted = f"{head}    ckpt_path = c.a\n    t = Trainer(callbacks=[{bar}])\n    t.fit(g(c), ckpt_path=ckpt_path)\n"
    assert after(given) == (wanted if kept else given)


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
