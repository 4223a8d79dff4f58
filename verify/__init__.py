"""The proof: environments, the harness that runs in them, and the verdict on what it recorded."""
