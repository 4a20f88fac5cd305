"""The options of `classify`: one table for click and for the short parser here.

A mail is a fresh process, so `classify` is read without click.  The parser knows the table and nothing else;
what it does not plainly understand (help, an unknown option, a missing value) is left to click.
"""

from __future__ import annotations

# (name, flags, takes a value, help)
CLASSIFY = (
    ("model", ("-m", "--model"), True, "The model file.  [default: as nbspam train]"),
    ("start", ("--start",), True, "While there is no model: judge by this one.  [default: ($NBSPAM_START)]"),
    ("files_from", ("--files-from",), True, "Read paths of messages from a file, one a line (- is stdin)."),
    ("passthrough", ("-p", "--passthrough"), False, "Write the message with an X-Nbspam header inserted."),
    ("spam_flag", ("--spam-flag",), False, "With -p, insert X-Spam-Flag and X-Spam-Status too."),
    ("exit_code", ("--exit-code",), False, "Exit with 0 for spam, 1 for ham, 2 for unsure."),
    ("json", ("--json",), False, "One JSON object a message."),
    ("autolearn", ("--autolearn",), False, "Learn each message as what it most likely is."),
    ("loss", ("--loss",), True, "Costs: FP=10,FN=1,unsure=0.2, or a loss matrix file."),
    ("event_model", ("--event-model",), True, "Score by another event model than the one trained for."),
    ("alpha", ("--alpha",), True, "Score with another smoothing constant."),
    ("prior", ("--prior",), True, "Another prior: empirical, smoothed, uniform, spam=0.4,ham=0.6."),
    ("features", ("--features",), True, "Score by: words, numeric or both."),
    ("textbook", ("--textbook",), False, "One bag, lambda = 1, no averaging, no calibration."),
    (
        "verbose",
        ("-v", "--verbose"),
        False,
        "Name messages that meet a fault of nbspam and are read in part.",
    ),
    ("quiet", ("-q", "--quiet"), False, "Say nothing on stderr but errors."),
)
# The options that change the way of scoring.
SETTINGS = ("event_model", "alpha", "prior", "features", "textbook")


def parse_arguments(arguments: list[str]) -> tuple[dict[str, str], list[str]] | None:
    """(options, paths) of `classify`, or None if click should read them."""
    by_flag = {flag: (name, takes_value) for name, flags, takes_value, _ in CLASSIFY for flag in flags}
    options: dict[str, str] = {}
    paths: list[str] = []
    waiting = list(reversed(arguments))
    while waiting:
        argument = waiting.pop()
        if argument == "--":
            return options, paths + list(reversed(waiting))
        if not argument.startswith("-") or argument == "-":
            paths.append(argument)
            continue
        flag, equals, value = argument.partition("=")
        if flag not in by_flag or (equals and not flag.startswith("--")):
            return None
        name, takes_value = by_flag[flag]
        if not takes_value:
            if equals:
                return None
            options[name] = "1"
        elif equals:
            options[name] = value
        elif waiting:
            options[name] = waiting.pop()
        else:
            return None
    return options, paths
