"""Allowed and denied senders: which names count, and what proves them; examples.txt has more."""

from nbspam.labels import ALLOWED, DENIED
from nbspam.senders import fold_address, fold_domain, judge_sender, split_mailboxes

OWN = "mx.home.example"
SENDERS = {
    "ann@example.org": (ALLOWED, 1),
    "shop.example": (ALLOWED, 1),
    "news.shop.example": (DENIED, 0),
    "bob@news.shop.example": (ALLOWED, 1),
    "bad.example": (DENIED, 0),
    "old.example": (ALLOWED, 0),
}
ANN = "From: ann@example.org"
DMARC = f"Authentication-Results: {OWN}; dmarc=pass"


def judge(*lines: str) -> str:
    message = "\r\n".join([*lines, "Subject: x", "", "text"]).encode()
    return judge_sender(
        message, lambda names: {name: SENDERS[name] for name in names if name in SENDERS}, [OWN]
    )[0]


def test_padding_of_a_megabyte_proves_nothing() -> None:
    assert judge(DMARC, ANN) == ALLOWED
    assert judge(DMARC + " x" * 1_000_000, ANN) == judge(DMARC, ANN + " " * 1_000_000) == ""
    assert judge("From: " + "x" * 50_000 + " <x@bad.example>") == DENIED


def test_names_are_folded() -> None:
    assert fold_address("Ann@B\u00fccher.Example.") == "ann@xn--bcher-kva.example"
    assert [fold_domain(text) for text in ("org", "a..org", "a b.org", "", "*.org", "a\0.org")] == [""] * 6
    longest = ".".join(["a" * 63] * 3) + "." + "a" * 61
    assert (fold_domain(longest), fold_domain(longest + "a")) == (longest, "")
    assert split_mailboxes("Friends: Ann <a@b.example>, c@d.example;") == ["a@b.example", "c@d.example"]
