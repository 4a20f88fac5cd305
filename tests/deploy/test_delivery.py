"""Programs of Debian deliver by the recipes of the manual, unchanged: no message is lost, doubled or changed.

The oracle is the delivery agent itself: without our header field, a mailbox must hold, byte for byte, what
the same agent delivers without the filter.  `make crash` tries 1,000 failures, `make test` fewer.
"""

import os
import random
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.deploy.agents import (
    AS_IT_CAME,
    FILTER,
    MARK_NOTHING,
    WAITS,
    WAYS,
    Agent,
    Exim,
    Postfix,
    Procmail,
    each_way,
)
from tests.deploy.recipes import BROKEN, OWN_FIELD, ROOT, recipe, without_own_field
from tests.programs import needs
from tests.server import Server, eventually
from tests.tiny_mail import mail, run, write_folders

FAULTS = {"killed": "echo half; kill -9 $$", "ended with 75": "echo half; exit 75", "missing": ""}
FORGED = b"X-Bogosity: Spam, tests=bogofilter\nX-Spam-Status: Yes\nX-Nbspam: spam; probability=1\n\tfolded\n"
MARKS = re.compile(rb"X-(Bogosity|Spam|Nbspam).*\r?\n(\t.*\n)*")
NO_FROM = [name for name in BROKEN if not name.startswith("from-")]  # such lines are never in a queue
SERVED = ("eight-bit", "no-last-newline", "headers-only", "forged", "control")  # by a mail server
DELIVERIES = int(os.environ.get("NBSPAM_DELIVERIES", 24))
CALLS = "openat,read,write,pread64,mmap,newfstatat,fcntl,lseek,close"
# What happens at a system call of nbspam: once, or (+) from then on.
FAILURES = [f"signal={name}" for name in ("KILL", "SEGV", "TERM")]
FAILURES += [f"error={name}" for name in ("EIO", "ENOMEM", "ENOSPC", "EMFILE", "EACCES")]


def samples(label: str) -> list[bytes]:
    return sorted(path.read_bytes() for path in sorted((ROOT / "data" / label).glob("*"))[:40:16])


def came(agent: Agent) -> list[bytes]:
    """All that was delivered, which is then removed."""
    found = [message for folder in {agent.inbox, agent.junk} for message in agent.delivered(folder)]
    agent.empty()
    return found


def comparable(agent: Agent, messages: Iterable[bytes]) -> list[bytes]:
    """Sorted, without the fields of filters and what a mail server changes: its fields, and line ends."""
    plain = (MARKS.sub(b"", message).replace(b"\r\n", b"\n").rstrip(b"\n") for message in messages)
    return sorted(message if agent.keeps_bytes else message.partition(b"\n\n")[2] for message in plain)


@each_way()
def test_ham_and_spam_lie_where_the_recipe_says(way: str, agent: Agent) -> None:
    for message in [FORGED + samples("ham")[0], *samples("ham")[1:], *samples("spam")]:
        assert agent.deliver(message) == 0
    for label, folder in (("ham", agent.inbox), ("spam", agent.junk)):
        mark = f"X-Nbspam: {label}; ".encode()
        found = [message for message in agent.delivered(folder) if way in MARK_NOTHING or mark in message]
        if agent.junk != agent.inbox:
            assert len(found) == len(agent.delivered(folder))
        assert comparable(agent, found) == comparable(agent, samples(label))


@each_way("filter", "condition", "maildrop", "pipe", "postfix", "exim")
def test_broken_mail_is_delivered_byte_for_byte(way: str, agent: Agent) -> None:
    rules, fails = WAYS[way][1:]
    names = {"filter": [*BROKEN], "condition": [*BROKEN], "pipe": NO_FROM, "maildrop": NO_FROM[1:]}
    for name in names.get(way, SERVED):
        agent.repair()
        assert agent.deliver(BROKEN[name]) == 0
        filtered = came(agent)
        if not agent.keeps_bytes:
            assert BROKEN[name].partition(b"\n\n")[2].rstrip(b"\n") in without_own_field(filtered[0]), name
            continue
        plain = [BROKEN[name]]
        if rules:
            agent.rules = ""
            assert agent.deliver(BROKEN[name]) == 0
            plain, agent.rules = came(agent), rules
        assert (filtered if way in MARK_NOTHING else list(map(without_own_field, filtered))) == plain, name
        if fails == AS_IT_CAME and name != "empty":  # procmail then takes what a filter wrote
            agent.become("echo half; exit 75")
            assert (agent.deliver(BROKEN[name]), came(agent)) == (0, plain), name


@each_way("filter")
@pytest.mark.parametrize("name", ["newline", "nul"])
def test_broken_mail_is_whole_in_an_mbox(way: str, agent: Procmail, name: str) -> None:
    agent.default, found = "inbox.mbox", []
    for agent.rules in (FILTER, ""):
        assert agent.deliver(BROKEN[name]) == 0
        found.append((agent.home / "inbox.mbox").read_bytes())
        (agent.home / "inbox.mbox").unlink()
    # procmail closes a message with an empty line; after our field this is one
    assert without_own_field(found[0]) == (b"\n" if name == "newline" else found[1])


@each_way()
def test_mail_waits_or_comes_as_it_is_where_nbspam_fails(way: str, agent: Agent) -> None:
    fails, missing = WAYS[way][2], agent.model.with_name("missing")
    messages = [mail(f"pills prize in {fault}") for fault in (*FAULTS, "without a model")]
    for message, script in zip(messages, [*FAULTS.values(), None], strict=True):
        if script is None:
            agent.repair()
            agent.model.rename(missing)
        else:
            agent.become(script)
        assert agent.deliver(message) == fails, script
    found = came(agent)
    assert comparable(agent, found) == (comparable(agent, messages) if fails == AS_IT_CAME else [])
    assert not any(b"X-Nbspam" in message or b"half" in message for message in found)
    missing.rename(agent.model)
    if fails == WAITS:
        agent.retry(messages)
        assert comparable(agent, came(agent)) == comparable(agent, messages)


@each_way("postfix")
def test_each_of_many_messages_is_delivered_once(way: str, agent: Postfix) -> None:
    for number in range(20):
        agent.send(mail(f"pills prize number{number}."))
    eventually(lambda: not agent.waits())
    found = b"".join(came(agent))
    assert [found.count(b"number%d.\n" % number) for number in range(20)] == 20 * [1]
    assert found.count(b"X-Nbspam: ") == 20


@each_way("exim")
def test_server_marks_mail(way: str, agent: Exim) -> None:
    forged = b"X-Spam-Flag: YES\nX-Spam-Score: 9\n"
    with Server(agent.home, "--socket-mode", "666", model=agent.model):
        for label, marks in (("ham", [b"Score: -"]), ("spam", [b"Score: ", b"Flag: "])):
            agent.deliver(forged + samples(label)[0])
            assert re.findall(rb"\nX-Spam-(.*: -?).*", b"\n" + came(agent)[0]) == marks


@each_way("condition")
def test_condition_reads_the_body_too(way: str, agent: Procmail) -> None:
    agent.rules = agent.rules.replace("nbspam classify --exit-code >/dev/null", "cat >seen")
    agent.deliver(samples("spam")[0])
    # A condition gets folded fields as one line each.
    assert (agent.home / "seen").read_bytes().split() == samples("spam")[0].split()


@pytest.mark.debian
@needs("procmail")
@pytest.mark.parametrize("page", ["README.md", "docs/procmail.md"])
def test_page_works_as_written_in_a_fresh_account(
    page: str, installed: Path, data_model: Path, tmp_path: Path
) -> None:
    text = (ROOT / page).read_text()
    for place, target in ((".local/bin/nbspam", installed), (".local/share/nbspam/model.nbspam", data_model)):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).symlink_to(target)
    (command,) = re.findall("`(mkdir .*?)`", text)
    subprocess.run(command, shell=True, check=True, env={"HOME": str(tmp_path)})
    blocks = re.findall(r"```procmail\n(.*?)```", text, re.DOTALL)
    (tmp_path / ".procmailrc").write_text("\n".join(blocks[:2]))  # the head, and the first recipe
    maildir = tmp_path / "Maildir"
    for label, folder in (("spam", maildir / ".Junk"), ("ham", maildir)):  # spam first: nothing is there yet
        procmail = ["procmail", f"HOME={tmp_path}", tmp_path / ".procmailrc"]
        subprocess.run(procmail, input=samples(label)[0], check=True, timeout=60, cwd="/")
        (delivered,) = (folder / "new").iterdir()
        assert without_own_field(delivered.read_bytes()) == samples(label)[0]
        assert delivered.read_bytes().startswith(f"X-Nbspam: {label}; ".encode())


@pytest.mark.debian
@needs("procmail")
def test_newsletter_recipe_files_each_class_in_its_folder(tmp_path: Path, installed: Path) -> None:
    ham, spam = (
        [path.read_bytes() for path in sorted(ROOT.glob(f"data/{name}/*"))] for name in ("ham", "spam")
    )
    news = [message for message in ham if b"\nlist-unsubscribe:" in message.lower()]
    mails = {"ham": [message for message in ham if message not in news], "newsletter": news, "spam": spam}
    run("train", "-q", write_folders(tmp_path / "sorted", mails), "-m", tmp_path / "m")
    agent = Procmail(tmp_path, installed, tmp_path / "m", f"{FILTER}\n{recipe('newsletters procmail')}")
    for message in [one for messages in mails.values() for one in messages[:4]]:
        assert agent.deliver(message) == 0
    for label, folder in {"ham": "inbox", "newsletter": ".Newsletters", "spam": ".Junk"}.items():
        found = [path.read_bytes() for path in (tmp_path / folder / "new").iterdir()]
        assert sorted(map(without_own_field, found)) == sorted(mails[label][:4])


@needs("strace")
@pytest.mark.crash
@each_way("filter", "condition", "requeue", "maildrop")
def test_no_failure_of_the_program_loses_or_doubles_or_changes_a_message(way: str, agent: Agent) -> None:
    def deliver(message: bytes, options: str) -> int:
        agent.become(f'exec strace -o {agent.home}/calls {options} {agent.installed} "$@"')
        status, found = agent.deliver(message), came(agent)
        whole = [OWN_FIELD.sub(b"", one, count=1) for one in found] == [message]
        assert (status == 0 and whole) or (status == 75 and not found), (options, message[:99], status, found)
        return len(found)

    messages, drawn = samples("ham") + samples("spam"), random.Random(DELIVERIES)
    assert deliver(messages[0], f"-e trace={CALLS}") == 1
    calls = re.findall(r"^(\w+)\(", (agent.home / "calls").read_text(), re.MULTILINE)
    for _ in range(DELIVERIES // 4):
        call = drawn.choice(sorted(set(calls)))
        when = f"{drawn.randint(1, calls.count(call))}{drawn.choice(['', '+'])}"
        deliver(drawn.choice(messages), f"-e inject={call}:{drawn.choice(FAILURES)}:when={when}")
