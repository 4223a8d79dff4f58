"""Whether a project admits a torchmetrics of today."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement

from codemods.lightning.facts import Facts
from codemods.lightning.pins.compat import minor_of
from codemods.lightning.pins.specifier import admits_from

SINCE = "0.11.0"


def asked(facts: Facts) -> bool:
    """Whether the project admits a torchmetrics that wants the task, or none that the target can be installed with."""
    if "metrics.asked" not in facts.memo:
        facts.memo["metrics.asked"] = _admitted(facts)
    asked: bool = facts.memo["metrics.asked"]
    return asked


def _admitted(facts: Facts) -> bool:
    stated = []
    for pin in facts.pins:
        try:
            requirement = Requirement(pin)
        except InvalidRequirement:
            continue
        if requirement.name.lower() == "torchmetrics":
            stated.append(str(requirement.specifier))
    needed = minor_of(facts.target).beside["torchmetrics"].floor if facts.target else SINCE
    new = any(admits_from(text, SINCE) for text in stated)
    return not stated or new or not any(admits_from(text, needed) for text in stated)
