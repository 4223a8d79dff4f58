"""Several optimizers under automatic optimization, which Lightning 2 left to manual optimization."""
