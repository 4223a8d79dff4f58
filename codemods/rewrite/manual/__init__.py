"""Manual optimization: what automatic optimization did for a module, and the loop that does the same by hand."""
