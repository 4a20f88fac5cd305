"""Pictures in a PDF: those that may hold a QR code.

Hides how a PDF says what a picture is.  Those packed otherwise than rows of samples are, as photographs are,
are left alone.
Source: ISO 32000-1, 7.4.4.4 and 8.9.5.
"""

from __future__ import annotations

from nbspam.mail.codes.picture import Raster, read_codes
from nbspam.mail.pdf.reader import PdfFile, number_behind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

MAX_PICTURES = 20  # of a document that are looked at
_AS_PNG = 10  # predictors from here on are the filters of PNG


def read_pictures(file: PdfFile, document: Document, allowance: Allowance) -> None:
    """Fills the document with what the QR codes in its pictures say."""
    left = MAX_PICTURES
    for number, content in file.objects.items():
        says = file.dictionary(number)
        if b"/Image" not in says or left <= 0:
            continue
        left -= 1
        width, height = number_behind(says, b"/Width"), number_behind(says, b"/Height")
        depth = number_behind(says, b"/BitsPerComponent") or 1  # a mask need not say it
        raster = Raster(width, height, depth, number_behind(says, b"/Predictor") >= _AS_PNG)
        if raster.is_drawing(len(content) if b"/Filter" in says else 0):
            raster.data = file.samples(number, raster.most_bytes())
            read_codes(raster, document, allowance)
