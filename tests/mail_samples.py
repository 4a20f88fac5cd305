"""Small corpora made up on the spot: invented words, invented senders, any number of classes."""

import random
from pathlib import Path

COMMON = [f"word{i}" for i in range(60)]


def message(topic: str, rng: random.Random, number: int, day: int | None) -> bytes:
    """One mail: half common words, half words of its topic; without a day it has no date."""
    words = rng.choices(COMMON, k=12) + rng.choices([f"{topic}{i}" for i in range(25)], k=rng.randint(4, 12))
    rng.shuffle(words)
    date = "" if day is None else f"Date: {1 + day % 28} Jan {2001 + day // 28} 10:00:00 +0000\n"
    head = f"From: {topic}{number % 7}@example.org\n{date}Subject: {' '.join(words[:3])}\n"
    return (head + "\n" + " ".join(words) + "\n").encode()


def make_corpus(
    folder: Path, sizes: dict[str, int], seed: int = 0, dated: bool = True, noise: float = 0.1
) -> Path:
    """A folder with a subfolder a class.  noise: the share of messages that talk like another class."""
    rng = random.Random(seed)
    for label in sizes:
        (folder / label).mkdir(parents=True)
    order = [label for label, size in sizes.items() for _ in range(size)]
    rng.shuffle(order)
    for number, label in enumerate(order):
        topic = rng.choice(list(sizes)) if rng.random() < noise else label
        content = message(topic, rng, number, number if dated else None)
        (folder / label / f"{number:05}.eml").write_bytes(content)
    return folder


def make_index(folder: Path, names: list[tuple[str, str]], path: str = "index") -> Path:
    """An index of (label, path) lines."""
    index = folder / path
    index.write_text("".join(f"{label} {name}\n" for label, name in names))
    return index
