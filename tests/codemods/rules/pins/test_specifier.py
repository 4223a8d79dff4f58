"""Specifiers: what they mean, and that a changed one admits the target and never a malicious release."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from codemods.lightning.pins.specifier import (
    MALICIOUS,
    Language,
    admits,
    admits_from,
    clauses,
    from_python,
    guarded,
    lifted,
    only_refused,
    raised,
)

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
    assert raised(before, T, "poetry") == after


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
    assert guarded("*", T, "poetry") == NOT
    assert guarded("^2.0", T, "poetry") == f"^2.0,{NOT}"
    assert guarded("2.6.2", T, "poetry") == "2.6.6"


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
    assert admits(text, inside, "poetry") and not admits(text, outside, "poetry")


def test_floors() -> None:
    assert not admits_from("==1.10.0+cu113", "2.1.0")
    assert not admits_from("^1.8.1", "2.1.0", "poetry")
    assert not admits_from("<2", "2.1.0")
    assert admits_from("==2.1.0+cu118", "2.1.0")
    assert admits_from(">=1.8", "2.1.0") and admits_from("", "2.1.0")


def test_only_refused() -> None:
    assert only_refused("==1.6.5") and only_refused("~=1.7.0") and only_refused("^1.5,<1.8", "poetry")
    assert not only_refused("==1.8.6") and not only_refused(">=1.5,<2") and not only_refused("")


VERSIONS = st.one_of(
    st.sampled_from(
        ["1", "1.5", "1.9.5", "2", "2.0", "2.0.0", "2.6", "2.6.2", "2.6.3", "2.6.6", "2.7", "1.8.0rc1", "3"]
    ),
    st.lists(st.integers(0, 10), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts))),
)
SPACES = st.sampled_from(["", "", " "])


@st.composite
def specifiers(draw: st.DrawFn, language: Language = "pep440") -> str:
    own = {"pep440": [], "poetry": ["^", "~", "", "="], "conda": ["="]}[language]
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        operator = draw(st.sampled_from(["==", ">=", "<=", ">", "<", "!=", "~=", *own]))
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


@settings(deadline=None, max_examples=120)
@given(st.data(), st.sampled_from(["pep440", "poetry", "conda"]))
def test_changed_ones_hold(data: st.DataObject, language: Language) -> None:
    text = data.draw(specifiers(language))
    for change, least in ((raised, True), (guarded, False)):
        result = change(text, T, language)
        if result is None:
            continue
        assert not any(admits(result, bad, language) for bad in MALICIOUS)
        assert change(result, T, language) == result
        assert kept(result)[: len(kept(text))] == kept(text)
        if least:
            assert admits(result, T, language)
            assert not any(admits(result, old, language) for old in ("1.4.9", "1.8.6", "1.9.5"))
            assert guarded(result, T, language) == result


@settings(deadline=None, max_examples=80)
@given(specifiers())
def test_guarding_changes_nothing_else(text: str) -> None:
    result = guarded(text, T)
    if result is not None and "2.6.6" not in result:
        for version in ("1.9.5", "2.0.0", "2.6.1", "2.6.4", "2.6.5", "2.7.0", "3.0.0"):
            assert admits(result, version) == admits(text, version)


@settings(deadline=None, max_examples=80)
@given(specifiers())
def test_clauses_give_the_text_back(text: str) -> None:
    assert ",".join(map(str, clauses(text))) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("=1.3.5", "=2.6.6"),
        ("=1.9", f"=2.6,{NOT}"),
        ("=1.5.*", f"=2.6.*,{NOT}"),
        ("=2.*", f"=2.*,{NOT}"),
        ("==1.9.5", "==2.6.6"),
        (">=1.8", f">=2.0,{NOT}"),
        ("", f">=2.0,{NOT}"),
    ],
)
def test_raised_conda(before: str, after: str) -> None:
    assert raised(before, T, "conda") == after


def test_conda_means() -> None:
    assert admits("=1.9", "1.9.5", "conda") and not admits("=1.9", "1.10.0", "conda")
    assert not admits("==1.9", "1.9.5", "conda") and admits("*", "1.9.5", "conda")


@pytest.mark.parametrize(
    ("before", "target", "after"),
    [
        (">=1.5,<2", "2.2.5", ">=2.0,<2.3"),
        (">=1.5", "2.2.5", f">=2.0,{NOT}"),
        ("==1.9.5", "2.2.5", "==2.2.5"),
        (">=2.6", "2.2.5", None),
    ],
)
def test_older_targets(before: str, target: str, after: str | None) -> None:
    assert raised(before, target) == after


@pytest.mark.parametrize(("floor", "after"), [("2.0", ">=2.0"), ("2.0.7", ">=2.0.7"), ("2.4.0", ">=2.4")])
def test_raised_to_what_the_code_needs(floor: str, after: str) -> None:
    assert raised(">=1.8", T, "pep440", floor) == f"{after},{NOT}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("==1.7.1", "==2.3.1"),
        (">=1.11.0,<2", ">=1.11.0,<3"),
        ("~=1.11.0", "~=2.3.1"),
        ("<=1.13.1", "<=2.3.1"),
        ("==1.8.*", "==2.3.*"),
        ("<2,!=2.3.1", None),
    ],
)
def test_lifted(before: str, after: str | None) -> None:
    assert lifted(before, "2.1.0", "2.3.1") == after


def test_lifted_below_one() -> None:
    assert lifted("^0.8.2", "0.16.0", "0.18.1", "poetry") == "^0.18.1"
    assert lifted("<0.9", "0.16.0", "0.18.1") == "<0.19"
    assert lifted("^1.7.1", "2.1.0", "2.3.1", "poetry") == "^2.1.0"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (">=3.7", ">=3.10"),
        (">3.6", ">=3.10"),
        ("~=3.7", "~=3.10"),
        (">=3.6, <4", ">=3.10, <4"),
        ("", ">=3.10"),
        ("==3.8.*", None),
        (">=3.6,<3.9", None),
        ("~=3.8.0", None),
    ],
)
def test_from_python(before: str, after: str | None) -> None:
    assert from_python(before, "3.10") == after


def test_from_python_in_poetry() -> None:
    assert from_python("^3.8", "3.10", "poetry") == "^3.10"
