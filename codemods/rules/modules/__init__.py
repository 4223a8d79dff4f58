"""What LightningModules and data modules offer themselves: attributes and methods on `self`."""
