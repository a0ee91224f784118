"""The commands, a module per concern."""
