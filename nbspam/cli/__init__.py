"""The command line: words in, words out; no arithmetic.

`lane` is the short way of `classify` and imports next to nothing; everything else goes through
click in `commands`.  Importing this package imports neither.
"""
