"""Comments that leave findings out and no longer serve."""
