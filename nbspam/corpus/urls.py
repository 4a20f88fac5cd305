"""Mail at a URL, such as s3://bucket/folder: fsspec lists and fetches it.

Each library that fsspec uses has errors of its own, so every error of it becomes an OSError.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from nbspam.errors import NoInputError, UsageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


def fetch(url: str) -> BinaryIO:
    """The whole file at a URL, open for reading; OSError if it cannot be had."""
    with _as_os_error():
        return BytesIO(_file_system(url).cat_file(url))


def find(url: str) -> list[str]:
    """The URL of each file below a URL, or of the file there, sorted; NoInputError without files."""
    try:
        with _as_os_error():
            system = _file_system(url)
            found = system.find(url)
    except OSError as error:
        why = f"cannot be listed: {error.strerror or error}"
        raise NoInputError(url, why, "check the URL and who may read it", "url-unreadable") from None
    if not found:
        raise NoInputError(url, "nothing is there", "check the URL", "url-empty")
    return sorted(map(system.unstrip_protocol, found))


def class_folders(url: str) -> list[str]:
    """The URLs of the folders right below a URL that have files in them, sorted."""
    top = url.rstrip("/") + "/"
    inner = (found.removeprefix(top).partition("/") for found in find(url) if found.startswith(top))
    return [top + name for name in sorted({name for name, slash, _ in inner if slash})]


def _file_system(url: str) -> AbstractFileSystem:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        why = f"a URL needs a library that cannot be imported here ({error})"
        raise UsageError(url, why, "install the extra: pip install 'nbspam[dask]'", "url-extra") from None
    return url_to_fs(url)[0]


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Any error of fsspec, its libraries or the server as an OSError with a text."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise OSError(errno.EIO, reason or f"{type(error).__name__}: {error}") from error
