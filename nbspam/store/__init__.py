"""The model file.

Hides SQL and the file format: nothing outside this folder knows that a model is a SQLite database.  The
specification of the file is schema.sql.  Read `reader` first, then `writer` and `updater`.

    reader      a model, read on demand           sqlite, reading  SQLite on the classify lane, and its errors
    with_prior  the same with its prior's counts  snapshot         a model as it was at one moment
    writer      a whole new file                  merge, copying   new files of others
    updater     one message more or less          adding           many messages more
    locking     who may write                     autolearned      what the filter counted by itself
    derived     sums over the rows                inspect          is it sound, and what is in it
    text        a model as text, and back
"""
