"""What mail programs call their folders of junk, trash, drafts and sent mail, in more than 30 languages.

The names are those of Gmail, Outlook, Thunderbird, Apple Mail and large providers.  They are compared without
case, accents and hyphens.
"""

import re
import unicodedata
from base64 import b64decode
from binascii import Error

JUNK, TRASH, DRAFTS, SENT, OUTBOX, TEMPLATES = "junk", "trash", "drafts", "sent", "outbox", "templates"
COPIES = "copies of mail in other folders"  # All Mail, Important and Starred of Gmail
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
        sampah e-mail, email sampah, correu brossa, brossa, zabor-posta, zabor, istenmeyen e-posta,
        الرسائل العشوائية, spamowanie, 垃圾電郵""",
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
        thùng rác, ถังขยะ, รายการที่ถูกลบ, sampah, paperera, elements suprimits, zakarrontzia, deleted mail,
        articole șterse, elementi eliminati, elementos borrados, item dipadam, itens apagados, mục đã xóa,
        odstraněné položky, pesan terhapus, praht, slettede beskeder, törölt, usunięte wiadomości,
        vymazané správy, жойылғандар, موارد حذف شده, รายการที่ลบ, 已刪除項目, مهملات, مهـملات, tong sampah,
        basurahan, rusl, šiukšliadėžė, smetnjak, отпад, ट्रैश, ट्रैश करें""",
    DRAFTS: """
        drafts, draft, entwürfe, entwurf, brouillons, brouillon, borradores, bozze, rascunhos, concepten,
        utkast, kladder, kladde, udkast, luonnokset, kopie robocze, robocze, szkice, wersje robocze,
        koncepty, rozepsané, rozpísané, piszkozatok, ciorne, schițe, чернови, черновики, чернетки, skice,
        nacrti, osnutki, нацрти, mustandid, melnraksti, juodraščiai, πρόχειρα, taslaklar, טיוטות,
        المسودات, مسودات, پیش نویس, 下書き, 草稿, 草稿箱, 草稿夹, 임시 보관함, 임시보관함, thư nháp,
        bản nháp, ร่างจดหมาย, แบบร่าง, draf, konsep, esborranys, zirriborroak, postponed, postponed msgs,
        postpond, ba brouillon, borrador, bản thảo, drög, kladd, konsepte, layihələr, vázlatok, чарнавікі,
        پیش نویسها, ฉบับร่าง""",
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
        bidaliak, elküldöttek, enviadas, expediate, gesendete, gestuur, göndərilənlər, išsiųstieji,
        naipadala, nosūtītās ziņas, poslane, poslané, saadetud kirjad, sända poster, sänt, σταλθέντα,
        пасланыя, נשלחו, موارد ارسال شده, 已发信息, 발신 메시지, envoyé, odesláno, e-mails enviados""",
    OUTBOX: """
        outbox, unsent messages, queue, sendlater, send later, postausgang, boîte d'envoi, bandeja de salida,
        posta in uscita""",
    TEMPLATES: "templates, vorlagen, modèles, plantillas, modelli, modelos, sjablonen, mallar, szablony",
}  # fmt: skip
# In the folder [Gmail].  Source: terry10/gmail-backup-com gmb.py.
_COPIES = """
    all mail, important, starred, všechny zprávy, veškerá pošta, todos, alle nachrichten, tous les messages,
    كل البريد, tutti i messaggi, wszystkie, všetky správy, semua email, semua mel, tots els missatges,
    alle e-mails, kõik kirjad, lahat ng mail, sva pošta, allur póstur, visas vēstules, visi laiškai,
    összes levél, minden levél, all e-post, alle berichten, todos os e-mails, todo o correio,
    toda a correspondência, toate mesajele, vsa pošta, kaikki viestit, alla mail, tất cả thư, tüm postalar,
    όλα τα μηνύματα, вся почта, сва пошта, уся пошта, цялата поща, כל הדואר, सभी मेल, จดหมายทั้งหมด,
    全部郵件, 所有邮件, すべてのメール, 전체보관함, wichtig, markiert, suivis, importante, importanti,
    destacados, speciali, com estrela, důležité, s hvězdičkou, belangrijk, met ster, viktig, stjernemerket,
    ważne, oznaczone gwiazdką, важное, помеченные, 重要, スター付き, 已加星标, 已加星號, 별표편지함, 중요"""
_GMAIL = ("[gmail]", "[google mail]")
# What may be part of the name of a folder of junk, in the same spelling.
_SMELLS = re.compile(
    r"spam|junk|false (posi|nega)tive|quarant|karant|cuarenten|bulk|phish|scam|virus|malware|unwanted"
    r"|unsolicit|undesir|indesir"
    r"|no desea|no desej|ongewenst|unerwunscht|uonsket|uønsket|skrapp|søppelp|roskap|nevyz|pourri|спам"
    r"|карантин|нежелан|нежелат|迷惑|垃圾|스팸|隔離|隔离"
)


# Words that make a name like junk unclear: it may be for ham, or for a filter to learn from.
_DOUBTS = """
    ham not notjunk notspam nonspam isnotspam isspam non no good ok safe legit legitimate verified
    wanted clean false falso falsos falsa falsch faux positive positives positifs positivos
    erwunscht nein learn lernen train training teach whitelist allow released unsure maybe suspect suspects
    possible probably missed fn fp kein keine pas не nicht niet"""
# What programs and people add to a name: a date, a number, the hash of Thunderbird.
_ADDED = re.compile(r"( ?(\d+|\(\d+\)| (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))+$|[0-9a-f]{8}$")


def find_kind(name: str) -> str:
    """JUNK, TRASH ... of a name that is known as a whole; '' of any other."""
    key = _normalise(name)
    return _KINDS.get(key) or _KINDS.get(_ADDED.sub("", key), "")


def recognise(name: str) -> str:
    """JUNK, TRASH ... of a mail folder, or of a folder around it; '' if no name says it.

    name : decoded, parts between `.` or `/`
    UNCLEAR is the kind of a name that looks like junk, but is not known, or may be ham.
    """
    parts = re.split("[./]", name)
    keys = [_normalise(part) for part in parts]
    for root in _GMAIL:
        if root in keys and not _COPY_KEYS.isdisjoint(keys[keys.index(root) :]):
            return COPIES
    kinds = [find_kind(part) for part in parts]
    others = [kind for kind in kinds if kind not in ("", JUNK)]
    if others:
        return others[0]  # junk that was deleted is trash
    unknown = [part for part, kind in zip(parts, kinds, strict=True) if not kind]
    words = {word for part in unknown for word in _split_words(part)}
    if JUNK in kinds:
        return JUNK if words.isdisjoint(_DOUBTS.split()) else UNCLEAR
    return UNCLEAR if _SMELLS.search(_normalise(name)) else ""


def _split_words(name: str) -> list[str]:
    """The words of a name, also those of `NotJunk`."""
    return _normalise(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).split()


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
_COPY_KEYS = frozenset(_normalise(name) for name in _COPIES.split(","))
