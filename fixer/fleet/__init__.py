"""Many repositories at once: cloned, planned, proven and offered, with what was done of each in one file."""
