"""Environment variables that Lightning read."""
