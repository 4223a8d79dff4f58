"""The rewrites: pure functions of source text and project facts. Nothing here imports torch or lightning."""
