"""The ways in which an argument of Trainer is written, and what is found of each: `python -m tests.codemods.ways`."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from codemods.engine.plan import Plan
from codemods.lightning.arguments import KINDS, current, once, rows
from codemods.rule import all_rules
from tests.codemods.support import run_rules

Outcome = Literal["silent", "finding", "rewritten"]
HEAD = "import pytorch_lightning as pl\n"
NET = """
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(8, 4))

"""
FAMILIES = ("LIT10", "LIT11", "LIT12", "LIT13", "STP", "TBP")
SAMPLES = ("2", "True", "'text'", "None")
"""Values for the rows that say no value of their own."""
PLAIN = {"int": "3", "str": "'max'", "bool": "True", "dict": "{2: 4}"}
OTHERS = {
    "accelerator": ("'ddp'", "'dp'", "None"),
    "strategy": ("'dp'", "None"),
    "devices": ("None",),
    "max_steps": ("None",),
    "num_nodes": ("None",),
    "plugins": ("'ddp_sharded'",),
    "precision": ("None",),
    "distributed_backend": ("'ddp'", "'ddp2'", "None"),
    "gpus": ("2", "0", "'0,1'", "None"),
    "resume_from_checkpoint": ("'last.ckpt'",),
    "truncated_bptt_steps": ("2",),
}
"""Values of arguments that rules with code of their own answer for."""


@dataclass(frozen=True)
class Case:
    """An argument of Trainer with a value, as text."""

    argument: str
    value: str

    @property
    def other(self) -> str:
        """Another value of its kind, where numbers allow one."""
        value = ast.literal_eval(self.value)
        return str(value * 2) if type(value) in (int, float) and value > 1 else self.value


def program(body: str, head: str = "") -> str:
    """A script that trains; `body` is what its module says behind the model."""
    return f"import torch\n{HEAD}{head}\n{NET}\n{body}"


def _main(build: str, before: str = "", argument: str = "", call: str = "main()") -> str:
    lines = [*before.splitlines(), f"trainer = {build}", "trainer.fit(Net())"]
    body = "".join(f"    {line}\n" for line in lines)
    return f"def main({argument}):\n{body}\n\n{call}\n"


def ways(case: Case) -> dict[str, dict[str, str]]:
    """The programs that give Trainer an argument, by the name of the way, each as texts by path."""
    name, value = case.argument, case.value
    plain = f"pl.Trainer(max_epochs=1, {name}={value})"
    named = f"pl.Trainer(max_epochs=1, {name}=value)"
    spread = "pl.Trainer(**options)"
    kind = type(ast.literal_eval(value)).__name__
    typed = f"type={kind}, " if kind in ("int", "float", "str") else ""
    option = f"parser = argparse.ArgumentParser()\nparser.add_argument('--value', {typed}default={value})"
    parsed = f"{option}\nargs = parser.parse_args()"
    run = f"class Run:\n    def __init__(self):\n        self.value = {value}\n\n    def go(self):\n"
    kept = f"class Run:\n    def __init__(self):\n        self.trainer = {plain}\n\n    def go(self):\n"
    own = "class Own(pl.Trainer):\n    def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n\n\n"
    attribute = f"        trainer = pl.Trainer(max_epochs=1, {name}=self.value)\n        trainer.fit(Net())\n\n\n"
    texts = {
        "direct": program(_main(plain)),
        "variable": program(_main(named, f"value = {value}")),
        "two variables": program(_main(named, f"first = {value}\nvalue = first")),
        "constant": program(f"VALUE = {value}\n\n\n{_main(named.replace('=value', '=VALUE'))}"),
        "parameter": program(_main(named, argument="value", call=f"main({value})")),
        "keyword": program(_main(named, argument="*, value", call=f"main(value={value})")),
        "default": program(_main(named, argument=f"value={value}")),
        "class constant": program(f"class Config:\n    value = {value}\n\n\n{_main(named.replace('=v', '=Config.v'))}"),
        "other file": program(_main(named.replace("=value", "=VALUE")), "from settings import VALUE\n"),
        "module of another file": program(_main(named.replace("=value", "=settings.VALUE")), "import settings\n"),
        "dict": program(_main(spread, f"options = {{'max_epochs': 1, '{name}': {value}}}")),
        "dict call": program(_main(spread, f"options = dict(max_epochs=1, {name}={value})")),
        "dict by line": program(
            _main(spread, f"options = {{}}\noptions['max_epochs'] = 1\noptions['{name}'] = {value}")
        ),
        "partial": program(_main("build(max_epochs=1)", f"build = partial(pl.Trainer, {name}={value})"),
                           "from functools import partial\n"),
        "alias": program(_main(plain.replace("pl.Trainer", "Build"), "Build = pl.Trainer")),
        "subclass": program(f"class Own(pl.Trainer):\n    pass\n\n\n{_main(plain.replace('pl.Trainer', 'Own'))}"),
        "subclass that hands on": program(f"{own}{_main(plain.replace('pl.Trainer', 'Own'))}"),
        "attribute": program(f"{run}{attribute}Run().go()\n"),
        "trainer on an attribute": program(f"{kept}        self.trainer.fit(Net())\n\n\nRun().go()\n"),
        "factory": program(f"def build():\n    return {plain}\n\n\n{_main('build()')}"),
        "factory of another file": program(_main("build()"), "from settings import build\n"),
        "factory that hands on": program(
            f"def build(**options):\n    return {spread}\n\n\n{_main(plain.replace('pl.Trainer', 'build'))}"
        ),
        "argparse": program(_main(named.replace("=v", "=args.v"), parsed), "import argparse\n"),
        "conditional": program(
            _main(named.replace("=value", f"={value} if quick else {case.other}"), argument="quick=True")
        ),
    }  # fmt: skip
    beside = {
        "other file": f"VALUE = {value}\n",
        "module of another file": f"VALUE = {value}\n",
        "factory of another file": f"{HEAD}\n\ndef build():\n    return {plain}\n",
    }
    return {way: {"train.py": text, **_settings(beside.get(way))} for way, text in texts.items()}


def _settings(text: str | None) -> dict[str, str]:
    return {"settings.py": text} if text else {}


@cache
def _rules() -> tuple[object, ...]:
    return tuple(rule for rule in all_rules() if rule.code.startswith(FAMILIES))


def planned(files: Mapping[str, str]) -> Plan:
    """What the rules on arguments of Trainer make of a program."""
    return run_rules(files, *_rules(), unsafe=True)  # type: ignore[arg-type]


def outcome(made: Plan) -> Outcome:
    """What became of the one argument that a program gives."""
    found = [item for item in made.findings if "Tuner" not in item.message]
    if not found:
        return "silent"
    return "rewritten" if all(item.applied for item in found) else "finding"


def cases() -> Iterator[Case]:
    """The arguments that were removed or changed, each with the values for which the tables have rows."""
    for name in sorted((once() - current()) | rows().keys() | OTHERS.keys()):
        values: list[str] = [*OTHERS.get(name, ())]
        for row in rows().get(name, ()):
            if row.value in ("*", *KINDS):
                values += SAMPLES[:3] if row.value == "*" else ()
            else:
                values.append(PLAIN.get(row.value, row.value))
        yield from (Case(name, value) for value in dict.fromkeys(values or SAMPLES[:1]))


def found_directly() -> dict[Case, Outcome]:
    """The cases of which something is found when they are written directly, one a kind of answer."""
    kept: dict[Case, Outcome] = {}
    seen = set()
    for case in cases():
        made = planned(ways(case)["direct"])
        how = outcome(made)
        key = case.argument, how, *((item.code, item.reason) for item in made.findings)
        if how != "silent" and key not in seen:
            seen.add(key)
            kept[case] = how
    return kept


def main() -> None:
    only = sys.argv[1:]
    counts: dict[str, Counter[str]] = {}
    worth = Counter[str]()
    lines = []
    for case, direct in found_directly().items():
        if only and case.argument not in only:
            continue
        row = []
        for way, files in ways(case).items():
            how = outcome(planned(files))
            counts.setdefault(way, Counter())[how] += 1
            worth[way] += how == direct == "rewritten"
            row.append({"silent": ".", "finding": "f", "rewritten": "R"}[how])
        lines.append(f"{''.join(row)}  {case.argument}={case.value}")
    print("\n".join(lines))
    total = worth["direct"]
    for number, (way, count) in enumerate(counts.items()):
        print(
            f"{number:2} {way:26} silent {count['silent']:3} finding {count['finding']:3} "
            f"rewritten {count['rewritten']:3}   {worth[way]}/{total} = {100 * worth[way] / max(total, 1):.0f} %"
        )


if __name__ == "__main__":
    main()
