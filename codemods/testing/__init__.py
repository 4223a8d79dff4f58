"""How rules are tested, fixer's own and those of others: examples, second runs, edits that change nothing."""
