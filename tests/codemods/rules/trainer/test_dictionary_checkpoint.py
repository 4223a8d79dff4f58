"""LIT112: a checkpoint under its key in a dictionary that reaches one Trainer."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

RULE = rule("LIT112")
HEAD = "import pytorch_lightning as pl\n\n\ndef main(cfg, module, path):\n"
MADE = "    options = {}\n"
SET = '    if cfg.resume:\n        options["resume_from_checkpoint"] = path / "last.ckpt"\n'
BUILT = "    trainer = pl.Trainer(max_epochs=3, **options)\n"
FITTED = "    trainer.fit(module, datamodule=cfg.data)\n"
WHOLE = f"{HEAD}{MADE}{SET}{BUILT}{FITTED}"
NONE = "    ckpt_path = None\n"
KEPT = '    if cfg.resume:\n        ckpt_path = path / "last.ckpt"\n'
GIVEN = "    trainer.fit(module, datamodule=cfg.data, ckpt_path=ckpt_path)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WHOLE, f"{HEAD}{NONE}{KEPT}    trainer = pl.Trainer(max_epochs=3)\n{GIVEN}"),
        (
            WHOLE.replace("{}", '{"max_steps": 7}'),
            f"{HEAD}{NONE}{MADE}{KEPT}{BUILT}{GIVEN}".replace("{}", '{"max_steps": 7}'),
        ),
        (
            WHOLE.replace(BUILT, f"    options['max_steps'] = 7\n{BUILT}"),
            f"{HEAD}{NONE}{MADE}{KEPT}    options['max_steps'] = 7\n{BUILT}{GIVEN}",
        ),
        (
            WHOLE.replace("max_epochs=3, **options", "\n        max_epochs=3,  # few\n        **options,\n    "),
            f"{HEAD}{NONE}{KEPT}    trainer = pl.Trainer(\n        max_epochs=3,  # few\n    )\n{GIVEN}",
        ),
        (
            WHOLE.replace('path / "last.ckpt"', 'path / "last.ckpt"  # goes on').replace(
                "3, **options", "3, **options, fast_dev_run=cfg.fast"
            ),
            f"{HEAD}{NONE}{KEPT}    trainer = pl.Trainer(max_epochs=3, fast_dev_run=cfg.fast)\n{GIVEN}".replace(
                'path / "last.ckpt"', 'path / "last.ckpt"  # goes on'
            ),
        ),
        (
            f"{HEAD}    ckpt_path = cfg.old\n{MADE}{SET}{BUILT}{FITTED}",
            f"{HEAD}    ckpt_path = cfg.old\n{NONE}{KEPT}    trainer = pl.Trainer(max_epochs=3)\n{GIVEN}".replace(
                f"{NONE}{KEPT}", f"{NONE}{KEPT}".replace("ckpt_path", "resume_path")
            ).replace("=ckpt_path", "=resume_path"),
        ),
    ],
)
def test_it_is_kept_by_a_name_and_given_to_fit(before: str, after: str) -> None:
    made = run_rules({"train.py": before}, RULE)
    assert made.bugs == ()
    assert made.final()["train.py"].decode() == after
    assert [(item.fix, item.applied) for item in made.findings] == [("safe", True)]
    assert run_rules({"train.py": after}, RULE).final() == {}


def test_none_beside_it_goes_at_once() -> None:
    made = run_rules({"train.py": WHOLE.replace("**options", "resume_from_checkpoint=None, **options")}, RULE)
    after = f"{HEAD}{NONE}{KEPT}    trainer = pl.Trainer(max_epochs=3)\n{GIVEN}"
    assert (made.bugs, made.final()["train.py"].decode()) == ((), after)


def test_the_fit_gets_what_the_trainer_got() -> None:
    """Run against a Trainer that tells what it and its `fit` were given."""
    space: dict[str, object] = {}
    exec(rewritten({"train.py": WHOLE}, RULE)["train.py"].replace("import pytorch_lightning as pl", TOLD), space)
    main = space["main"]
    assert callable(main)
    for resume in (True, False):
        told: dict[str, object] = {}
        main(type("Cfg", (), {"resume": resume, "data": told}), None, __import__("pathlib").Path("runs"))
        assert told == {"max_epochs": 3, "ckpt_path": __import__("pathlib").Path("runs/last.ckpt") if resume else None}


TOLD = """\
class pl:
    class Trainer:
        def __init__(self, **given):
            self.given = given
        def fit(self, module, datamodule, **given):
            datamodule.update(self.given, **given)
"""


VERSIONED = f"""\
{HEAD}{MADE}{SET}    if int(pl.__version__[0]) < 2:
        trainer = pl.Trainer(**options)
        trainer.fit(module)
    else:
        pl.Trainer().fit(module, ckpt_path=path)
"""


@pytest.mark.parametrize(
    "text",
    [
        WHOLE.replace(FITTED, f"    print(options)\n{FITTED}"),
        WHOLE.replace(FITTED, f"    cfg.log(**options)\n{FITTED}"),
        WHOLE.replace(MADE, "    options = dict(cfg.options)\n"),
        WHOLE.replace(MADE, "    options = {**cfg.options}\n"),
        WHOLE.replace(MADE, f"{MADE}    kept = options\n"),
        WHOLE.replace(BUILT, f"    options['resume_from_checkpoint'] = cfg.other\n{BUILT}"),
        WHOLE.replace(BUILT, f"    options.update(cfg.more)\n{BUILT}"),
        WHOLE.replace(FITTED, f"    other = pl.Trainer(**options)\n{FITTED}"),
        WHOLE.replace(FITTED, "    cfg.start(trainer)\n"),
        WHOLE.replace(FITTED, f"{FITTED}    return trainer\n"),
        WHOLE.replace(FITTED, "    trainer.fit(module, ckpt_path=cfg.path)\n"),
        WHOLE.replace(FITTED, "    trainer.fit(module, **cfg.fit)\n"),
        WHOLE.replace(BUILT, f"    def again():\n        return options\n{BUILT}"),
        WHOLE.replace(MADE, f"{MADE}    ckpt_path, resume_path = cfg.a, cfg.b\n"),
        WHOLE.replace("def main(cfg, module, path):", "if True:"),
        WHOLE.replace("pl.Trainer", "cfg.Trainer"),
        WHOLE.replace("options = {}", "options = options or {}"),
        VERSIONED,
        WHOLE.replace(BUILT, f"    try:\n    {BUILT}    except TypeError:\n        trainer = pl.Trainer()\n"),
        WHOLE.replace("options = {}", "options = {}; more = 1"),
        WHOLE.replace(' / "last.ckpt"', ' / "last.ckpt"; more = 1'),
        WHOLE.replace('        options["resume', '        more = 1; options["resume'),
        WHOLE.replace(BUILT, f"    del options['resume_from_checkpoint']\n{BUILT}"),
    ],
)
def test_traps(text: str) -> None:
    made = run_rules({"train.py": text}, RULE)
    assert made.bugs == () and made.final() == {}
