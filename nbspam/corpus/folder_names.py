"""What mail programs call their folders of junk, trash, drafts and sent mail, in more than 30 languages.

The names are those of Gmail, Outlook, Thunderbird, Apple Mail and large providers.  They are compared without
case, accents and hyphens.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from binascii import Error

JUNK, TRASH, DRAFTS, SENT, OUTBOX, TEMPLATES = "junk", "trash", "drafts", "sent", "outbox", "templates"
UNCLEAR = "unclear"  # perhaps junk
_NAMES = {
    JUNK: """
        spam, junk, junk mail, junk e-mail, junk email, bulk mail, spam mail, spambox, spamverdacht,
        junk-e-mail, unerwünscht, unerwünschte werbung, pourriel, pourriels, indésirables,
        courrier indésirable, correo no deseado, correo basura, no deseado, correo electrónico no deseado,
        posta indesiderata, indesiderata, lixo eletrônico, correio eletrônico não solicitado,
        correio não desejado, publicidade não solicitada, lixo electrónico, ongewenst, ongewenste e-mail,
        ongewenste reclame, skräppost, skräp, uønsket e-mail, uønsket mail, søppelpost, uønsket e-post,
        roskaposti, roskapostit, wiadomości-śmieci, wiadomości śmieci, niechciane, nevyžádaná pošta,
        nevyžádané, hromadná pošta, nevyžiadaná pošta, levélszemét, mesaje nedorite, e-mail nedorit,
        нежелана поща, спам, нежелательная почта, небажана пошта, небажана, neželjena e-pošta,
        neželjena pošta, нежељена пошта, neželena pošta, vsiljena pošta, rämpspost, mēstules, brukalas,
        šlamštas, nepageidaujami, ανεπιθύμητη αλληλογραφία, ανεπιθύμητα, gereksiz, gereksiz e-posta,
        istenmeyen, önemsiz e-posta, önemsiz, דואר זבל, זבל, البريد غير الهام, البريد العشوائي, بريد مزعج,
        غير مرغوب فيه, هرزنامه, スパム, 迷惑メール, 迷惑メールフォルダ, 垃圾邮件, 垃圾郵件, 广告邮件,
        廣告郵件, 정크 메일, 정크, 스팸, 스팸 메일함, 스팸메일함, thư rác, จดหมายขยะ, อีเมลขยะ, สแปม,
        sampah e-mail, email sampah, correu brossa, brossa, zabor-posta, zabor""",
    TRASH: """
        trash, deleted, deleted items, deleted messages, bin, wastebasket, rubbish, papierkorb, gelöscht,
        gelöschte elemente, gelöschte objekte, corbeille, poubelle, éléments supprimés,
        messages supprimés, supprimés, papelera, elementos eliminados, mensajes eliminados, eliminados,
        cestino, posta eliminata, messaggi eliminati, eliminata, lixeira, lixo, itens excluídos,
        itens eliminados, mensagens excluídas, prullenbak, verwijderde items, papperskorg, papperskorgen,
        borttaget, borttagna objekt, papirkurv, slettet post, slettede elementer, søppel, slettede,
        roskakori, poistetut, kosz, elementy usunięte, usunięte, koš, odstraněná pošta, odstranená pošta,
        kôš, kuka, lomtár, törölt elemek, coș de gunoi, coș, elemente șterse, șterse, кошче, изтрити,
        корзина, удаленные, удаленные элементы, удалённые, кошик, видалені, smeće, otpad,
        izbrisane stavke, izbrisano, izbrisano iz nabiralnika, prügikast, miskaste, atkritne, šiukšlinė,
        ištrinti, κάδος, κάδος απορριμμάτων, απορρίμματα, διαγραμμένα, çöp kutusu, çöp, silinmiş öğeler,
        silinmiş, אשפה, פריטים שנמחקו, سلة المهملات, المهملات, العناصر المحذوفة, زباله دان, ゴミ箱,
        ごみ箱, 削除済みアイテム, 已删除邮件, 已删除, 已刪除郵件, 废件箱, 垃圾桶, 휴지통, 지운 편지함,
        thùng rác, ถังขยะ, รายการที่ถูกลบ, sampah, paperera, elements suprimits, zakarrontzia""",
    DRAFTS: """
        drafts, draft, entwürfe, entwurf, brouillons, brouillon, borradores, bozze, rascunhos, concepten,
        utkast, kladder, kladde, udkast, luonnokset, kopie robocze, robocze, szkice, wersje robocze,
        koncepty, rozepsané, rozpísané, piszkozatok, ciorne, schițe, чернови, черновики, чернетки, skice,
        nacrti, osnutki, нацрти, mustandid, melnraksti, juodraščiai, πρόχειρα, taslaklar, טיוטות,
        المسودات, مسودات, پیش نویس, 下書き, 草稿, 草稿箱, 草稿夹, 임시 보관함, 임시보관함, thư nháp,
        bản nháp, ร่างจดหมาย, แบบร่าง, draf, konsep, esborranys, zirriborroak""",
    SENT: """
        sent, sent items, sent messages, sent mail, gesendet, gesendete objekte, gesendete elemente,
        envoyés, éléments envoyés, messages envoyés, objets envoyés, enviados, elementos enviados,
        mensajes enviados, correo enviado, inviata, posta inviata, inviati, itens enviados,
        mensagens enviadas, verzonden, verzonden items, skickat, skickade, skickade objekt, sendt,
        sendt post, sendte elementer, sendte, lähetetyt, wysłane, elementy wysłane, odeslaná pošta,
        odeslané, odoslaná pošta, odoslané, elküldött elemek, elküldött, trimise, elemente trimise,
        mesaje trimise, изпратени, отправленные, отправленные элементы, надіслані, poslano,
        poslane stavke, poslana pošta, poslato, послато, saadetud, nosūtītie, išsiųsti, išsiųsta,
        απεσταλμένα, gönderilmiş öğeler, gönderilmiş, gönderilen, פריטים שנשלחו, נשלח, العناصر المرسلة,
        المرسلة, البريد المرسل, فرستاده شده, 送信済み, 送信済みメール, 送信済みアイテム, 已发送邮件,
        已发送, 已寄出, 寄件備份, 寄件备份, 보낸 편지함, 보낸편지함, 보낸 메일함, thư đã gửi, đã gửi,
        ส่งแล้ว, รายการที่ถูกส่ง, จดหมายที่ส่ง, terkirim, item terkirim, enviats, elements enviats,
        bidaliak""",
    OUTBOX: "outbox, unsent messages, postausgang, boîte d'envoi, bandeja de salida, posta in uscita",
    TEMPLATES: "templates, vorlagen, modèles, plantillas, modelli, modelos, sjablonen, mallar, szablony",
}  # fmt: skip
# What may be part of the name of a folder of junk, in the same spelling.
_SMELLS = re.compile(
    r"spam|junk|quarant|karant|cuarenten|bulk|phish|scam|virus|malware|unwanted|unsolicit|undesir|indesir"
    r"|no desea|no desej|ongewenst|unerwunscht|uonsket|uønsket|skrapp|søppelp|roskap|nevyz|pourri|спам"
    r"|карантин|нежелан|нежелат|迷惑|垃圾|스팸|隔離|隔离"
)


def recognise(name: str) -> str:
    """JUNK, TRASH ... of a mail folder, or of a folder around it; '' if no name says it.

    name : decoded, parts between `.` or `/`
    UNCLEAR is the kind of a name that looks like junk, but is not known.
    """
    keys = [_normalise(part) for part in re.split("[./]", name)]
    kinds = [_KINDS[key] for key in keys if key in _KINDS]
    if kinds:
        return next((kind for kind in kinds if kind != JUNK), JUNK)  # junk that was deleted is trash
    return UNCLEAR if _SMELLS.search(_normalise(name)) else ""


def decode_name(name: str) -> str:
    """The name of a mail folder as people read it: `Entw&APw-rfe` is Entwürfe.

    Source: RFC 3501, section 5.1.3 (modified UTF-7).  Other text stays.
    """

    def text_of(code: re.Match[str]) -> str:
        padded = code[1].replace(",", "/") + "=" * (-len(code[1]) % 4)
        try:
            return b64decode(padded, validate=True).decode("utf-16-be") if code[1] else "&"
        except (Error, UnicodeDecodeError):
            return code[0]

    return re.sub("&([A-Za-z0-9+,]*)-", text_of, name)


def _normalise(name: str) -> str:
    """A name without what differs from program to program: case, accents, hyphens and blanks."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    kept = "".join(one for one in letters if not unicodedata.combining(one))
    return " ".join(re.sub("[-_\u2019']", " ", kept).split())


_KINDS = {_normalise(name): kind for kind, names in _NAMES.items() for name in names.split(",")}
