"""Configuration files, and what else is not Python: keys of Trainer, names, command lines."""
