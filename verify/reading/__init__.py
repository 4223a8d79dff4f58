"""What a project says of how it is run: its files, scripts, modules, shapes and configurations."""
