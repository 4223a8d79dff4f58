"""Specifiers: what they mean, and that a changed one admits the target and never a malicious release."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from codemods.pins.specifier import MALICIOUS, admits, admits_from, clauses, guarded, only_refused, raised

T = "2.6.6"
NOT = "!=2.6.2,!=2.6.3"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("==1.8.0", "==2.6.6"),
        ("== 1.8.0", "== 2.6.6"),
        ("===1.8.0", "===2.6.6"),
        ("===old", "===2.6.6"),
        ("==2.0.4", "==2.6.6"),
        ("==2.2.0.post0", "==2.6.6"),
        ("==2.6.2", "==2.6.6"),
        ("==2.6.6", "==2.6.6"),
        ("==1.9.*", f"==2.6.*,{NOT}"),
        ("==1.*", f"==2.*,{NOT}"),
        ("==2.*", f"==2.*,{NOT}"),
        ("~=1.9.0", "~=2.6.6"),
        ("~=1.9", f"~=2.6,{NOT}"),
        ("~=2.0", f"~=2.0,{NOT}"),
        (">=1.5,<2", f">=2.0,<3,{NOT}"),
        (">=1.5,<2.0", f">=2.0,<3.0,{NOT}"),
        (">1.7.0, <2.0.0", ">=2.0.0, <3.0.0, !=2.6.2, !=2.6.3"),
        ("<2.0", f">=2.0,<3.0,{NOT}"),
        ("<=1.9.5", f">=2.0,<=2.6.6,{NOT}"),
        (">=2.0,<2.6", f">=2.0,<3.0,{NOT}"),
        (">=1.5", f">=2.0,{NOT}"),
        (">=1.4.0,!=1.5.0", f">=2.0.0,!=1.5.0,{NOT}"),
        (">=2.2,!=2.3.*", f">=2.2,!=2.3.*,{NOT}"),
        (">=2.0.0, !=2.6.2, != 2.6.3, <2.7.0", ">=2.0.0, !=2.6.2, != 2.6.3, <2.7.0"),
        ("!=1.5.0", f">=2.0,!=1.5.0,{NOT}"),
        ("", f">=2.0,{NOT}"),
        (">=2.7", None),
        (">=1.5,!=2.6.6", None),
        (">=1.5,!=2.6.*", None),
        (">=2022.8", None),
    ],
)
def test_raised(before: str, after: str | None) -> None:
    assert raised(before, T) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("^1.6", f"^2.0,{NOT}"),
        ("^1.5.8", f"^2.0.0,{NOT}"),
        ("^0.9.0", f"^2.0.0,{NOT}"),
        ("^2.1", f"^2.1,{NOT}"),
        ("^1.6, !=1.7.0", "^2.0, !=1.7.0, !=2.6.2, !=2.6.3"),
        ("~1.9", f"~2.6,{NOT}"),
        ("~1.9.0", "~2.6.6"),
        ("~1", f"~2,{NOT}"),
        ("1.9.5", "2.6.6"),
        ("=1.9.5", "=2.6.6"),
        ("1.9.*", f"2.6.*,{NOT}"),
        ("*", f">=2.0,{NOT}"),
        (">=1.5,<2.0", f">=2.0,<3.0,{NOT}"),
        ("^3.0", None),
    ],
)
def test_raised_poetry(before: str, after: str | None) -> None:
    assert raised(before, T, poetry=True) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", NOT),
        (">=1.5", f">=1.5,{NOT}"),
        (">=1.5, <3", ">=1.5, <3, !=2.6.2, !=2.6.3"),
        (">=2.0,!=2.6.2", ">=2.0,!=2.6.2,!=2.6.3"),
        ("==1.8.0", "==1.8.0"),
        ("==2.6.2", "==2.6.6"),
        ("== 2.6.3", "== 2.6.6"),
        ("==2.6.3,<2.6.4", None),
        (">=1.5,<2", ">=1.5,<2"),
    ],
)
def test_guarded(before: str, after: str | None) -> None:
    assert guarded(before, T) == after


def test_guarded_poetry() -> None:
    assert guarded("*", T, poetry=True) == NOT
    assert guarded("^2.0", T, poetry=True) == f"^2.0,{NOT}"
    assert guarded("2.6.2", T, poetry=True) == "2.6.6"


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("^1.2.3", "1.9", "2.0"),
        ("^0.2.3", "0.2.9", "0.3"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("^0", "0.9", "1.0"),
        ("~1.2.3", "1.2.9", "1.3"),
        ("~1.2", "1.2.9", "1.3"),
        ("~1", "1.9", "2.0"),
        ("1.2", "1.2.0", "1.2.1"),
    ],
)
def test_poetry_means(text: str, inside: str, outside: str) -> None:
    assert admits(text, inside, poetry=True) and not admits(text, outside, poetry=True)


def test_floors() -> None:
    assert not admits_from("==1.10.0+cu113", "2.1.0")
    assert not admits_from("^1.8.1", "2.1.0", poetry=True)
    assert not admits_from("<2", "2.1.0")
    assert admits_from("==2.1.0+cu118", "2.1.0")
    assert admits_from(">=1.8", "2.1.0") and admits_from("", "2.1.0")
    assert not admits_from("==0.7.0", "0.7.0", inclusive=False)
    assert admits_from("==0.7.3", "0.7.0", inclusive=False)


def test_only_refused() -> None:
    assert only_refused("==1.6.5") and only_refused("~=1.7.0") and only_refused("^1.5,<1.8", poetry=True)
    assert not only_refused("==1.8.6") and not only_refused(">=1.5,<2") and not only_refused("")


VERSIONS = st.one_of(
    st.sampled_from(
        ["1", "1.5", "1.9.5", "2", "2.0", "2.0.0", "2.6", "2.6.2", "2.6.3", "2.6.6", "2.7", "1.8.0rc1", "3"]
    ),
    st.lists(st.integers(0, 10), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts))),
)
SPACES = st.sampled_from(["", "", " "])


@st.composite
def specifiers(draw: st.DrawFn, poetry: bool = False) -> str:
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        operator = draw(
            st.sampled_from(["==", ">=", "<=", ">", "<", "!=", "~=", *(["^", "~", "", "="] if poetry else [])])
        )
        version = draw(VERSIONS)
        if operator == "~=" and "." not in str(Version(version)):
            version += ".0"
        plain = "r" not in version
        if operator in ("==", "!=") and plain and draw(st.booleans()):
            version += ".*"
        parts.append(operator + draw(SPACES) + version)
    return ("," + draw(SPACES)).join(parts)


def kept(text: str) -> list[str]:
    return [str(clause).strip() for clause in clauses(text) if clause.operator == "!="]


@settings(deadline=None, max_examples=300)
@given(st.data(), st.booleans())
def test_changed_ones_hold(data: st.DataObject, poetry: bool) -> None:
    text = data.draw(specifiers(poetry))
    for change, least in ((raised, True), (guarded, False)):
        result = change(text, T, poetry)
        if result is None:
            continue
        assert not any(admits(result, bad, poetry) for bad in MALICIOUS)
        assert change(result, T, poetry) == result
        assert kept(result)[: len(kept(text))] == kept(text)
        if least:
            assert admits(result, T, poetry)
            assert not any(admits(result, old, poetry) for old in ("1.4.9", "1.8.6", "1.9.5"))
            assert guarded(result, T, poetry) == result


@settings(deadline=None, max_examples=200)
@given(specifiers())
def test_guarding_changes_nothing_else(text: str) -> None:
    result = guarded(text, T)
    if result is not None and "2.6.6" not in result:
        for version in ("1.9.5", "2.0.0", "2.6.1", "2.6.4", "2.6.5", "2.7.0", "3.0.0"):
            assert admits(result, version) == admits(text, version)


@settings(deadline=None, max_examples=200)
@given(specifiers())
def test_clauses_give_the_text_back(text: str) -> None:
    assert ",".join(map(str, clauses(text))) == text
