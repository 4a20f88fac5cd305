"""The words that are counted, and their numbers.

Hides how a word becomes a number: `keys` hashes a token for the model file (on the classify
lane); `file` is a vocabulary of the lecture notes, words numbered 0 .. |V|-1 with NOTAWORD as
code 0; `fields` is how token text is written in files of lines and tabs.
"""
