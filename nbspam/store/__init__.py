"""The model file: the only room that knows SQL.  schema.sql is its specification.

connection   opening a file, SQLite's errors             merge   models added up
reader       a model, read on demand                     prune   rare tokens taken out
rows         rows that are written                       text    a model as text, and back
writer       new files and copies                        check   the checks of a model, and its facts
bulk         what a training has counted, as rows        digest  what rows may be, and digests
turns        writers go one after the other              ledger  what was learned when and as what
updater      adding and removing messages                autolearned  messages of the filter's own verdicts
changes      counts that a transaction changes           overlay  models that add to a base
"""
