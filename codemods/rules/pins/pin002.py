"""PIN002: a project that uses Lightning and says nowhere which one; its code tells the era."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from codemods.code.source import PythonFile
from codemods.finding import Finding
from codemods.lightning.facts import Facts
from codemods.lightning.pins.manifest import read_pins
from codemods.lightning.pins.pin import LIGHTNING
from codemods.lightning.pins.reach import MENTIONS, is_manifest
from codemods.lightning.pins.specifier import raised
from codemods.rule import Example, Match, Rule, all_rules
from codemods.rules.pins.lightning import listed
from codemods.rules.pins.needed import mentions, unasked


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The first place that is left for a person and tells of an older Lightning, where no manifest names it."""
    first = told_at(facts)
    if first is None or first.path != file.path:
        return
    breaks = _breaks()
    old = _old(facts)
    era = min(breaks[item.code] for item in old)
    evidence = tuple(item for item in old if breaks[item.code] == era)
    message = f"No file requires a release of Lightning, and the code uses what {era} removed"
    asks = (f"lightning{raised('', facts.target)}", *unasked(facts))
    reason = (
        "the newest release is then installed, on which these places "
        f"fail: {listed(evidence)}; repair them, and require "
        f"{' and '.join(f'`{each}`' for each in asks)}"
    )
    yield Match(first.span, message, "manual", reason)


def told_at(facts: Facts) -> Finding | None:
    """The finding at whose place a project is told that it asks for no Lightning; None where it is not."""
    read = (*facts.collected_texts("PIN001").values(), *facts.collected("PIN001").values())
    if any(pin.name in LIGHTNING for manifest in read for pin in manifest.pins):
        return None
    if facts.pins and any("lightning" in pin.lower() for pin in facts.pins):
        return None
    if any(_states(path, facts) for text in MENTIONS for path in facts.mentions.get(text, ())):
        return None
    speaking = frozenset[str]().union(*(facts.mentions.get(text, frozenset()) for text in MENTIONS))
    return next((item for item in _old(facts) if not item.applied and item.path in speaking), None)


def _breaks() -> dict[str, Version]:
    """The first release on which what a rule finds does not work, by the rule's code."""
    return {rule.code: Version(rule.breaks_in) for rule in all_rules() if rule.breaks_in}


def _old(facts: Facts) -> list[Finding]:
    """The places that tell of an older Lightning, in order; not those of notebooks that install one themselves."""
    breaks = _breaks()
    found = sorted((item for item in facts.planned if item.code in breaks), key=_place)
    own = {path for path in {item.path for item in found} if _installs(path, facts)}
    return [item for item in found if item.path not in own]


def _installs(path: str, facts: Facts) -> bool:
    """Whether a notebook requires a Lightning in its own cells."""
    if facts.kinds.get(path) != "notebook":
        return False
    text = facts.sources[path].data.decode(errors="replace")
    return any(pin.name in LIGHTNING for pin in read_pins("notebook", text))


def _states(path: str, facts: Facts) -> bool:
    return is_manifest(path) or facts.kinds.get(path) in ("requirements", "dockerfile", "lock")


def _place(item: Finding) -> tuple[object, ...]:
    return (item.path, item.cell or 0, item.span, item.code)


_CODE = 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(**{"gpus": count})\n'

RULE = Rule(
    code="PIN002",
    name="no-pin",
    summary="a project that asks for no Lightning anywhere is told which one its code is for",
    why=(
        "Without a requirement the newest release is installed, whatever the code was written "
        "for. That matters as long as places that break on it are left. The release is concluded "
        "from the places that other rules found, by the version in which each stopped working; "
        "adding the requirement is left to you, since you know which file it belongs into."
    ),
    fix="manual",
    versions="any",
    triggers=MENTIONS,
    check=check,
    mentions=(*MENTIONS, *mentions()),
    last=True,
    examples=(
        Example(_CODE, _CODE, "train.py", (("requirements.txt", "numpy\n"),)),
        Example(_CODE, _CODE, "train.py", (("requirements.txt", "pytorch-lightning==1.8.0\n"),)),
    ),
    references=("https://github.com/Lightning-AI/pytorch-lightning/security/advisories/GHSA-w37p-236h-pfx3",),
)
