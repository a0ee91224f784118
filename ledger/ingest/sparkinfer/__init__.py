"""The public log of sparkinfer: its receipts, runs, hardware quotes, and what can be wrong with them."""
