"""What can go wrong, and with which exit status.

Hides the layout of an error: what, where, why and what to do next.  Below the
command line every expected failure is a child of NbspamError; only __main__
turns one into text and a status.  The statuses are those of sysexits.h, so that
procmail and other delivery agents know a temporary failure from a lasting one.
"""

RETRAIN = "train it again: nbspam train --help"


def flag_of(name: str) -> str:
    """An option as people type it: event_model is --event-model."""
    return "--" + name.replace("_", "-")


class NbspamError(Exception):
    """An expected failure.

    where   : the file, folder, option or message concerned, as the user wrote it
    why     : what is wrong with it, one line
    remedy  : what the user can do next, one line; may be empty
    slug    : a stable name of the error, for searching and for tests
    """

    status = 70

    def __init__(self, where: str, why: str, remedy: str = "", slug: str = "internal") -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why
        self.remedy = remedy
        self.slug = slug

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as it is: Exception would make it anew of its text alone, and it takes more than that."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(kind: type[NbspamError], texts: tuple[str, ...], fields: dict[str, str]) -> NbspamError:
    error = kind.__new__(kind, *texts)
    error.__dict__.update(fields)
    return error


class UsageError(NbspamError):
    """The command line or an argument makes no sense (EX_USAGE)."""

    status = 64


class BadDataError(NbspamError):
    """A file was read and is not what it should be (EX_DATAERR)."""

    status = 65


class DamagedModelError(BadDataError):
    """A model file holds what no writer of ours wrote."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, f"the model file is damaged ({what})", RETRAIN, "model-damaged")


class NoInputError(NbspamError):
    """No such file or folder, no mail in it, or no model (EX_NOINPUT)."""

    status = 66


class InternalError(NbspamError):
    """A fault of this program (EX_SOFTWARE)."""

    status = 70


class CannotCreateError(NbspamError):
    """An output file cannot be made (EX_CANTCREAT)."""

    status = 73


class InputOutputError(NbspamError):
    """Reading or writing failed half way (EX_IOERR)."""

    status = 74


class TryAgainError(NbspamError):
    """A passing trouble: locked model, failed filter run (EX_TEMPFAIL)."""

    status = 75
