"""What was answered by now, and what that says of changes that are still to be asked about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from codemods.engine.offers import Offer, grouped
from codemods.engine.refused import Key
from codemods.finding import Fix
from fixer.choosing.settings_edit import LeftOut


@dataclass
class Choices:
    """The answers. `unsafe` says that unsafe changes were asked for as those that are safe; else what is said of all
    changes holds for those of the level that it was said at, and safer ones."""

    unsafe: bool = False
    taken: set[Key] = field(default_factory=set)
    refused: set[Key] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    stopping: int = 0
    """How many places were refused that stop the program on the target."""
    left: int = 0
    """How many changes were refused."""
    _rules: dict[str, Fix | None] = field(default_factory=dict)
    _rest: Fix | None = None
    _is_ended: bool = False

    @property
    def is_ended(self) -> bool:
        """Whether all that is left is refused."""
        return self._is_ended

    def take(self, offer: Offer) -> None:
        self.taken |= offer.keys

    def refuse(self, offer: Offer) -> None:
        self.refused |= offer.keys
        self.left += len(offer.parts)
        self.stopping += sum(place.finding.stops for place in offer.places)

    def take_rule(self, offer: Offer) -> None:
        """Takes all changes of the rule from now on, of the level of this one and safer."""
        self._rules[offer.rule.code] = self._level(offer)

    def refuse_rule(self, offer: Offer) -> None:
        self._rules[offer.rule.code] = None

    def take_rest(self, offer: Offer) -> None:
        """Takes all changes from now on, of the level of this one and safer."""
        self._rest = self._level(offer)

    def end(self) -> None:
        """Refuses all that is left."""
        self._is_ended = True

    def leave_out(self, setting: LeftOut) -> None:
        """Refuses what a setting will leave out from now on."""
        self.left_out.append(setting)

    def pending(self, changes: Iterable[Offer]) -> tuple[Offer, ...]:
        """The changes that are to be asked about, in groups."""
        return grouped(change for change in changes if self.of(change) is None)

    def are_open(self, changes: Iterable[Offer]) -> bool:
        """Whether any of the changes is to be asked about, or is refused from now on."""
        return any(not self.of(change) and not change.keys <= self.refused for change in changes)

    def settle(self, changes: Iterable[Offer]) -> None:
        """Takes and refuses what follows from what was said before."""
        for change in changes:
            said = self.of(change)
            if said:
                self.take(change)
            elif said is False and not change.keys <= self.refused:
                self.refuse(change)

    def of(self, change: Offer) -> bool | None:
        """Whether a change that cannot be split is taken; None where that is to be asked."""
        if change.keys & self.refused:
            return False
        if change.keys <= self.taken:
            return True
        if self._is_ended or self._is_left_out(change):
            return False
        if change.rule.code in self._rules:
            level = self._rules[change.rule.code]
            if level is None:
                return False
            if _covers(level, change.fix):
                return True
        return True if self._rest and _covers(self._rest, change.fix) else None

    def _is_left_out(self, change: Offer) -> bool:
        return any(setting.holds(place.finding) for setting in self.left_out for place in change.places)

    def _level(self, offer: Offer) -> Fix:
        return "unsafe" if self.unsafe else offer.fix


def _covers(said: Fix, level: Fix) -> bool:
    return level == "safe" or said == "unsafe"
