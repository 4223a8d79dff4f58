"""What Python warns of in files that are only read is the project's own: it is not shown, and is no error."""

from __future__ import annotations

import warnings


def ignore_warnings() -> None:
    """Sets this process not to be warned of code that it parses, whatever Python was told to do with warnings."""
    warnings.filterwarnings("ignore", category=SyntaxWarning)
    warnings.filterwarnings("ignore", "invalid ", DeprecationWarning)  # the same up to Python 3.11
