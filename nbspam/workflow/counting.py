"""The bytes of a message -> its tokens and, for a model that has them, its measures and numeric features.

Stands on the classify lane: words alone import nothing more than the tokenizer.
"""

from __future__ import annotations

from nbspam.mail import parse
from nbspam.scoring.scorer import Counted
from nbspam.tokens import tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail import Message
    from nbspam.settings import Settings
    from nbspam.tokens.measures import Reading


def counted_message(data: bytes, settings: Settings) -> Counted:
    """What a Scorer reads; never raises on what a mail may hold."""
    return counted_parsed(parse(data), settings)


def counted_parsed(message: Message, settings: Settings) -> Counted:
    """As counted_message, of a message that was taken apart already."""
    readings: list[Reading] = []
    bag = tokenize(message, readings, settings.measures)
    if settings.features == "words":
        return Counted(bag)
    from nbspam.mail.dates import received_date
    from nbspam.tokens.numeric import numeric_features

    return Counted(bag, numeric_features(message, bag, readings, received_date(message)))
