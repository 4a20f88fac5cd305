"""Files of a mail that are no text: what they show, where they lead to, what is in them.

Hides their formats, but for PDF and pictures, which have rooms of their own.  `reader` tells the formats
by the first bytes and reads archives; `office` reads office documents in ZIP, `word` Word 6 to 2003, `rtf`
rich text, `rar` the names in an archive, `texts` scripts, shortcuts and other files of
text, and pages in an archive.
"""
