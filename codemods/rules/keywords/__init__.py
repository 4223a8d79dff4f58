"""Keyword arguments of Lightning's classes and methods, the Trainer aside."""
