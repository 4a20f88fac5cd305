"""Where mail comes from, and many messages as numbers.

Reading order: item (one message, one file), mbox, folders, source (parts to one stream), labelled (what users
name), executor, reading (messages to blocks), corpus (a source read once), vocabulary, vectorize.
"""
