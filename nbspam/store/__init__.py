"""The model file: the only room that knows SQL.  schema.sql is its specification.

connection  opening a file, locks, SQLite's errors    prior   a model that begins with another's counts
reader      a model, read on demand                   merge   models added up
writer      new files and copies                      text    a model as text, and back
updater     adding and removing messages              check   the checks of a model, and its facts
"""
