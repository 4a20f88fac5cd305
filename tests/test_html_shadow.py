"""Claims about templates that are shown, as Chromium shows them: the declared shadow of an element."""

from __future__ import annotations

import pytest

from nbspam.mail.html.reader import read_html

OPEN = "<template shadowrootmode=open>"
SHOWN = [
    ("a template", f"<div>{OPEN}<p>red</p></template>X</div>after", "red after", "X"),
    ("a closed one", "<p><template shadowrootmode='CLOSED'>red</template>X</p>after", "red after", "X"),
    ("elements behind it", f"<div>{OPEN}red</template><p>X<b>X</b></div>after", "red after", "XX"),
    ("one whose paragraph is open", f"<div>{OPEN}<p>red</template>X</div>after", "red after", "X"),
    ("one in a slot", f"<div>{OPEN}red <slot></slot></template>too</div>after", "red too after", ""),
    ("one behind a slot", f"<slot></slot><div>{OPEN}red</template>X</div>after", "red after", "X"),
    ("in a line", f"bl<span>{OPEN}ue</template>X</span>green", "bluegreen", "X"),
    ("in an element of its own", f"<x-y>{OPEN}red</template>X</x-y>", "red", "X"),
    ("in the body", f"{OPEN}red</template>X", "red", "X"),
    ("of an element within", f"<div><div>{OPEN}red</template></div>too</div>", "red too", ""),
    ("not a second one", f"<div>{OPEN}red</template>{OPEN}X</template>X</div>after", "red after", "XX"),
    (
        "not a second one behind a slot",
        f"<div>{OPEN}<slot></template>{OPEN}X</template>red</div>",
        "red",
        "X",
    ),
    ("not in bold", f"<b>{OPEN}X</template>red</b>after", "redafter", "X"),
    ("not in a cell", f"<table><tr><td>{OPEN}X</template>red</table>", "red", "X"),
    ("not in another mode", "<div><template shadowrootmode=x>X</template>red</div>", "red", "X"),
    ("not another one", "<div><template><p>X</template>red</div>", "red", "X"),
]


@pytest.mark.parametrize(("what", "page", "seen", "hidden"), SHOWN, ids=[row[0] for row in SHOWN])
@pytest.mark.parametrize("sheet", ["", "<style>p ~ b, template, div div{color:red}</style>"])
def test_a_template_is_shown(what: str, page: str, seen: str, hidden: str, sheet: str) -> None:
    html = read_html(sheet + page)
    assert html.visible.split() == seen.split()
    assert html.hidden.split() == hidden.split()
