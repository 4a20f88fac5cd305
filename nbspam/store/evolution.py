"""The flags that Evolution keeps at the messages of its local folders, in a database of its own: folders.db.

Sources: GNOME/evolution-data-server src/camel/camel-enums.h, camel-db.c (a table for each folder) and
camel-store-db.c (tables messages_NUMBER, since 3.58); files that libcamel 3.46 wrote.
"""

import errno
import os
from contextlib import closing

from nbspam.store.connection import BUSY_SECONDS, connect, sqlite3

JUNK, NOT_JUNK = 1 << 7, 1 << 9


def find_flags(path: str, folder: str) -> dict[str, int]:
    """The flags of each message of a folder that has a mark of junk, by the name of its file without flags.

    folder : its name in Evolution, such as Inbox or Work/2024
    Nothing if there is no such file; OSError if it cannot be read.
    """
    if not os.path.isfile(path):
        return {}
    try:
        with closing(connect(path, "ro", BUSY_SECONDS)) as connection:
            columns = connection.execute("SELECT name FROM pragma_table_info('folders')").fetchall()
            if ("folder_id",) in columns:
                query = "SELECT folder_id FROM folders WHERE folder_name = ?"
                folder = "".join(f"messages_{number}" for (number,) in connection.execute(query, [folder]))
            query = "SELECT count(*) FROM pragma_table_info(?) WHERE name IN ('uid', 'flags')"
            if connection.execute(query, [folder]).fetchone() != (2,):
                return {}  # no folder of Evolution, or one that it has not opened
            table = folder.replace('"', '""')
            query = f"SELECT uid, flags FROM \"{table}\" WHERE typeof(flags) = 'integer' AND flags & ?"
            return dict(connection.execute(query, [JUNK | NOT_JUNK]))
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), path) from error
