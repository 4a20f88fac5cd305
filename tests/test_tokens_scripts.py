"""Claims about scripts: what they write in another form, so that only a browser reads it, is read."""

from __future__ import annotations

import base64
import time

import pytest

from nbspam.tokens.scripts import MAX_NAME, MAX_SCRIPT_WORDS, MAX_WRITTEN, script_tokens

PAGE = "<form action='https://lake.example/x'>Password</form> é"
WRITTEN = base64.b64encode(PAGE.encode()).decode()
NUMBERS = ",".join(str(ord(letter)) for letter in PAGE)

LINES = base64.b64encode(f"7€\t{PAGE}\r\n".encode()).decode()
assert "+" in LINES

FORMS = [
    ("base64", f"document.write(atob('{WRITTEN}'))"),
    ("base64 among words", f"var page = atob('{WRITTEN}'); write(page)"),
    ("base64 of lines", f"atob('{LINES}')"),
    ("base64 in base64", f"atob(atob('{base64.b64encode(WRITTEN.encode()).decode()}'))"),
    ("base64 without its end", f"atob('{WRITTEN.rstrip('=')[:-1]}')"),
    ("hexadecimal escapes", "write('" + "".join(f"\\x{ord(letter):02X}" for letter in PAGE) + "')"),
    ("escapes of Unicode", "write('" + "".join(f"\\u{ord(letter):04x}" for letter in PAGE) + "')"),
    ("escapes in braces", "write('" + "".join(f"\\u{{{ord(letter):x}}}" for letter in PAGE) + "')"),
    ("a few escapes", "write('\\x66orm passwor\\u0064 https://lake.exampl\\x65/x')"),
    ("a few escapes in braces", "{write('\\u{66}orm passwor\\u{64} https://lake.exampl\\u{65}/x')}"),
    ("escapes of addresses", "unescape('" + "".join(f"%{byte:02x}" for byte in PAGE.encode()) + "')"),
    ("decodeURIComponent", "decodeURIComponent('" + "".join(f"%{byte:02x}" for byte in PAGE.encode()) + "')"),
    ("numbers", f"String.fromCharCode({NUMBERS})"),
    ("numbers with spaces", f"String.fromCharCode({NUMBERS.replace(',', ', ')})"),
    ("hexadecimal numbers", f"String.fromCharCode({', '.join(f'0x{ord(letter):X}' for letter in PAGE)})"),
    ("a list of numbers", f"var a = [{NUMBERS}]; for (i in a) page += String.fromCharCode(a[i])"),
    ("a list in a list", f"String.fromCharCode.apply(null, [[1, 2], [{NUMBERS}]][1])"),
    ("hexadecimal digits", f"'{PAGE.encode().hex()}'.replace(/../g, x => fromCharCode(parseInt(x, 16)))"),
    ("hexadecimal digits, capital", f"unhex('{PAGE.encode().hex().upper()}')"),
    ("numbers as 0X", f"String.fromCharCode({','.join(f'0X{ord(letter):x}' for letter in PAGE)})"),
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
        f"atob('{base64.b64encode(b'secret' + bytes(12) + b'words').decode()}')",
        "'\\x4' + '\\xzz' + '\\u{110000}' + '\\u{' + '\\ud83d'",
        f"unhex('{bytes(range(12)).hex()}', '{b'a page of words'.hex()}0', '{b'page words'.hex()}')",
        f"fromCharCode(a[i]); [{','.join(map(str, range(99)))}]",
        f"fromCharCode(a[i]); [{','.join(map(str, b'red words'))}]",
        f"list of codes: [{','.join(map(str, b'red words and others'))}]",
        "String.fromCharCode(1114112, a, 99999999, \u00b2, 0x, 0xzz, 0x_1, -1)",
    ],
)
def test_what_is_no_other_form_adds_no_word(script: str) -> None:
    spaced = "".join(letter if letter.isalnum() and letter.isascii() else " " for letter in script)
    plain = {word.lower() for word in spaced.split() if word.isalpha() and 2 < len(word) <= 40}
    assert script_tokens(script) == [
        "script=" + word for word in dict.fromkeys(spaced.lower().split()) if word in plain
    ]


def test_words_are_of_letters_alone() -> None:
    long = "n" * MAX_NAME
    script = f"var a_name = $page + one/two + one+two; id is {long} {long}n"
    assert script_tokens(script) == ["script=var", f"script={long}"]


def test_words_are_bounded() -> None:
    names = [f"name{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MAX_SCRIPT_WORDS + 1)]
    assert script_tokens(" ".join(names)) == ["script=" + name for name in names[:-1]]


def test_numbers_of_many_digits_are_none() -> None:
    script = f"fromCharCode({'9' * 5_000},0x{'f' * 5_000})"
    assert script_tokens(script) == ["script=fromcharcode"]


def test_an_address_that_is_written_in_two_forms_counts_once() -> None:
    script = f"'https://lake.example/' + 'https://lake.example/' + atob('{WRITTEN}')"
    assert script_tokens(script).count("url=lake.example") == 2


@pytest.mark.parametrize("last", ["é", "\u20ac", "\U0001f600"])
def test_a_text_in_base64_may_end_within_a_letter(last: str) -> None:
    whole = ("secret words, all of them " * 3 + last).encode()
    assert "script=secret" in script_tokens(f"atob('{base64.b64encode(whole[:-1]).decode()}')")
    assert "script=secret" not in script_tokens(f"atob('{base64.b64encode(whole[:-1] + b'abc').decode()}')")


def test_many_other_runs_hide_no_address() -> None:
    other = base64.b64encode(b"one more of these, ").decode()
    assert "url=lake.example" in script_tokens(f"{other} " * 99 + WRITTEN)


def test_other_forms_are_looked_for_in_the_first_characters_of_a_script() -> None:
    assert "url=lake.example" in script_tokens(" " * (MAX_WRITTEN - len(WRITTEN)) + WRITTEN)
    assert "url=lake.example" not in script_tokens(" " * MAX_WRITTEN + WRITTEN)


@pytest.mark.parametrize(
    "piece",
    [
        "\\x41",
        "\\u{",
        "fromCharCode(",
        "fromCharCode[",
        "[1,2,3,4,5,6,7,8,9,10",
        "7a",
        "aHR0cDov",
        "eyJh",
        "'+'",
        "//:",
        "%25unescape(",
    ],
)
def test_scripts_full_of_other_forms_take_linear_time(piece: str) -> None:
    start = time.process_time()
    script_tokens(piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 2
