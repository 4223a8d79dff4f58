"""What was recorded, and what it means."""
