"""Whether one side of a comparison is better than another, worse, or neither can be told.

A side (`ledger.scoring.compare.side`) is what was measured of one build: several runs with their raw records. Two rules
judge two sides. `row3` is the rule of a foreign harness, word for word, so that its history can be judged again;
`paired` is our own, which asks for more and may answer that it cannot tell. `comparable` says beforehand what forbids
to compare at all. Everything here is pure, and every decision is made in whole numbers and fractions.
"""
