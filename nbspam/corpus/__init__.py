"""Where mail comes from, and many messages as numbers.

Reading order: item (one message), mbox, walk (paths to messages), source (many paths, one stream), trees and
labelled (what users name), executor, reading (messages to blocks), corpus (a source read once), vocabulary,
vectorize.
"""

CRYPTED = b"CRYPTED\3\7"  # how a message that Dovecot encrypts begins
MSG = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how a .msg of Outlook begins.  Source: MS-CFB 2.2
DBOX = b"2 M1e C"  # how a file of Dovecot's dbox begins.  Source: dovecot/core dbox-file.h
PST = b"!BDN"  # how a .pst of Outlook begins.  Source: MS-PST 2.2.2.6


def unwrap(data: bytes) -> bytes:
    """What is learned of a message: of spam that SpamAssassin has wrapped (report_safe) the spam inside."""
    return split_report(data)[0]


def split_report(data: bytes) -> tuple[bytes, bytes]:
    """The message in a report of SpamAssassin, and the report without it; of other mail the mail, and b""."""
    if b"x-spam-type" not in data:
        return data, b""
    from nbspam.corpus.reports import cut_report  # parsing with the standard library takes 16 ms

    return cut_report(data)
