"""The terminal's cursor, which rich hides while a bar or spinner is shown.

Hides the signals that end a process with no word to Python: without an answer to them the shell that
comes back has no cursor.  A process ends by the signal all the same, and as soon; what it leaves is what it
would have left.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_SHOW = b"\r\x1b[2K\x1b[?25h"  # the line of the bar is cleared, as at its end


@contextlib.contextmanager
def cursor_kept(console: Console) -> Iterator[None]:
    """Inside, the signals that end the process give the cursor back first.

    A signal that is ignored (nohup) or has a handler keeps it.
    """
    if console.is_dumb_terminal or threading.current_thread() is not threading.main_thread():
        yield
        return
    shown_by = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == shown_by:  # else a worker that has just begun: it shows nothing
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(console.file.fileno(), _SHOW)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    taken = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    except BaseException:  # Ctrl-C as the bar begins: nobody ends that
        console.show_cursor()
        raise
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
