"""Errors of use: each is one message with the place and the remedy, and ends the command with exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """Something the user gave cannot be worked with; the text says what, where and what to do."""
