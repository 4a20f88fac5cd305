"""Claims about scripts: what they write in another form, so that only a browser reads it, is read."""

from __future__ import annotations

import base64
import time

import pytest

from nbspam.tokens.scripts import MAX_WRITTEN, script_tokens

PAGE = "<form action='https://lake.example/x'>Password</form> é"
WRITTEN = base64.b64encode(PAGE.encode()).decode()
NUMBERS = ",".join(str(ord(letter)) for letter in PAGE)

FORMS = [
    ("base64", f"document.write(atob('{WRITTEN}'))"),
    ("base64 in base64", f"atob(atob('{base64.b64encode(WRITTEN.encode()).decode()}'))"),
    ("base64 without its end", f"atob('{WRITTEN.rstrip('=')[:-1]}')"),
    ("hexadecimal escapes", "write('" + "".join(f"\\x{ord(letter):02X}" for letter in PAGE) + "')"),
    ("escapes of Unicode", "write('" + "".join(f"\\u{ord(letter):04x}" for letter in PAGE) + "')"),
    ("escapes in braces", "write('" + "".join(f"\\u{{{ord(letter):x}}}" for letter in PAGE) + "')"),
    ("escapes of addresses", "unescape('" + "".join(f"%{byte:02x}" for byte in PAGE.encode()) + "')"),
    ("decodeURIComponent", "decodeURIComponent('" + "".join(f"%{byte:02x}" for byte in PAGE.encode()) + "')"),
    ("numbers", f"String.fromCharCode({NUMBERS})"),
    ("numbers with spaces", f"String.fromCharCode({NUMBERS.replace(',', ', ')})"),
    ("hexadecimal numbers", f"String.fromCharCode({', '.join(f'0x{ord(letter):X}' for letter in PAGE)})"),
    ("in pieces with spaces", "write('" + "' + '".join(PAGE.replace("'", "")) + "')"),
    ("in pieces", "write('" + "'+'".join(PAGE.replace("'", "")) + "')"),
    ("in pieces, double quotes", 'write("' + '"+"'.join(PAGE) + '")'),
    ("from its end", f"'{PAGE[::-1]}'.split('').reverse().join('')"),
]


@pytest.mark.parametrize(("form", "script"), FORMS, ids=[row[0] for row in FORMS])
def test_what_a_script_writes_in_another_form_is_read(form: str, script: str) -> None:
    found = script_tokens(script)
    assert {"script=form", "script=password", "url=lake.example"} <= set(found)


@pytest.mark.parametrize(
    "script",
    [
        "var a = 'abcdefghijklmnopqrstuvwxyzabcdefgh'",  # no text when decoded
        "atob('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=')",
        "'\\x4' + '\\xzz' + '\\u{110000}' + '\\u{' + '\\ud83d'",
        "String.fromCharCode(1114112, a, 99999999, \u00b2)",
    ],
)
def test_what_is_no_other_form_adds_no_word(script: str) -> None:
    spaced = "".join(letter if letter.isalnum() and letter.isascii() else " " for letter in script)
    plain = {word.lower() for word in spaced.split() if word.isalpha() and 2 < len(word) <= 40}
    assert script_tokens(script) == [
        "script=" + word for word in dict.fromkeys(spaced.lower().split()) if word in plain
    ]


def test_a_text_in_base64_may_end_within_a_letter() -> None:
    whole = ("secret words, all of them " * 3 + "é").encode()
    assert "script=secret" in script_tokens(f"atob('{base64.b64encode(whole[:-1]).decode()}')")
    assert "script=secret" not in script_tokens(f"atob('{base64.b64encode(whole[:-1] + b'abc').decode()}')")


def test_other_forms_are_looked_for_in_the_first_characters_of_a_script() -> None:
    assert "url=lake.example" in script_tokens(" " * (MAX_WRITTEN - len(WRITTEN)) + WRITTEN)
    assert "url=lake.example" not in script_tokens(" " * MAX_WRITTEN + WRITTEN)


@pytest.mark.parametrize(
    "piece", ["\\x41", "\\u{", "fromCharCode(", "aHR0cDov", "eyJh", "'+'", "//:", "%25unescape("]
)
def test_scripts_full_of_other_forms_take_linear_time(piece: str) -> None:
    start = time.process_time()
    script_tokens(piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 2
