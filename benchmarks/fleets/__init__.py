"""What the benchmark of fleets stands on: an organisation to work on, nodes of Ray, and a run in warm processes."""
