"""QR codes in pictures and in text to what they say.

Hides pictures and codes.  `png` makes a `picture` of a file, `finder` finds the grids of modules in it, `qr`
reads a grid and `reed_solomon` mends its bytes; `shown` is for codes that a text draws or holds.
"""
