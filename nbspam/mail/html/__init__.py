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
    entities      `&eacute;` -> a character         declared      entities of the page's own
    pictures      those of styles                   shadow        templates that are shown
    acts          handlers and scripts              addresses     those behind a base, and for Outlook

Decisions, where browsers and mail readers leave a choice:
- Text is kept as written, white space too; blocks, cells and line breaks put a newline between words.
- `noscript`, `canvas` and `object` show their content (mail is read without scripts and plug-ins); `iframe`,
  `noframes`, `script`, `style`, `video` and the like do not; a `textarea` and the options of a `select` do.
- Closed `details` show their first `summary`, as in mail programs that know them; others show all of it.
- A variable of CSS has one value in a page, the last that was set.
- A comment without end hides all that follows.  After a tag without end the rest is read leniently,
  but as hidden: no browser shows it.
- `joined` counts places where letters or digits stand on both sides of markup that shows nothing and
  styles nothing: comments, unknown elements, elements without content, hidden elements.  `<b>Hel</b>lo`
  is joined too but is ordinary, and not counted.
- Text in the colour of its ground is hidden; the ground is white where nothing else is said, unknown under
  a picture.  A page without doctype, or with one of HTML 4.0, follows the old rule that letters of a table do
  not inherit from around it; with another, they do.
- `mso-hide` alone hides nothing, since it does so in one program only; `width=0 height=0` only hides the
  content of elements that take their size from attributes (`marquee`, `object`, `applet`).
- Zero-width characters stay where they are; the tokens deal with them.  What a style or `bdo` turns round
  stands between U+202E and U+202C, which they know.
"""

from nbspam.mail.html.reader import read_html

__all__ = ["read_html"]
