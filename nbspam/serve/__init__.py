"""Offers a filter to mail servers by the SPAMD protocol, so that SpamAssassin's `spamc` works unchanged.

Hides the protocol and the processes.  `request` and `answer` know the protocol and no socket; `filter` asks
the model; `listening` makes sockets; `worker` is one process that answers, `daemon` keeps several of them.
"""
