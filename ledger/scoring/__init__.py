"""From raw records to numbers. Everything here is pure: no disk, no clock, no settings."""
