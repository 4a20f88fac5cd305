"""Overlays: with its base, an overlay is one model trained on the mail of both."""

import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

import pytest

from nbspam.errors import BadDataError, NbspamError, TryAgainError, UsageError
from nbspam.filter import begin_model, open_filter
from nbspam.learning.autolearn import learn_verdict
from nbspam.learning.learn import learn_message, learn_messages, unlearn_message
from nbspam.learning.undo import choose_entries, find_lessons, take_back
from nbspam.model.calibration import CREDIT
from nbspam.store import overlay as store_overlay
from nbspam.store.check import check_model
from nbspam.store.ledger import find_first_times
from nbspam.store.merge import merge
from nbspam.store.overlay import rebase
from nbspam.store.prune import prune
from nbspam.store.reader import Bases, open_model, state_digest
from nbspam.store.text import dump_model, load_dump
from nbspam.store.updater import Origin
from nbspam.store.writer import copy_model
from nbspam.tokens.bag import hash_token
from tests.as_nobody import NOBODY
from tests.store.changed_model import forge
from tests.tiny_mail import counts, mail, process, program, run, write_folders

WORDS = ["offer", "pills", "garden", "meeting", "lottery", "winner", "report", "minutes", "cheap", "zebra"]
FORK = get_context("fork")


def make_message(number: int) -> bytes:
    """The message of a number, always the same."""
    chosen = random.Random(number)
    words = [*chosen.choices(WORDS, k=12), f"only{number}"]
    return mail(" ".join(words), " ".join(chosen.choices(WORDS, k=3)))


MESSAGES = [make_message(number) for number in range(260)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with more than MIN_LABELLED messages of each class, and with lessons and moves of its own."""
    folder = tmp_path_factory.mktemp("overlay")
    source = write_folders(folder / "mail", {"ham": MESSAGES[:101], "spam": MESSAGES[101:203]})
    path = folder / "base"
    run("train", "-q", source, "-m", path)
    for number in (203, 204, 205):
        learn_message(str(path), "spam", MESSAGES[number], Origin("learn"))
    learn_message(str(path), "ham", MESSAGES[204], Origin("learn"))
    learn_message(str(path), "spam", MESSAGES[0], Origin("learn"))
    return path


@pytest.fixture
def base(trained: Path, tmp_path: Path) -> str:
    return str(shutil.copy(trained, tmp_path / "base"))


@pytest.fixture
def overlay(base: str, tmp_path: Path) -> str:
    assert begin_model(str(tmp_path / "overlay"), base) == "an overlay"
    return str(tmp_path / "overlay")


@pytest.fixture
def copy(base: str, tmp_path: Path) -> str:
    copy_model(base, str(tmp_path / "copy"))
    return str(tmp_path / "copy")


def act(path: str, actions: random.Random, n: int) -> list[object]:
    """Change a model at random, by mail that no base has; what the program said."""
    said: list[object] = []
    clock = map((1_000_000).__mul__, itertools.count(since_ms := time.time_ns() // 1_000_000))
    with mock.patch("nbspam.store.updater.time.time_ns", clock.__next__):  # no two in a millisecond
        for _ in range(n):
            said += _act_once(path, actions, since_ms)
    return said


def _act_once(path: str, actions: random.Random, since_ms: int) -> list[object]:
    message, label = MESSAGES[actions.randrange(206, 240)], actions.choice(["ham", "spam"])
    match actions.randrange(6):
        case 0 | 1:
            return [learn_message(path, label, message)]
        case 2 | 3:
            return [unlearn_message(path, message)]
        case 4:
            return [learn_verdict(path, label, message, "classify")]
        case _:
            return _undo(path, since_ms)


def _undo(path: str, since_ms: int) -> list[object]:
    said: list[object] = []
    folder = Path(path).parent / "all"
    if not folder.exists():
        write_folders(folder, {"mail": MESSAGES})
    try:
        entries = choose_entries(path, True, since_ms)
    except UsageError as error:
        return [error.slug]
    lessons = find_lessons(path, entries, [str(folder / "mail")])
    said.append(take_back(path, lessons, lambda *words: said.append(words[0])))
    return said


def judge(path: str, bases: Bases | None = None) -> list[object]:
    """The bits of what the filter says of every second message."""
    opened = open_filter(path, find_base=bases.find if bases else None)
    verdicts = [opened.classify(message) for message in MESSAGES[::2]]
    opened.close()
    return [(one.label, [score.hex() for score in one.scored.scores]) for one in verdicts]


@pytest.mark.parametrize("seed", range(2))
def test_overlay_equals_a_copy_after_any_lessons_of_new_mail(
    seed: int, overlay: str, copy: str, base: str
) -> None:
    before = Path(base).read_bytes()
    assert act(overlay, random.Random(seed), 60) == act(copy, random.Random(seed), 60)
    assert list(dump_model(overlay)) == list(dump_model(copy))
    expected = judge(copy)
    assert judge(overlay) == expected
    assert judge(overlay, Bases(os.path.dirname(base))) == expected
    assert check_model(overlay) == []
    assert Path(base).read_bytes() == before


def test_message_of_the_base_counts_on_and_can_be_rescued(overlay: str, base: str) -> None:
    before, mail_of_base = judge(overlay), MESSAGES[150]  # spam
    for label in ("spam", None):
        said = learn_messages(overlay, label, [("", mail_of_base), ("", mail_of_base)])
        assert said == ["is in the shared model"] * 2
    assert judge(overlay) == before
    assert learn_message(overlay, "ham", mail_of_base) == "learned"
    with open_model(overlay) as both, open_model(base) as alone:
        assert both.messages == [alone.messages[0] + 1, alone.messages[1]]
        key = hash_token("only150")
        assert (alone.counts([key])[key], both.counts([key])[key]) == ((0, 0, 1, 1), (1, 1, 1, 1))
    assert learn_message(overlay, "ham", mail_of_base) == "already learned"
    assert learn_message(overlay, "spam", mail_of_base) == "moved"  # the base still has it
    assert unlearn_message(overlay, mail_of_base) == "is in the shared model"
    assert counts(Path(overlay)) == counts(Path(base))
    moved = MESSAGES[0]  # spam since the base moved it
    assert learn_message(overlay, "spam", moved) == "is in the shared model"
    for message in (mail_of_base, moved):
        assert learn_message(overlay, "ham", message) == "learned"
        assert unlearn_message(overlay, message) == "forgotten"
    assert check_model(overlay) == []


def test_tokens_have_the_time_of_the_file_that_counted_them_first(overlay: str, base: str) -> None:
    learn_message(overlay, "spam", MESSAGES[206])
    keys = [hash_token(text) for text in ("zebra", "only206", "nowhere")]
    with open_model(overlay) as both, open_model(base) as alone:
        times, shared = find_first_times(both, keys), find_first_times(alone, keys)
    assert list(shared) == keys[:1]
    assert times.pop(keys[0]) == shared[keys[0]] < times.pop(keys[1])
    assert times == {}


@pytest.mark.parametrize("event_model", ["bernoulli", "multinomial", "complement"])
def test_textbook_models_judge_alike(event_model: str, overlay: str, copy: str, base: str) -> None:
    for path in (overlay, copy):
        act(path, random.Random(7), 20)
    options = ("--textbook", "--event-model", event_model)
    message = MESSAGES[3]
    assert run("explain", *options, "-m", overlay, stdin=message) == run(
        "explain", *options, "-m", copy, stdin=message
    )
    opened = open_filter(
        overlay, {"event_model": event_model, "textbook": True}, find_base=Bases(os.path.dirname(base)).find
    )
    other = open_filter(copy, {"event_model": event_model, "textbook": True})
    assert opened.classify(message).scored.scores == other.classify(message).scored.scores


def test_merge_load_and_copies_of_overlays_equal_those_of_copies(
    overlay: str, copy: str, tmp_path: Path
) -> None:
    for path in (overlay, copy):
        act(path, random.Random(3), 40)
    merge([overlay, overlay], str(tmp_path / "two"))
    merge([copy, copy], str(tmp_path / "other"))
    assert list(dump_model(str(tmp_path / "two"))) == list(dump_model(str(tmp_path / "other")))
    load_dump((line.encode() for line in dump_model(overlay)), "text", str(tmp_path / "loaded"))
    assert judge(str(tmp_path / "loaded")) == judge(copy)
    copy_model(overlay, str(tmp_path / "second"))
    assert list(dump_model(str(tmp_path / "second"))) == list(dump_model(copy))


def test_overlay_that_is_read_whole_keeps_writers_out(overlay: str) -> None:
    lines = dump_model(overlay)
    next(lines)
    write = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN EXCLUSIVE')"
    writer = [sys.executable, "-c", write, overlay]
    assert b"locked" in subprocess.run(writer, capture_output=True).stderr
    lines.close()
    assert subprocess.run(writer).returncode == 0


def test_update_of_an_overlay_equals_that_of_a_copy(overlay: str, copy: str, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "more", {"ham": MESSAGES[195:230], "spam": MESSAGES[230:]})
    for path in (overlay, copy):
        run("train", "-q", "--update", source, "-m", path)
    assert list(dump_model(overlay)) == list(dump_model(copy))
    assert judge(overlay) == judge(copy)


def test_many_writers_of_overlays_lose_nothing(base: str, copy: str, tmp_path: Path) -> None:
    own = str(tmp_path / "overlay")
    messages = MESSAGES[206:222]
    with ThreadPoolExecutor(8) as pool:
        command = ["learn", "-q", "spam", "-m", own, "--start", base]
        done = list(pool.map(lambda one: process(*command, stdin=one), messages))
    assert {one.returncode for one in done} == {0}
    for message in messages:
        learn_message(copy, "spam", message)
    assert counts(Path(own)) == counts(Path(copy))
    assert check_model(own) == []


# A base that is missing or changed, and another base.


def assert_passed_on(path: str, slug: str) -> None:
    done = program("classify", "-p", "-m", path, stdin=MESSAGES[0])
    assert (done.returncode, done.stdout) == (75, MESSAGES[0])
    assert f"[{slug}]" in done.stderr.decode()
    assert "nbspam model rebase" in done.stderr.decode()
    with pytest.raises(TryAgainError):
        learn_message(path, "spam", MESSAGES[210])


def test_without_its_base_mail_passes_and_nothing_is_lost(overlay: str, copy: str, base: str) -> None:
    for path in (overlay, copy):
        act(path, random.Random(1), 20)
    os.rename(base, base + "-away")
    before = Path(overlay).read_bytes()
    assert_passed_on(overlay, "base-missing")
    Path(base).write_bytes(b"no model")
    assert_passed_on(overlay, "base-missing")
    assert Path(overlay).read_bytes() == before
    os.rename(base + "-away", base)
    assert list(dump_model(overlay)) == list(dump_model(copy))


@pytest.mark.parametrize("how", ["in place", "replaced"])
def test_changed_base_is_refused_by_all_who_have_it_open(overlay: str, base: str, how: str) -> None:
    bases = Bases(os.path.dirname(base))
    act(overlay, random.Random(1), 5)
    alone, shared = open_filter(overlay), open_filter(overlay, find_base=bases.find)
    new = base
    if how == "replaced":
        new = shutil.copy(base, base + "-new")
    learn_message(new, "spam", MESSAGES[211])
    os.rename(new, base)
    with pytest.raises(TryAgainError, match="has changed"):
        open_filter(overlay, current=shared, find_base=bases.find).classify(MESSAGES[0])
    with pytest.raises(TryAgainError, match="has changed"):
        open_filter(overlay, current=alone).classify(MESSAGES[0])
    assert_passed_on(overlay, "base-changed")
    rebase(overlay)
    learn_message(overlay, "spam", MESSAGES[211])
    assert check_model(overlay) == []


def test_base_that_is_replaced_by_its_copy_is_opened_again(overlay: str, base: str) -> None:
    """By the next message; a message that has begun is to be tried again."""
    bases = Bases(os.path.dirname(base))
    act(overlay, random.Random(1), 5)
    for find_base in (None, bases.find):
        opened = open_filter(overlay, find_base=find_base)
        expected = opened.classify(MESSAGES[0]).scored.scores
        os.rename(shutil.copy(base, base + "-copy"), base)
        with pytest.raises(TryAgainError, match="was replaced"):
            opened.classify(MESSAGES[0])
        opened = open_filter(overlay, current=opened, find_base=find_base)
        assert opened.classify(MESSAGES[0]).scored.scores == expected
        opened.close()


def test_base_that_was_away_for_a_moment_is_added_again(overlay: str, base: str) -> None:
    opened = open_filter(overlay)
    learn_message(overlay, "spam", MESSAGES[206])
    os.rename(base, base + "-away")
    Path(base).write_bytes(b"no model")
    with pytest.raises(TryAgainError):
        opened.classify(MESSAGES[0])
    os.rename(base + "-away", base)
    expected = open_filter(overlay).classify(MESSAGES[0]).scored.scores
    assert opened.classify(MESSAGES[0]).scored.scores == expected


def test_server_takes_no_base_from_another_folder(overlay: str, tmp_path: Path) -> None:
    """A user who writes an overlay must not read the model of another user by it."""
    (tmp_path / "shared").mkdir()
    with pytest.raises(TryAgainError, match="is not in"):
        open_filter(overlay, find_base=Bases(str(tmp_path / "shared")).find)


def teach_base(base: str, tmp_path: Path) -> str:
    """A renewed base: without some of its messages, and with others."""
    new = str(tmp_path / "new")
    copy_model(base, new)
    for number in (1, 2, 150, 203):
        assert unlearn_message(new, MESSAGES[number]) == "forgotten"
    for number in (240, 241, 242):
        learn_message(new, "ham", MESSAGES[number], Origin("train"))
    return new


@pytest.mark.parametrize("seed", range(2))
def test_rebased_overlay_equals_a_copy_of_the_new_base_with_the_same_lessons(
    seed: int, overlay: str, base: str, tmp_path: Path
) -> None:
    new, copy = teach_base(base, tmp_path), str(tmp_path / "copy")
    copy_model(new, copy)
    for path in (overlay, copy):
        act(path, random.Random(seed), 40)
    assert counts(Path(overlay)) != counts(Path(copy))
    rebase(overlay, new)
    assert counts(Path(overlay)) == counts(Path(copy))
    assert check_model(overlay) == []
    for path in (overlay, copy):
        act(path, random.Random(seed + 5), 40)
    assert counts(Path(overlay)) == counts(Path(copy))
    prune(new, min_count=3)  # a base without rare tokens
    rebase(overlay, new)
    for number in range(206, 240):
        assert unlearn_message(overlay, MESSAGES[number]) in ("forgotten", "was never learned")
    assert counts(Path(overlay)) == counts(Path(new))
    assert check_model(overlay) == []


def test_message_that_a_new_base_has_too_counts_twice(overlay: str, base: str, tmp_path: Path) -> None:
    learn_message(overlay, "ham", MESSAGES[240])
    rebase(overlay, teach_base(base, tmp_path))
    with open_model(overlay) as model:
        key = hash_token("only240")
        assert model.counts([key]) == {key: (2, 2, 0, 0)}
    assert unlearn_message(overlay, MESSAGES[240]) == "forgotten"
    assert unlearn_message(overlay, MESSAGES[240]) == "is in the shared model"
    assert check_model(overlay) == []


def test_calibration_is_that_of_own_lessons_or_of_base(overlay: str, base: str, tmp_path: Path) -> None:
    new = teach_base(base, tmp_path)
    for expected in (new, overlay):
        with open_model(expected) as model:
            weights = model.calibration(), model.covariance(), model.read_number(CREDIT)
        rebase(overlay, new)
        with open_model(overlay) as model:
            assert (model.calibration(), model.covariance(), model.read_number(CREDIT)) == weights
        rebase(overlay, base)
        for number in range(206, 226):
            learn_message(overlay, "spam", MESSAGES[number])


def test_rebase_killed_in_the_middle_is_as_if_it_had_not_begun(
    overlay: str, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    act(overlay, random.Random(2), 20)
    before, new = list(dump_model(overlay)), teach_base(base, tmp_path)

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(store_overlay, "sum_rows", die)
    killed = FORK.Process(target=rebase, args=(overlay, new))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    monkeypatch.undo()
    assert list(dump_model(overlay)) == before
    rebase(overlay, new)
    assert check_model(overlay) == []
    with open_model(overlay) as model:
        assert model.base_path == new


def test_base_that_counts_other_things_is_refused(overlay: str, base: str, tmp_path: Path) -> None:
    source = write_folders(
        tmp_path / "mail", {"ham": MESSAGES[:9], "spam": MESSAGES[9:20], "work": MESSAGES[20:30]}
    )
    run("train", "-q", source, "-m", tmp_path / "three")
    mail_of = ("--ham", source / "ham", "--spam", source / "spam")
    run("train", "-q", "--features", "both", *mail_of, "-m", tmp_path / "numeric")
    copy_model(base, str(tmp_path / "own"))
    learn_verdict(str(tmp_path / "own"), "spam", MESSAGES[211], "classify")
    before = Path(overlay).read_bytes()
    for name in ("three", "numeric", "own", "overlay"):
        with pytest.raises(BadDataError, match=r"cannot be the base|does not count the same") as raised:
            rebase(overlay, str(tmp_path / name))
        assert raised.value.slug == "rebase-base"
    assert Path(overlay).read_bytes() == before
    with pytest.raises(UsageError, match="no overlay"):
        rebase(base, overlay)
    for name in ("numeric", "own", "overlay"):  # a copy is as good, only larger
        assert begin_model(str(tmp_path / f"{name}-2"), str(tmp_path / name)) == "a copy"
        assert list(dump_model(str(tmp_path / f"{name}-2"))) == list(dump_model(str(tmp_path / name)))


def test_several_models_are_rebased_and_failures_named(overlay: str, base: str, copy: str) -> None:
    second = shutil.copy(overlay, overlay + "-2")
    learn_message(overlay, "spam", MESSAGES[206])
    unlearn_message(base, MESSAGES[203])
    done = program("model", "rebase", overlay, copy, second)
    assert (done.returncode, done.stdout) == (64, b"")
    assert done.stderr.decode().count("has its base") == 2
    assert "[no-overlay]" in done.stderr.decode()
    assert check_model(overlay) == check_model(second) == []
    assert f"base         {base}" in run("model", "info", "-m", overlay)


def test_forged_names_of_bases_are_refused(overlay: str, base: str, tmp_path: Path) -> None:
    """An overlay of itself, and one of a base of other classes."""
    source = write_folders(
        tmp_path / "mail", {"ham": MESSAGES[:9], "spam": MESSAGES[9:20], "work": MESSAGES[20:30]}
    )
    run("train", "-q", source, "-m", tmp_path / "three")
    for path, said in ((overlay, "is an overlay itself"), (str(tmp_path / "three"), "its classes are not")):
        with open_model(path, find_base=lambda _: None) as model:
            digest = state_digest(model.connection)
        forge(Path(overlay), f"UPDATE base SET path = '{path}', digest = {digest}")
        with pytest.raises(NbspamError, match=said):
            open_filter(overlay)


def test_overlay_is_not_pruned(overlay: str) -> None:
    with pytest.raises(UsageError, match="is an overlay"):
        prune(overlay, min_count=2)


def test_damage_in_an_overlay_or_its_base_is_found(overlay: str, base: str) -> None:
    act(overlay, random.Random(1), 20)
    change = "UPDATE token SET documents_0 = documents_0 + 1 WHERE rowid IN (SELECT key FROM token LIMIT 1)"
    for path, where in ((base, f"its base, {base}: "), (overlay, "")):
        with closing(sqlite3.connect(path)) as file:
            file.execute(change)
            file.commit()
        said = check_model(overlay)
        assert f"{where}token: its rows are not those that were written" in said
        with pytest.raises(NbspamError, match="not those"):
            list(dump_model(overlay))
    with pytest.raises(NbspamError, match="not those"):
        rebase(overlay, teach_base(base, Path(overlay).parent))


def test_base_of_another_user_that_is_read_only_serves(base: str, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.name.startswith(("test_", "popen-", "pytest-")):  # those that pytest made
            folder.chmod(0o755)
    os.chmod(base, 0o644)
    (tmp_path / "home").mkdir()
    os.chown(tmp_path / "home", NOBODY, NOBODY)
    own = str(tmp_path / "home" / "own")

    def learn() -> None:
        os.seteuid(NOBODY)
        begin_model(own, base)
        learn_message(own, "spam", MESSAGES[206])
        os._exit(0 if check_model(own) == [] and os.stat(own).st_uid == NOBODY else 1)

    learner = FORK.Process(target=learn)
    learner.start()
    learner.join()
    assert learner.exitcode == 0
    assert sorted(os.listdir(tmp_path / "home")) == ["own", "own-lock"]


def test_killed_writer_to_the_base_leaves_it_as_it_was(overlay: str, base: str) -> None:
    expected = judge(overlay)

    def write() -> None:
        writer = sqlite3.connect(base, isolation_level=None)
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE token SET documents_0 = 9")
        os.kill(os.getpid(), signal.SIGKILL)

    killed = FORK.Process(target=write)
    killed.start()
    killed.join()
    assert os.path.exists(base + "-journal")
    assert judge(overlay) == expected
