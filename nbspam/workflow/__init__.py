"""The use cases, callable from Python: train, classify, learn, evaluate, explain.

Hides nothing of its own: each module walks one use case through the rooms below.  Rooms in it: `filters`,
which an evaluation judges, and `doctor`.
"""
