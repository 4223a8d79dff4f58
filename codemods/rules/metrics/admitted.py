"""Whether a project admits a torchmetrics of today."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement

from codemods.lightning.facts import Facts
from codemods.lightning.pins.compat import minor_of
from codemods.lightning.pins.specifier import admits_from

SINCE = "0.11.0"


def asked(facts: Facts) -> bool:
    """Whether the project admits a torchmetrics that wants the task, or none that the target can be installed with."""
    return admitted(facts, SINCE)


def admitted(facts: Facts, since: str) -> bool:
    """Whether the project admits that torchmetrics or a newer one, or none that the target can be installed with."""
    key = f"metrics.admitted.{since}"
    if key not in facts.memo:
        facts.memo[key] = _admitted(facts, since)
    found: bool = facts.memo[key]
    return found


def _admitted(facts: Facts, since: str) -> bool:
    stated = []
    for pin in facts.pins:
        try:
            requirement = Requirement(pin)
        except InvalidRequirement:
            continue
        if requirement.name.lower() == "torchmetrics":
            stated.append(str(requirement.specifier))
    needed = minor_of(facts.target).beside["torchmetrics"].floor if facts.target else since
    new = any(admits_from(text, since) for text in stated)
    return not stated or new or not any(admits_from(text, needed) for text in stated)
