"""Which files hold a text, as looking for it in each of them says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codemods.code.search import Search
from codemods.code.source import Source
from codemods.engine.triggers import called_words, quoted_words
from codemods.rule import all_rules

TEXTS = (
    b"", b"**", b"a", b"ab", b" a", b"b ", b" ab ", b" ", b"b c", b".b",
    b"b.", b"a.b(", b"a b c", b"(c)", b"\xc3\xa4", b"'a'", b"abc ab", b"c\n",
)  # fmt: skip


def test_every_text_is_found_where_it_stands() -> None:
    examples = [example.before for rule in all_rules() for example in rule.examples]
    data = [*TEXTS, b"ab c", b"a.b(c)", b"xab.bc", b"(a) b\tab", *(text.encode() for text in examples[::9])]
    sources = {f"{number}.py": Source(f"{number}.py", "python", each) for number, each in enumerate(data)}
    triggers = {word for rule in all_rules() for word in (*rule.triggers, *called_words(rule), *quoted_words(rule))}
    asked = {*TEXTS, *triggers}
    expected = {text: {path for path, source in sources.items() if text in source.data} for text in asked}
    assert Search(sources).holders(asked) == expected
    assert sum(map(bool, expected.values())) > 80


@given(texts=st.lists(st.text("ab ._(", max_size=12), min_size=1, max_size=4), new=st.text("ab ._(", max_size=12))
def test_a_search_knows_the_new_text_of_a_file(texts: list[str], new: str) -> None:
    sources = {f"{number}.py": Source(f"{number}.py", "python", text.encode()) for number, text in enumerate(texts)}
    before = Search(sources)
    known = before.holders(TEXTS)
    for path in ("0.py", "new.py"):
        changed = Source(path, "python", new.encode())
        assert before.having(changed).holders(TEXTS) == Search({**sources, path: changed}).holders(TEXTS)
    assert before.holders(TEXTS) == known == Search(sources).holders(TEXTS)
