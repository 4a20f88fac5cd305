"""HTML text to Html: what a reader of a page sees of it, what is there and not seen, and where it leads.

Hides HTML and CSS, as far as they decide what is seen; nothing outside knows tags or styles.
Read `reader` first.

    reader        a page, piece by piece            pieces        what stands between one `<` and the next
    tags          what one tag means by itself      elements      what each element is
    stack         the elements open at a place      state         what a text inherits of them
    foreign       drawings and formulas in a page
    sheet         rules of style sheets             selectors     whom a rule is for
    blocks        what holds in a block of rules    attributes    what selectors ask of them
    media, supports, scope                          whether, and where, an @-rule holds
    css           where declarations are cut, and numbers
    style         declarations -> effect            hiding, boxes what they do to a box together
    values        what has to be worked out         colours       names and functions
    entities      `&eacute;` -> a character         pictures      those of styles
    acts          handlers and scripts              addresses     those behind a base, and for Outlook
"""
