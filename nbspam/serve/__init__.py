"""Answers mail servers by the SPAMD protocol, so that SpamAssassin's `spamc` works unchanged."""
