"""The program as Lightning sees it."""
