"""What rules collect of another form of a file: most of it is never asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from codemods.code.source import PythonFile
from codemods.rule import Rule, all_rules


class CollectedOfForm(Mapping[str, Any]):
    """What rules collect, by their codes: those that look at a form of a file of this, when it is asked for; the others
    have collected it `before`."""

    def __init__(
        self, form: PythonFile, looks: Callable[[Rule], bool], before: Mapping[str, Any] | None = None
    ) -> None:
        self._form, self._looks, self._before = form, looks, before or {}
        self._rules = {rule.code: rule for rule in all_rules() if rule.collect}
        self._made: dict[Any, Any] = {}

    def __getitem__(self, code: str) -> Any:
        if (found := self._found(code)) is None:
            raise KeyError(code)
        return found

    def __contains__(self, code: object) -> bool:
        return isinstance(code, str) and self._found(code) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        every = dict.fromkeys((*self._before, *self._rules, *other))
        return all(self._found(code) == other.get(code) for code in every)

    def _found(self, code: str) -> Any:
        rule = self._rules.get(code)
        found = self._collected(rule) if rule and self._looks(rule) else None
        return self._before.get(code) if found is None else found

    def _collected(self, rule: Rule) -> Any:
        collect: Any = rule.collect
        if collect not in self._made:
            self._made[collect] = collect(self._form)
        return self._made[collect]

    def __iter__(self) -> Iterator[str]:
        return (code for code in dict.fromkeys((*self._before, *self._rules)) if code in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
