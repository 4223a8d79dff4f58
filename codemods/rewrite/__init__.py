"""Edits: nodes located, imports and arguments put in, places that they are carried to, the manual-optimization loop."""
