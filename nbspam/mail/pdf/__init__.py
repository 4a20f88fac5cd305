"""PDF: where it leads to, what it says of itself and does, the text and the QR codes on its pages.

Hides the format.  `reader` finds the objects, `objects` takes one apart, `filters` and `lzw` unpack its
stream; `pages` reads the text of a page in the characters of its `fonts`; `pictures` finds those that may
hold a code.
"""
