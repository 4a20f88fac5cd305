"""How rare each letter beyond ASCII is in a language and charset: the table of nbspam.mail.guess.

Made by experiments/letter_costs.py from the messages of free programs in these languages.  A row is a codec,
its languages, and a digit in base 36 for each byte from 0x80 on: -3 log2 of the share of the letter among
those beyond ASCII, at most 30; 1 more for a capital; 10 or 20 for other characters, 35 for control characters
and bytes without meaning.
"""

_SCRIPTS = """
    cp1253 el
    kzkukkkkzkzkzzzzzkkkkkkkzkzkzzzzkkjkkkkkkkzckkkkkkkkkukkiihciklo
    ubohhcrfkdghfdqcfezecgljukvvihhguanggbqejcfgecpbedfdbfkitjuuhknz
    cp1255 he
    kzkukkkkukzkzzzzzkkkkkkkkkzkzzzzkkkkkkkkkkkckkkkkkkkkukkkkkckkkk
    kkkkkkkkkkzkkkkkkkkkuuukkzzzzzzzdehgcalhi9nhbhcidhhrgnjfddbzzkkz
    cp1256 ar
    kukukkkkukukuuuuukkkkkkkukukukkukkkkkkkkkkuckkkkkkkkkukkkkkckkkk
    upuisjp8gednjhjfjdmglilkjrflufhhu9ubejeuuuuumbuukkkkukkkkukuukku
    cp874 th
    kzzzzkzzzzzzzzzzzkkkkkkkzzzzzzzzkdhuiuufiujpusuuuuuofgkhsegiouil
    sdgduguhuuhiuduujgcjhgqjljuzzzzkegokguumdeuukuukkkkkkkkkkkkkzzzz
    cp1251 ru
    uukukkkkkkukuuuuukkkkkkkzkukuuuukuuukukktkuckkkukkuuuukkskucuuuu
    cjflgblicjgfgcbgeedhnnnkooviisnibiekfakhbifefbafddcgmmmjnnuhhrmh
    koi8_u ru
    kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkksukuukkkkkukkkkktukuukkkkkukk
    mbimfamkmbifefbafhddcgkehhhnrnjuncjngbnlncjgfgcbgieedhlfiiiosokv
    koi8_u uk
    kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkumkdpkkkkkukkkkkunkeqkkkkkvkk
    mbjlecmkmcjeefbbegdedflckugnupjunckmfdnlndkffgccfhefegmdluhouqku
    iso8859_5 ru
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzktuuuuuuuuuuukuucjflgblicjgfgcbg
    eedhnnnkooviisnibiekfakhbifefbafddcgmmmjnnuhhrmhksuuuuuuuuuuukuu
    cp866 ru
    cjflgblicjgfgcbgeedhnnnkooviisnibiekfakhbifefbafuuuuuuuuuuuuuuuu
    uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuddcgmmmjnnuhhrmhtsuuuuuuuuuuuuuu
    iso8859_6 ar
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzkzzzkzzzzzzzkkzzzzzzzzzzzzzkzzzk
    zpuisjp8gednjhjfjdmgliljrflzzzzzufhh9bejembkkkkkkkkzzzzzzzzzzzzz
    """
_LATIN = """
    cp1252 de
    gzgugggguguguzuzzggggggggguguzuugggaggaagauagaagaggggugagguagggg
    uuuu7uuuuvuuuuuuvuuuuv9gvuuu4uucuuuu6uuuuuuuuuuuuuuuuu8guuuu3uuu
    cp1252 fr
    gzguggggugvgvzuzzggggggggguguzuvgggaggaagauagaagaggggugagguagggg
    cupuuuvod2dvuujvvuuuiuugutuuvuuubuouuuunc1cuuuiuuuuuhuugusutuuuu
    cp1252 es-pt
    gzguggggugugvzuzzggggggggguguzuugggaggaagauagaagaggggugaggqagggg
    q8q9uuubudluvauuvhv7vivguvduvuuup7p8uuuauckuu9uuugu6uhuguucuuuuu
    cp1252 sv-fi
    gzguggggugvguzvzzggggggggguguzuugggaggaagauagaagaggggugagguagggg
    vuuu39uuuvuuuuuuvuuuuu7guuvuuuuuuuuu28uuuuuuuuuuuuuuuu6guuuuuuuu
    cp1252 da
    gzgugggguguguzuzzggggggggguguzuugggaggaagauagaagaggggugagguagggg
    uuuuu75uufuuuuuuvuuuuuvg6uuuuuuuuuuuu64uueuuuuuuuuuuuuug5uuuuuuu
    cp1252 it
    gzgugggguguguzuzzggggggggguguzuugggaggaagauagaagaggggugagguagggg
    8uuuuuuu3fuuouuuvubuuuugucuuuuuu7uuuuuuu2euunuuuuuauuuugubuuuuuu
    cp1252 is
    gzgugggguguguzuzzggggggggguguzuugggaggaagauagaagaggggugagguagggg
    u8uuuubuujuuubuu6uuduudguueuugduu7uuuuauuiuuuauu5uucuucguuduufcu
    cp1252 nl
    gzguggggugvgvzuzzggggggggguguzuugggaggaagauagaagaggggugagguagggg
    uvuvuuuus5u6uvu7vuueuuqguuuuvuuuuuuuuuuur4u5uuu6uuuduupguuuuuuuu
    cp1254 tr
    kzkukkkkukukuzzzzkkkkkkkkkukuzzukkkkkkkkkkuckkkkkkkkkukkkkuckkkk
    uuvuuuuauvuuuuvubuuuuudkuuuuau9uuuuuuuu9uuuuuuuuauuuuuckuuuu938u
    cp1250 pl
    kzkzkkkkzkukauujzkkkkkkkzkuk9uuikuk8kakkkkuckkk9kkk7kukkk9ucuku8
    uuuuuubuuvauuuuuvgubuuvkuuuuuuuuuuuuuuauuu9uuuuuufuauuukuuuuuuuk
    cp1250 cs-sk
    kzkzkkkkzkfkugcuzkkkkkkkzkekufbukukukukkkkuckkkukkkukukkkuucjkiu
    v8uurtvubcuuf8usvuonquvkcifuvcuuu7uuqsuuabuue7uruunmpuukbheuubuk
    cp1250 hu
    kzkzkkkkzkukuuuuzkkkkkkkzkukuuuukukukukkkkuckkkukkkukukkkuucukuu
    u6uuuuuuu7uuubuuvuubuddkuuhjfuuuu5uuuuuuu6uuuauuuuuaucckuugieuuk
    cp1250 ro
    kzkzkkkkzkukuuuuzkkkkkkkzkukuuuukukukukkkk9ckkkukkkukukkku8cukuu
    uuf4uuuuuuuuuubuvuuuuuukuuuuuu8uuue3uuuuuuuuuuauuuuuuuukuuuuuu7k
    cp1250 hr-sl
    kzkzkkkkzk7kuu9uzkkkkkkkzk6kuu8ukukukvkkkkuckkkukkkukukkkuucukuu
    uvuuuubu5vuuuuuueuuuquukuuuuuuuuuuuuuuau4uuuuuuuduuupuukuuuuuuuk
    iso8859_2 pl
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzkak8kuakkuuujku9k9k7ku9ukuuuiku8
    uuuuuubuuvauuuuuvgubuuvkuuuuuuuuuuuuuuauuu9uuuuuufuauuukuuuuuuuk
    iso8859_2 cs-sk
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzkukukjukkfugukcukukukiuukeufukbu
    v8uurtvubcuuf8usvuonquvkcifuvcuuu7uuqsuuabuue7uruunmpuukbheuubuk
    iso8859_2 hr-sl
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzkvkukuukk7uuuk9ukukukuuuk6uuuk8u
    uvuuuubu5vuuuuuueuuuquukuuuuuuuuuuuuuuau4uuuuuuuduuupuukuuuuuuuk
    cp1257 lt
    kzkzkkkkzkzkzkukzkkkkkkkzkzkzkkzkzkkkzkkukuckkkukkkkkukkukuckkku
    bbuuuuhueuu8uuuu7uuuuuukauufuubuaauuuuguduu7uuuu6uuuuuuk9uueuuak
    cp1257 lv
    kzkzkkkkzkzkzkukzkkkkkkkzkzkzkkzkzkkkzkkukvckkkukkkkkukkukuckkku
    uu6uuuu8vuuunj8ebuguuuukuuufuukuuu5uuuu7uuuumi7daufuuuukuuueuujk
    cp1252 et
    gzguggggugtguzrzzgggggggggsguzqugggaggaagauagaagaggggugagguagggg
    uuuu5uuuuuuuuuuuuuuuu6fguuuu7uuuuuuu4uuuuuuuuuuuuuuuu5eguuuu6uuu
    """


def _parse_rows(text: str) -> list[tuple[str, bytes]]:
    words = iter(text.split())
    rows = zip(words, words, words, words, strict=True)
    return [
        (codec, bytes(128) + bytes([int(digit, 36) for digit in low + high])) for codec, _, low, high in rows
    ]


# (codec, cost of each byte in thirds of a bit, 0 for ASCII); of Latin letters the Western charset is first.
SCRIPTS = _parse_rows(_SCRIPTS)
LATIN = _parse_rows(_LATIN)
