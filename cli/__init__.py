"""The command line of rungbook: words and options only; everything else is in `ledger`."""
