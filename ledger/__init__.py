"""rungbook: an append-only ledger of benchmark measurements with sealed receipts.

The package is layered; imports only point down (`lint-imports` checks it):

    errors
    strict, canonical, merkle, note, dsse, keys, schema       bytes
    statement, receipt, checkpoint, proof, round              formats
    store                                                     disk
    trust, examine, admission                                 who may write; what may follow
    verify, log                                               what holds; the one writer
    scoring                                                   facts from raw records (pure)
    ingest                                                    tools' files to rounds
"""

__version__ = "0.1.0"
