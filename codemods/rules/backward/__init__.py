"""Backward passes: raw ones under manual optimization, several of them, accumulation by hand, gradient hooks."""
