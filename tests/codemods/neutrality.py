"""What the rules say of their own examples when these are edited without a change of what they do, as a table."""

from __future__ import annotations

import sys
from collections import Counter

from codemods.testing.neutrality import EVERY, edited, fired, outcome


def main() -> None:
    """Prints how many keep their level, by family and by edit."""
    names = sys.argv[1].split(",") if len(sys.argv) > 1 and sys.argv[1] else [*EVERY]
    codes = tuple(sys.argv[2].split(",")) if len(sys.argv) > 2 else ("",)
    every = [
        outcome(case, edit, line, files)
        for case in fired()
        if case.rule.code.startswith(codes)
        for edit in names
        for line, files in edited(case, edit)
    ]
    for title, key in (("family", lambda item: item.fired.rule.code[:3]), ("edit", lambda item: item.edit)):
        print(f"\n{title:20} cases  kept  level  told  vanished crashed")
        for group in sorted({key(item) for item in every}):
            kinds = Counter(item.kind for item in every if key(item) == group)
            total = sum(kinds.values())
            shown = "".join(f"{kinds[kind]:7}" for kind in ("kept", "level", "told", "vanished", "crashed"))
            print(f"{group:20}{total:6}{shown}  {kinds['kept'] / total:6.1%}")
    kinds = Counter(item.kind for item in every)
    print(dict(kinds), f"{kinds['kept'] / len(every):.1%}")
    for item in every:
        if item.kind != "kept":
            print(item.kind, item.fired.name, item.edit, item.line)


if __name__ == "__main__":
    main()
