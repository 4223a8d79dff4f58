"""Two backward passes beside each other, and the second of them in a method of its own."""

from __future__ import annotations

from tests.codemods.support import rule

PAIR = rule("BWD002").examples[0].before
FIRST = "self.manual_backward(fit, retain_graph=True)"
SECOND = "self.manual_backward(0.1 * penalty)"
BOTH = f"        {FIRST}\n        {SECOND}\n"
PEN = (
    PAIR.replace(SECOND, "self._pen(penalty)").rstrip()
    + "\n\n    def _pen(self, y):\n        self.manual_backward(y)\n"
)
