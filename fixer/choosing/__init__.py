"""`fixer fix --interactive`: what is taken and what is left, asked change by change."""
