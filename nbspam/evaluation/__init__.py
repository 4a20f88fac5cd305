"""Judging a filter: what it decided comes in as an Evaluation, out come figures, curves and pages.

Nothing here knows a filter, a model or a mail.
"""
