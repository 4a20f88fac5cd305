"""Folders that teach: local Maildirs and IMAP accounts.  On IMAP, new mail is judged and filed, too."""
