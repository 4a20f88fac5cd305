"""The model file.

Hides SQL and the file format: nothing outside this folder knows that a model is a SQLite
database.  `reader` stands on the classify lane, `snapshot` is for who reads long; `writer` makes
whole new files; `updater` changes one in place.  The specification of the file is schema.sql.
"""
