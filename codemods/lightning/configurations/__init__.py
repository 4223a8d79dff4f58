"""A project's own configurations: which of their entries reach a Trainer."""
