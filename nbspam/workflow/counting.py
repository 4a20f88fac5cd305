"""The bytes of a message -> its tokens and, for a model that has them, its numeric features.

Stands on the classify lane: words alone import nothing more than the tokenizer.
"""

from __future__ import annotations

from nbspam.mail import parse
from nbspam.scoring.scorer import Counted
from nbspam.tokens import tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.tokens.numeric import Reading


def counted_message(data: bytes, with_features: bool = False) -> Counted:
    """What a Scorer reads; never raises on what a mail may hold."""
    message = parse(data)
    if not with_features:
        return Counted(tokenize(message))
    from nbspam.mail.dates import received_date
    from nbspam.tokens.numeric import numeric_features

    readings: list[Reading] = []
    bag = tokenize(message, readings)
    return Counted(bag, numeric_features(message, bag, readings, received_date(message)))
