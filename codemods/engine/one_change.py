"""The change that one finding asks for, without any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codemods.code.source import PythonFile, TextFile, Unreadable
from codemods.engine.draft import Draft
from codemods.engine.passes import finding_of, matches
from codemods.engine.rewriting import RequestedRewrite, rewritten
from codemods.engine.scan import Options, Scan
from codemods.finding import Finding
from codemods.rule import Match, Rule

GONE = "it is not there any more; look again"
ENTANGLED = "it belongs together with other places of the rule; rewrite all of them"


def change_of(finding: Finding, looked: Scan, options: Options) -> Mapping[str, bytes] | str:
    """What the files become in which what a finding names is rewritten, with all that its rule rewrites together with
    it and nothing else; or the reason why that is not done. `looked` is the look that gave the finding."""
    return _OneChange(finding, looked, options).made()


class _OneChange:
    def __init__(self, finding: Finding, looked: Scan, options: Options) -> None:
        self.finding, self.looked = finding, looked
        self.options = replace(options, unsafe=True) if finding.fix == "unsafe" else options
        self.draft = Draft([*looked.facts.trees.sources.values()], {})

    def made(self) -> Mapping[str, bytes] | str:
        """The new content of each file, or why there is none."""
        rule = next((rule for rule in self.options.rules if rule.code == self.finding.code), None)
        if rule is None:
            return GONE
        file, found = self._found(rule, self.finding.path)
        own = next((match for match in found if file and self._is_meant(rule, match, file)), None)
        if own is None:
            return GONE
        if not self._applies(own):
            return own.reason
        others = sorted({path for code, path in self.looked.by_unit if code == rule.code} - {self.finding.path})
        looks = {self.finding.path: (file, found)} | {path: self._found(rule, path) for path in others if own.unit}
        changed: dict[str, bytes] = {}
        for path, (each, every) in looks.items():
            applying = [match for match in every if self._applies(match)]
            chosen = [match for match in applying if match is own or (own.unit and match.unit == own.unit)]
            result = self._rewritten(rule, path, each, chosen, applying) if chosen else changed
            if isinstance(result, str):
                return result
            changed |= result
        return changed

    def _rewritten(
        self, rule: Rule, path: str, file: PythonFile | TextFile | None, chosen: list[Match], applying: list[Match]
    ) -> Mapping[str, bytes] | str:
        """What a file becomes, with the files that it asks for. Where the rule would then not find again what else it
        applies to, all of it is rewritten."""
        source, facts = self.draft.now[path], self.looked.facts
        wanted = RequestedRewrite(file, chosen, refused=len(applying) - len(chosen))
        result = rewritten(rule, source, wanted, facts, self.options)
        if isinstance(result, str):
            return result
        left = [match for match in matches(rule, result.file, facts, self.options) if self._applies(match)]
        if len(left) < wanted.refused:
            if any(match.unit != chosen[0].unit for match in applying):
                return ENTANGLED
            return self._rewritten(rule, path, file, applying, applying)
        texts = {made: text for match in chosen for made, text in match.creates}
        return {path: result.data} | {made: text.encode() for made, text in texts.items() if made not in self.draft.now}

    def _is_meant(self, rule: Rule, match: Match, file: PythonFile | TextFile) -> bool:
        now = finding_of(rule, match, file, self.options)
        return replace(now, applied=self.finding.applied) == self.finding

    def _found(self, rule: Rule, path: str) -> tuple[PythonFile | TextFile | None, list[Match]]:
        try:
            file = self.draft.open(rule, path, self.looked.facts)
        except Unreadable:
            return None, []
        return file, matches(rule, file, self.looked.facts, self.options)

    def _applies(self, match: Match) -> bool:
        return self.options.applies(self.finding.code, match)
