"""Letters of one script that pose as those of another: seen as they look.

Hides which look alike, and when that is a disguise and not another language.
"""

from __future__ import annotations

# Letters that look like Latin ones in a mail font, small or capital, by their small form: after case
# folding the capitals of н and в stand for H and B.  From Unicode's confusables; letters that physics and
# biology put before Latin words (β, γ, ε, μ, ω) are left out.
_LOOKALIKES = str.maketrans(
    "авеғԁһіјкӏмнорԛгѕстхуԝѡѵ" + "αικνορτυ" + "օոցսհյզ" + "ɑɡ",
    "abefdhijklmhopqrsctxywwv" + "aikvoptu" + "onguhjq" + "ag",
)
# Cherokee and Lisu, which have the forms of Latin capitals.
_LOOKALIKES.update(str.maketrans("ᎪᏴᏟᎠᎬᏀᎻᎥᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏔᎩᎽᏃ", "abcdeghiijklmprstvwwyyz"))
_LOOKALIKES.update(str.maketrans("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcdefghijklmnoprstuvwxyz"))
# Capitals that look like Latin ones and whose small letters do not, as a letter of the table above.
_CAPITALS = str.maketrans("ΒΕΖΗΜΝΥΧ", "веᴢнмոух")
# Small capitals, which phonetics has among other letters: alone, or with Latin ones, they are a way to write.
_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"
_LOOKALIKES.update(str.maketrans(_SMALL_CAPITALS, "abcdefghijklmnopqrstuvwyz"))
_LATIN = frozenset(_SMALL_CAPITALS) | frozenset("abcdefghijklmnopqrstuvwxyz")
# Latin letters that look like Cyrillic ones, in Cyrillic words; capitals that do by their small form.
_POSING_AS_CYRILLIC = str.maketrans("abcehikmoptxy", "авсенікмортху")
_CYRILLIC = ("\u0400", "\u052f")


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
    latin = chunk.translate(_LOOKALIKES)
    if latin != chunk and all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in latin):
        return latin
    if _CYRILLIC[0] <= max(chunk) <= _CYRILLIC[1]:
        cyrillic = chunk.translate(_POSING_AS_CYRILLIC)
        if _LATIN.isdisjoint(cyrillic):
            return cyrillic
    return chunk
