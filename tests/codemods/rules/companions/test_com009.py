from __future__ import annotations

import collections
import collections.abc

import pytest

from codemods.rules.companions.com009 import ABSTRACT, AFTER, BEFORE, RULE
from tests.codemods.support import run_rules


def after(text: str) -> tuple[str, list[str]]:
    """What becomes of a text, and the levels of what is found."""
    made = run_rules({"data.py": text}, RULE, unsafe=True)
    assert made.bugs == ()
    return made.final().get("data.py", text.encode()).decode(), [finding.fix for finding in made.findings]


def test_this_python_has_them_at_the_new_place_alone() -> None:
    assert [name for name in ABSTRACT if hasattr(collections, name)] == []
    later = {"ByteString"}  # which Python 3.14 takes out of collections.abc too
    assert [name for name in ABSTRACT - later if not hasattr(collections.abc, name)] == []


def test_what_failed_before_runs() -> None:
    class Part:
        def to(self, device: str) -> str:
            return device

    old: dict[str, object] = {}
    new: dict[str, object] = {}
    exec(BEFORE, old)
    exec(AFTER, new)
    with pytest.raises(AttributeError, match="Mapping"):
        old["moved"]({"x": Part()}, "cpu")  # type: ignore[operator]
    assert new["moved"]({"x": [Part(), Part()]}, "cpu") == {"x": ["cpu", "cpu"]}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from collections import Mapping, Sequence as S\n", "from collections.abc import Mapping, Sequence as S\n"),
        ("from collections import (\n    Iterable,\n)\n", "from collections.abc import (\n    Iterable,\n)\n"),
        (
            "import collections\nx = collections.Set\n",
            "import collections\nimport collections.abc\nx = collections.abc.Set\n",
        ),
        (
            "import collections as c\nx = c.Sized\n",
            "import collections as c\nimport collections.abc\nx = c.abc.Sized\n",
        ),
    ],
)
def test_each_spelling_leads_to_the_new_place(text: str, wanted: str) -> None:
    assert after(text) == (wanted, ["safe"])
    assert after(wanted) == (wanted, [])


def test_an_import_with_other_names_is_said() -> None:
    text = "from collections import OrderedDict, Mapping\n"
    assert after(text) == (text, ["manual"])


@pytest.mark.parametrize(
    "text",
    [
        "import collections\nx = collections.OrderedDict()\n",
        "import collections.abc\nx = collections.abc.Mapping\n",
        "from typing import Mapping\nx: Mapping\n",
        "from .collections import Mapping\n",
        "try:\n    from collections import Mapping\nexcept ImportError:\n    from collections.abc import Mapping\n",
        "import collections\ntry:\n    x = collections.Mapping\nexcept AttributeError:\n    x = dict\n",
        "import sys\nif sys.version_info > (3, 8):\n    Set = 1\nelse:\n    from collections import Set\n",
        "import collections\nif hasattr(collections, 'Set'):\n    kind = collections.Set\n",
        "import collections\n\n\ndef f(collections):\n    return collections.Mapping\n",
    ],
)
def test_what_is_there_and_what_is_tried_stays(text: str) -> None:
    assert after(text) == (text, [])
