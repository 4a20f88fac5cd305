"""One evaluation as a web page to read, keep and print.

Hides matplotlib and Jinja2, which only this room needs: they are imported when a page is
made, and an installation without them is told which extra to install.
"""

from nbspam.evaluate.report.page import report_html

__all__ = ["report_html"]
