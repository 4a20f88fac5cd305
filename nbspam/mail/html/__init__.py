"""HTML text to Html: what a mail program shows of it, what is there and not shown, and where it leads.

reader walks over a page; tags says what one tag means by itself, styles what CSS does to a text, entities
what `&eacute;` is.  What Gmail and Outlook show counts.  They drop scripts, transforms, `var()`,
calculations, `@supports` and shadow trees, and show what is in `<video>` or `<dialog>`: what a page hides by
these alone is read as seen.  Other programs honour the attribute `hidden` and places off the screen, and so
do we.  Source: caniemail.com.
"""
