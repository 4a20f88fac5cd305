"""The model file: the only room that knows SQL.  schema.sql is its specification.

connection  opening a file, locks, SQLite's errors    merge   models added up
reader      a model, read on demand                   prune   rare tokens taken out
writer      new files and copies                      text    a model as text, and back
updater     adding and removing messages              check   the checks of a model, and its facts
learn       single messages, learned and unlearned    digest  the digest of each table
lessons     messages that wait for a writer           ledger  what was learned when, for undo
"""
