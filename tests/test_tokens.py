"""Claims about tokens: what is evidence, what is not, and what no message can do."""

from __future__ import annotations

import sys
import time
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.limits import MAX_TOKENS
from nbspam.tokens import Bag, tokenize
from nbspam.tokens.structure import disagrees
from nbspam.tokens.unicode_words import is_unspaced, unicode_words
from nbspam.tokens.urls import cut_urls, host_of, url_tokens
from nbspam.tokens.words import MAX_CHARACTERS, MAX_WORD, CharacterTable, Memory, parents, words

FROM_TO_SUBJECT = b"From: ida@lake.example\nTo: otto@orchard.example\nSubject: pears\n"
MAX_TOKEN = 170  # characters: a name and two words, each an address of twice MAX_WORD


def bag(data: bytes) -> Bag:
    return tokenize(parse(data))


def body(text: str) -> list[str]:
    return bag(b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode()).body


def structure(data: bytes) -> list[str]:
    return bag(data).structure


def all_tokens(found: Bag) -> list[str]:
    return [token for view in found.views() for token in view]


# Words

WORDISH = st.text(
    alphabet=st.sampled_from("abcXYZ019 .,-_'@$%!?:/\n\t()\"#&*=+\x00\x1f\x7f~"), max_size=200
) | st.text(alphabet=st.characters(max_codepoint=127), max_size=200)


@settings(deadline=None, max_examples=max(400, settings().max_examples))
@given(WORDISH)
def test_the_fast_path_equals_the_unicode_path_on_ascii(text: str) -> None:
    assert words(text, MAX_TOKENS) == unicode_words(text, MAX_TOKENS)


@settings(deadline=None, max_examples=max(200, settings().max_examples))
@given(WORDISH, st.integers(1, 5))
def test_the_two_paths_stop_at_the_same_limit(text: str, limit: int) -> None:
    assert words(text, limit) == unicode_words(text, limit)


def test_the_fast_path_equals_the_unicode_path_on_real_text(data: Path, spamassassin: Path) -> None:
    files = [path for path in sorted(data.rglob("*")) if path.is_file()]
    files += [path for path in sorted(spamassassin.rglob("*")) if path.is_file()][::10]
    texts = 0
    for path in files:
        for part in parse(path.read_bytes()).parts:
            if part.text and part.text.isascii():
                texts += 1
                assert words(part.text, MAX_TOKENS) == unicode_words(part.text, MAX_TOKENS), path
    assert texts > 500


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't e-mail under_score", ["don't", "e-mail", "under_score"]),
        ("It costs $29.95, or 1,000.50, 20% off.", ["it", "costs", "$29.95", "or", "1,000.50", "20%", "off"]),
        ("£3.50 100€ ￥900", ["£3.50", "100€", "¥900"]),
        ("a b", []),
        ("1 b 7", ["spaced=1b7"]),
        ("v i a g r a now", ["spaced=viagra", "now"]),
        ("f r e e   p i l l s,   n o w", ["spaced=free", "spaced=pills", "spaced=now"]),
        ("f r e e\np i l l s\tn o w", ["spaced=free", "spaced=pills", "spaced=now"]),
        ("f\nr\ne\ne\n\np\ni\nl\nl", ["spaced=free", "spaced=pill"]),
        ("(f - r - e - e) now", ["spaced=free", "now"]),
        ("x " * 41 + "now", ["skip=x:40", "now"]),
        ("1 " * 41 + "now", ["now"]),
        ("$ 5 0 now 1 2 3", ["spaced=$50", "now"]),
        ("1 2 3 4", []),
        ("end.Start", ["end.start", "end", "start"]),
        ("one,two--three", ["one", "two", "three"]),
        ("mail.lake.example", ["mail.lake.example", "lake.example", "mail", "lake", "example"]),
        ("192.0.2.7", ["192.0.2.7", "192.0.2", "192.0"]),
        ("ida@lake.example", ["ida@lake.example", "lake.example", "example"]),
        ("x" * MAX_WORD, ["x" * MAX_WORD]),
        ("x" * (MAX_WORD + 1), ["skip=x:40"]),
        ("Q" * 5000, ["skip=q:990"]),
        ("'quoted' --dashed-- ...", ["quoted", "dashed"]),
    ],
)
def test_ascii_words(text: str, expected: list[str]) -> None:
    assert words(text, 100) == expected
    assert words(text + " déjà vu", 100) == [*expected, "déjà", "vu"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ｆｒｅｅ 𝐌𝐚𝐭𝐡 ﬁne", ["free", "math", "fine"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("café cafe\u0301", ["café", "café"]),
        ("don’t e‐mail", ["don't", "e-mail"]),
        ("don‘t don‛t donʼt ג׳ירפה", ["don't", "don't", "don't", "ג'ירפה"]),
        ("e‑mail e‒mail e–mail e—mail e―mail", ["e-mail"] * 5),
        ("vi\u200bag\u00adra", ["viagra"]),
        ("発票", ["発票"]),
        ("我 是中国人", ["我", "是中", "中国", "国人"]),
        ("iphone手机", ["iphone", "手机"]),
        ("カタカナ ｶﾅ", ["カタ", "タカ", "カナ", "カナ"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("บาท", ["บา", "าท"]),
        ("p\u0430yp\u0430l", ["mixed-script=", "paypal"]),
        ("\u04cfogin", ["mixed-script=", "login"]),
        ("ᴘᴀʏᴘᴀʟ ʟogin", ["mixed-script=", "paypal", "mixed-script=", "login"]),
        ("ᴠᴇʀɪғʏ ғрее", ["mixed-script=", "verify", "ғрее"]),
        ("ᏙᎬᎡᏆfᎽ ꓑауꓑаl", ["mixed-script=", "verify", "mixed-script=", "paypal"]),
        ("ᏣᎳᎩ ꓡꓲ-ꓢꓴ", ["ꮳꮃꭹ".casefold(), "mixed-script=", "li-su"]),
        ("+❶ ➊❽➑ ⓵⓿ ❿", ["188", "10", "❿"]),
        (
            "kuոdе lօցiո ɡoogle",
            ["mixed-script=", "kunde", "mixed-script=", "login", "mixed-script=", "google"],
        ),
        ("Ν\u200cFT ΗTΜL ΖOOΜ", ["mixed-script=", "nft", "mixed-script=", "html", "mixed-script=", "zoom"]),
        ("Atualizаção naïveд", ["mixed-script=", "atualização", "naïveд"]),
        ("Tàі khоản", ["mixed-script=", "tài", "mixed-script=", "khoản"]),
        ("зaймы Bыигpыш", ["mixed-script=", "займы", "mixed-script=", "выигрыш"]),
        ("бaнк.рф", ["mixed-script=", "банк", "рф"]),
        ("oнлайн-кpeдит", ["mixed-script=", "онлайн-кредит"]),
        ("Gmail-аккаунт SMSки 3D-принтер", ["gmail-аккаунт", "smsки", "3d-принтер"]),
        ("аpple-id.com", ["mixed-script=", "apple-id.com", "apple-id", "com"]),
        ("ΧΕROX ΒAΥ", ["mixed-script=", "xerox", "mixed-script=", "bay"]),
        ("ΤΗΝ e-ΜΑΡΚΕΤ ΟΤΕ/HBO Α.Β.gr ΝΔx", ["την", "e-μαρκετ", "οτε", "hbo", "α", "β", "gr", "νδx"]),
        ("🅟🅐🅨 🅿🅰🆈", ["pay", "pay", *"🅟🅐🅨🅿🅰🆈"]),
        ("C\u0332omdirect s\u0336a\u0336l\u0336e\u0336", ["comdirect", "sale"]),
        ("ver\u180bify ac\u180fcount", ["verify", "account"]),
        ("free\u2800\u2800pears", ["free", "pears"]),
        ("kɪtən вес", ["kɪtən", "вес"]),
        ("Yorùbá ẹ̀kọ́ v̇", ["yorùbá", "ẹ̀kọ́", "v̇"]),
        ("Привет, мир.Слово", ["привет", "мир", "слово"]),
        ("раз,два три--четыре", ["раз", "два", "три", "четыре"]),
        ("д" * 40 + " " + "д" * 41, ["д" * 40, "skip=д:40"]),
        ("оса-sale.com", ["mixed-script=", "oca-sale.com", "oca-sale", "com"]),
        ("fr\U000e0065ee p\ufff9ears", ["free", "pears"]),
        ("free🆊pears", ["free", "pears", "🆊"]),
        ("q" + "\u0323" * 4 + " \u0323\u0301\u0323\u0301q", ["q" + "\u0323" * 3, "\u0323\u0323\u0301q"]),
        ("it-компания", ["it-компания"]),
        ("❤️ ok", ["ok", "❤"]),
        ("f★r★e★e 👍🏽", ["spaced=free", "★", "★", "★", "👍"]),
        ("20° № 5", ["20", "no", "№"]),
        ("don´t l´année ´quoted´", ["don't", "l'année", "quoted"]),
        ("İNDİRİM indirim KIRMIZI kırmızı", ["indirim", "indirim", "kirmizi", "kirmizi"]),
        ("К Р Е Д И Т   С Р А З У", ["spaced=кредит", "spaced=сразу"]),
        ("ꓦꓲꓮꓖꓣꓮ ᏙᏆᎪᏀᏒᎪ ᐯIᗩGᖇᗩ", ["mixed-script=", "viagra"] * 3),
        ("ᐃᓄᒃᑎᑐᑦ", ["ᐃᓄᒃᑎᑐᑦ"]),
        ("b\u0324i\u0324t\u0324coi\u0324n", ["mixed-script=", "bitcoin"]),
        ("v\u030ai\u030aa\u030ag\u030ara\u030a", ["mixed-script=", "viagra"]),
        ("".join(letter + "\u0316\u0301" for letter in "viagra"), ["mixed-script=", "viagra"]),
        ("o\u0323\u0300ro\u0323\u0300 ta\u0300bu\u0323", ["ọ̀rọ̀", "tàbụ"]),
        ("m\u0327ajel\u030c tu\u0307", ["m\u0327aje\u013e", "tu\u0307"]),
        (
            "\U0001f1fb \U0001f1ee \U0001f1e6 \U0001f1ec",
            ["spaced=viag", *"\U0001f1fb\U0001f1ee\U0001f1e6\U0001f1ec"],
        ),
        ("\U0001f1fa\U0001f1e6 hi", ["hi", "\U0001f1fa", "\U0001f1e6"]),
        ("via\U000e0080gra via\u2065gra via\ufff3gra", ["viagra"] * 3),
        ("f r e e\u00a0\u00a0 p i l l s", ["spaced=free", "spaced=pills"]),
        ("f r e e\u00a0\u00a0 p i l l s é", ["spaced=free", "spaced=pills", "é"]),
        ("К Р Е Д И Т, без отказа", ["spaced=кредит", "без", "отказа"]),
        ("и я в Москве, Π Ρ Ο Σ", ["и", "я", "в", "москве", "spaced=προσ"]),
        ("£ £ £ £", ["£", "£", "£", "£"]),
        ("代 开 发 票", ["代开", "开发", "发票"]),
        ("提\u3000货\u3000单 号码 姓 名", ["提货", "货单", "号码", "姓", "名"]),
        ("д " * 40, ["spaced=" + "д" * 40]),
        ("д " * 41, ["skip=д:40"]),
        ("i\u0307stanbul İstanbul ISTANBUL", ["istanbul", "istanbul", "istanbul"]),
        ("ещё еще ЕЩЁ", ["еще", "еще", "еще"]),
        ("Προσοχή ΠΡΟΣΟΧΗ προσοχη", ["προσοχη", "προσοχη", "προσοχη"]),
        ("ΏΡΑ ώρα ΒΈΛΗ βέλη", ["ωρα", "ωρα", "βελη", "βελη"]),
        ("ταΐζω ταϊζω μαΰρο", ["ταϊζω", "ταϊζω", "μαϋρο"]),
        ("și şi Ţară țară ȘI", ["şi", "şi", "ţară", "ţară", "şi"]),
        ("رَبِحْتَ ربحت اضـــغط اضغط", ["ربحت", "ربحت", "اضغط", "اضغط"]),
        ("أحمد احمد جائزة جائزه إلى الى", ["احمد", "احمد", "جائزه", "جائزه", "الي", "الي"]),
        ("کتاب كتاب کلیک كليك", ["كتاب", "كتاب", "كليك", "كليك"]),
        ("שָׁלוֹם שלום תל־אביב מס׳", ["שלום", "שלום", "תל-אביב", "מס"]),
        ("١٬٢٣٤٫٥٠ १२३ ۵۰٪ ฿๑๐๐บาท", ["1,234.50", "123", "50%", "฿100", "บา", "าท"]),
        ("₺1.500,00 1.500₺ ₪50 50.000₫ ৳500", ["₺1.500,00", "1.500₺", "₪50", "50.000₫", "৳500"]),
        ("'£3.50' “£3.50”", ["£3.50", "£3.50"]),
        ("฿1,500 ราคา฿99", ["฿1,500", "รา", "าค", "คา", "฿99"]),
    ],
)
def test_unicode_words(text: str, expected: list[str]) -> None:
    assert words(text, 100) == expected


@pytest.mark.parametrize(
    "mark", "\u0305\u0332\u0338\u033f\u0488\u0489\u180b\u180f\u20d0\u20f0\ufe00\ufe0f\U000e0100\U000e01ef"
)
def test_how_a_letter_is_drawn_is_no_part_of_its_word(mark: str) -> None:
    assert words(f"sa{mark}le", 10) == ["sale"]


@pytest.mark.parametrize("mark", "\u0304\u0306\u0331\u0339")
def test_marks_beside_those_that_only_draw_are_part_of_the_word(mark: str) -> None:
    assert words(f"q{mark}", 10) == [f"q{mark}"]


@pytest.mark.parametrize("mark", "\u0591\u05c7\u0610\u061a\u064b\u0670\u06d6\u06ed")
def test_vowels_that_are_mostly_left_out_are_no_part_of_a_word(mark: str) -> None:
    assert words(f"كت{mark}اب", 10) == words("كتاب", 10)


@pytest.mark.parametrize("letter", "กໝကᄀខ⺀々〡あカㄅㆠ㐀一ꥠ가豈𛀀𠀀")
def test_scripts_without_spaces_are_known(letter: str) -> None:
    assert is_unspaced(letter)


@pytest.mark.parametrize("letter", "aдאعक☃𐍈")
def test_scripts_with_spaces_are_not_taken_for_ones_without(letter: str) -> None:
    assert not is_unspaced(letter)


@pytest.mark.parametrize("before", ["", "a"])
@pytest.mark.parametrize(
    "run",
    ["\u0301\u0323", "\u0300\u0323", "\u0903", "\u0301\u0301\u0301\uff9e", "\u0301\uff9f"],
)
def test_marks_are_capped_before_they_are_sorted(run: str, before: str) -> None:
    """Canonical ordering of a long run of marks takes quadratic time; U+FF9E becomes one under NFKC."""
    marks = before + run * (200_000 // len(run))
    start = time.process_time()
    found = words(marks, 10)
    assert time.process_time() - start < 5
    assert max(map(len, found)) <= 4


def test_a_character_that_is_four_words_is_read_as_often_as_words_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """NFKC makes eighteen characters of it, and so eighteen megabytes of a text full of them."""
    read: list[int] = []

    def composed(text: str) -> str:
        read.append(len(text))
        return unicodedata.normalize("NFKC", text)

    text = "ok " + "\ufdfa" * 10_000
    expected = unicode_words(text, 10_000)[:100]
    monkeypatch.setattr("nbspam.tokens.unicode_words._composed", composed)
    assert unicode_words(text, 100) == expected
    assert 0 < sum(read) < 200


@pytest.mark.parametrize("mark", ["\u200b", "\u200d", "\u00ad", "\u2060", "\ufeff"])
def test_zero_width_characters_are_removed_and_leave_a_token(mark: str) -> None:
    found = bag(b"Content-Type: text/plain; charset=utf-8\n\n" + f"free mo{mark}ney".encode())
    assert found.body == ["free", "money"]
    assert "zero-width=#" in found.structure


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffcafé",
        "Ada wrote:\n\n\ufeffHi, café?",
        "\u200bSorry.\u200b",
        "Ida Lake\u200e <ida@lake.example> wrote:",
        "a coder 👩\u200d💻, a family 👨\u200d👩\u200d👧, a flag 🏳\ufe0f\u200d🌈",
        "می\u200cخواهم",
        "क्\u200dष",
        "שלו\u200fם מס\u200e123",
        "call \u202d+1 555 0100\u202c now, \u202dlake\u202c",
        "טלפון \u202d055-0100\u202c שלום",
        "news\u00a0\u200c\u00a0\u200c\u00a0\u200c week",
    ],
)
def test_zero_width_characters_outside_of_words_are_no_evidence(text: str) -> None:
    found = bag(b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode())
    assert "zero-width=#" not in found.structure
    assert "subject:#zero-width" not in bag(b"Subject: " + text.split("\n")[-1].encode() + b"\n\nx\n").header


@pytest.mark.parametrize(
    "text",
    ["fr\u200bee", "f\u200d\u2060ree", "гон\u200bорар", "手\u200b机", "in \u202eelas", "\u202dשלום\u202c"],
)
def test_zero_width_characters_in_words_leave_a_token(text: str) -> None:
    found = bag(b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode())
    assert "zero-width=#" in found.structure


def test_zero_width_in_the_subject_leaves_a_token() -> None:
    assert "subject:#zero-width" in bag(b"Subject: =?utf-8?Q?fr=E2=80=8Bee?=\n\nx\n").header


def test_host_names_come_with_their_parents() -> None:
    assert parents("a.b.example") == ["a.b.example", "b.example", "example"]
    assert parents("192.0.2.7") == ["192.0.2.7", "192.0.2", "192.0"]
    assert len(parents("a." * 50 + "example")) == 6


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see *http://a.example* now", ["http://a.example"]),
        ("_http://a.example/b_", ["http://a.example/b"]),
        ("http://a.example,http://b.example/c", ["http://a.example", "http://b.example/c"]),
        ("http://a.example; http://b.example", ["http://a.example", "http://b.example"]),
        ("http://a;https://b,ftp://c", ["http://a", "https://b", "ftp://c"]),
        ("http://a.example/,http://b.example", ["http://a.example/,http://b.example"]),
        ("http://a.example/?u=http://b.example", ["http://a.example/?u=http://b.example"]),
    ],
)
def test_addresses_are_cut_out_of_a_text(text: str, urls: list[str]) -> None:
    assert cut_urls(text)[1] == urls


def test_urls_give_scheme_hosts_port_and_path_words() -> None:
    text = "See http://me@shop.lake.example:8080/pay/now.php?id=77&x=yes."
    found = bag(b"\n" + text.encode())
    assert found.body == ["see"]
    assert [token for token in found.structure if token.startswith("url=")] == [
        *("url=http", "url=#user", "url=port:8080", "url=shop.lake.example", "url=lake.example"),
        *("url=example", "url=/pay", "url=/now", "url=/php", "url=/id", "url=/yes"),
    ]


def test_an_image_says_how_it_is_fetched() -> None:
    page = b"<img src=cid:a><img src=//lake.example/b.png><img src=HTTPS://lake.example/c.png>"
    found = bag(b"Content-Type: text/html\n\n" + page)
    assert [token for token in found.structure if token.startswith("image=")] == [
        *("image=cid", "image=//", "image=https")
    ]


def test_a_full_stop_behind_the_host_of_an_address_is_nothing() -> None:
    assert url_tokens("mailto:joe@lake.example.") == ["url=mailto", "url=lake.example", "url=example"]


@pytest.mark.parametrize(
    "query",
    ["body=see http://hill.example/a", "body=https%3A%2F%2Fhill.example%2F", "a=b&body=//hill.example/"],
)
def test_addresses_in_a_mail_that_a_link_prepares_count(query: str) -> None:
    found = ["url=mailto", "url=lake.example", "url=example", "url=hill.example", "url=example"]
    assert url_tokens(f"mailto:joe@lake.example?subject=Re: a&{query}") == found


@pytest.mark.parametrize(
    ("text", "words", "host"),
    [
        ("请访问http://lake.example立即购买", ["请访", "访问", "立即", "即购", "购买"], "url=lake.example"),
        ("http://lake.example\xa0buy soup", ["buy", "soup"], "url=lake.example"),
        ("http://lake.example\u201d\u2014special", ["special"], "url=lake.example"),
    ],
)
def test_an_address_ends_before_what_is_not_ascii(text: str, words: list[str], host: str) -> None:
    found = bag(b"Content-Type: text/plain; charset=utf-8\n\n" + text.encode())
    assert found.body == words
    assert host in found.structure


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://lake.example/x", "lake.example"),
        ("HTTP://Me@Lake.example:80?x", "lake.example"),
        ("http://lake.example\\@bank.example/", "lake.example"),
        ("http://lake.example?@bank.example", "lake.example"),
        ("http://lake.example#@bank.example", "lake.example"),
        ("ht\ntp://la\tke.example/", "lake.example"),
        ("http:\\\\lake.example\\x", "lake.example"),
        ("http://lake.example./", "lake.example"),
    ],
)
def test_the_host_is_the_one_that_a_browser_goes_to(url: str, host: str) -> None:
    tokens = url_tokens(url)
    assert {"url=http", "url=" + host} <= set(tokens)
    assert not any("bank" in token for token in tokens if "/" not in token)
    if ":\\" not in url:
        assert host_of(url) == host


# Fields

VERDICTS = (
    *("X-Bogosity", "X-Spam-Status", "X-Spam-Flag", "X-Spam-Level", "X-Spam", "X-Spambayes-Classification"),
    *("X-CRM114-Status", "X-DSPAM-Result", "X-Text-Classification", "X-SpamProbe", "X-Rspamd-Score"),
    *("X-Spamd-Result", "X-Nbspam", "X-Microsoft-Antispam-Mailbox-Delivery", "X-Forefront-Antispam-Report"),
    *("X-MS-Exchange-Organization-SCL", "X-IronPort-Anti-Spam-Result", "X-Proofpoint-Spam-Details"),
    *("X-Barracuda-Spam-Score", "X-Pm-Spam-Action", "X-Spam_score_int", "X-Gm-Spam", "X-Gm-Phishy"),
    *("X-MS-Exchange-AntiSpam-Relay", "X-Exchange-Antispam-Report-CFA-Test", "X-Message-Delivery"),
    *("X-GMX-Antispam", "X-UI-Filterresults", "X-UI-Out-Filterresults", "X-purgate-type", "X-VR-SPAMSTATE"),
    *("X-TM-AS-Result", "X-TMASE-Result", "X-CMAE-Score", "X-Cloudmark-Score", "X-Authority-Analysis"),
    *("X-Mimecast-Spam-Score", "X-MailScanner-SpamCheck", "X-Eyou-Spamvalue", "SpamDiagnosticOutput"),
    *("X-CLX-Shades", "X-MANTSH", "X-ICL-SCORE", "X-Apple-Action", "X-Apple-MoveToFolder"),
    *("X-CNFS-Analysis", "X-CM-Score", "X-CM-Analysis", "X-ME-VSCategory", "X-ME-CMScore", "X-Xfinity-VMeta"),
    *("X-ME-Authentication-Results", "X-VadeSecure-score", "X-RazorGate-Vade-Verdict", "X-VR-STATUS"),
    *("X-KLMS-Message-Action", "X-KSE-Antiphishing-Info", "X-ESET-AS", "X-Mras", "X-Recommended-Action"),
    *("X-Junkmail-Status", "X-Assp-Message-Score", "X-Barracuda-Bayes", "X-CTCH-Score", "X-Ham-Report"),
    *("X-hMailServer-Reason-Score", "X-Mimecast-Bulk-Signature", "X-Mimecast-Impersonation-Protect"),
    *("X-AES-Category", "X-NAS-Classification", "X-Hammie-Disposition", "X-Authority-Info"),
)
STORE_NOTES = (
    *("Status", "X-Status", "X-UID", "X-UIDL", "X-Keywords", "X-Mozilla-Status", "X-Mozilla-Status2"),
    *("X-Mozilla-Keys", "X-Gmail-Labels", "Lines", "Content-Length", "X-Account-Key", "X-GM-THRID", "X-TUID"),
    *("X-GM-MSGID", "X-IMAPbase", "X-IMAP", "X-Evolution-Source", "X-Evolution", "X-Cyrus-Session-Id"),
    *("X-KMail-EncryptionState", "X-KMail-SignatureState", "X-KMail-MDN-Sent", "X-Length"),
)


@pytest.mark.parametrize("name", [*VERDICTS, *STORE_NOTES])
@pytest.mark.parametrize("spelled", [str.lower, str.upper, str])
def test_verdicts_and_notes_of_the_mail_store_are_no_evidence(name: str, spelled: type[str]) -> None:
    field = f"{spelled(name)}: spam junk 99\n".encode()
    plain = bag(FROM_TO_SUBJECT + b"\npears\n")
    noted = bag(field + FROM_TO_SUBJECT + field + b"\npears\n")
    assert (noted.header, noted.body) == (plain.header, plain.body)
    assert [t for t in noted.structure if not t.startswith("size=")] == [
        t for t in plain.structure if not t.startswith("size=")
    ]


@pytest.mark.parametrize("name", ["Authentication-Results", "X-Mailer", "Spam-Note", "X-Report-Abuse"])
def test_other_fields_are_evidence(name: str) -> None:
    found = bag(name.encode() + b": pears\n" + FROM_TO_SUBJECT + b"\n")
    assert f"field:{name.lower()}" in found.header
    assert f"{name.lower()}:pears" in found.header


@pytest.mark.parametrize("size", [100, 127, 128, 250])
def test_who_stores_a_mail_or_passes_it_on_changes_no_token(size: int) -> None:
    mail = FROM_TO_SUBJECT + b"\n> pears\n" + b"x" * (size - 9 - len(FROM_TO_SUBJECT)) + b"\n"
    before = tokenize(parse(mail), measured=True)
    for other in (
        b"X-Nbspam: ham; probability=0.01\n" + mail,
        b"From ida@lake.example Mon Sep  2 14:00:00 2002\n" + mail + b"\n",
        mail.replace(b"\n\n", b"\nStatus: RO\nX-UID: 5\nContent-Length: 99\n\n", 1),
        mail.replace(b"\n", b"\r\n"),
    ):
        after = tokenize(parse(other), measured=True)
        assert (after.views(), after.measures) == (before.views(), before.measures)


def test_the_mbox_from_line_is_no_evidence() -> None:
    with_line = bag(b"From otto@orchard.example Mon Jun  3 10:00:00 2024\n" + FROM_TO_SUBJECT + b"\npears\n")
    plain = bag(FROM_TO_SUBJECT + b"\npears\n")
    assert (with_line.header, with_line.body) == (plain.header, plain.body)


def test_words_of_a_field_carry_its_name() -> None:
    found = bag(FROM_TO_SUBJECT + b"\n")
    assert {"subject:pears", "from:ida@lake.example", "from:lake.example", "to:orchard.example"} <= set(
        found.header
    )


def test_the_subject_gives_pairs_of_words() -> None:
    assert "subject:free+pears" in bag(b"Subject: Free pears\n\n").header


def test_the_order_of_fields_is_evidence_without_those_of_the_way() -> None:
    found = structure(b"Received: by x\nFrom: a\nReceived: by y\nTo: b\n\n")
    assert [token for token in found if token.startswith("order=")] == ["order=from>to"]


def numbered(first: int, last: int) -> list[str]:
    return [f"w{number}" for number in range(first, last + 1)]


def paired(words: list[str]) -> list[str]:
    return [f"edge={first}+{second}" for first, second in pairwise(words)]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, []),
        (2, paired(numbered(1, 2))),
        (6, paired(numbered(1, 5))),  # the sixth has no neighbour among the last
        (30, paired(numbered(1, 5)) + paired(numbered(6, 30))),
        (31, paired(numbered(1, 5)) + paired(numbered(7, 31))),
        (40, paired(numbered(1, 5)) + paired(numbered(16, 40))),
    ],
)
def test_pairs_of_the_first_and_the_last_words_of_a_text(number: int, expected: list[str]) -> None:
    found = structure(b"\n" + " ".join(numbered(1, number)).encode())
    assert [token for token in found if token.startswith("edge=")] == expected


@pytest.mark.parametrize("number", [0, 1, 2, 99, 100, 101, 500])
def test_bigrams_are_the_neighbours_of_the_first_and_last_fifty_words(number: int) -> None:
    text = [f"word{n}" for n in range(number)]
    bag = tokenize(parse(b"Subject: a b\n\n" + " ".join(text).encode()), paired=True)
    parts = [text] if number <= 100 else [text[:50], text[-50:]]
    assert bag.bigrams == [f"{first}+{second}" for part in parts for first, second in pairwise(part)]
    assert tokenize(parse(b"Subject: a b\n\na b c")).bigrams == ()


@given(st.text(st.characters() | st.sampled_from("+=< a1é手")))
def test_no_word_is_like_two_words(text: str) -> None:
    assert not any("+" in word for word in words(text, 100))


def test_a_flood_of_tags_leaves_no_edge_out() -> None:
    url = "http://a.example/" + "/".join(numbered(1, 30))
    flood = f"Content-Type: text/html\n\nDear Sir {f'<a href={url}>{url} </a><img src={url}>' * 500}"
    found = structure(flood.encode())
    assert len(found) == MAX_TOKENS
    assert "edge=dear+sir" in found


def test_names_beyond_ascii_in_an_address_are_words() -> None:
    found = bag(b"From: =?utf-8?B?0JjQstCw0L0=?= <ivan@river.example>\n\n").header
    assert "from:иван" in found
    assert found.count("from:ivan@river.example") == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("\U0001d40f\U0001d41a\U0001d432\U0001d40f\U0001d41a\U0001d425", ["paypal"]),
        ("P\u0430yp\u0430l", ["mixed-script=", "paypal"]),
        ("Pay\u200bPal", ["paypal"]),
        ("laPyaP".join("\u202e\u202c"), ["paypal"]),
        ("PayPal\u00ae Service", []),
    ],
)
def test_names_in_an_address_are_words_as_they_are_seen(name: str, expected: list[str]) -> None:
    found = bag(b"From: " + name.encode() + b" <ann@river.example>\n\n").header
    assert [token for token in expected if "from:" + token not in found] == []
    assert len([token for token in found if token == "from:paypal"]) == 1
    assert found.count("from:ann@river.example") == 1


def test_a_subject_is_read_in_the_order_it_is_seen() -> None:
    assert "subject:paypal" in bag("Subject: \u202elaPyaP\u202c now\n\n".encode()).header


@pytest.mark.parametrize("name", ["date", "x-originalarrivaltime", "x-ms-userlastlogontime"])
def test_when_a_mail_was_sent_or_came_is_no_evidence(name: str) -> None:
    first, second = [
        bag(f"{name}: {text} +0200 (UTC)\n\n".encode()).header
        for text in ("03 Jun 2024 10:00:51.0636", "28 Sep 2026 21:43:07.9491")
    ]
    assert first == second


def test_day_month_and_queue_numbers_are_left_out() -> None:
    found = bag(b"Received: by mx.lake.example id 4C2F81A09; Mon, 3 Jun 2024 10:00:05 +0200\n\n").header
    assert {"received:mon", "received:jun", "received:2024", "received:4c2f81a09"} & set(found) == set()


SIGNATURE = "aZ3+/q" * 12


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"a=rsa; d=lake;\n b={SIGNATURE}\n {SIGNATURE}/w==", ["rsa", "lake"]),
        (SIGNATURE, []),
        ("===============65759890509970442== " * 2, []),
        (f"café {SIGNATURE} soup", ["café", "soup"]),
        ("aZ3pearsaZ3pearsaZ3pear", ["az3pearsaz3pearsaz3pear"]),
        ("Microsoft-Outlook-Express-6 Mozilla/5.0", ["microsoft-outlook-express-6", "mozilla", "5.0"]),
        ("PEARSANDAPPLESANDPLUMS2024 00000000a0da2b0645131886", ["pearsandapplesandplums2024"]),
        ("ThisIsOneLongWordWithoutDigits", ["thisisonelongwordwithoutdigits"]),
        ("/this/is/the/path/of/a/file/2024 " + "-" * 40, ["path", "2024"]),
    ],
)
def test_signatures_and_other_codes_in_a_field_are_no_words(value: str, expected: list[str]) -> None:
    found = bag(f"X-Note: {value}\n{FROM_TO_SUBJECT.decode()}\n".encode()).header
    assert {f"x-note:{word}" for word in expected} <= set(found)
    codes = ("x-note:az3", "x-note:65759890509970442")
    assert not [token for token in found if "az3+" in token or "skip=" in token or token in codes]


def test_a_field_full_of_codes_takes_linear_time() -> None:
    field = "X-Note: " + "\n ".join(f"{SIGNATURE[:40]}{number}" for number in range(4_000))
    start = time.process_time()
    assert bag(field.encode() + b"\n" + FROM_TO_SUBJECT + b"\n").header
    assert time.process_time() - start < 2


def test_a_field_of_the_way_without_a_time_is_read_whole() -> None:
    found = bag(b"Received: from hill.example by mx.lake.example\n\n").header
    assert {"received:hill.example", "received:mx.lake.example"} <= set(found)


# Parts

ATTACHED = (
    b"Content-Type: multipart/mixed; boundary=z\n\n--z\n\nsee\n--z\nContent-Type: application/zip\n"
    b'Content-Disposition: attachment; filename="Big Invoice.pdf.exe"\n\nMZ\x90\x00\n--z--\n'
)


def test_attachments_give_name_endings_type_and_true_kind() -> None:
    found = structure(ATTACHED)
    assert {"ending=exe", "ending=pdf.exe", "file=big", "magic=exe", "disposition=attachment"} <= set(found)
    assert any(token.startswith("attached=application/zip:") for token in found)


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("Invoice.pdf" + " " * 300 + ".exe", {"ending=exe", "ending=pdf.exe", "file=invoice"}),
        ("Invoice.exe. .", {"ending=exe", "file=invoice"}),
        ("Invoice.html  ", {"ending=html", "file=invoice"}),
        ("Invoice\u202efdp.exe", {"ending=exe", "file=invoicefdp", "file=#zero-width"}),
        ("In\u200bvoice.exe", {"ending=exe", "file=invoice", "file=#zero-width"}),
        ("\u200bInvoicé.exe", {"ending=exe", "file=invoicé"}),
    ],
)
def test_a_file_name_is_read_as_it_is_opened_and_what_hides_its_ending_is_told(
    name: str, tokens: set[str]
) -> None:
    found = structure(ATTACHED.replace(b"Big Invoice.pdf.exe", name.encode()))
    names = {token for token in found if token.startswith(("ending=", "file="))}
    assert names - {"file=pdf", "file=invoice.pdf"} == tokens


def test_hidden_text_is_evidence_of_the_structure_not_of_the_body() -> None:
    found = bag(b"Content-Type: text/html\n\n<p>seen<p style='display:none'>unseen")
    assert found.body == ["seen"]
    assert "hidden=unseen" in found.structure


def test_what_stands_for_a_picture_is_evidence_of_the_structure_not_of_the_body() -> None:
    found = bag(b"Content-Type: text/html\n\n<p>seen<img src=cid:1 alt='Cheap pills'>")
    assert found.body == ["seen"]
    assert {"alt=cheap", "alt=pills"} <= set(found.structure)


SCRIPTS = [
    ("words, each once", "window.Location = x; location.reload()", ["window", "location", "reload"], ""),
    ("names made anew", "var _0x3f2a = $b7, aZ3q = A1; go(_q)", ["var"], ""),
    ("base64", 'atob("' + "aZ3+/q" * 12 + '")', ["atob"], ""),
    (
        "an address",
        'location.href="https://www.lake.example/x"',
        ["location", "href", "https"],
        "lake.example",
    ),
    ("escaped", 'unescape("%3Ca%20href%3Dhttps%3A%2F%2Fwww.lake.example")', ["unescape"], "lake.example"),
    ("in base64", 'atob("aHR0cHM6Ly93d3cubGFrZS5leGFtcGxl")', ["atob"], "lake.example"),
]


@pytest.mark.parametrize(("why", "script", "words", "host"), SCRIPTS, ids=[row[0] for row in SCRIPTS])
def test_a_script_gives_its_words_and_hosts(why: str, script: str, words: list[str], host: str) -> None:
    found = bag(f"Content-Type: text/html\n\n<script>{script}</script><p>pears".encode())
    assert found.body == ["pears"]
    tokens = [token.removeprefix("script=") for token in found.structure if token.startswith("script=")]
    assert tokens[: len(words)] == words
    assert [token for token in found.structure if token == "url=" + host] == ["url=" + host] * bool(host)


@pytest.mark.parametrize("piece", ["%25", "aHR0c", "://", "go();", "x1 ", "/+="])
def test_a_long_script_takes_linear_time(piece: str) -> None:
    page = "Content-Type: text/html\n\n<script>" + piece * (1_000_000 // len(piece))
    start = time.process_time()
    assert len(structure(page.encode())) < 400
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("page", "token"),
    [
        ("<p style='display:none'>news of the week</p>tea", "hidden=#"),
        ("<table><tr><td height=20 style='font-size:1px;line-height:1px'>&nbsp;</table>tea", "hidden=#blank"),
        ("<div style='display:none'><img src=http://lake.example/1.gif></div>tea", "hidden=#blank"),
        ("<div style='display:none'>&nbsp;&zwnj;&nbsp;&#847;</div>tea", "hidden=#blank"),
        ("<p>tea", ""),
    ],
)
def test_space_that_is_hidden_is_no_hidden_text(page: str, token: str) -> None:
    found = bag(b"Content-Type: text/html\n\n" + page.encode()).structure
    assert [text for text in found if text.startswith("hidden=#")] == [token] * bool(token)


ALTERNATIVE = (
    b"Content-Type: multipart/alternative; boundary=b\n\n"
    b"--b\n\n%s\n--b\nContent-Type: text/html\n\n%s\n--b--\n"
)


@pytest.mark.parametrize(
    ("text", "page", "body", "differs"),
    [
        (b"pears for sale", b"<p>pears for <b>sale</b>", ["pears", "for", "sale"], False),
        (b"pears for sale http://lake.example", b"<p>pears for sale", ["pears", "for", "sale"], False),
        (b"minutes of our meeting", b"<p>pears for sale", ["pears", "for", "sale"], True),
        (b"pears for sale", b"<img src=http://lake.example/1.png>", [], True),
        (b"pears for sale", b"<p> </p>", ["pears", "for", "sale"], False),
        (b"", b"<p>pears", ["pears"], False),
    ],
)
def test_of_alternatives_what_a_reader_shows_is_the_text(
    text: bytes, page: bytes, body: list[str], differs: bool
) -> None:
    found = bag(ALTERNATIVE % (text, page))
    assert found.body == body
    assert ("alternative=#differs" in found.structure) is differs


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/calendar; method=REQUEST", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSTATUS:CONFIRMED\nSUMMARY:Tea"),
        ("text/x-amp-html", "<!doctype html><html amp4email><style>b{color:red}</style><b>Tea</b>"),
    ],
)
def test_an_invitation_or_a_page_that_lives_makes_no_text_differ(kind: str, text: str) -> None:
    mail = ALTERNATIVE % (b"Tea at five", b"<p>Tea at five")
    whole = mail.replace(b"--b--", b"--b\nContent-Type: %s\n\n%s\n--b--" % (kind.encode(), text.encode()))
    assert "type=" + kind.partition(";")[0] in bag(whole).structure
    assert bag(whole).body == ["tea", "at", "five"]
    assert "alternative=#differs" not in bag(whole).structure


def test_the_tokens_of_each_part_stand_together_and_those_of_what_is_left_out_last() -> None:
    page = "<b>other wo\u200brds http://b.example/"
    mail = (
        "Content-Type: multipart/alternative; boundary=b\n\n--b\n\none two three\n"
        f"--b\nContent-Type: text/html\n\n{page}\n--b\nContent-Type: application/pdf\n\nx\n--b--\n"
    )
    wanted = ["url=b.example", "zero-width=#", "attached=application/pdf:1", "alternative=#differs"]
    assert [token for token in bag(mail.encode()).structure if token in wanted] == wanted


def test_a_long_text_that_is_not_shown_keeps_no_page_unread() -> None:
    found = bag(ALTERNATIVE % (b"minutes " * (MAX_TOKENS + 1), b"<p>pears"))
    assert found.body == ["pears"]


def test_a_link_that_names_another_host_is_told() -> None:
    lie = b'Content-Type: text/html\n\n<a href="http://evil.example/">http://www.bank.example</a>'
    true = lie.replace(b"evil.example", b"www.bank.example")
    assert "link=#disagrees" in structure(lie)
    assert "link=#disagrees" not in structure(true)


@pytest.mark.parametrize(
    ("target", "text", "expected"),
    [
        ("http://evil-bank.example/", "www.bank.example", True),
        ("http://evil.example\\@bank.example/", "bank.example", True),
        ("http://evil.example?@bank.example/", "bank.example", True),
        ("http://www.bank.example/", " Bank.example ", False),
        ("http://bank.example.", "bank.example", False),
        ("http://bank.example?x=1", "http://bank.example/login", False),
        ("http://bank.example:8080/", "bank.example#top", False),
        ("http://evil.example/", "click at www.bank.example", False),
        ("http://evil.example/", "ann@bank.example", False),
    ],
)
def test_what_disagrees_is_the_name_not_its_spelling(target: str, text: str, expected: bool) -> None:
    assert disagrees(target, text) is expected


def test_inside_a_forwarded_message_subject_and_sender_are_words_of_the_body() -> None:
    found = bag(b"Content-Type: message/rfc822\n\nSubject: inner pears\nFrom: ida@lake.example\n\nsoup\n")
    assert {"inner", "pears", "ida@lake.example", "soup"} <= set(found.body)


def test_inside_a_forwarded_message_other_fields_are_no_words_of_the_body() -> None:
    found = bag(b"Content-Type: message/rfc822\n\nSubject: pears\nTo: ida@lake.example\n\nsoup\n")
    assert sorted(found.body) == ["pears", "soup"]


# What no message can do


def check(found: Bag, seen: dict[str, int]) -> None:
    for view, tokens in enumerate(found.views()):
        assert len(tokens) <= MAX_TOKENS
        for token in tokens:
            assert token.split() == [token], "white space"
            assert len(token) <= MAX_TOKEN
            assert seen.setdefault(token, view) == view, "in two views"


def test_the_longest_token_is_a_pair_of_addresses() -> None:
    address = "a@" + "b" * (2 * MAX_WORD - 2)
    tokens = all_tokens(bag(f"Subject: {address} {address}\n\n".encode()))
    assert max(map(len, tokens)) == MAX_TOKEN - 1
    specification = Path(__file__).parent.parent / "docs" / "tokens.md"
    assert f"at most {MAX_TOKEN} characters" in specification.read_text(encoding="utf-8")


def test_real_tokens_hold_no_white_space_and_belong_to_one_view(data: Path, spamassassin: Path) -> None:
    files = [path for path in sorted(data.rglob("*")) if path.is_file()]
    files += [path for path in sorted(spamassassin.rglob("*")) if path.is_file()][::6]
    seen: dict[str, int] = {}
    for path in files:
        check(tokenize(parse(path.read_bytes())), seen)
    assert {0, 1, 2} <= set(seen.values())


def test_broken_mail_gives_sound_tokens(torture_files: list[Path]) -> None:
    seen: dict[str, int] = {}
    for path in torture_files:
        check(tokenize(parse(path.read_bytes())), seen)
    assert len(seen) > 10_000


@settings(deadline=None, max_examples=max(300, settings().max_examples))
@given(st.binary(max_size=400), st.text(max_size=200))
def test_no_bytes_and_no_text_break_the_tokenizer(raw: bytes, text: str) -> None:
    written = text.encode("utf-8", "surrogatepass")
    for data in (raw, b"Subject: " + raw + b"\n\n" + raw, b"Content-Type: text/html\n\n" + written,
                 b"Content-Type: text/plain; charset=utf-8\n\nhttp://" + written):  # fmt: skip
        check(bag(data), {})


@settings(deadline=None, max_examples=max(300, settings().max_examples))
@given(st.text(alphabet="a1.,@-_'$%/:?# \u0430手", max_size=300))
def test_words_are_bounded(text: str) -> None:
    assert all(0 < len(word) <= 2 * MAX_WORD for word in words(text, 100))


HOSTILE = {
    "one long word": b"x" * 400_000,
    "many words": b"ab " * 130_000,
    "digits and full stops": b"1." * 200_000,
    "an address without end": b"a@" + b"1." * 200_000,
    "letters and full stops": b"a." * 200_000,
    "commas": b"ab," * 130_000,
    "lone letters": b"a " * 200_000,
    "joiners": b"-" * 400_000,
    "addresses": b"a@b." * 100_000,
    "urls": b"http://a.b/" * 36_000,
    "colons": b"://" * 130_000,
    "Chinese": "手".encode() * 130_000,
    "zero width": "a\u200b".encode() * 100_000,
    "links": b"<a href=http://a.b.c.d.example/x?y=z>t</a>" * 9_000,
    "mixed": "pаypаl.".encode() * 40_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "head", [b"", b"Content-Type: text/html; charset=utf-8\n\n", b"Subject: ", b"From: "]
)
def test_hostile_text_costs_no_more_than_its_length(name: str, head: bytes) -> None:
    text = HOSTILE[name]
    message = parse(head + text + b"\n")
    start = time.process_time()
    check(tokenize(message), {})
    assert time.process_time() - start < 5  # quadratic loops over this much take minutes


def memories() -> list[Memory[str, object]]:
    """All that the tokenizer remembers."""
    modules = [module for name, module in sys.modules.items() if name.startswith("nbspam.tokens")]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Memory)]


def test_what_is_remembered_is_bounded() -> None:
    """A long chunk, a whole mail perhaps, is not kept for ever."""
    words("z" * 100_000 + " " + "y.x" * 50_000 + " don't", 10)
    module = sys.modules["nbspam.tokens.words"]  # `words` of the package is the function
    assert "don't" in module._known
    assert max(map(len, module._known)) <= module.MAX_KNOWN_CHUNK


def test_a_memory_keeps_short_texts_and_starts_anew_when_it_is_full() -> None:
    asked: list[str] = []

    def work(text: str) -> int:
        asked.append(text)
        return len(text)

    memory = Memory(work, 2, 3)
    assert [memory[text] for text in ("a", "long", "bb", "a", "long", "ccc", "a")] == [1, 4, 2, 1, 4, 3, 1]
    assert asked == ["a", "long", "bb", "long", "ccc", "a"]
    assert set(memory) == {"ccc", "a"}


def test_a_table_of_characters_starts_anew_when_it_is_full() -> None:
    table = CharacterTable(chr)
    text = "".join(map(chr, range(0x10000, 0x10000 + 2 * MAX_CHARACTERS)))
    assert text.translate(table) == text
    assert 0 < len(table) <= MAX_CHARACTERS


def test_the_tokens_are_the_same_whatever_was_read_before(data: Path) -> None:
    files = [path for path in sorted(data.rglob("*")) if path.is_file()][:120]
    for memory in memories():  # of the tests before this one
        memory.clear()
    for path in files:
        bag(path.read_bytes())
    assert sum(map(len, memories())) > 1_000
    knowing = [all_tokens(bag(path.read_bytes())) for path in files]
    for path, tokens in zip(files, knowing, strict=True):
        for memory in memories():
            memory.clear()
        assert all_tokens(bag(path.read_bytes())) == tokens


@pytest.mark.parametrize("kind", [b"plain", b"html"])
def test_letters_turned_round_are_read_as_they_are_seen(kind: bytes) -> None:
    mail = "buy \u202esraep elas\u202c now\n\u202eeht ekal\n".encode()
    found = bag(b"Content-Type: text/" + kind + b"; charset=utf-8\n\n" + mail)
    assert found.body == ["buy", "sale", "pears", "now", "lake", "the"]
    assert "zero-width=#" in found.structure
