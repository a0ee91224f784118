"""JSON schemas (Draft 2020-12) of everything that rungbook reads or writes, found by path beside `ledger`."""
