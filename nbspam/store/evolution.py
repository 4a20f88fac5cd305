"""The flags that Evolution keeps at the messages of its local folders, in a database of its own: folders.db.

Sources: GNOME/evolution-data-server src/camel/camel-enums.h, camel-db.c (a table for each folder) and
camel-store-db.c (tables messages_NUMBER, since 3.58); files that libcamel 3.46 wrote.
"""

import errno
import os
from contextlib import closing

from nbspam.store.connection import BUSY_SECONDS, Connection, connect, sqlite3

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
            if "folder_id" in _list_columns(connection, "folders"):
                query = "SELECT folder_id FROM folders WHERE folder_name = ?"
                folder = "".join(f"messages_{number}" for (number,) in connection.execute(query, [folder]))
            if not {"uid", "flags"} <= _list_columns(connection, folder):
                return {}  # no folder of Evolution, or one that it has not opened
            table = folder.replace('"', '""')
            query = f"SELECT uid, flags FROM \"{table}\" WHERE typeof(flags) = 'integer' AND flags & ?"
            return dict(connection.execute(query, [JUNK | NOT_JUNK]))
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), path) from error


def _list_columns(connection: Connection, table: str) -> set[str]:
    """The names of the columns of a table; none of a view, for its query may never end."""
    query = """SELECT info.name FROM sqlite_master AS made, pragma_table_info(made.name) AS info
        WHERE made.type = 'table' AND made.rootpage AND made.name = ?"""
    return {name for (name,) in connection.execute(query, [table])}
