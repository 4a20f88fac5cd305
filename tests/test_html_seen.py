"""Pages that look as if they hid a text and show it to everyone, and pages that hide one all the same.

Nearly all were looked at in a browser.
"""

import pytest

from nbspam.mail.html.reader import read_html

SHOWN = {
    "a least height": "<div style='height:0;overflow:hidden;min-height:40px'>see",
    "a least width": "<div style='max-width:0;overflow:hidden;min-width:200px'>see",
    "a height below nought is none": "<div style='max-height:-1px;overflow:hidden'>see",
    "opacity has no unit": "<div style='opacity:0px'>see",
    "zoom has no unit": "<div style='zoom:.01px'>see",
    "a part of no height": "<!doctype html><div style='max-height:0%;overflow:hidden'>see",
    "only the height is cut off": "<div style='width:0;overflow-x:visible;overflow-y:clip'>see",
    "only the width is cut off": "<div style='height:0;overflow-x:clip;overflow-y:visible'>see",
    "padding around a line": "<div style='line-height:0;overflow:hidden;padding:10px'>see",
    "a line inside": "<div style='line-height:0;overflow:hidden'><p style='line-height:20px'>see",
    "out of the box": "<div style='height:0;overflow:hidden'><p style='position:absolute'>see",
    "back right": "<p style='position:relative;left:-999px'><b style='position:relative;left:999px'>see",
    "back by margins": "<div style='margin-left:-999px'><p style='margin-left:999px'>see",
    "back down": "<div style='margin-top:-2000px'><p style='margin-top:2000px'>see",
    "up beside a banner": "<div style='padding-top:500px'></div><div style='margin-top:-490px'>see",
    "no box for the opacity": "<div style='display:contents;opacity:0'>see",
    "no box to clip": "<div style='display:contents;height:0;overflow:hidden'>see",
    "all": "<p style='display:none;all:initial'>see",
    "all, and a clip before": "<p style='font:0/0 a;margin:-999px;overflow-x:hidden;width:0;all:initial'>see",
    "all unset": "<p style='opacity:0;height:0;overflow:hidden;all:unset'>see",
    "all of a sheet": "<style>p{display:none;font-size:0;color:#fff}</style><p style='all:initial'>see",
    "larger again": "<div style='transform:scale(.1)'><div style='transform:scale(10)'>see",
    "small letters in a large box": "<div style='font-size:1px;transform:scale(16);transform-origin:0 0'>see",
    "small letters, zoomed": "<div style='font-size:1px'><b style='zoom:1600%'>see",
    "large letters in a small box": "<div style='font-size:150px;scale:.1'>see",
    "the first colour": "<div style='color:#fff'><p style='color:initial'>see",
    "the colour around": "<style>a{color:#fff}</style><a href=x style='color:inherit'>see",
    "the current colour": "<style>a{color:#fff}</style><a href=x style='color:currentcolor'>see",
    "the size around": "<style>b{font-size:0}</style><b style='font-size:inherit'>see",
    "the font around": "<style>b{font-size:0}</style><b style='font:inherit'>see",
    "the first opacity": "<style>b{opacity:0}</style><b style='opacity:initial'>see",
    "the visibility around": "<style>b{visibility:hidden}</style><b style='visibility:inherit'>see",
    "a button has letters of its own": "<div style='color:#fff;font-size:0'><button>see</button></div>",
    "a field, too": "<div style='color:#fff;font-size:0'><textarea>see</textarea></div>",
    "what stands in a field": "<div style='color:#fff;font-size:0'><input value=see></div>",
    "a choice": "<div style='color:#fff'><select><optgroup><option>see</select></div>",
    "a button on black": "<div style='background:#000'><button>see</button></div>",
    "a button as it wants": "<button style='color:#fff;background:#07f'>see</button>",
    "a shadow inside": "<div style='color:#fff;box-shadow:inset 0 0 0 100px rgb(0, 0, 0)'>see",
    "dark letters on such a shadow": "<div style='box-shadow:inset 0 0 50px rgba(0,0,0,.2)'>see",
    "the picture of a border": "<div style='color:#fff;border-image:linear-gradient(#000,#000) fill 0'>see",
    "a picture as border": "<div style='color:#fff;border-image-source:url(x);border-image-slice:0 fill'>see",
    "a colour of the system": "<div style='color:#fff;background:highlight'>see",
    "the colour of links": "<div style='color:#fff;background-color:LinkText'>see",
    "a colour of the system is none in attributes": "<font color=canvas>see",
    "a stroke": "<div style='color:#fff;-webkit-text-stroke-width:1px;-webkit-text-stroke-color:#000'>see",
    "a stroke, its colour first": "<div style='color:#fff;-webkit-text-stroke:rgb(0, 0, 0) 1px'>see",
    "the other colours": "<div style='color:#fff;filter:invert(1)'>see",
    "darker": "<div style='color:#fff;filter:brightness(0%)'>see",
    "a shadow of letters": "<div style='color:#fff;filter:drop-shadow(0 0 1px #000)'>see",
    "the difference": "<div style='color:#fff;mix-blend-mode:difference'>see",
    "a ground that ends at a block": "<span style='background:#000'><p>see",
    "a table in a line": "<!doctype html><a style='background:#000'><table><td>see</table></a>",
    "a ground of a line that may be carried on": "<p><b style='background:#000;color:#fff'><p>see",
    "a ground of a box in the line": "<a style='background:#000;color:#fff;display:inline-block'><p>see",
    "a box in the line on its ground": (
        "<span style='background:#000;color:#fff'><div style='display:inline-block'>see"
    ),
    "a line that is a cell": ("<span style='background:#000;color:#fff;display:table-cell'><p>see"),
    "a box that grows as tables do": "<div style='display:table;height:0;background:#000;color:#fff'>see",
    "even where it clips": "<div style='display:inline-table;width:0;overflow:hidden'>see",
    "the ground of padding": "<div style='height:0;padding-bottom:50px;background:#000;color:#fff'>see",
    "indented, in more lines": "<div style='text-indent:9999px;overflow:hidden'>see",
    "indented a little": "<div style='text-indent:100px;white-space:nowrap;overflow:hidden'>see",
    "popped over": "<div popover style='display:block'>see",
    "a picture without size": "<p style='background:linear-gradient(red,red) 0 0/0 0 #000;color:#fff'>see",
    "a gradient of some size": "<p style='background:linear-gradient(#000,#000) 0 0/100% 9px;color:#fff'>see",
}
HIDDEN = {
    "a least height of nought": "<div style='height:0;overflow:hidden;min-height:0'>X",
    "a part of no height": "<!doctype html><div style='height:0;overflow:hidden;min-height:50%'>X",
    "a part of the page": "<div style='max-height:0%;overflow:hidden'>X",
    "what scrolls on one side does on both": "<div style='height:0;overflow:visible hidden'>X",
    "a line of nought": "<div style='line-height:0;overflow:hidden'>X",
    "nor with a unit": "<div style='line-height:0;overflow:hidden'><b style='line-height:0px'>X",
    "a line of nought inside": "<div style='line-height:0;overflow:hidden'><b style='line-height:0'>X",
    "in its box": "<p style='height:0;overflow:hidden;position:relative'><b style='position:absolute'>X",
    "in one inside of the box": (
        "<div style='height:0;overflow:hidden'><div style='position:relative'><p style='position:absolute'>X"
    ),
    "further to the left": "<div style='position:relative;left:-999px'><p style='margin-left:300px'>X",
    "to the left in steps": "<div style='margin-left:-300px'><div style='margin-left:-300px'>X",
    "no box for the opacity, but none at all": "<div style='display:none;all:revert;display:none'>X",
    "all before a clip": "<p style='all:initial;display:block;height:0;overflow:hidden'>X",
    "all before a margin": "<p style='all:initial;margin:0 0 0 -999px'>X",
    "all before a ground": "<p style='color:#fff;all:inherit;background:#000;color:#000'>X",
    "all before": "<p style='all:initial;display:none'>X",
    "all of the other declarations": "<p style='display:none!important;all:initial'>X",
    "smaller and smaller": "<div style='transform:scale(.3)'><div style='scale:.3'>X",
    "back from nought": "<div style='transform:scale(0)'><div style='transform:scale(10)'>X",
    "the colour around": "<div style='color:#fff'><p style='color:unset'>X",
    "the colour around a link": "<div style='color:#fff'><a href=x style='color:inherit'>X",
    "the size around": "<div style='font-size:0'><p style='font-size:inherit'>X",
    "the visibility around": "<div style='visibility:hidden'><p style='visibility:unset'>X",
    "white letters of a button": "<button style='color:#fff'>X</button>",
    "a button that is not there": "<div style='display:none'><button>X</button></div>",
    "a white shadow inside": "<div style='color:#fff;box-shadow:inset 0 0 0 100px #fff'>X",
    "a narrow one": "<div style='color:#fff;box-shadow:inset 0 0 1px #000'>X",
    "a shadow outside": "<div style='color:#fff;box-shadow:0 0 100px #000'>X",
    "a border alone": "<div style='color:#fff;border-image:linear-gradient(#000,#000) 0'>X",
    "white of the system": "<div style='color:#fff;background:Menu'>X",
    "a white stroke": "<div style='color:#fff;-webkit-text-stroke:1px #fff'>X",
    "a stroke in the colour of the letters": "<div style='color:#fff;-webkit-text-stroke:1px'>X",
    "letters and ground in the other colours": "<div style='color:#fff;background:#fff;filter:invert(1)'>X",
    "hardly other colours": "<div style='color:#fff;filter:invert(0)'>X",
    "a calculated colour": "<div style='color:rgb(calc(255) 255 calc(250 + 5))'>X",
    "a clear mask": "<div style='-webkit-mask:linear-gradient(#0000,rgba(0,0,0,0))'>X",
    "white behind a block in black": "<span style='background:#000'><p style='color:#fff'>X",
    "behind a block of a style": "<span style='background:#000'><u style='color:#fff;float:left'>X",
    "white on the white of a block": "<b style='background:#000'><p style='background:#fff;color:#fff'>X",
    "white on white in a line": "<span style='background:#fff;color:#fff'><p>X",
    "a ground without height": "<div style='height:0;background:#000;color:#fff'>X",
    "a ground without width": "<div style='max-width:0;background:#000;color:#fff'>X",
    "a ground that nobody sees": (
        "<div style='visibility:hidden;background:#000'><b style='visibility:visible;color:#fff'>X"
    ),
    "the ground of no box": "<div style='display:contents;background:#000'><b style='color:#fff'>X",
    "indented away": "<div style='text-indent:9999px;white-space:nowrap;overflow:hidden'>X",
    "indented away, as pictures are": "<div style='text-indent:100%;white-space:nowrap;overflow:hidden'>X",
    "what no script pops up": "<div popover>X",
    "no size": "<p style='background:linear-gradient(#000,#000) 0 0/0 0 no-repeat;color:#fff'>X",
    "no height": (
        "<p style='background-image:linear-gradient(#000,#000);background-size:100% 0;color:#fff'>X"
    ),
}


@pytest.mark.parametrize("page", SHOWN.values(), ids=SHOWN.keys())
def test_a_reader_sees(page: str) -> None:
    html = read_html(page)
    assert (html.visible.strip(), html.hidden.strip()) == ("see", "")


@pytest.mark.parametrize("page", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_reader_does_not_see(page: str) -> None:
    html = read_html(page)
    assert (html.visible.strip(), html.hidden.strip()) == ("", "X")


def test_what_is_moved_away_takes_no_room_between_letters() -> None:
    for style in ("position:absolute;left:-9999px", "float:left;transform:scale(0)"):
        assert read_html(f"pay<b style='{style}'><p>X</p></b>ment").visible == "payment"
