"""Letters of one script that pose as those of another: seen as they look.

Hides which look alike, and when that is a disguise and not another language.
"""

from __future__ import annotations

from unicodedata import normalize

# Letters that look like Latin ones in a mail font, small or capital, by their small form: after case
# folding the capitals of н and в stand for H and B.  From Unicode's confusables; letters that physics and
# biology put before Latin words (β, γ, ε, μ, ω) are left out.
_LOOKALIKES = str.maketrans(
    "авеғԁһіјкӏмнорԛгѕстхуԝѡѵ" + "αικνορτυ" + "օոցսհյզ" + "ɑɡ",
    "abefdhijklmhopqrsctxywwv" + "aikvoptu" + "onguhjq" + "ag",
)
# Cherokee and Lisu, which have the forms of Latin capitals, and letters of the north of Canada.
_CHEROKEE, _LISU = "ᎪᏴᏟᎠᎬᏀᎻᎥᏆᎫᏦᏞᎷᏢᎡᏒᏚᎢᏙᎳᏔᎩᎽᏃ", "ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ"
_LOOKALIKES.update(str.maketrans(_CHEROKEE, "abcdeghiijklmprrstvwwyyz"))
_LOOKALIKES.update(str.maketrans(_LISU, "abcdefghijklmnoprstuvwxyz"))
_LOOKALIKES.update(str.maketrans("ᗩᗷᑕᗪᗴᖴᕼᒍᒪᗰᑎᑭᖇᔕᑌᐯᗯᘔ", "abcdefhjlmnprsuvwz"))
# Capitals that look like Latin ones and whose small letters do not, as a letter of the table above.
_CAPITALS = str.maketrans("ΒΕΖΗΜΝΥΧ", "веᴢнмոух")
# Small capitals, which phonetics has among other letters: alone, or with Latin ones, they are a way to write.
_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"
_LOOKALIKES.update(str.maketrans(_SMALL_CAPITALS, "abcdefghijklmnopqrstuvwyz"))
# What may make a word that looks like Latin: a whole one of Lisu is hardly ever Lisu.
_LATIN = frozenset(_SMALL_CAPITALS + _CHEROKEE + _LISU + "abcdefghijklmnopqrstuvwxyz")
# Latin letters that look like Cyrillic ones, in Cyrillic words; capitals that do by their small form.
_POSING_AS_CYRILLIC = str.maketrans("abcehikmoptxy", "авсенікмортху")
_CYRILLIC = ("\u0400", "\u052f")
_MARKS = (0x300, 0x370)  # where the marks are that any letter may have
# Letters of ASCII that are no letter of their own together with their marks: of no language has a word many.
_MIN_MARKED = 2
_MIN_HEAPED = 4  # letters of a word with three marks on two of them; in Yoruba a short one may have as many


def has_posing_capitals(text: str) -> bool:
    """Whether it has a capital that looks like a Latin one, and whose small letter does not."""
    return any(chr(code) in text for code in _CAPITALS)


def posing(chunk: str, joints: str = " -.,") -> str:
    """A text with its capitals as they look where Latin letters stand beside them and no other ones."""
    if joints:
        return joints[0].join([posing(piece, joints[1:]) for piece in chunk.split(joints[0])])
    if chunk.isascii() or _LATIN.isdisjoint(chunk):
        return chunk
    seen = chunk.translate(_CAPITALS)
    return seen if seen.casefold().translate(_LOOKALIKES).isascii() else chunk


def unmasked(chunk: str) -> str:
    """The chunk with letters that pose as those of another script as they look.

    Halves of a compound, as in Gmail-аккаунт, each have their own script; those of a host have one.
    """
    if "-" in chunk and "." not in chunk:
        return "-".join([unmasked(half) for half in chunk.split("-")])
    if chunk.isascii() or _LATIN.isdisjoint(chunk):
        return chunk
    chunk = _without_marks(chunk)
    latin = chunk.translate(_LOOKALIKES)
    if latin != chunk and all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in latin):
        return latin
    if _CYRILLIC[0] <= max(chunk) <= _CYRILLIC[1]:
        cyrillic = chunk.translate(_POSING_AS_CYRILLIC)
        if _LATIN.isdisjoint(cyrillic):
            return cyrillic
    return chunk


def _without_marks(chunk: str) -> str:
    """The chunk, which is composed, without its marks if it has more of them than any language writes."""
    if chunk.isalpha():  # a mark is no letter
        return chunk
    marks = [place for place, letter in enumerate(chunk) if _is_mark(letter)]
    letters = normalize("NFD", chunk)
    plain = "".join([letter for letter in letters if not _is_mark(letter)])
    on_ascii = {place - 1 for place in marks if place and chunk[place - 1].isascii()}
    on_most = len(on_ascii) >= _MIN_MARKED and 2 * len(on_ascii) >= len(plain)
    is_heaped = len(plain) >= _MIN_HEAPED and 2 * (len(letters) - len(plain)) >= 3 * len(plain)
    return plain if on_most or is_heaped else chunk


def _is_mark(letter: str) -> bool:
    return _MARKS[0] <= ord(letter) < _MARKS[1]
