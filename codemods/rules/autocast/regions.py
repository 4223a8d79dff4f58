"""Where a project asks for mixed precision of Lightning: the regions that Lightning opens by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.lightning.class_family import short_name
from codemods.lightning.facts import MODULE, TRAINER, ClassFact, Facts, TrainerFact
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rules.autocast.outermost_regions import functions_with_regions

CACHES_BELOW = "2.5.5"
"""The standard AMP plugin switches the cache off since 2.5.5 (run: 2.5.4 caches, 2.5.5 and 2.6.6 do not)."""

TORCH_FIXED = "2.11"
"""A forward without gradient fills the cache up to torch 2.10.0 (run: 2.10.0 does, 2.11.0 does not)."""

MIXED = (16, "16", "16-mixed", "bf16", "bf16-mixed")
_YAML = tuple(f"precision: {quote}{value}".encode() for quote in ("", "'", '"') for value in ("16", "bf16"))
_NOT_MIXED = tuple(text + b"-true" for text in _YAML)
_COMMENTED = tuple(b"# " + text for text in _YAML) + tuple(b"#" + text for text in _YAML)
MENTIONS = (*_YAML, *_NOT_MIXED, *_COMMENTED)

Certainty = Literal["certain", "possible"]


@dataclass(frozen=True)
class PrecisionSetting:
    """A place where Python code sets the precision of a Trainer; `mixed` where it is a mixed one for some runs."""

    line: int
    mixed: bool


@dataclass(frozen=True)
class Collected:
    """What other files need to know of one: the precisions that it gives to Lightning's Trainer, and its functions
    of which it matters whether other files name them."""

    asked: tuple[PrecisionSetting, ...]
    functions: tuple[str, ...] = ()


def collect(file: PythonFile) -> Collected | None:
    """What a file says of regions."""
    asked = tuple(_asked(file)) if "precision" in file.text else ()
    functions = tuple(functions_with_regions(file))
    return Collected(asked, functions) if asked or functions else None


def context(collected: Mapping[str, Collected]) -> tuple[bytes, ...]:
    """The names of functions that open regions: whoever names one may call it in a region of his own."""
    return tuple(sorted({name.encode() for item in collected.values() for name in item.functions}))


def _asked(file: PythonFile) -> Iterator[PrecisionSetting]:
    for call in file.calls_near(["precision"]):
        given = value_of(call.node, "precision")
        if given is None:
            continue
        dotted = call.scope.resolve(call.node.func)
        partial = dotted == "functools.partial" and call.node.args and call.scope.resolve(call.node.args[0]) == TRAINER
        if dotted in (TRAINER, f"{TRAINER}.from_argparse_args") or partial:
            yield from _judged(given, call.node.lineno)
    for item in file.assignments:
        targets = item.node.targets if isinstance(item.node, ast.Assign) else [item.node.target]
        value = item.node.value
        if value is not None and any(_is_setting(target) for target in targets) and _is_mixed(value):
            yield PrecisionSetting(item.node.lineno, True)


def _is_setting(target: ast.expr) -> bool:
    """`config.trainer.precision`, but not `self.precision`."""
    return (
        isinstance(target, ast.Attribute)
        and target.attr == "precision"
        and isinstance(target.value, ast.Attribute)
        and target.value.attr == "trainer"
    )


def _judged(given: ast.expr, line: int) -> Iterator[PrecisionSetting]:
    known, value = literal(given)
    if not known:
        yield PrecisionSetting(line, _is_mixed(given))
    elif value in MIXED and value is not True:
        yield PrecisionSetting(line, True)


def _is_mixed(given: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Constant) and node.value in MIXED and not isinstance(node.value, bool)
        for node in walk(given)
    )


def lightning_region(facts: Facts, code: str, item: ClassFact) -> Certainty | None:
    """Whether Lightning runs the class's `training_step` in a region that caches, as far as Trainers, configuration
    files and pins tell."""
    if facts.kind(item) != MODULE or not admits_below(facts, LIGHTNING, CACHES_BELOW):
        return None
    known: dict[ClassFact, Certainty | None] = facts.memo.setdefault(f"autocast.regions.{code}", {})
    if item not in known:
        known[item] = mixed_precision(facts, code, item)
    return known[item]


def mixed_precision(facts: Facts, code: str, item: ClassFact) -> Certainty | None:
    """Whether a Trainer trains the class in mixed precision, by what its calls and configuration files say. Where
    Trainers are seen to train the class, they alone decide."""
    relatives = {item, *facts.subclasses(item)}
    fitted = _fitted(facts)
    own = {place for relative in relatives for place in fitted.get(relative, ())}
    found: list[Certainty] = [
        "certain" if setting.mixed else "possible"
        for setting in _settings(facts, code)
        if (setting.path, setting.line) in own or (not own and setting.may_train(relatives))
    ]
    if "certain" in found or (not own and _in_configuration(facts)):
        return "certain"
    return found[0] if found else None


def _fitted(facts: Facts) -> dict[ClassFact, list[tuple[str, int]]]:
    """Where the Trainers stand that are seen to fit each class."""
    known: dict[ClassFact, list[tuple[str, int]]] | None = facts.memo.get("autocast.fitted")
    if known is None:
        known = facts.memo["autocast.fitted"] = {}
        for trainer in facts.trainers:
            for name in trainer.fits:
                if name and (found := facts.find_class(name, trainer.path)):
                    known.setdefault(found, []).append((trainer.path, trainer.line))
    return known


@dataclass(frozen=True)
class _PrecisionPlace:
    """A place that sets the precision, the Trainer that it builds, where it does, and the LightningModules that its
    file defines or imports."""

    path: str
    line: int
    mixed: bool
    trainer: TrainerFact | None
    modules: frozenset[ClassFact]

    def may_train(self, relatives: set[ClassFact]) -> bool:
        """Whether the Trainer built there may train one of some classes: it is not seen to train others, nor is it
        part of a script that builds modules of its own or imports others alone."""
        if self.trainer is not None and (self.trainer.evaluates or _fits_others(self.trainer, relatives)):
            return False
        if any(other.path == self.path for other in relatives):
            return True
        return not self.modules or not self.modules.isdisjoint(relatives)


def _settings(facts: Facts, code: str) -> list[_PrecisionPlace]:
    """The places that the rule `code` collected, in the order of their files."""
    known: list[_PrecisionPlace] | None = facts.memo.get(f"autocast.settings.{code}")
    if known is None:
        known = facts.memo[f"autocast.settings.{code}"] = [
            _PrecisionPlace(path, place.line, place.mixed, _trainer_at(facts, path, place.line), modules)
            for path, collected in sorted(facts.collected(code).items())
            if collected.asked
            for modules in [frozenset(item for item in _classes_of(facts, path) if facts.kind(item) == MODULE)]
            for place in collected.asked
        ]
    return known


def _trainer_at(facts: Facts, path: str, line: int) -> TrainerFact | None:
    return next((trainer for trainer in facts.files[path].trainers if trainer.line == line), None)


def _fits_others(trainer: TrainerFact, relatives: set[ClassFact]) -> bool:
    """Whether all that a Trainer is seen to fit has names that none of some classes has."""
    names = {short_name(other) for other in relatives}
    return bool(trainer.fits) and all(name and name.rpartition(".")[2] not in names for name in trainer.fits)


def _classes_of(facts: Facts, path: str) -> Iterator[ClassFact]:
    """The classes that a file defines or imports by name."""
    yield from facts.files[path].classes
    for target in facts.files[path].exports.values():
        if found := facts.find_class(target, path):
            yield found


def _in_configuration(facts: Facts) -> bool:
    """Whether a YAML file of the project says `precision: 16`, and not as a comment or as `16-true`."""

    def holders(texts: tuple[bytes, ...]) -> set[str]:
        return {path for text in texts for path in facts.mentions.get(text, ()) if path.endswith((".yaml", ".yml"))}

    if "autocast.configured" not in facts.memo:
        facts.memo["autocast.configured"] = bool(holders(_YAML) - holders(_NOT_MIXED) - holders(_COMMENTED))
    configured: bool = facts.memo["autocast.configured"]
    return configured
