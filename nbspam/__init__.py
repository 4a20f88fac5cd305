"""nbspam: naive Bayes for mail.  Reading order: nbspam/README.md.

Imports nothing: every fresh `nbspam classify` pays for what stands here.
"""

__version__ = "0.1.0"
