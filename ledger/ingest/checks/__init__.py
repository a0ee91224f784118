"""Checks of a round that are independent of the tool that measured it. They are made before it is signed."""
