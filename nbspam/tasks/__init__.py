"""Verbs on many mails, callable from Python: train, learn, evaluate, tune, explain, import, doctor."""
