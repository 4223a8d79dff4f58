"""An organisation for tests of fleets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixer.fleet.organisation import Organisation, standing


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Organisation]:
    """Three repositories on a stand-in for GitHub."""
    with standing(tmp_path, monkeypatch, ["a", "b", "c"]) as made:
        yield made
