"""Arguments of `Trainer` that Lightning 2 removed or renamed."""
