"""Manual loops that people wrote by hand, in the few ways in which they go wrong."""
