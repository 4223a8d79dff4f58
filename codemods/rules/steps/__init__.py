"""Rules about what counts steps: max_steps, and the totals that schedulers are given."""
