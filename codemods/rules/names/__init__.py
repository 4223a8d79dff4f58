"""Names that moved or went: `moved.csv` and `advice.csv` are written by hand, `gone.csv` by `renew.py`."""
