"""What manifests ask for of Lightning and torch, and what goes with what."""
