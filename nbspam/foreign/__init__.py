"""Word lists of other filters: their text forms, and which of their tokens are tokens of ours.

Hides how other programs cut mail and write down what they counted.  A token is taken where our own tokenizer
makes the same of the same text (`counterparts`); all others are counted, not guessed.  What is known of each
form was found with the real programs: docs/decisions.md.
"""
