"""fixer repairs PyTorch Lightning projects, moves them to a current Lightning and proves the result."""

__version__ = "0.1.0"
