"""MET002: names that torchmetrics gave up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.version import Version

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.metrics.admitted import SINCE, admitted, asked
from codemods.rules.metrics.arguments import ALWAYS
from codemods.rules.metrics.collected import BY_CLASS, named_as_before
from codemods.rules.metrics.escaping_metrics import kept
from codemods.rules.metrics.renamed import ROOT, MetricSite, Renamed, sites, words

GIVEN = frozenset({"preds", "target"})
SAFE = "It gave the same numbers before and after in a run."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if ROOT not in file.text or not asked(facts):
        return
    found: dict[str, list[MetricSite]] = {}
    for site in sites(file, facts):
        if Version(site.name.gone) > Version(SINCE) and not admitted(facts, site.name.gone):
            continue
        found.setdefault(site.dotted, []).append(site)
    for dotted, every in found.items():
        calls = _calls(file, dotted)
        if every[0].name.level == "task" and calls:
            continue
        named = [named_as_before(file, call) for call in calls]
        keys = [each.edits if each and not each.sorted_now else None for each in named]
        refusal = _refusal(file, dotted, every, calls) or (BY_CLASS if None in keys else None)
        unit = f"{file.path}:{dotted}"
        for site in every:
            edits = (*(site.edits or ()), *(edit for found in keys for edit in found or ()))
            yield _match(file, site, refusal, edits, unit)


def _calls(file: PythonFile, dotted: str) -> list[CallNode]:
    last = dotted.rpartition(".")[2]
    near = file.calls_near([*file.spellings(last), last])
    return [call for call in near if call.scope.resolve(call.node.func) == dotted]


def _refusal(file: PythonFile, dotted: str, every: list[MetricSite], calls: list[CallNode]) -> str | None:
    """Why a name is not given its new one, as the middle of a sentence."""
    name = every[0].name
    if name.level == "task":
        return "it needs task= too where it is made"
    if name.level != "safe":
        return name.note or "what it does is not the same"
    if any(site.edits is None for site in every):
        return "the module that it is taken from does not have the new one"
    if any(item.scope.resolve(base) == dotted for item in file.classes for base in item.node.bases):
        return "a class is made of it"
    last = dotted.rpartition(".")[2]
    if any(found == dotted for _, found in kept(file, [*file.spellings(last), last])):
        return "it is kept or passed on, and fixer cannot tell what it is given"
    return next((why for call in calls if (why := _argued(call.node, name))), None)


def _argued(call: ast.Call, name: Renamed) -> str | None:
    """What a call gives that the new name may take otherwise."""
    function = name.old.startswith("functional.")
    given = {item.arg for item in call.keywords if not is_none(item.value)}
    allowed = name.keeps | name.needs | (GIVEN if function else ALWAYS)
    other = sorted(item or "**" for item in given - allowed)
    places = len(call.args) + (len(given & GIVEN) if function else 0)
    if other or places != (2 if function else 0) or any(isinstance(item, ast.Starred) for item in call.args):
        return f"`{other[0]}` is given" if other else "its arguments are given by position"
    return name.note or "an argument is missing" if name.needs - given else None


def _match(file: PythonFile, site: MetricSite, refusal: str | None, edits: tuple[TextEdit, ...], unit: str) -> Match:
    message = f"`{site.dotted}` was removed by torchmetrics {site.name.gone}"
    now = f"{ROOT}.{site.name.new}"
    if refusal:
        reason = f"Not rewritten: write `{now}(...)`, and check the call: {refusal}."
        return Match(file.span(site.node), message, "manual", reason)
    return Match(
        file.span(site.node),
        message,
        "safe",
        f"It is called {site.name.last} since 0.8. {SAFE}",
        None,
        edits,
        unit=unit,
    )


BEFORE = """\
from torchmetrics import PSNR
from torchmetrics.functional import si_sdr

psnr = PSNR(data_range=1.0)


def score(preds, target):
    return psnr(preds, target), si_sdr(preds, target)
"""
AFTER = BEFORE.replace("PSNR", "PeakSignalNoiseRatio").replace("si_sdr", "scale_invariant_signal_distortion_ratio")
OPEN = "from torchmetrics import PSNR, SSIM\n\npsnr, ssim = PSNR(), SSIM()\n"

RULE = Rule(
    code="MET002",
    name="metric-names",
    summary="Names that torchmetrics gave up become its present ones",
    why=(
        "torchmetrics 0.7 wrote the names of some forty metrics out and 0.8 took the short ones away; later releases "
        "did so with others, 1.7 with Dice: the import fails with a torchmetrics that Lightning 2 takes. Those that "
        "give the same numbers were run on 0.3 to 0.7 and 1.9; of the others the new name is said, and what changed. "
        "Metrics that want a task go with MET001."
    ),
    fix="safe",
    stops=True,
    versions="written for torchmetrics < 0.8",
    triggers=(b"torchmetrics",),
    words=tuple(sorted(word.encode() for word in words())),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(OPEN, OPEN)),
    torchmetrics="0.8.0",
)
