"""The options of all commands: one table, and the short parser of `classify`.

`classify` starts once for each mail and is read without click.  The short parser knows the table and nothing
else; what it does not understand (help, an unknown option, a missing value) is left to click.
"""

from __future__ import annotations

from nbspam.settings import ALPHA, BINNINGS, BINS, EVENT_MODELS, FEATURES, NUMERIC_MODELS, THRESHOLD
from nbspam.tokens.bag import READ_VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    Type = str | tuple[str, ...]


class Option:
    """One option.

    flags    : as people type them, such as "-m --model"
    help     : one sentence
    value    : the name of the value in the help; empty for a switch
    type     : text, int, float, octal, or the allowed values
    least    : the smallest number allowed;  most : the largest one
    default  : the value if the option is not given
    shown    : the default in the help, if it is not a constant
    name     : of the parameter, if not that of the long flag
    repeats  : it may be given many times;  required : it must be given
    """

    __slots__ = (
        *("default", "flags", "help", "least", "most", "name", "repeats", "required"),
        *("shown", "type", "value"),
    )

    def __init__(
        self,
        flags: str,
        help: str,
        value: str = "",
        *,
        type: Type = "text",
        least: float | None = None,
        most: float | None = None,
        default: object = None,
        shown: str = "",
        name: str = "",
        repeats: bool = False,
        required: bool = False,
    ) -> None:
        self.flags = tuple(flags.split())
        self.help, self.value, self.type = help, value, type
        self.least, self.most = least, most
        self.default, self.shown = default, shown
        self.name = name or self.flags[-1].lstrip("-").replace("-", "_")
        self.repeats, self.required = repeats, required


_DEFAULT_MODEL = "$NBSPAM_MODEL, else ~/.local/share/nbspam/model.nbspam"
_LOSS = "COSTS|FILE"
_VERBOSE = "Name messages that are read only in part because of a fault of nbspam."
_VOCAB = "Count only the words of this vocabulary; every other word is NOTAWORD."
_FILES_FROM = "Read the paths of messages from this file, one a line (- is stdin)."
_PRIOR = "empirical, smoothed, uniform, or a probability for each class: spam=0.4,ham=0.6."

# By name; "command.name" is the form of one command.
OPTIONS = {
    # Labelled mail
    "ham": Option(
        "--ham", "Ham: a Maildir, MH folder, mbox, folder or file; repeatable.", "PATH", repeats=True
    ),
    "spam": Option("--spam", "Spam, in the same forms; repeatable.", "PATH", repeats=True),
    "class": Option("--class", "Mail of a class; repeatable.", "NAME=PATH", name="classes", repeats=True),
    "rules": Option("--rules", "Read from this file the class of each folder of a Maildir++ tree.", "FILE"),
    "skip_unread": Option(
        "--skip-unread",
        "Skip unread mail of a Maildir, except spam: unread spam may still be in a folder of ham. "
        "All mail of other folders and files is read.",
    ),
    # The model, and how it counts and scores
    "model": Option("-m --model", "The model file.", "MODEL", shown=_DEFAULT_MODEL),
    "classify.model": Option("-m --model", "The model file.", "MODEL", shown=_DEFAULT_MODEL),
    "eval.model": Option("-m --model", "Judge all messages by this model, as classify does.", "MODEL"),
    "start": Option(
        "--start",
        "While there is no model, judge by this one; the first learned message makes a copy of it.",
        "MODEL",
        shown="$NBSPAM_START",
    ),
    "classify.start": Option(
        "--start", "While there is no model, judge by this one.", "MODEL", shown="$NBSPAM_START"
    ),
    "replace": Option("--replace", "Write over an existing model."),
    "event_model": Option(
        "--event-model",
        "The naive Bayes event model.",
        "NAME",
        type=EVENT_MODELS,
        shown="presence; gaussian with --features numeric",
    ),
    "alpha": Option(
        "--alpha", f"The smoothing constant lambda. Default: {ALPHA:g} for averaged views, else 1.", "X|auto"
    ),
    "threshold": Option(
        "--threshold",
        "With averaged views, ignore a token whose log-odds are not above this.",
        "NATS",
        type="float",
        default=THRESHOLD,
    ),
    "views": Option(
        "--views", f"Read only the tokens of these views: {', '.join(READ_VIEWS)}.", "VIEW,...", default="all"
    ),
    "prior": Option("--prior", f"The prior: {_PRIOR}", "PRIOR", default="empirical"),
    "features": Option(
        "--features",
        "Count and score words, numeric features or both. Default: the features of the event model.",
        "NAME",
        type=FEATURES,
    ),
    "numeric_model": Option(
        "--numeric-model",
        "With --features both, the model of the numeric features.",
        "NAME",
        type=NUMERIC_MODELS,
        shown="gaussian",
    ),
    "bins": Option(
        "--bins", "Bins of a numeric feature, for categorical and aode.", "N", type="int", default=BINS
    ),
    "binning": Option(
        "--binning", "Bins of equal frequency or of equal width.", "NAME", type=BINNINGS, default=BINNINGS[0]
    ),
    "edges": Option(
        "--edges",
        "The inner edges of the bins of a numeric feature: size=1000,5000; repeatable.",
        "FEATURE=EDGES",
        repeats=True,
    ),
    "normalise": Option("--normalise", "Normalise the weights of the complement model."),
    "textbook": Option("--textbook", "Score as the lecture notes do: one bag, lambda = 1, no calibration."),
    "vocab": Option("--vocab", _VOCAB, "FILE"),
    "loss": Option(
        "--loss", "Costs of wrong decisions: FP=10,FN=1,unsure=0.2, or a loss matrix file.", _LOSS
    ),
    # Another way of scoring than that of the model
    "score.event_model": Option("--event-model", "Score by another event model.", "NAME"),
    "score.alpha": Option("--alpha", "Score with another smoothing constant.", "X"),
    "score.prior": Option("--prior", f"Score with another prior: {_PRIOR}", "PRIOR"),
    "score.features": Option("--features", "Score by words, numeric or both.", "NAME"),
    "explain.event_model": Option(
        "--event-model", "Score by another event model.", "NAME", type=EVENT_MODELS
    ),
    "explain.features": Option("--features", "Score by these features.", "NAME", type=FEATURES),
    # train
    "prior_model": Option(
        "--prior-model", "Use a model trained elsewhere as the prior of this one.", "MODEL"
    ),
    "prior_weight": Option(
        "--prior-weight", "Count the prior model as W messages.", "W", type="float", shown="100"
    ),
    "regime": Option(
        "--regime",
        "Count all messages; on-error: in order of time, only those that the filter so far judges wrongly; "
        "thick:MARGIN: also those less than MARGIN nats from the cut-off.",
        "REGIME",
        default="all",
    ),
    "update": Option(
        "--update", "Add the mail to an existing model; a message counted before counts again.", name="adds"
    ),
    # classify, learn, serve
    "files_from": Option("--files-from", _FILES_FROM, "LIST"),
    "passthrough": Option("-p --passthrough", "Write the message with an X-Nbspam header inserted."),
    "spam_flag": Option("--spam-flag", "Insert X-Spam-Flag and X-Spam-Status after X-Nbspam."),
    "exit_code": Option("--exit-code", "Exit with 0 for spam, 1 for ham, 2 for unsure."),
    "autolearn": Option("--autolearn", "Learn each message as its verdict, if the verdict is sure enough."),
    "socket": Option("--socket", "Listen on a unix socket (spamc -U PATH).", "PATH", name="path"),
    "socket_mode": Option(
        "--socket-mode",
        "Permissions of the socket: the users who may connect.",
        "OCTAL",
        type="octal",
        default="600",
        name="mode",
    ),
    "listen": Option(
        "--listen", "Listen on TCP (spamc -d HOST -p PORT).", "HOST:PORT", shown="localhost:783"
    ),
    "timeout": Option(
        "--timeout",
        "Time that a client has to send a message, and again to take the answer.",
        "SECONDS",
        type="float",
        least=0.1,
        most=3600,
        default=60,
        name="seconds",
    ),
    "allow_tell": Option("--allow-tell", "Let clients correct the model (spamc -L)."),
    # eval, tune
    "folds": Option(
        "--folds", "Judge each of K parts by a filter trained on the others.", "K", type="int", shown="10"
    ),
    "grouped": Option("--grouped", "With --folds, keep near-duplicates (a spam campaign) in one part."),
    "replay": Option("--replay", "In order of time, judge each message, then learn it."),
    "feedback": Option(
        "--feedback",
        "With --replay: immediate, delayed:N, partial:SHARE, on-error, thick:MARGIN, first:N.",
        "KIND",
        shown="immediate",
    ),
    "eval.autolearn": Option("--autolearn", "With --replay, let the filter learn its own verdicts too."),
    "holdout": Option(
        "--holdout", "Judge this share by a filter trained on the rest.", "SHARE", type="float"
    ),
    "by_time": Option("--by-time", "With --holdout, judge the newest messages, not a random share."),
    "results": Option(
        "--results", "Write a result line for each message, as TREC does: file= judge= class= score=.", "FILE"
    ),
    "save": Option("--save", "Keep the evaluation, for nbspam compare.", "FILE.json"),
    "report": Option("--report", "Write a page with curves and the worst mistakes.", "FILE.html"),
    "seed": Option(
        "--seed",
        "Seed of random choices: folds, holdout, partial feedback.",
        "N",
        type="int",
        least=0,
        default=0,
    ),
    "write": Option("--write", "Train MODEL on SOURCE with the best settings."),
    # explain, vocab, vectorize, model
    "top": Option("--top", "Number of clues; 0 shows all.", "N", type="int", least=0, default=15),
    "vocab.top": Option("--top", "Number of codes; 0 shows all.", "N", type="int", least=0, default=20),
    "output": Option("-o --output", "The file to write; - is stdout.", "FILE", required=True),
    "dump.output": Option("-o --output", "The file to write; - is stdout.", "FILE", default="-"),
    "merge.output": Option("-o --output", "The merged model.", "MODEL", required=True),
    "size": Option("--size", "Keep the N most frequent words. Default: all.", "N", type="int"),
    "min_count": Option("--min-count", "Keep words in N or more messages.", "N", type="int", default=1),
    "word_list": Option("--word-list", "Keep only the words of this dictionary, one a line.", "FILE"),
    "view": Option(
        "--view",
        "Count all tokens, or the words of the text. Default: all; body with --word-list.",
        "NAME",
        type=("all", "body"),
    ),
    "vectorize.features": Option(
        "--features",
        "The columns: the words of a vocabulary, or the numeric features.",
        "NAME",
        type=("words", "numeric"),
        default="words",
    ),
    "vectorize.vocab": Option("--vocab", "With words: the vocabulary; its codes are the columns.", "FILE"),
    "vectorize.event_model": Option(
        "--event-model",
        "With words: bernoulli is 1 if a word is in the message; multinomial is how often.",
        "NAME",
        type=("bernoulli", "multinomial"),
    ),
    "format": Option(
        "--format",
        "The form of the file.",
        "NAME",
        type=("npz", "svmlight", "jsonl"),
        default="npz",
        name="form",
    ),
    "formulas": Option("--formulas", "Show every symbol of the model with its number, and a worked example."),
    "word": Option("--word", "The word of the example of --formulas. Default: a strong one.", "WORD"),
    "from": Option(
        "--from",
        "The filter that wrote FILE.",
        "NAME",
        type=("bogofilter", "spambayes", "spamassassin", "auto"),
        default="auto",
        name="form",
    ),
    # All commands
    "jobs": Option("-j --jobs", "Processes that share the work.", "N", type="int", shown="all cores"),
    "json": Option("--json", "Write JSON to stdout, one object a line.", name="as_json"),
    "classify.json": Option("--json", "Write one JSON object for each message."),
    "classify.verbose": Option("-v --verbose", _VERBOSE),
    "verbose": Option("-v --verbose", _VERBOSE),
    "eval.verbose": Option(
        "-v --verbose",
        "Name every misclassified message, the worst ten of a class with their clues, and messages that are "
        "read only in part because of a fault of nbspam.",
    ),
    "quiet": Option("-q --quiet", "Write nothing to stderr except errors."),
    "doctor.quiet": Option("-q --quiet", "Show only what is wrong."),
}
SOURCE = ("ham", "spam", "class", "rules", "skip_unread")
SCORING = (
    *("event_model", "alpha", "threshold", "views", "prior", "features"),
    *("numeric_model", "bins", "binning", "normalise", "textbook"),
)
# The options that change the way of scoring of a model.
SETTINGS = ("event_model", "alpha", "prior", "features", "textbook")
EXPLAIN = ("explain.event_model", "explain.features", "score.alpha", "score.prior", "textbook")
OTHER_SCORING = ("score.event_model", "score.alpha", "score.prior", "score.features", "textbook")
CLASSIFY = (
    *(
        "classify.model",
        "classify.start",
        "files_from",
        "passthrough",
        "spam_flag",
        "exit_code",
        "classify.json",
        "autolearn",
    ),
    *("loss", *OTHER_SCORING, "classify.verbose", "quiet"),
)


def parse_arguments(arguments: list[str]) -> tuple[dict[str, str], list[str]] | None:
    """(options, paths) of `classify`, or None if click should read them."""
    by_flag = {flag: OPTIONS[key] for key in CLASSIFY for flag in OPTIONS[key].flags}
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
        option = by_flag[flag]
        if bool(equals) and not option.value:
            return None
        if not option.value:
            options[option.name] = "1"
        elif equals:
            options[option.name] = value
        elif waiting:
            options[option.name] = waiting.pop()
        else:
            return None
    return options, paths
