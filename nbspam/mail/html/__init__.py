"""HTML text to Html: what a mail program shows of it, what is there and not shown, and where it leads.

reader walks over a page; tags says what one tag means by itself, styles what CSS does to a text, entities
what `&eacute;` is.  What Gmail and Outlook show counts: they drop scripts, transforms, calculations, `var()`,
`@supports` and shadow trees, so that what a page hides by these alone is read as seen.
"""
