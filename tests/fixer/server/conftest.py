"""A server that tests of a file share: each of them has a repository of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixer.server.editor import Editor


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    with Editor() as made:
        yield made
        assert made.end() == 0
        assert b"Traceback" not in made.log
