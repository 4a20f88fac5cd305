"""Both readers on the same mail: the first difference, and what the compiled core left to Python or asked it.

    python -m tests.laws.equal FOLDER...                    all messages of folders and mailboxes
    python -m tests.laws.equal --mutate N --seed S FOLDER...    N messages made of them by mutation

Mutated message number I is made by the seed `S:I`; `--only S:I` makes it again and writes it to stdout.
Exit status: 0 equal, 1 a difference, 2 no core, or no mail.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from nbspam.corpus.executor import default_jobs, run_shards
from nbspam.corpus.item import Item, read_items
from nbspam.corpus.reading import cut_shards
from nbspam.corpus.walk import Notes, SourcePart
from nbspam.limits import MAX_READ_BYTES
from nbspam.tokens import describe_reader, find_core, read_in_python
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, RAW, READ_VIEWS, SIGNATURE
from tests.laws.escapes import read_lines, read_words, unescape

WANTED = (BIGRAMS, RAW, MEASURES, SIGNATURE, DATE)
SHARD = 150
MOST_SEEDS = 4_000  # messages that are mutated
MOST_SEED_BYTES = 30_000
_NOTICED = Path(__file__).with_name("equal.txt")  # what readers of mail notice
LINES = {name: list(map(unescape, lines)) for name, lines in read_lines(_NOTICED).items()}
WORDS = read_words(_NOTICED)


def expand(text: bytes, computed: Mapping[str, Iterable[bytes]]) -> Iterator[bytes]:
    """The text with each word in the place of each name in braces."""
    if not (name := re.search(rb"\{(\w+)'?\}", text)):
        yield text
        return
    section = name[1].decode()
    for word in computed.get(section) or WORDS[section]:
        yield from expand(text.replace(name[0], word), computed)


PIECES = [*WORDS["piece"], b"x" * 90, b"A1B2c/" * 25 + b"\n"]


def differ(core: Any, python: Any) -> str:
    """The first difference, in one line, or "".  A dict of the core may be an object in Python."""
    if core == python:
        return ""
    if isinstance(core, dict) and not isinstance(python, dict):
        found = ((name, differ(value, getattr(python, name))) for name, value in core.items())
        return next((f"{name}: {difference}" for name, difference in found if difference), "")
    if not isinstance(core, list):
        return f"core {core}, Python {python}"
    pairs = zip(core, python, strict=False)
    place = next((place for place, pair in enumerate(pairs) if differ(*pair)), min(len(core), len(python)))
    if place == len(core) == len(python):
        return ""
    if place < min(len(core), len(python)) and isinstance(core[place], dict):
        return f"{place}: {differ(core[place], python[place])}"
    near = slice(max(place - 1, 0), place + 3)
    return f"{place}: core {core[near]}, Python {python[near]}"


def find_difference(data: bytes) -> str:
    """Tokens that are read differently, in one line; "" if none, or if the core leaves it to Python."""
    data = data[:MAX_READ_BYTES]
    found = find_core().read(data, list(WANTED))
    if found is None:
        return ""
    views, sent, date = found
    core = dict(zip(READ_VIEWS, views, strict=True)) | {"sent": sent, "date": date}
    return differ(core, read_in_python(data, WANTED))


def mutate(data: bytes, other: bytes, random: Random) -> bytes:
    """A message with some changes that the grammar of mail may notice."""
    found = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 5, 10))):
        at = random.choice((random.randrange(len(found) + 1), random.randrange(min(len(found), 2_000) + 1)))
        end = at + random.choice((0, 1, 2, 10, 100))
        kind = random.randrange(6)
        if kind < 3:
            found[at:end] = random.choice(PIECES)
        elif kind == 3:
            del found[at:end]
        elif kind == 4:
            found[at:end] = random.randbytes(random.choice((1, 3)))
        else:  # lines of another message
            start = other.find(b"\n", random.randrange(len(other) + 1)) + 1
            found[at:at] = other[start : start + random.choice((40, 300, 2_000))]
    return bytes(found)


def make_mutant(seeds: list[bytes], name: str) -> bytes:
    """name : SEED:NUMBER"""
    random = Random(name)
    return mutate(random.choice(seeds), random.choice(seeds), random)


def list_items(paths: list[str], notes: Notes) -> Iterator[Item]:
    """Every file, also those that nobody would learn from: short texts, and what is no mail."""
    for path in paths:
        for file in SourcePart(path).files(notes):
            yield from file._replace(only_mail=False).items(notes)


class Compared(NamedTuple):
    """What came of some messages.

    left  : messages that the core left to Python whole, by reason
    asking : messages of which the core asked Python anything
    asked  : how often it asked a function of Python, by its name
    """

    messages: int
    asking: int
    differences: list[str]
    left: Counter[str]
    asked: Counter[str]


def compare_shard(mail: Iterable[tuple[str, bytes]]) -> Compared:
    """Compare the readers on messages with names."""
    core = find_core()
    left, asked = Counter(core.count_left()), Counter(core.count_asked())
    times = [asked.total()]
    told: list[str] = []
    for name, data in mail:
        if difference := find_difference(data):
            told.append(f"{name}: {difference}")
        times.append(sum(core.count_asked().values()))
    asking = sum(before < after for before, after in pairwise(times))
    left, asked = Counter(core.count_left()) - left, Counter(core.count_asked()) - asked
    return Compared(len(times) - 1, asking, told, left, asked)


def compare_items(items: list[Item]) -> Compared:
    return compare_shard((item.name, data) for item, data in read_items(items, []))


def make_shards(seeds: list[bytes], seed: str, number: int) -> Iterator[list[tuple[str, bytes]]]:
    for first in range(0, number, SHARD):
        names = [f"{seed}:{n}" for n in range(first, min(first + SHARD, number))]
        yield [(name, make_mutant(seeds, name)) for name in names]


def read_seeds(paths: list[str]) -> list[bytes]:
    """The messages that are mutated: an even choice of all short ones."""
    found = [data for _, data in read_items(list_items(paths, Notes()), []) if len(data) <= MOST_SEED_BYTES]
    return Random(1).sample(found, min(MOST_SEEDS, len(found)))


def refuse(why: str) -> int:
    print(why, file=sys.stderr)
    return 2


def main() -> int:
    parser = argparse.ArgumentParser(description="compare the compiled core with Python")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--mutate", type=int, default=0, metavar="N")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="", metavar="SEED:NUMBER")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    given = parser.parse_args()
    if find_core() is None:
        return refuse(f"no compiled core to compare: {describe_reader()}")
    seeds = read_seeds(given.folders) if given.mutate or given.only else []
    if not seeds and (given.mutate or given.only):
        return refuse("no mail in these folders to mutate")
    if given.only:
        sys.stdout.buffer.write(make_mutant(seeds, given.only))
        return 0
    if given.mutate:
        results = run_shards(compare_shard, make_shards(seeds, given.seed, given.mutate), given.jobs)
    else:
        results = run_shards(compare_items, cut_shards(list_items(given.folders, Notes())), given.jobs)
    number, asking, differences, left, asked = 0, 0, 0, Counter[str](), Counter[str]()
    for found in results:
        for difference in found.differences[: 1 if not differences else 0]:
            print(difference)
        number, differences = number + found.messages, differences + len(found.differences)
        asking, left, asked = asking + found.asking, left + found.left, asked + found.asked
    if not number:
        return refuse("no mail in these folders")
    share = 100 * left.total() / number
    print(f"{number} messages, {differences} different; left to Python: {left.total()} ({share:.2f} %)")
    for reason, times in left.most_common():
        print(f"{times:>8}  {reason}")
    print(f"{asking} ({100 * asking / number:.2f} %) made the core ask a function of Python:")
    for name, times in asked.most_common():
        print(f"{times:>8}  {name}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
