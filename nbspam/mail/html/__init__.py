"""HTML text to Html: what a mail program shows of it, what is there and not shown, and where it leads.

reader walks over a page; tags says what one tag means by itself, styles what CSS does to a text, entities
what `&eacute;` is.  What Gmail and Outlook show counts.  They drop scripts, transforms, `var()`,
calculations, `@supports`, shadow trees, places, negative margins and the attribute `hidden`, and show what
is in `<video>`, `<dialog>` or closed `<details>`: what a page hides by these alone is read as seen.
Source: caniemail.com.
"""
