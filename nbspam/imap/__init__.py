"""Mail on an IMAP server: an account, its connection, and what is judged and filed there."""
