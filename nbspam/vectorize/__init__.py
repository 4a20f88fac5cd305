"""Mail as numbers for other programs: matrices over a vocabulary, and ordered code sequences.

Hides file formats and how messages are read in parallel.  `matrix` turns messages into the codes of
their tokens and those into sparse rows; `formats` writes npz, svmlight and jsonl.
"""
