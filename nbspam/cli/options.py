"""The options of `classify`, once: click and the small parser of the lane both read this table.

Hides nothing; it is data.  Imports nothing, because it stands on the lane.
"""

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
