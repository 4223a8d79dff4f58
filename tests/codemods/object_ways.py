"""The ways in which an argument of a callback, a logger or a profiler is written, and what is found of each.

Each program hands what it builds to `use`, so that what a callback is given can be seen. `python -m
tests.codemods.object_ways` prints the table.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.engine.plan import Plan
from codemods.lightning.object_arguments import keywords
from tests.codemods.support import rule, run_rules
from tests.codemods.ways import Outcome, outcome

VALUES = {
    "period": ("2", "0"),
    "every_n_val_epochs": ("3",),
    "prefix": ("''", "None", "'best'"),
    "filepath": ("'out/{epoch}'", "None"),
    "save_best_only": ("True", "False"),
    "mode": ("'full'",),
}
BESIDE = {"save_best_only": "monitor='acc', ", "filepath": "", "period": "save_top_k=1, "}
SAMPLE = "4"


@dataclass(frozen=True)
class Given:
    """A class of Lightning's by its package and name, with an argument and its value, as text."""

    owner: str
    argument: str
    value: str
    beside: str = ""

    @property
    def name(self) -> str:
        return self.owner.rpartition(".")[2]

    @property
    def other(self) -> str:
        """Another value of which the same becomes."""
        return self.value


def given() -> Iterator[Given]:
    """The arguments of classes that are gone, each with the values of which different things become, and a mode that
    is."""
    for owner, argument in keywords():
        if owner.rpartition(".")[2][0].isupper():
            for value in VALUES.get(argument, (SAMPLE,)):
                yield Given(owner, argument, value, BESIDE.get(argument, ""))
    yield Given("callbacks.EarlyStopping", "mode", "'auto'", "monitor='val_acc', ")
    yield Given("callbacks.ModelCheckpoint", "mode", "'auto'", "monitor='val_loss', ")


def ways(case: Given) -> dict[str, dict[str, str]]:
    """The programs that give a class an argument, by the name of the way, each as texts by path."""
    name, argument, value, beside = case.name, case.argument, case.value, case.beside
    head = f"from pytorch_lightning.{case.owner.rpartition('.')[0]} import {name}\nfrom tools import use\n"
    plain = f"{name}({beside}{argument}={value})"
    named = f"{name}({beside}{argument}=value)"
    pairs = f"{beside}{argument}={value}"
    option = f"parser = argparse.ArgumentParser()\n    parser.add_argument('--value', default={value})"
    own = f"class Own({name}):\n    def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n\n\n"
    shown = f"class Own({name}):\n    def __init__(self):\n        super().__init__({pairs})\n\n\n"
    run = f"class Run:\n    def __init__(self):\n        self.value = {value}\n\n    def go(self):\n"
    kept = f"class Run:\n    def __init__(self):\n        self.made = {plain}\n\n    def go(self):\n"
    here = {
        "direct": _main(plain),
        "variable": _main(named, f"value = {value}"),
        "two variables": _main(named, f"first = {value}\n    value = first"),
        "constant": f"VALUE = {value}\n\n\n{_main(named.replace('=value', '=VALUE'))}",
        "parameter": _main(named, argument="value", call=f"main({value})"),
        "default": _main(named, argument=f"value={value}"),
        "class constant": f"class Config:\n    value = {value}\n\n\n{_main(named.replace('=value', '=Config.value'))}",
        "dict": _main(f"{name}(**{{{_keys(pairs)}}})"),
        "dict of a variable": _main(f"{name}(**options)", f"options = {{{_keys(pairs)}}}"),
        "dict call": _main(f"{name}(**options)", f"options = dict({pairs})"),
        "dict by line": _main(f"{name}(**options)", f"options = {{}}\n{_lines(pairs)}"),
        "partial": _main("build()", f"build = partial({name}, {pairs})"),
        "partial called at once": _main(f"partial({name}, {pairs})()"),
        "alias": _main(plain.replace(name, "Build", 1), f"Build = {name}"),
        "alias of the module": f"Build = {name}\n\n\n{_main(plain.replace(name, 'Build', 1))}",
        "subclass": f"class Own({name}):\n    pass\n\n\n{_main(plain.replace(name, 'Own', 1))}",
        "subclass that hands on": own + _main(plain.replace(name, "Own", 1)),
        "subclass that says it": shown + _main("Own()"),
        "class method": f"class Own({name}):\n    @classmethod\n    def make(cls):\n        return cls({pairs})\n\n\n"
        + _main("Own.make()"),
        "static method": f"class Make:\n    @staticmethod\n    def build():\n        return {plain}\n\n\n"
        + _main("Make.build()"),
        "attribute": f"{run}        use({named.replace('=value', '=self.value')})\n\n\nRun().go()\n",
        "kept on an attribute": f"{kept}        use(self.made)\n\n\nRun().go()\n",
        "factory": f"def build():\n    return {plain}\n\n\n{_main('build()')}",
        "factory that hands on": f"def build(**options):\n    return {name}(**options)\n\n\n{_main(f'build({pairs})')}",
        "argparse": _main(named.replace("=value", "=args.value"), f"{option}\n    args = parser.parse_args()"),
        "conditional": _main(named.replace("=value", f"={value} if quick else {case.other}"), argument="quick=True"),
        "in a list": _main(f"[{plain}][0]"),
    }
    used = {"partial": "from functools import partial\n", "argparse": "import argparse\nimport os\n"}
    texts = {
        way: {"train.py": f"{''.join(line for word, line in used.items() if way.startswith(word))}{head}\n\n{text}"}
        for way, text in here.items()
    }
    lightnings = head.partition("\n")[0]
    use = "from tools import use\n"
    texts["other file"] = {
        "train.py": f"{head}from settings import VALUE\n\n\n{_main(named.replace('=value', '=VALUE'))}",
        "settings.py": f"VALUE = {value}\n",
    }
    texts["factory of another file"] = {
        "train.py": f"{use}from settings import build\n\n\n{_main('build()')}",
        "settings.py": f"{lightnings}\n\n\ndef build():\n    return {plain}\n",
    }
    texts["handed on in another file"] = {
        "train.py": f"{use}from settings import build\n\n\n{_main(f'build({pairs})')}",
        "settings.py": f"{lightnings}\n\n\ndef build(**options):\n    return {name}(**options)\n",
    }
    texts["subclass of another file"] = {
        "train.py": f"{use}from settings import Own\n\n\n{_main(plain.replace(name, 'Own', 1))}",
        "settings.py": f"{lightnings}\n\n\nclass Own({name}):\n    pass\n",
    }
    texts["imported through another file"] = {
        "train.py": f"{use}from settings import {name}\n\n\n{_main(plain)}",
        "settings.py": f"{lightnings}\n",
    }
    return texts


def _main(build: str, before: str = "", argument: str = "", call: str = "main()") -> str:
    first = f"    {before}\n" if before else ""
    return f"def main({argument}):\n{first}    use({build})\n\n\n{call}\n"


def _keys(pairs: str) -> str:
    return ", ".join(f"'{name}': {value}" for name, _, value in (pair.partition("=") for pair in pairs.split(", ")))


def _lines(pairs: str) -> str:
    split = (pair.partition("=") for pair in pairs.split(", "))
    return "\n".join(f"    options['{name}'] = {value}" for name, _, value in split)


def planned(files: dict[str, str]) -> Plan:
    """What the rule on arguments of other classes than Trainer makes of a program."""
    return run_rules(files, rule("LIT230"), unsafe=True)


def main() -> None:
    counts: dict[str, Counter[str]] = {}
    worth = Counter[str]()
    for case in given():
        if sys.argv[1:] and case.argument not in sys.argv[1:]:
            continue
        found: dict[str, Outcome] = {way: outcome(planned(files)) for way, files in ways(case).items()}
        for way, how in found.items():
            counts.setdefault(way, Counter())[how] += 1
            worth[way] += how == found["direct"] == "rewritten"
        row = "".join({"silent": ".", "finding": "f", "rewritten": "R"}[how] for how in found.values())
        print(f"{row}  {case.name}({case.argument}={case.value})")
    total = worth["direct"]
    for number, (way, count) in enumerate(counts.items()):
        print(
            f"{number:2} {way:30} silent {count['silent']:3} finding {count['finding']:3} "
            f"rewritten {count['rewritten']:3}   {worth[way]}/{total} = {100 * worth[way] / max(total, 1):.0f} %"
        )


if __name__ == "__main__":
    main()
