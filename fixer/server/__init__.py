"""A language server: what `fixer check` finds, in an editor, as one types."""
