"""Judging a filter: outcomes in, figures, curves and pages out.

Hides how each figure is defined and how sure one can be of it.  Nothing here knows a
filter, a model or a mail: what was decided about each message comes in as Outcomes.
"""
