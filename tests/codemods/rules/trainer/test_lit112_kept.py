"""LIT112: a checkpoint that may be another one by the time of `fit` is kept as it was."""

from __future__ import annotations

import pytest

from tests.codemods.rules.trainer.test_lit112 import HEAD, RESUMED, after
from tests.codemods.support import refusals, rule, run_rules


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


TWO = """\
import hydra


def f(c):
    if c.resume is not None:
        t = Trainer(resume_from_checkpoint=c.resume)
    else:
        t: Trainer = hydra.utils.instantiate(c.trainer, logger=False)
    c.save()
    t.fit(1, datamodule=2)
"""


def test_a_trainer_beside_one_that_is_annotated() -> None:
    wanted = TWO.replace("        t = Trainer(", "        ckpt_path = c.resume\n        t = Trainer(")
    wanted = wanted.replace("resume_from_checkpoint=c.resume", "").replace(
        "        t:", "        ckpt_path = None\n        t:"
    )
    assert after(TWO) == wanted.replace("datamodule=2", "datamodule=2, ckpt_path=ckpt_path")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("t: Trainer =", "t ="),
        ("t: Trainer =", "t: Other ="),
        ("t: Trainer =", "t: 'Trainer' ="),
        ("    c.save()", "    t = c.save()"),
        ("    c.save()", "    t.callbacks.append(t)"),
    ],
)
def test_what_is_beside_it_may_be_no_trainer(old: str, new: str) -> None:
    given = TWO.replace(old, new)
    assert given != TWO and after(given) == given
