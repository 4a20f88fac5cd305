"""The screen of `nbspam label`: a message, what the filter makes of it, and the keys."""

from collections.abc import Callable
from functools import partial
from math import exp

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from nbspam.cli import plain
from nbspam.corpus.source import extract_text, read_head
from nbspam.errors import NbspamError
from nbspam.labels import HAM, SPAM
from nbspam.tasks.label import SURE, Asked, Labelling

MAX_SHOWN = 20_000  # characters of a message
MAX_HEAD = 300  # of its date, sender and subject
NOTHING_LEFT = "No message is left: all others are nearly the same as one that was labelled or skipped."


class LabelScreen(App[Exception]):
    """Ends with the error that stopped it, or None."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "#state {background: $primary;} #head {text-style: bold; margin: 1 0;}"
    BINDINGS = [  # noqa: RUF012 - not changed
        Binding("h", "label('ham')", "ham"),
        Binding("s", "label('spam')", "spam"),
        Binding("space", "label('')", "skip"),
        Binding("u", "undo", "undo"),
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", show=False),
    ]

    def __init__(self, labelling: Labelling) -> None:
        super().__init__()
        self._labelling = labelling

    def compose(self) -> ComposeResult:
        """The lines at the top, the text, and the keys."""
        yield Static(id="state", markup=False)
        yield Static(id="head", markup=False)
        with VerticalScroll():
            yield Static(id="text", markup=False)
        footer = Footer()
        footer.compact = True  # all keys fit into 40 columns
        yield footer

    def on_mount(self) -> None:
        """Show the first message."""
        self._show()

    def action_label(self, name: str) -> None:
        """Label the message that is shown, or skip it."""
        self._do(partial(self._labelling.label, name))

    def action_undo(self) -> None:
        """Take back the last key."""
        self._do(self._labelling.undo)

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (NbspamError, OSError) as error:
            self.exit(error)
        else:
            self._show()

    def _show(self) -> None:
        asked, counts = self._labelling.asked, self._labelling.labelled
        state = f"{counts[HAM]} ham, {counts[SPAM]} spam labelled. {self._labelling.left:,} left"
        head, text = "", NOTHING_LEFT
        if asked:
            state += describe_sureness(asked)
            head = f"{read_head(asked.data)[:MAX_HEAD]}\n{asked.item.name}"
            text = extract_text(asked.data)
        self.query_one("#state", Static).update(state)
        self.query_one("#head", Static).update("\n".join(map(plain, head.split("\n"))))
        lines = text[:MAX_SHOWN].expandtabs().splitlines()
        self.query_one("#text", Static).update("\n".join(map(plain, lines)))
        self.query_one(VerticalScroll).scroll_home(animate=False)


def describe_sureness(asked: Asked) -> str:
    """How sure the filter is of the messages left, and of this one."""
    if asked.sure is None or asked.log_odds is None:
        return ". The filter learns from the first ham and the first spam."
    probability = 1 / (1 + exp(-max(-700.0, min(700.0, asked.log_odds))))
    return f"; sure ({SURE:.0%}) of {asked.sure:.0%} of them. This one: {probability:.0%} spam."
