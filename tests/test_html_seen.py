"""Pages that look as if they hid a text and show it to everyone, and pages that hide one all the same.

Each was looked at in a browser.
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
    "all unset": "<p style='opacity:0;height:0;overflow:hidden;all:unset'>see",
    "all of a sheet": "<style>p{display:none;font-size:0;color:#fff}</style><p style='all:initial'>see",
    "larger again": "<div style='transform:scale(.1)'><div style='transform:scale(10)'>see",
    "small letters in a large box": "<div style='font-size:1px;transform:scale(16)'>see",
    "small letters, zoomed": "<div style='font-size:1px'><b style='zoom:1600%'>see",
    "large letters in a small box": "<div style='font-size:150px;scale:.1'>see",
    "the first colour": "<div style='color:#fff'><p style='color:initial'>see",
    "the colour around": "<style>a{color:#fff}</style><a href=x style='color:inherit'>see",
    "the current colour": "<style>a{color:#fff}</style><a href=x style='color:currentcolor'>see",
    "the size around": "<style>b{font-size:0}</style><b style='font-size:inherit'>see",
    "the font around": "<style>b{font-size:0}</style><b style='font:inherit'>see",
    "the first opacity": "<style>b{opacity:0}</style><b style='opacity:initial'>see",
    "the visibility around": "<style>b{visibility:hidden}</style><b style='visibility:inherit'>see",
}
HIDDEN = {
    "a least height of nought": "<div style='height:0;overflow:hidden;min-height:0'>X",
    "a part of no height": "<!doctype html><div style='height:0;overflow:hidden;min-height:50%'>X",
    "a part of the page": "<div style='max-height:0%;overflow:hidden'>X",
    "what scrolls on one side does on both": "<div style='height:0;overflow:visible hidden'>X",
    "a line of nought": "<div style='line-height:0;overflow:hidden'>X",
    "a line of nought inside": "<div style='line-height:0;overflow:hidden'><p style='line-height:0'>X",
    "in its box": "<p style='height:0;overflow:hidden;position:relative'><b style='position:absolute'>X",
    "in one inside of the box": (
        "<div style='height:0;overflow:hidden'><div style='position:relative'><p style='position:absolute'>X"
    ),
    "further to the left": "<div style='position:relative;left:-999px'><p style='margin-left:300px'>X",
    "to the left in steps": "<div style='margin-left:-300px'><div style='margin-left:-300px'>X",
    "no box for the opacity, but none at all": "<div style='display:none;all:revert;display:none'>X",
    "all before": "<p style='all:initial;display:none'>X",
    "all of the other declarations": "<p style='display:none!important;all:initial'>X",
    "smaller and smaller": "<div style='transform:scale(.3)'><div style='scale:.3'>X",
    "back from nought": "<div style='transform:scale(0)'><div style='transform:scale(10)'>X",
    "the colour around": "<div style='color:#fff'><p style='color:unset'>X",
    "the colour around a link": "<div style='color:#fff'><a href=x style='color:inherit'>X",
    "the size around": "<div style='font-size:0'><p style='font-size:inherit'>X",
    "the visibility around": "<div style='visibility:hidden'><p style='visibility:unset'>X",
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
