"""Facts that differ in one file share what they say of the others, and say what they would by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemods.lightning.facts import Facts, FileFacts


def _file(path: str, **collected: object) -> FileFacts:
    names = frozenset[str]()
    return FileFacts(path, path.removesuffix(".py"), {}, names, names, (), None, (), (), False, collected)


FACTS = Facts({item.path: item for item in (_file("a.py", A=1), _file("b.py", A=2, B=3), _file("c.py", B=4))})


@pytest.mark.parametrize(
    "own",
    [_file("b.py", A=2, B=3), _file("b.py", A=5, B=3), _file("b.py", A=2), _file("b.py"), _file("b.py", A=2, B=3, C=6)],
)
def test_what_rules_collected_is_the_same_as_of_facts_made_anew(own: FileFacts) -> None:
    made, alone = FACTS.having(own), replace(FACTS, files={**FACTS.files, "b.py": own})
    for code in "ABC":
        assert list(made.collected(code).items()) == list(alone.collected(code).items())


def test_what_others_collected_is_shared() -> None:
    assert FACTS.having(replace(FACTS.files["b.py"], stars=("d",))).collected("A") is FACTS.collected("A")
