"""Numbers that are hosts."""

import pytest

from nbspam.tokens.addresses import normalise_ipv4, pack_ipv6


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("0xc0.0x207", "192.0.2.7"),
        ("3221225991", "192.0.2.7"),
        ("0300.0.519", "192.0.2.7"),
        ("256.0.2.7", "256.0.2.7"),
        ("192.0.2.08", "192.0.2.08"),
        ("4294967296", "4294967296"),
        ("1.2.3.4.5", "1.2.3.4.5"),
        ("1_0.2", "1_0.2"),
    ],
)
def test_a_host_in_numbers_is_read_as_browsers_do(written: str, right: str) -> None:
    assert normalise_ipv4(written) == right


def test_an_ipv6_address_is_sixteen_bytes() -> None:
    assert pack_ipv6("::1") == bytes(15) + b"\1"
    assert pack_ipv6("2001:db8::a:0") == bytes.fromhex("20010db8" + "0" * 16 + "000a0000")
    assert pack_ipv6("::ffff:192.0.2.7")[-6:] == b"\xff\xff\xc0\0\2\7"


@pytest.mark.parametrize(
    "text", ["", "1::2::3", "12345::", "1:2:3:4:5:6:7", "::1.2.3.256", "1.2.3.4::", "::g"]
)
def test_other_text_is_no_ipv6_address(text: str) -> None:
    assert not pack_ipv6(text)
