"""What several commands need: their options in click, labelled mail, settings, and files to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from nbspam.cli import asked_name, flag_of
from nbspam.cli.options import ANY_PATH, CLUSTER, OPTIONS
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.source import Source
from nbspam.errors import UsageError
from nbspam.model.chosen_settings import check_all_act, chosen
from nbspam.settings import ALL_VIEWS, Settings

if TYPE_CHECKING:
    from nbspam.corpus.cluster import Cluster
    from nbspam.model.chosen_settings import Scoring

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


source_argument = click.argument("source", metavar="[SOURCE]...", nargs=-1, type=ANY_PATH)
files_argument = click.argument("files", metavar="[FILE|-]...", nargs=-1, type=ANY_PATH)


def options(*keys: str) -> Callable[[Decorated], Decorated]:
    """The options of these keys in OPTIONS, in the order of the help."""

    def decorate(command: Decorated) -> Decorated:
        for key in reversed(keys):
            OPTIONS[key](command)
        return command

    return decorate


def labelled_source(given: dict[str, Any], allow_one_class: bool = False) -> Source:
    """The labelled mail that the options name."""
    classes: dict[str, list[str]] = {}
    for item in given["classes"]:
        name, equals, path = item.partition("=")
        if not equals or not path:
            remedy = "for example: --class work=Maildir/.work"
            raise UsageError(item, "is not NAME=PATH", remedy, "class-option", option="class")
        classes.setdefault(asked_name(name, "--class"), []).append(path)
    return open_labelled(
        given["source"],
        ham=list(given["ham"]),
        spam=list(given["spam"]),
        classes=classes,
        rules=given["rules"],
        skip_unread=given["skip_unread"],
        allow_one_class=allow_one_class,
        force=given["force"],
    )


def asked_workers(given: dict[str, Any]) -> AbstractContextManager[int | Cluster]:
    """The number of processes that the options name, or the cluster, connected inside the context."""
    asked = asked_options(["jobs", *CLUSTER])
    if len(asked) > 1:
        raise UsageError(" ".join(map(flag_of, asked)), "exclude each other", "give one of them", "usage")
    if given["scheduler"] is None and given["local_cluster"] is None:
        return nullcontext(given["jobs"])
    from nbspam.corpus.cluster import open_cluster

    return open_cluster(given["scheduler"] or "", given["local_cluster"] or 0)


def named_mail(given: dict[str, Any]) -> list[str]:
    """The files and folders of labelled mail that the options name."""
    labelled = [item.partition("=")[2] for item in given["classes"]]
    return [*given["source"], *given["ham"], *given["spam"], *labelled]


def named_files(given: dict[str, Any]) -> list[str]:
    """The input files that the options name: none of them may be written over."""
    single = [given.get(name) for name in ("rules", "vocab", "model", "word_list")]
    return [*named_mail(given), *filter(None, single)]


def asked_options(names: Iterable[str]) -> list[str]:
    """The parameters among `names` that are given on the command line."""
    source, context = click.core.ParameterSource.COMMANDLINE, click.get_current_context()
    return [name for name in names if context.get_parameter_source(name) == source]


def asked_settings(given: dict[str, Any], is_kept: bool = False) -> Settings:
    """The settings that the options name; UsageError for a wrong one, and for one without effect.

    is_kept : for a model that is made, see check_all_act
    """
    settings = chosen(cast("Scoring", given))
    check_all_act(asked_options(given), settings, is_kept)
    if given.get("vocab") and (settings.views != ALL_VIEWS or settings.features == "numeric"):
        slug = "views" if settings.views != ALL_VIEWS else "features"
        raise UsageError("--vocab", f"fixes what is read, and so does --{slug}", "leave one out", slug)
    return settings
