"""Findings that stand in a text that changed, until it is looked at as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codemods.finding import Finding


def standing(before: Sequence[Finding], written: Sequence[Finding], old: bytes, new: bytes) -> tuple[Finding, ...]:
    """What was found `before` in an `old` text, at the places where its lines stand unchanged in a `new` one, and what
    that says as it is `written`, where nothing of the same rule was found at the place before: a finding that stands
    knows more. In the order of the places."""
    moved = _Moved(old.splitlines(), new.splitlines())
    kept = [there for finding in before if (there := moved.there(finding)) is not None]
    taken = {(finding.code, finding.span.line) for finding in kept}
    found = [finding for finding in written if (finding.code, finding.span.line) not in taken]
    return tuple(sorted((*kept, *found), key=lambda finding: (finding.span, finding.code)))


class _Moved:
    """How far lines have moved: those at the beginning not at all, and those at the end by what came between."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        most = min(len(old), len(new))
        self.head = next((at for at in range(most) if old[at] != new[at]), most)
        tail = next((at for at in range(most - self.head) if old[-1 - at] != new[-1 - at]), most - self.head)
        self.tail, self.by = len(old) - tail, len(new) - len(old)

    def there(self, finding: Finding) -> Finding | None:
        """A finding where it is now; None where what it stands on has changed."""
        span = finding.span
        if span.end_line <= self.head:
            return finding
        if span.line <= self.tail:
            return None
        return replace(finding, span=replace(span, line=span.line + self.by, end_line=span.end_line + self.by))
