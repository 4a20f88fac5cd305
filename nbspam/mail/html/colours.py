"""Colours beyond the sixteen of HTML 4 and their numbers: names, functions, gradients (CSS Color 4 and 5).

Loaded when a mail uses one.  Of the two colours of `light-dark()` the light page's counts.
"""

from __future__ import annotations

from nbspam.mail.html.css import number_of, pixels_of, split_outside
from nbspam.mail.html.state import FAINT, TRANSPARENT, UNKNOWN, WHITE, vanishes
from nbspam.mail.html.style import css_colour

MAX_COLOURS = 20  # of a gradient
MAX_BRACKETS = 20  # of a function: colours in colours are found by recursion
_TABLE = """
aliceblue f0f8ff antiquewhite faebd7 aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4
blanchedalmond ffebcd blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00
chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff
darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9
darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc
darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f
darkslategrey 2f4f4f darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff
dimgray 696969 dimgrey 696969 dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22
gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 greenyellow adff2f honeydew f0fff0
hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa
lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080
lightcyan e0ffff lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3
lightpink ffb6c1 lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899
lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0 limegreen 32cd32 linen faf0e6
magenta ff00ff mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db
mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc
mediumvioletred c71585 midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5
navajowhite ffdead oldlace fdf5e6 olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6
palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee palevioletred db7093 papayawhip ffefd5
peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 rebeccapurple 663399
rosybrown bc8f8f royalblue 4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57
seashell fff5ee sienna a0522d skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090
snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c thistle d8bfd8 tomato ff6347
turquoise 40e0d0 violet ee82ee wheat f5deb3 whitesmoke f5f5f5 yellowgreen 9acd32
"""

_WORDS = _TABLE.split()
NAMED = {name: int(digits, 16) for name, digits in zip(_WORDS[::2], _WORDS[1::2], strict=True)}
# The colours of the system (CSS Color 4, 6.2 and appendix A), as browsers have them on a light page; they are
# none in attributes.
_SYSTEM = """
ffffff activecaption appworkspace background canvas field highlighttext inactivecaption infobackground menu
ffffff scrollbar selecteditemtext accentcolortext window
000000 activeborder buttonborder buttontext canvastext captiontext fieldtext inactiveborder infotext marktext
000000 menutext threeddarkshadow threedhighlight threedlightshadow threedshadow windowframe windowtext
efefef buttonface buttonhighlight buttonshadow threedface
808080 graytext inactivecaptiontext
0000ee linktext
551a8b visitedtext
ff0000 activetext
3367d1 highlight
1967d2 selecteditem
0075ff accentcolor
ffff00 mark
"""
SYSTEM = {name: int(line[:6], 16) for line in _SYSTEM.split("\n") for name in line[6:].split()}

_WIDE = 12.0  # pixels: a shadow so far inside lies under a line
_BLENDS = ("difference", "exclusion")
_SEEN = 0.1  # how much a filter has to do


def function_colour(value: str) -> int | None:
    """The colour of a function, but rgb(); None if it is none that is known."""
    if value.count("(") > MAX_BRACKETS:
        return None
    name, _, inside = value.rpartition(")")[0].partition("(")
    if name in ("light-dark", "color-mix"):
        parts = [part.split() for part in split_outside(inside, ",")]
        found = [css_colour(part[0]) for part in parts if part and part[0] != "in"]
        if not found or found[0] is None or name == "light-dark":
            return found[0] if found else None
        return _between(found[0], found[-1])
    space, _, rest = inside.partition(" ") if name == "color" else ("", "", inside)
    words = rest.replace(",", " ").replace("/", " ").split()
    numbers = [number_of("0" if word == "none" else word) for word in words[:4]]
    if len(numbers) < 3 or None in numbers:
        return None
    values = [number[0] for number in numbers if number]
    if len(words) > 3 and values[3] <= (100 * FAINT if words[3].endswith("%") else FAINT):
        return TRANSPARENT
    if name == "color":
        linear = space.endswith("-linear")
        parts_of_one = [
            value * (0.01 if word.endswith("%") else 1)
            for value, word in zip(values[:3], words[:3], strict=True)
        ]
        return _packed([_curved(part) if linear else part for part in parts_of_one])
    shares = values[0] * (0.01 if words[0].endswith("%") and name.startswith("ok") else 1)
    if name in ("lab", "lch"):
        return _lab(*_straight(name, values))
    if name in ("oklab", "oklch"):
        return _oklab(*_straight(name, [shares, *values[1:]]))
    return {"hsl": _hsl, "hsla": _hsl, "hwb": _hwb}.get(name, _none)(*values[:3])


def _none(*_: float) -> int | None:
    return None


def _between(one: int, other: int | None) -> int | None:
    if one < 0 or other is None or other < 0:
        return None
    return sum(((one >> shift & 255) + (other >> shift & 255)) // 2 << shift for shift in (0, 8, 16))


def _packed(parts: list[float]) -> int:
    """Red, green and blue as parts of one to a number."""
    red, green, blue = [round(255 * min(max(part, 0), 1)) for part in parts[:3]]
    return red << 16 | green << 8 | blue


def _hsl(hue: float, saturation: float, lightness: float) -> int:
    """Hue, saturation and lightness (CSS Color 4, 7.1)."""
    lightness = min(max(lightness / 100, 0), 1)
    reach = min(max(saturation / 100, 0), 1) * min(lightness, 1 - lightness)
    turns = [(shift + hue / 30) % 12 for shift in (0, 8, 4)]
    return _packed([lightness - reach * max(-1, min(turn - 3, 9 - turn, 1)) for turn in turns])


def _hwb(hue: float, white: float, black: float) -> int:
    """Hue, whiteness and blackness (CSS Color 4, 8.1)."""
    if white + black >= 100:
        return _packed([white / (white + black)] * 3)
    pure = _hsl(hue, 100, 50)
    parts = [(pure >> shift & 255) / 255 for shift in (16, 8, 0)]
    return _packed([(part * (100 - white - black) + white) / 100 for part in parts])


def _straight(name: str, values: list[float]) -> tuple[float, float, float]:
    """Lightness and the two axes, also where chroma and hue are given."""
    if not name.endswith("ch"):
        return values[0], values[1], values[2]
    from math import cos, radians, sin

    return values[0], values[1] * cos(radians(values[2])), values[1] * sin(radians(values[2]))


def _lab(lightness: float, a: float, b: float) -> int:
    """CIE Lab (CSS Color 4, 9.3), its white taken for that of the screen."""
    y = (lightness + 16) / 116
    x, y, z = [
        part**3 if part > 0.2069 else (part - 16 / 116) / 7.787 for part in (y + a / 500, y, y - b / 200)
    ]
    x, z = 0.9505 * x, 1.089 * z
    red, green = 3.2406 * x - 1.5372 * y - 0.4986 * z, -0.9689 * x + 1.8758 * y + 0.0415 * z
    return _packed([_curved(part) for part in (red, green, 0.0557 * x - 0.204 * y + 1.057 * z)])


def _oklab(lightness: float, a: float, b: float) -> int:
    """OKLab (CSS Color 4, 9.4)."""
    x = (lightness + 0.3963 * a + 0.2158 * b) ** 3
    y = (lightness - 0.1056 * a - 0.0639 * b) ** 3
    z = (lightness - 0.0895 * a - 1.2915 * b) ** 3
    red, green = 4.0767 * x - 3.3077 * y + 0.231 * z, -1.2684 * x + 2.6098 * y - 0.3413 * z
    return _packed([_curved(part) for part in (red, green, -0.0042 * x - 0.7034 * y + 1.7076 * z)])


def _curved(linear: float) -> float:
    """Light as a screen has it (CSS Color 4, 10.2)."""
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * min(linear, 1.0) ** (1 / 2.4) - 0.055


def gradient_colour(value: str, size: str = "") -> int:
    """The colour of a gradient whose colours are all the same to the eye; else nothing can be said.

    size : as `background-size` has it; a gradient without one is not seen
    """
    rest = value.rpartition(")")[2]
    sides = [number_of(word) for word in (rest.partition("/")[2] or size).split()[:2]]
    if any(side is not None and side[0] <= 0 for side in sides) and value.count("gradient(") == 1:
        return next((colour for colour in map(css_colour, rest.split()) if colour is not None), TRANSPARENT)
    found = _colours_of(value)
    if not found or found[0] < 0 or not all(vanishes(colour, found[0]) for colour in found):
        return UNKNOWN
    return found[0]


def is_clear(gradient: str) -> bool:
    """Whether all colours of a gradient are transparent."""
    found = _colours_of(gradient)
    return bool(found) and all(colour == TRANSPARENT for colour in found)


def _colours_of(gradient: str) -> list[int]:
    inside = gradient.partition("gradient(")[2].rpartition(")")[0]
    found = []
    for part in split_outside(inside, ",")[:MAX_COLOURS]:
        name, bracket, _ = part.strip().rpartition(")")
        colour = css_colour(name + bracket if bracket else part.split()[0] if part.split() else "")
        if colour is not None:
            found.append(colour)
    return found


def painted(rules: dict[str, str], ground: int | None) -> int | None:
    """The ground that a style paints by other means than `background`; None if it paints none.

    ground : that of the background; letters on it are filtered with it
    """
    own = WHITE if ground is None or ground < 0 else ground
    for shadow in split_outside(rules.get("box-shadow", ""), ",")[:8]:
        words = split_outside(shadow.strip(), " ")
        if "inset" in words and any(pixels_of(word) >= _WIDE for word in words):
            colours = [colour for colour in map(css_colour, words) if colour is not None]
            if not (colours and (colours[0] == TRANSPARENT or vanishes(colours[0], own))):
                return UNKNOWN
    picture = rules.get("border-image", rules.get("border-image-source", ""))
    if "fill" in picture + rules.get("border-image-slice", "") and (
        "url(" in picture or "gradient(" in picture
    ):
        return UNKNOWN if "url(" in picture else None if is_clear(picture) else gradient_colour(picture)
    if ground not in (None, TRANSPARENT):
        return None
    filters = rules.get("filter", "") + " " + rules.get("backdrop-filter", "")
    if rules.get("mix-blend-mode") in _BLENDS or any(map(_recolours, filters.split(")")[:8])):
        return UNKNOWN
    return None


def _recolours(part: str) -> bool:
    """Whether a filter gives white letters or their white ground another colour."""
    function, _, value = part.strip().partition("(")
    number = number_of(value.strip())
    amount = number[0] * (0.01 if number[1] == "%" else 1) if number is not None else None
    if function == "invert":
        return amount is None or amount > _SEEN
    if function in ("brightness", "contrast"):
        return amount is not None and amount < 1 - _SEEN
    return function in ("drop-shadow", "url")
