"""What runs in the target's interpreter: the harness, which is started by path, and what lies beside it.

Standard library, torch, Lightning and each other are all that these files know: they are copied to where they run.
"""

from __future__ import annotations

from pathlib import Path

HARNESS = Path(__file__).with_name("main.py")
