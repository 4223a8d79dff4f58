"""What one finding asks for, without any other: place by place it comes to what the rule makes of all at once."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codemods.code.source import Source
from codemods.engine.one_change import ENTANGLED, GONE, change_of
from codemods.engine.plan import plan
from codemods.engine.scan import Options, scan
from codemods.finding import Finding
from codemods.lightning.pins.stated import pins_of
from codemods.rule import Example, Rule, all_rules, rule_of
from tests.codemods.support import sources

CASES = [
    pytest.param(rule, example, id=f"{rule.code}-{index}")
    for rule in all_rules()
    for index, example in enumerate(rule.examples)
    if example.before != example.after
]
_IMPORT = re.compile(r"^(\s*from \S+ import )(.*)$", re.MULTILINE)
TWO = """\
import pytorch_lightning as pl

one = pl.Trainer(gpus=1)
two = pl.Trainer(gpus=2)
"""


def sorted_imports(data: bytes) -> str:
    """A text whose imports name things in order."""
    return _IMPORT.sub(lambda found: found[1] + ", ".join(sorted(found[2].split(", "))), data.decode())


def with_change(files: dict[str, Source], finding: Finding, options: Options) -> dict[str, Source]:
    """The files with what one finding asks for."""
    made = change_of(finding, scan([*files.values()], options), options)
    assert not isinstance(made, str), made
    return files | {
        path: replace(files[path], data=data) if path in files else Source(path, "python", data)
        for path, data in made.items()
    }


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_place_by_place_is_all_at_once(rule: Rule, example: Example) -> None:
    every = sources({example.path: example.before, **dict(example.files)})
    options = Options((rule,), pins=example.pins or pins_of(every), unsafe=rule.fix == "unsafe")
    files = {source.path: source for source in every}
    whole = {path: source.data for path, source in files.items()} | plan(every, options).final()
    for step in range(20):
        left = [finding for finding in scan([*files.values()], options).findings if finding.applied]
        if not left:
            break
        files = with_change(files, left[-1 if step % 2 else 0], options)
    now = {path: sorted_imports(source.data) for path, source in files.items()}
    assert now == {path: sorted_imports(data) for path, data in whole.items()}


def test_the_other_places_stay() -> None:
    (source,) = sources({"train.py": TWO})
    options = Options((rule_of("LIT101"),))
    looked = scan([source], options)
    for number, finding in enumerate(looked.findings):
        made = change_of(finding, looked, options)
        assert isinstance(made, dict)
        assert made["train.py"].count(b"gpus=") == 1
        assert (b"gpus=2" if number == 0 else b"gpus=1") in made["train.py"]


def test_what_is_only_probably_right_is_made_when_it_is_asked_for() -> None:
    text = "import pytorch_lightning as pl\n\n\ndef make(gpus):\n    return pl.Trainer(gpus=gpus)\n"
    options = Options((rule_of("LIT101"),))
    looked = scan(sources({"train.py": text}), options)
    (finding,) = looked.findings
    assert (finding.fix, finding.applied) == ("unsafe", False)
    made = change_of(finding, looked, options)
    assert isinstance(made, dict) and b"gpus=gpus" not in made["train.py"]


def test_what_a_person_has_to_do_is_refused_with_its_reason() -> None:
    text = "import pytorch_lightning as pl\n\nfrom mine import find\n\npl.Trainer(gpus=find())\n"
    options = Options((rule_of("LIT101"),))
    looked = scan(sources({"train.py": text}), options)
    (finding,) = looked.findings
    assert finding.fix == "manual"
    assert change_of(finding, looked, options) == finding.reason


def test_a_finding_that_is_not_there_any_more() -> None:
    options = Options((rule_of("LIT101"),))
    (finding, _) = scan(sources({"train.py": TWO}), options).findings
    looked = scan(sources({"train.py": f"# moved\n{TWO}"}), options)
    assert change_of(finding, looked, options) == GONE


def test_places_that_hide_one_another_are_rewritten_together() -> None:
    rule = rule_of("LIT121")
    example = next(example for example in rule.examples if example.before != example.after)
    options = Options((rule,), pins=("pytorch-lightning==1.9.0",))
    looked = scan(sources({"train.py": example.before}), options)
    lists = [finding for finding in looked.findings if "val_dataloaders" in finding.message]
    assert len(lists) == 2
    for finding in lists:
        made = change_of(finding, looked, options)
        assert made != ENTANGLED and isinstance(made, dict)
        assert made["train.py"].count(b"CombinedLoader(trainer.val_dataloaders)") == 2
