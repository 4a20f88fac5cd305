"""What a person sees of a page, what is hidden and where it leads, beyond what golden/html-* show."""

from nbspam.mail.html.reader import read_html


def test_words_split_by_markup_that_shows_nothing_are_counted() -> None:
    for source in (
        "Vi<!-- x --><!-- y -->agra",
        "V<b><i></i></b>iagra",
        "V<p style='display:none'>x</p>iagra",
    ):
        assert read_html(source).joined == 1
    for source in ("<b>V</b>iagra", "Via <!-- x -->gra", "Via<!-- x --><p>gra"):
        assert read_html(source).joined == 0
