"""Passes over files: reading, processes, what is remembered, planning, notebooks."""
