"""Programs that are not ours: shut in, limited, ended."""
