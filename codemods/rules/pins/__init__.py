"""Requirements on Lightning: what they admit, where they stand, and what they have to become."""
