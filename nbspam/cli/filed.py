"""`nbspam filed`."""

import os
import time
from bisect import bisect

from nbspam.cli import Options, command, plain, say
from nbspam.cli.classify import ReadableMessages
from nbspam.cli.imap import read_junk
from nbspam.cli.reasons import percent
from nbspam.cli.tables import console, utc, write_json
from nbspam.corpus.source import read_fields
from nbspam.decision import Verdict
from nbspam.filter import open_filter
from nbspam.labels import SPAM
from nbspam.learning.learn import class_number

# How sure of spam the filter is in words, and the probabilities that begin each but the first.
SURE = ("hardly", "perhaps", "probably", "surely")
LEAST = (0.5, 0.9, 0.99)
MAX_SENDER, MAX_SUBJECT, MAX_LINE = 30, 80, 300  # characters, and columns if the output is no terminal


@command("filed.folder", "filed.since", "config", "model", "json", "quiet")
def filed_command(options: Options) -> int:
    """List what lies in a spam folder, the most doubtful first.

    FOLDER is a Maildir, an mbox or another folder of mail; or an account of nbspam imap, for its folder of
    junk.  Writes a line for each message: the day, how sure the filter is now that it is spam, the sender and
    the subject.  Cron can send you such a list each morning, so that you need not look through the folder.

    \b
    Example:
        nbspam filed ~/Maildir/.Junk --since 1d
        nbspam filed junk.mbox --json

    Exit status: 0 listed; 64 usage; 65 no sound model; 66 no such folder, no model, or mail that cannot be
    read; 74 I/O; 75 try again later.
    """
    folder, oldest = options.folder, time.time() - options.since if "since" in options.named else 0.0
    is_path = os.path.lexists(folder) or os.sep in folder or not os.path.exists(options.config)
    files, lines = ReadableMessages([folder] if is_path else []), []
    with open_filter(options.model) as judge:
        class_number(judge.model, SPAM)
        for name, data in files if is_path else read_junk(options.config, folder, oldest):
            seconds, *fields = read_fields(data)
            if data.strip() and (seconds is None or seconds >= oldest):  # a program empties an mbox
                verdict = judge.classify(data, name)
                verdict.scored.parts = []  # of thousands they would fill the memory
                lines.append((verdict, None if seconds is None else utc(int(1000 * seconds)), fields))
    lines.sort(key=lambda line: (line[0].label == SPAM, line[0].log_odds or 0.0))
    out = console()
    out.width = out.width if out.is_terminal else MAX_LINE
    for verdict, date, (sender, subject) in lines:
        if options.json:
            about = {"name": verdict.name, "date": date, "from": sender, "subject": subject}
            write_json(about | {key: getattr(verdict, key) for key in ("label", "probability", "log_odds")})
        else:
            texts = f"{plain(sender)[:MAX_SENDER]}  {plain(subject)[:MAX_SUBJECT]}"
            line = f"{(date or 'no date')[:10]:10}  {_say_how_sure(verdict):20}  {texts}"
            out.print(line, no_wrap=True, overflow="ellipsis")
    if not lines and not files.status:
        say("There is no mail, or none that is so new.")
    return files.status


def _say_how_sure(verdict: Verdict) -> str:
    if verdict.sender:
        return f"sender {verdict.sender}"
    share = verdict.probability
    return "undefined" if share is None else f"{SURE[bisect(LEAST, share)]} spam, {percent(share)}"
