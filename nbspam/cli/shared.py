"""What several commands need: labelled mail, workers, settings, and files to write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO

from nbspam.cli import CLUSTER, Options, read_class_name
from nbspam.cli.progress import message_steps
from nbspam.corpus.cluster import Cluster
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.item import Item
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.source import Source
from nbspam.corpus.vocabulary import limit_settings, read_vocabulary
from nbspam.corpus.walk import MailFile
from nbspam.decision import read_loss
from nbspam.errors import CannotCreateError, UsageError
from nbspam.files import find_nearest_folder, names_no_file, open_whole_file
from nbspam.model.chosen_settings import check_all_act, make_settings
from nbspam.settings import ALL_VIEWS
from nbspam.store.connection import refuse_foreign
from nbspam.tasks.plan import Plan

STDOUT = "-"


def open_source(options: Options, allow_one_class: bool = False) -> Source:
    """The labelled mail that the options name."""
    classes: dict[str, list[str]] = {}
    for name, path in split_classes(options.classes, "PATH", "work=Maildir/.work"):
        classes.setdefault(name, []).append(path)
    same = {name: getattr(options, name) for name in ("ham", "spam", "rules", "skip_unread")}
    source = open_labelled(options.source, classes=classes, allow_one_class=allow_one_class, **same)
    source.attached = "attached" in options.named
    if source.attached:
        options.refuse(CLUSTER, "opens no reports", "leave it out", method="--attached")
    return source


def split_classes(items: Iterable[str], value: str, example: str) -> Iterator[tuple[str, str]]:
    """(class, value) of each --class.  value : its name in the help"""
    for item in items:
        name, _, text = item.partition("=")
        if not text:
            remedy = f"for example: --class {example}"
            raise UsageError(item, f"is not NAME={value}", remedy, "class-option", option="class")
        yield read_class_name(name, "--class"), text


def open_workers(options: Options) -> AbstractContextManager[int | Cluster]:
    """The number of processes that the options name, or the cluster, connected inside the context."""
    if options.find_named(["jobs", *CLUSTER]) not in CLUSTER:
        return nullcontext(options.jobs)
    from nbspam.corpus.cluster import open_cluster

    return open_cluster(options.scheduler or "", options.local_cluster or 0)


def read_source(source: Source, jobs: int | Cluster, wanted: frozenset[str]) -> Corpus:
    """All mail of a source, read once."""
    with message_steps("Reading", source) as advance:
        mail = iterate_mail(source, jobs)
        return read_corpus(mail, source.classes, jobs, source.ordered_by_index, advance, wanted)


def iterate_mail(source: Source, jobs: int | Cluster) -> Iterator[Item | MailFile]:
    """The messages for processes, or the files for a cluster, which takes them apart itself."""
    return source.items() if isinstance(jobs, int) else source.files()


def list_mail(options: Options) -> list[str]:
    """The files and folders of labelled mail that the options name."""
    labelled = [item.partition("=")[2] for item in options.classes]
    return [*options.source, *options.ham, *options.spam, *labelled]


def list_inputs(options: Options) -> list[str]:
    """The input files that the options name: none of them may be written over."""
    named = [options.named.get(name) for name in ("rules", "vocab", "model", "word_list")]
    return [*list_mail(options), *filter(None, named)]


def open_training(options: Options, is_kept: bool = False) -> tuple[Plan, Source]:
    """How the options ask to count, score and decide, and the labelled mail.  is_kept : as for _read_plan"""
    plan = _read_plan(options, is_kept)
    source = open_source(options)
    return plan._replace(loss=read_loss(options.loss, source.classes, options.textbook)), source


def _read_plan(options: Options, is_kept: bool) -> Plan:
    """How the options ask to count and score; UsageError for a wrong one, and for one without effect.

    is_kept : for a model that is made, see check_all_act
    """
    settings = make_settings(options.scoring, is_kept)
    check_all_act(["edges"] * ("edges" in options.named), settings, is_kept)
    if not options.vocab:
        return Plan(settings)
    if settings.views != ALL_VIEWS or settings.features == "numeric":
        slug = "views" if settings.views != ALL_VIEWS else "features"
        raise UsageError("--vocab", f"fixes what is read, and so does --{slug}", "leave one out", slug)
    vocabulary = read_vocabulary(options.vocab)
    return Plan(limit_settings(settings, vocabulary), vocabulary=vocabulary)


def open_output(path: str) -> AbstractContextManager[BinaryIO]:
    """A binary file, written whole or not at all; `-` is stdout."""
    return nullcontext(sys.stdout.buffer) if path == STDOUT else open_whole_file(path)


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines as UTF-8; `-` is stdout."""
    with open_output(path) as file:
        file.writelines(line.encode("utf-8", "replace") for line in lines)


def check_writable(path: str | None, *others: str | None) -> None:
    """Raise before the work if the file cannot be made.

    others : other files of the command; none of them may be the same file
    """
    if path is None or path == STDOUT:
        return
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return  # /dev/null or a FIFO, whatever its folder allows
    if os.path.realpath(path) in {os.path.realpath(other) for other in others if other}:
        why = "is named twice, and one of the two would be lost"
        raise UsageError(path, why, "choose another place for what is written", "output-twice")
    folder = os.path.dirname(os.path.realpath(path))
    if names_no_file(path) or not os.path.isdir(folder):
        why, remedy = "is not the name of a file in a folder", "make the folder, or choose another place"
        raise CannotCreateError(path, why, remedy, "output-folder")
    if not os.access(folder, os.W_OK):
        why = "the folder cannot be written to"
        raise CannotCreateError(path, why, "choose another place", "output-denied")


def check_new_model(
    path: str, replace: bool, remedy: str = "--replace writes over it", option: str = "--model"
) -> None:
    """Raise if no model can be made there, in a folder that will be made, or if there is one.

    replace : write over it;  option : the one that names the model
    """
    refuse_foreign(path)
    if os.path.isfile(path) and not replace:
        why = "the model exists, and it is not overwritten"
        raise CannotCreateError(path, why, remedy, "model-exists")
    target, folder = os.path.realpath(path), find_nearest_folder(path)  # target: a link if links form a loop
    is_other = os.path.islink(target) or (os.path.exists(path) and not os.path.isfile(path))
    why = ""
    if names_no_file(path) or is_other or not os.path.isdir(folder):
        why = "is not a regular file in a folder"
    elif not os.access(folder, os.W_OK):
        why = f"the folder {folder} cannot be written to"
    if why:
        raise CannotCreateError(path, why, f"choose another place: {option} PATH", "model-create")
