"""Numbers that are hosts."""

import pytest

from nbspam.tokens.addresses import normalise_ipv4


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
