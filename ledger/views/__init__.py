"""SQL views of a verified ledger: a disposable projection, never a source.

`ledger.views.build` makes and extends the tables of `ledger.views.tables` in any database that SQLAlchemy reaches,
`ledger.views.query` reads them. Every set of tables is stamped with the tree size and the root that it was made from;
one whose stamp is not of the ledger at hand is refused; `ledger.views.check` compares its rows. To lose the database
is to lose nothing: ``rungbook views rebuild`` makes it again.

This package alone imports SQL, and takes half a second to import: commands do it late.
"""
