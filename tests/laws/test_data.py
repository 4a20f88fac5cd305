"""The promises of data/: invented mail of both classes, in order of time, in several languages.

Messages are read with the standard library, so that a mistake of our own mail room cannot hide.
"""

import random
import re
from collections.abc import Iterator
from datetime import datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, ip_network
from pathlib import Path

import pytest

from nbspam.corpus.corpus import read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.settings import Settings
from nbspam.tasks.evaluate import evaluate_folds
from nbspam.tasks.plan import Plan

DATA = Path(__file__).parents[2] / "data"
README = (DATA / "README.md").read_text("utf-8")
SIZES = {"ham": 133, "spam": 113}
CLASSES = ("ham", "spam")
PATHS = sorted(path.relative_to(DATA).as_posix() for c in CLASSES for path in DATA.glob(f"{c}/*.eml"))


RESERVED = re.compile(r"(?:.*\.)?(?:example\.(?:com|net|org)|example|test|invalid|localhost)", re.IGNORECASE)
AFTER_AT_OR_SCHEME = re.compile(r"(?:@|://)([a-z0-9][\w.-]*\.\w+)", re.IGNORECASE)
BARE_NAME = re.compile(
    r"(?<![\w@.-])((?:[\w-]+\.)+(?:com|net|org|edu|gov|info|biz|io|ru|cn|de|uk|jp|kr|eu|me|co|top|xyz|shop"
    r"|club|site|su|tv|cc|se|fr|ua|vip|dev|app|hk|tw))(?![\w.-]*\w)",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"(?<![\w.-])((?:\d{1,3}\.){3}\d{1,3})(?![\w.]*\w)")
DOCUMENTATION = [ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "127.0.0.1/32")]


class Mail:
    """One message of the corpus, decoded by the standard library."""

    def __init__(self, path: str) -> None:
        self.label = path.partition("/")[0]
        self.raw = (DATA / path).read_bytes()
        self.message: Message = message_from_bytes(self.raw)
        self.parts = list(self.message.walk())
        self.header = "\n".join(f"{k}: {v}" for part in self.parts for k, v in _headers(part))
        self.body = "\n".join(_texts(self.parts))
        self.text = f"{self.header}\n{self.body}"


def _headers(part: Message) -> Iterator[tuple[str, str]]:
    for name, value in part.raw_items():
        yield name, str(make_header(decode_header(value)))


def _texts(parts: list[Message]) -> Iterator[str]:
    for part in parts:
        if part.get_content_maintype() == "text":
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            yield payload.decode(part.get_content_charset() or "us-ascii")


def _received(mail: Mail) -> datetime:
    return parsedate_to_datetime(mail.message.get_all("Received", [])[0].rpartition(";")[2].strip())


@pytest.fixture(scope="module")
def mails() -> dict[str, Mail]:
    return {path: Mail(path) for path in PATHS}


@pytest.mark.parametrize("path", PATHS)
def test_the_standard_library_finds_no_defect_and_decodes_every_text(path: str) -> None:
    mail = Mail(path)
    assert [part.defects for part in mail.parts if part.defects] == []
    assert "\ufffd" not in mail.body


def test_the_legacy_charsets_are_present(mails: dict[str, Mail]) -> None:
    found = {part.get_content_charset() for mail in mails.values() for part in mail.parts}
    assert {"gb18030", "gb2312", "koi8-r", "windows-1251", "iso-2022-jp", "euc-kr", "iso-8859-1"} <= found


def test_every_host_name_is_reserved(mails: dict[str, Mail]) -> None:
    for path, mail in mails.items():
        names = {*AFTER_AT_OR_SCHEME.findall(mail.text), *BARE_NAME.findall(mail.text)}
        hosts = {name.rstrip(".") for name in names if not ADDRESS.fullmatch(name)}
        assert {host for host in hosts if not RESERVED.fullmatch(host)} == set(), path


def test_every_ip_address_is_for_documentation(mails: dict[str, Mail]) -> None:
    for path, mail in mails.items():
        for address in ADDRESS.findall(mail.text):
            assert any(IPv4Address(address) in network for network in DOCUMENTATION), (path, address)


def test_no_two_messages_have_the_same_text(mails: dict[str, Mail]) -> None:
    said = [(mail.body, str(mail.message["Subject"])) for mail in mails.values()]
    assert len(set(said)) == len(said)
    identifiers = [mail.message["Message-ID"] for mail in mails.values()]
    assert len(set(identifiers)) == len(identifiers)


def test_the_index_names_every_file_once_with_its_class() -> None:
    lines = (DATA / "index").read_text("ascii").splitlines()
    assert sorted(lines) == sorted(f"{path.partition('/')[0]} {path}" for path in PATHS)


def test_the_index_is_in_order_of_arrival(mails: dict[str, Mail]) -> None:
    lines = (DATA / "index").read_text("ascii").splitlines()
    times = [_received(mails[line.partition(" ")[2]]) for line in lines]
    assert times == sorted(times)
    assert (times[0].year, times[-1].year) == (2024, 2026)


def test_both_classes_arrive_in_every_part_of_the_time() -> None:
    labels = [line.partition(" ")[0] for line in (DATA / "index").read_text("ascii").splitlines()]
    for start in range(0, len(labels) - 20, 20):
        assert set(labels[start : start + 20]) == set(CLASSES)


def test_the_kinds_in_the_readme_are_all_messages() -> None:
    for label in CLASSES:
        table = README.partition(f"## Kinds of {label}")[2].partition("\n\nTricks")[0].partition("\n## ")[0]
        counts = map(int, re.findall(r"\| (\d+) \|", table))
        assert sum(counts) == len([path for path in PATHS if path.startswith(label)])


def _count_errors(*seeds: int, **mail: list[str]) -> list[list[int]]:
    """How much ham is lost and how much spam gets through, as of `nbspam eval --folds 5 --seed SEED`."""
    source = open_labelled(mail.pop("source", ()), **mail)
    corpus = read_corpus(source.items(), source.classes, wanted=Settings().wanted)
    found = [evaluate_folds(corpus, Plan(Settings(), seed=seed), 5) for seed in seeds]
    return [[int((one.is_mistake & (one.truth == k)).sum()) for k in (0, 1)] for one in found]


@pytest.mark.slow
def test_the_errors_in_the_readme_are_those_of_the_program() -> None:
    first, *others = _count_errors(*range(6), source=[str(DATA)])
    assert "`nbspam eval data --folds 5` says {} and {}.".format(*first) in README
    ham, spam = [f"{min(counts)} to {max(counts)}" for counts in zip(*others, strict=True)]
    assert f"{ham} of the ham are lost and {spam} of the spam get through." in README.replace("\n", " ")


@pytest.mark.slow
def test_real_mail_is_as_hard_as_the_readme_says(spamassassin: Path) -> None:
    files = {label: sorted(map(str, (spamassassin / label).iterdir())) for label in CLASSES}
    found = []
    for seed in (1, 2, 3):
        drawn = random.Random(seed)
        found += _count_errors(0, **{label: drawn.sample(files[label], n) for label, n in SIZES.items()})
    ham, spam = ["{}, {} and {}".format(*counts) for counts in zip(*found, strict=True)]
    assert f"lose {ham} of the ham in five folds, and {spam} of the spam get through" in README
