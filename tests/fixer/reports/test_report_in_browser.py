"""The HTML report where there is a browser: at three widths, in light and dark, printed, and without a mouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixer.reports.chromium import BROWSER, Chromium
from tests.fixer.reports.look import faults, pages


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_every_page_can_be_read_and_walked_by_the_keyboard(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}
    with Chromium() as browser:
        for name, text in pages().items():
            page = tmp_path / f"{name}.html"
            page.write_text(text, encoding="utf-8")
            found[name] = list(faults(browser, page, tmp_path))
    assert found == {name: [] for name in pages()}
    assert len(list(tmp_path.glob("*.png"))) == 6 * len(found)
