"""What is in an attached file that is no text: archives, office documents and PDF.

Only the first bytes of a file say what it is.  Everything is read in linear time within the bounds of
nbspam.limits, and nothing raises, whatever the bytes are.
"""
