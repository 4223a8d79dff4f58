"""Hooks that Lightning 2 removed, renamed or gave another signature."""
