"""What opens projects, lands branches and reports."""
