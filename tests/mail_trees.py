"""Trees of mail programs: mail_trees.txt laid out in a folder."""

import gzip
import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from email.charset import QP, Charset
from email.header import Header
from itertools import count
from pathlib import Path
from typing import NamedTuple

NO_MAIL, DELETED, UNSEEN = "no mail", "deleted", "unseen"
LANGUAGES = ("en", "de", "ja")
# What programs write before a message of an mbox: the From line, the end of lines, and fields by state.
# Source: mozilla/releases-comm-central mailnews/base/src/MboxMsgOutputStream.cpp, nsMsgMessageFlags.idl;
# alpine's tech-notes (Status); vivdiwakar/GSuite ParseGmailMboxToMaildir/README.md (zone before year).
_STATUS = "X-Mozilla-Status: {}\nX-Mozilla-Status2: {}\nX-Mozilla-Keys: " + " " * 80 + "\n"
MOZILLA_STATES = {
    "": _STATUS.format("0001", "00000000"),
    DELETED: _STATUS.format("0009", "00000000"),
    "purged": _STATUS.format("0001", "00200000"),  # deleted on the IMAP server
}
UNIX_STATES = {
    "": "Status: RO\nX-Status: \n",
    DELETED: "Status: RO\nX-Status: D\n",
    "draft": "Status: RO\nX-Status: T\n",
    NO_MAIL: "From: Mail System Internal Data <MAILER-DAEMON@host>\nX-IMAP: 1795754051 0000000001\n"
    "Subject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA\n",
}
MBOXES: dict[str, tuple[str, str, dict[str, str]]] = {
    "mbox": ("MAILER-DAEMON Fri Jul  8 12:08:34 2011", "\n", {"": ""}),
    "mozilla": ("- Mon Jul 11 12:08:34 2011", "\r\n", MOZILLA_STATES),
    "c-client": ("MAILER_DAEMON  Fri Nov 27 04:34:11 2026", "\n", UNIX_STATES),
    "takeout": (
        "18287@xxx Mon Apr 07 14:31:02 +0000 2025",
        "\r\n",
        {"": "X-GM-THRID: 18\nX-Gmail-Labels: {}\n"},
    ),
}
UTF_8 = Charset("utf-8")
UTF_8.header_encoding = QP
PLIST = (
    "<?xml version='1.0'?>\n<plist version='1.0'><dict><key>flags</key><integer>{}</integer></dict></plist>\n"
)
# What Dovecot may keep under the name of a message.
SPOILED = {
    "encrypted": b"CRYPTED\3\7\2\0\0\0\2\0\0\0\xff" + bytes(range(256)),
    "zstd": b"\x28\xb5\x2f\xfd\4\0" + bytes(64),
    "damaged": gzip.compress(b"Subject: damaged\n\ndamaged\n")[:20],
}


class Message(NamedTuple):
    """A message, its class or why it is left out, and its number in the stream that it comes from."""

    right: str
    data: bytes
    number: int = 0


Stored = Iterator[tuple[Path, Message]]  # the file of each message


class Tree(NamedTuple):
    """A tree of the table.

    encoding : how the program writes names of folders
    head : its accounts; of a tree that is refused `! SLUG NEXT-STEP`
    rows : path, store, what it holds
    """

    encoding: str
    head: str
    rows: list[list[str]]


class Laid(NamedTuple):
    """A message or file that is laid out; number 0 is a file."""

    path: str
    right: str
    number: int = 0


def read_trees() -> dict[str, Tree]:
    trees: dict[str, Tree] = {}
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if head := re.fullmatch(r"([\w ]+?)(?: \((\w+)\))?: (.*)", line):
            tree = trees[head[1]] = Tree(head[2] or "", head[3], [])
        elif line.strip() and not line.strip().startswith("#"):
            tree.rows.append([*re.split(" {2,}", line.strip(), maxsplit=2), ""][:3])
    return trees


def encode_name(name: str, encoding: str) -> str:
    """utf7: modified UTF-7 (RFC 3501, section 5.1.3); nfd: decomposed letters, as HFS+ has them."""

    def encode(text: re.Match[str]) -> str:
        code = b64encode(text[0].encode("utf-16-be")).decode()
        return f"&{code.rstrip('=').replace('/', ',')}-"

    if encoding == "utf7":
        return re.sub("[^ -~]+", encode, name)
    return unicodedata.normalize("NFD", name) if encoding == "nfd" else name


def write_mbox(path: Path, messages: Iterable[Message], kind: str, option: str) -> Stored:
    """Add to an mbox.  option : labels of Gmail, or .gz"""
    sender, end, states = MBOXES[kind]
    labels = option if option.isascii() else Header(option, UTF_8, header_name="X-Gmail-Labels").encode()
    if NO_MAIL in states:
        messages = [
            Message(NO_MAIL, b"\nThis text is part of the internal format of your folder.\n"),
            *messages,
        ]
    with (gzip.open if option == ".gz" else open)(path, "ab") as file:
        for message in messages:
            fields = states.get(message.right, states[""]).format(labels)
            quoted = re.sub(rb"(?m)^(>*From )", rb">\1", message.data)
            text = f"From {sender}\n{fields}".encode() + quoted + b"\n"
            file.write(text.replace(b"\r\n", b"\n").replace(b"\n", end.encode()))
            yield path, message


def write_maildir(path: Path, messages: Iterable[Message], _: str, option: str) -> Stored:
    """option : the character before the flags"""
    for part in ("cur", "new", "tmp"):
        (path / part).mkdir(parents=True, exist_ok=True)
    for number, message in enumerate(messages, 1):
        flags = {DELETED: "ST", "draft": "DS"}.get(message.right, "S")
        name = f"17356896{number:02}.M1P2.host,U={number}"
        is_new = number == 1 and flags == "S"
        file = path / ("new" if is_new else "cur") / (name if is_new else f"{name}{option or ':'}2,{flags}")
        file.write_bytes(SPOILED.get(message.right, message.data))
        yield file, message


def write_mozilla_maildir(path: Path, messages: Iterable[Message], *_: str) -> Stored:
    """Source: nsMsgMaildirStore.cpp: cur and tmp without new, no flags in the names."""
    for part in ("cur", "tmp"):
        (path / part).mkdir(parents=True, exist_ok=True)
    for number, message in enumerate(messages):
        file = path / "cur" / f"17356896{number:05}{('.eml', '.M123456P4242Q1.host')[number % 2]}"
        file.write_bytes(MOZILLA_STATES.get(message.right, MOZILLA_STATES[""]).encode() + message.data)
        yield file, message


def write_files(path: Path, messages: Iterable[Message], kind: str, option: str) -> Stored:
    """A numbered file a message.

    emlx : byte count, message, property list; its flags say deleted (2) and draft (64)
    mh : `,1` is deleted;  cyrus : `1.`;  dbox : `u.1`, `m.1` with a header and metadata
    """
    path.mkdir(parents=True, exist_ok=True)
    for number, message in enumerate(messages, 1):
        right, data, _ = message
        name, content = f"{number}{option}", data
        if kind == "emlx":
            flags = 8590195713 | {DELETED: 2, "draft": 64}.get(right, 0)
            content = f"{len(data):<10}\n".encode() + data + PLIST.format(flags).encode()
            name = f"{4123 + number}{option}.emlx"
        elif kind == "dbox":
            head = f"2 M1e C6b09082c\n\1\2N {' ' * 9}{len(data):016x}\n"
            name, content = f"{option}{number}", head.encode() + data + b"\n\1\3\nR6b09082c\nV86\n\n"
        elif right == DELETED:
            name = f",{number}"
        (path / name).write_bytes(content)
        yield path / name, message


STORES: dict[str, Callable[[Path, Iterable[Message], str, str], Stored]] = {
    **dict.fromkeys(MBOXES, write_mbox),
    **dict.fromkeys(("emlx", "mh", "dbox", "cyrus"), write_files),
    "maildir": write_maildir,
    "mozilla-maildir": write_mozilla_maildir,
}
TREES = read_trees()
NAMES = {key: [english, *others.split("  ")] for key, english, others in TREES.pop("names").rows}
TREES["thunderbird maildir"] = TREES["thunderbird"]._replace(
    rows=[
        [path, store.replace("mozilla", "mozilla-maildir"), held]
        for path, store, held in TREES["thunderbird"].rows
    ]
)
READ = {name: tree for name, tree in TREES.items() if not tree.head.startswith("!")}
REFUSED = {name: tree for name, tree in TREES.items() if name not in READ}


def make_messages() -> Iterator[tuple[str, bytes]]:
    """(class, message) for ever; the last word of each is its own."""
    for number in count(1):
        label, words = (("ham", "meeting agenda"), ("spam", "cheap pills"))[number % 2]
        head = f"From: w{number}@example.org\nDate: Mon, 2 Jun 2025 10:00:00 +0000\nSubject: {words}\n"
        yield label, f"{head}Message-ID: <{number}@example.org>\n\n{words} for today {number}\n".encode()


def list_rows(tree: Tree, language: str) -> Iterator[tuple[str, str, str]]:
    """(path, store, what it holds) with all names filled in."""
    names = {key: row[LANGUAGES.index(language)] for key, row in NAMES.items()}
    on_disk = {key: encode_name(name, tree.encoding) for key, name in names.items()}
    for path, store, held in tree.rows:
        for account in tree.head.split(", ") if "{account}" in path else [""]:
            for other in ("trash", "sent", "drafts") if "{other}" in path else [""]:
                place = path.format(account=account, other=on_disk.get(other), **on_disk)
                yield place, store.format(**names), held.format(other=other)


def lay_out(
    top: Path,
    tree: Tree,
    language: str = "en",
    messages: Iterable[tuple[str, bytes]] | None = None,
    times: int = 1,
) -> list[Laid]:
    """Lay out a tree in a folder.

    messages : (ham or spam, message); as many as are needed are taken, spam for trash and deleted mail
    times : multiplies the numbers of messages
    """
    stream = enumerate(messages or make_messages(), 1)
    waiting: dict[str, list[Message]] = {"ham": [], "spam": []}

    def take(right: str) -> Message:
        label = "spam" if right in ("spam", "trash", DELETED, "purged") else "ham"
        while not waiting[label]:
            number, (given, data) = next(stream)
            waiting[given].append(Message("", data, number))
        return waiting[label].pop(0)._replace(right=right)

    laid: list[Laid] = []
    for path, store, held in list_rows(tree, language):
        kind, _, option = store.partition(" ")
        place = top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind in ("file", UNSEEN):
            place.write_bytes(held.encode().decode("unicode_escape").encode("latin-1"))
            laid.append(Laid(path, UNSEEN if kind == UNSEEN else NO_MAIL))
            continue
        numbers = re.findall(r"(\d+) (\w+)", held)
        taken = [take(right) for number, right in numbers for _ in range(int(number) * times)]
        for file, message in STORES[kind](place, taken, kind, option):
            right = DELETED if message.right == "purged" else message.right
            laid.append(Laid(file.relative_to(top).as_posix(), right, message.number))
    return laid
