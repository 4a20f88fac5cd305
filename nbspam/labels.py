"""Class names and their order: ham is first, spam is last; and how counts are written for people.

Other rooms use class numbers 0 .. K-1 in this order.
"""

from collections.abc import Sequence

from nbspam.errors import BadDataError

HAM = "ham"
SPAM = "spam"
UNSURE = "unsure"
ALLOWED, DENIED = "allowed", "denied"  # senders, by the user's list
CLASS_OF_SENDER = {ALLOWED: HAM, DENIED: SPAM}
HAM_AND_SPAM = (HAM, SPAM)  # the classes of a plain filter, in order
MAX_CLASSES = 400  # two columns a class in a model file; SQLite allows 2,000
MAX_NAME_LENGTH = 100
NAMED_CLASSES = 8  # in a line for people; if there are more, the line has their number


def parse_class_name(name: str, where: str = "class name") -> str:
    """The canonical spelling of a class name; BadDataError for a wrong name.

    Ham and spam are recognised in any case (TREC and other indexes write HAM, Spam).
    """
    lowered = name.lower()
    if lowered in (HAM, SPAM):
        return lowered
    why = ""
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable() or name != name.strip():
        allowed = f"1 to {MAX_NAME_LENGTH} printable characters, no space at the ends"
        why = f"{name[:40]!r} cannot name a class: {allowed}"
    elif lowered == UNSURE:
        why = "'unsure' is already the name of a decision"
    if why:
        raise BadDataError(where, why, "rename the folder or label, for example: work", "class-name")
    return name


def sort_classes(names: "set[str] | list[str] | tuple[str, ...]") -> tuple[str, ...]:
    """Class names in class order: ham, then the others by name, then spam; BadDataError for too many."""
    distinct = set(names)
    if len(distinct) > MAX_CLASSES:
        why = f"there are {len(distinct):,}, and a model holds at most {MAX_CLASSES}"
        raise BadDataError("classes", why, "name mail of fewer folders or labels", "classes-many")
    return tuple(sorted(distinct, key=lambda name: ((name != HAM) + (name == SPAM), name)))


def find_spam(names: tuple[str, ...]) -> int | None:
    """The number of the class spam, whose probability a verdict reports; None without spam."""
    return names.index(SPAM) if SPAM in names else None


def amount(number: int, unit: str) -> str:
    """`1 message`, `2,992 messages`."""
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def format_counts(names: "Sequence[str]", messages: "Sequence[int]") -> str:
    """How many messages of each class: `40 ham, 8 spam`; where there are many: `120 classes`."""
    if len(names) > NAMED_CLASSES:
        return f"{len(names):,} classes"
    return ", ".join(f"{n:,} {name}" for name, n in zip(names, messages, strict=True))
