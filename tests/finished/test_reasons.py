"""The reasons that benchmarks/finished.py counts."""

from __future__ import annotations

from benchmarks.finishing.reasons import most_frequent, reasons


def finding(fix: str, reason: str, code: str = "LIT001") -> dict[str, str]:
    return {"fix": fix, "code": code, "reason": reason}


def test_what_differs_from_place_to_place_is_left_out() -> None:
    first = finding("manual", "Not rewritten: `self.x` in src/a.py:12 says otherwise. Write it.")
    second = finding("manual", "Not rewritten: `self.y` in b.py:3 says otherwise. Write that.")
    assert reasons([first, second, finding("safe", "It moved.")]) == {("manual", "LIT001", "… in … says otherwise"): 2}


def test_the_most_frequent_come_first_and_of_each_level() -> None:
    many = reasons(
        [finding("unsafe", "It may be None."), finding("unsafe", "It may be None."), finding("manual", "No.")]
    )
    one = reasons([finding("unsafe", "It may be None."), finding("unsafe", "Else.")])
    assert most_frequent([many, one]).splitlines()[2:] == [
        "| manual | LIT001 | No. | 1 | 1 |",
        "| unsafe | LIT001 | It may be None. | 3 | 2 |",
        "| unsafe | LIT001 | Else. | 1 | 1 |",
    ]
