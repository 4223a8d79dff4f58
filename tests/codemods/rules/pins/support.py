"""Manifests run through the rules as fixer reads them: kinds by path."""

from __future__ import annotations

from collections.abc import Mapping

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.pins.pin001 import RULE as PINS
from codemods.rules.pins.pin002 import RULE as NONE
from codemods.rules.pins.pin005 import RULE as PYTHONS
from codemods.rules.trainer.lit101 import RULE as GPUS
from fixer.files import kind_of

CODE = "from pytorch_lightning import Trainer\nTrainer(gpus=1)\n"
NOT = "!=2.6.2,!=2.6.3"
RULES = (GPUS, NONE, PINS, PYTHONS)


def planned(files: Mapping[str, str], code: str = CODE, target: str = "2.6.6", unsafe: bool = False) -> Plan:
    """The plan for a project of one script and these files."""
    sources = [
        Source(path, kind_of(path) or "other", text.encode()) for path, text in {"train.py": code, **files}.items()
    ]
    return plan(sources, Options(RULES, target=target, unsafe=unsafe))


def moved(files: Mapping[str, str], code: str = CODE, target: str = "2.6.6", unsafe: bool = False) -> dict[str, str]:
    """The files after the rules, which must not have been thrown away, and which a second run leaves alone."""
    made = planned(files, code, target, unsafe)
    assert made.bugs == ()
    final = made.final()
    after = {path: final[path].decode() if path in final else text for path, text in files.items()}
    assert planned(after, final.get("train.py", code.encode()).decode(), target, unsafe).changes == ()
    return after


def told(files: Mapping[str, str], code: str = CODE, target: str = "2.6.6") -> list[tuple[str, int, str, str]]:
    """Path, line, level and text of what the rules of this family say."""
    found = planned(files, code, target).findings
    return [
        (item.path, item.span.line, item.fix, f"{item.message}: {item.reason}")
        for item in found
        if item.code.startswith("PIN")
    ]
