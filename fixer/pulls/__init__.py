"""Offering a branch as a pull request on GitHub or a merge request on GitLab, and keeping it up to date."""
