"""Losses without a gradient history, and parameters that no gradient or optimizer reaches."""
