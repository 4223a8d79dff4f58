"""Autocast: weights cast to half precision that are used again when they should not be, and its old spellings."""
