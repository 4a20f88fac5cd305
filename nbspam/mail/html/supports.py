"""What `@supports` asks of a browser: holds.

Hides the syntax of the question (CSS Conditional 3) and what browsers know: properties that Chromium had in
2026, without the rarest, and the words that their values have where sheets ask for them.  Loaded when a
sheet has one.
"""

from __future__ import annotations

from nbspam.mail.html.css import QUOTE, number_of, split_outside
from nbspam.mail.html.elements import word_set
from nbspam.mail.html.selectors import read_selectors
from nbspam.mail.html.style import CSS_WIDE, css_colour, is_invalid

MAX_DEPTH = 10  # questions in brackets


def _family(begins: str, ends: str) -> set[str]:
    """Names of which each begin goes with each end, and with none."""
    return {*begins.split(), *[f"{begin}-{end}" for begin in begins.split() for end in ends.split()]}


_SIDES = "top right bottom left block block-start block-end inline inline-start inline-end"
_MEASURES = _family("margin padding inset scroll-margin scroll-padding", _SIDES) | word_set(
    "block-size inline-size min-width min-height min-block-size min-inline-size max-block-size "
    "max-inline-size gap row-gap column-gap grid-gap column-width tab-size text-underline-offset "
    "outline-offset border-spacing letter-spacing word-spacing flex-grow flex-shrink order z-index "
    "orphans"
)  # whose words are numbers
_LINES = [f"border-{side}" for side in _SIDES.split()]
_KNOWN = (
    _MEASURES
    | _family(" ".join(["border", "outline", "column-rule", *_LINES]), "color style width")
    | _family(
        "border", "collapse radius image image-source image-slice image-width image-outset image-repeat"
    )
    | {f"border-{a}-{b}-radius" for a in ("top", "bottom") for b in ("left", "right")}
    | {f"border-{a}-{b}-radius" for a in ("start", "end") for b in ("start", "end")}
    | _family(
        "animation",
        "composition delay direction duration fill-mode iteration-count name play-state range "
        "timeline"
        "timing-function",
    )
    | _family(
        "background",
        "attachment blend-mode clip color image origin position position-x position-y repeat size",
    )
    | _family(
        "font",
        "family feature-settings kerning language-override optical-sizing palette size size-adjust "
        "stretch style synthesis variant variant-alternates variant-caps variant-east-asian "
        "variant-ligatures"
        "variant-numeric variant-position variation-settings weight",
    )
    | _family("flex", "basis direction flow wrap")
    | _family(
        "grid",
        "area auto-columns auto-flow auto-rows column column-end column-gap column-start row row-end "
        "row-gap"
        "row-start template template-areas template-columns template-rows",
    )
    | _family("list-style", "image position type")
    | _family("mask", "clip composite image mode origin position repeat size type")
    | _family("offset", "anchor distance path position rotate")
    | _family("overflow overscroll-behavior", "x y block inline")
    | _family("overflow", "anchor wrap clip-margin")
    | _family("scroll", "behavior snap-align snap-stop snap-type timeline")
    | _family("text-decoration", "color line skip-ink style thickness")
    | _family("text-emphasis", "color position style")
    | _family("transition", "behavior delay duration property timing-function")
    | _family("container", "name type")
    | _family("contain", "intrinsic-size intrinsic-width intrinsic-height")
    | word_set(
        "accent-color align-content align-items align-self all anchor-name appearance aspect-ratio "
        "backdrop-filter backface-visibility bottom box-decoration-break box-shadow box-sizing "
        "break-after break-before break-inside caption-side caret-color clear clip clip-path color "
        "color-scheme column-count column-fill column-span columns content content-visibility "
        "counter-increment counter-reset counter-set cursor direction display empty-cells "
        "field-sizing fill fill-opacity filter float forced-color-adjust height hyphenate-character "
        "hyphens image-orientation image-rendering initial-letter isolation justify-content "
        "justify-items justify-self left line-break line-height math-style max-height max-width "
        "mix-blend-mode object-fit object-position opacity page page-break-after page-break-before "
        "page-break-inside paint-order perspective perspective-origin place-content place-items "
        "place-self pointer-events position position-anchor position-area print-color-adjust quotes "
        "resize right rotate ruby-align ruby-position scale scrollbar-color scrollbar-gutter "
        "scrollbar-width shape-image-threshold shape-margin shape-outside size speak stroke "
        "stroke-width table-layout text-align text-align-last text-combine-upright text-indent "
        "text-orientation text-overflow text-rendering text-shadow text-size-adjust text-transform "
        "text-underline-position text-wrap top touch-action transform transform-box transform-origin "
        "transform-style translate unicode-bidi user-select vertical-align view-timeline "
        "view-transition-name visibility white-space widows width will-change word-break word-wrap "
        "writing-mode zoom"
    )
)
# Known with `-webkit-`, beside those of these families.
_OF_WEBKIT = word_set(
    "align-content align-items align-self app-region appearance backface-visibility background-clip "
    "background-origin background-size border-image border-radius box-align box-decoration-break "
    "box-direction box-flex box-ordinal-group box-orient box-pack box-reflect box-shadow box-sizing "
    "clip-path column-count column-gap column-rule column-span column-width columns filter "
    "font-feature-settings font-smoothing hyphenate-character justify-content line-break line-clamp "
    "locale margin-end margin-start opacity order padding-end padding-start perspective "
    "perspective-origin print-color-adjust ruby-position shape-margin shape-outside "
    "tap-highlight-color text-combine text-fill-color text-orientation text-security text-size-adjust "
    "text-stroke text-stroke-color text-stroke-width transform transform-origin transform-style "
    "user-drag user-modify user-select writing-mode"
).union(*[{name for name in _KNOWN if name.startswith(begin)} for begin in ("animation", "transition")])
_FAMILIES_OF_WEBKIT = ("flex", "mask", "text-emphasis")
_WORDS = CSS_WIDE | word_set(
    "auto none normal min-content max-content fit-content "
    "stretch cover contain fill scale-down center start end left right top bottom middle baseline "
    "space-between space-around space-evenly flex-start flex-end row column row-reverse "
    "column-reverse wrap nowrap dense hidden visible clip scroll overlay smooth manipulation pan-x "
    "pan-y pan-up all text layout style paint size strict content border-box padding-box content-box "
    "fixed local thin thick medium solid dotted dashed double both from-image pixelated crisp-edges "
    "isolate multiply screen overlay difference luminosity under balance pretty break-word break-all "
    "keep-all anywhere ellipsis pre pre-line pre-wrap uppercase lowercase capitalize underline "
    "antialiased subpixel-antialiased grayscale vertical-rl vertical-lr horizontal-tb upright mixed "
    "sideways x y mandatory proximity inline inline-size light dark only preserve-3d flat textfield "
    "button checkbox radio menulist pointer default vertical horizontal always avoid justify "
    "sans-serif serif monospace system-ui optional swap inline-axis block-axis stable no-repeat "
    "repeat currentcolor transparent subgrid"
)


def holds(condition: str, depth: int = 0) -> bool:
    """Whether browsers have what is asked for, in lower case; one that is no question never holds."""
    condition = condition.replace(")and ", ") and ").replace(")or ", ") or ")
    words = [word for word in split_outside(condition, " ") if word]
    if not words or depth > MAX_DEPTH:
        return False
    if words[0] == "not":
        return len(words) == 2 and not _has(words[1], depth)
    signs = set(words[1::2])
    if len(words) % 2 == 0 or len(signs) > 1 or not signs <= {"and", "or"}:
        return False
    return (any if signs == {"or"} else all)([_has(word, depth) for word in words[::2]])


def _has(word: str, depth: int) -> bool:
    function, bracket, inside = word.partition("(")
    if not bracket or inside[-1:] != ")":
        return False
    inside = inside[:-1].strip()
    if function:
        # One of a list that is none spoils the list, and the last holds anywhere.
        return function == "selector" and bool(read_selectors(f"{inside},*", False))
    name, colon, value = [part.strip() for part in inside.partition(":")]
    if not colon or not name.replace("-", "").isalnum():
        return holds(inside, depth + 1)
    return name.startswith("--") or (_is_known(name) and _is_valid(name, value.partition("!")[0].strip()))


def _is_known(name: str) -> bool:
    if name.startswith("-webkit-"):
        name = name[len("-webkit-") :]
        return name in _OF_WEBKIT or (name.startswith(_FAMILIES_OF_WEBKIT) and name in _KNOWN)
    return name in _KNOWN


def _is_valid(name: str, value: str) -> bool:
    if not value or ";" in value or is_invalid(name, value):
        return False
    if name in ("display", "position", "float", "visibility", "font", "font-family", "cursor", "will-change"):
        return True
    return all(_is_word(name, word) for word in split_outside(value.replace(",", " ").replace("/", " "), " "))


def _is_word(name: str, word: str) -> bool:
    if not word or "(" in word or number_of(word) is not None:
        return True
    if name in _MEASURES:
        return word in CSS_WIDE or word in ("auto", "none", "normal")
    return word in _WORDS or word[0] == QUOTE or css_colour(word) is not None
