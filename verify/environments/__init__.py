"""The environments of a proof: what is asked for, from where, and how it is installed and kept."""
