"""Names that a text reads and does not bind, since it was changed."""

from __future__ import annotations

import pytest

from codemods.code.source import PythonFile, Source
from codemods.code.unbound import lost

BEFORE = "import math\n\nprint(math.pi, given)\n"


def _file(text: str) -> PythonFile:
    return PythonFile.parse(Source("a.py", "python", text.encode()))


@pytest.mark.parametrize(
    ("after", "name"),
    [
        ("import math\n\nprint(math.pi, given)\n", None),
        ("print(math.pi, given)\n", "math"),
        ("import math\n\nprint(math.pi, given, isinstance(given, Strategy))\n", "Strategy"),
        ("from strategies import Strategy\n\nprint(given, isinstance(given, Strategy))\n", None),
        ("from strategies import *\n\nprint(given, isinstance(given, Strategy))\n", None),
        ("import math\n\n\ndef show(given):\n    return given, __file__, len(given)\n", None),
    ],
)
def test_a_name_that_is_new_has_to_be_bound(after: str, name: str | None) -> None:
    assert lost(_file(BEFORE), _file(after)) == name


def test_a_name_that_nothing_binds_may_take_the_place_of_another() -> None:
    assert lost(_file("given()\n"), _file("made()\n")) is None
    assert lost(_file("given()\n"), _file("made(given)\n")) == "made"
