"""Truncated back-propagation through time, which Lightning 2 left to manual optimization."""
