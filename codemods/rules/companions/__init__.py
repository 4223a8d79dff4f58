"""Rules on what changed in the packages beside Lightning, which a move to its current release brings along."""
