"""What several commands need: their options in click, labelled mail, and the settings asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from math import isnan
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import click

from nbspam.cli.options import OPTIONS, Option
from nbspam.cli.texts import default_model, default_start, flag_of
from nbspam.corpus import Source, open_labelled
from nbspam.corpus.executor import MAX_JOBS, default_jobs
from nbspam.errors import BadDataError, UsageError, show_faults
from nbspam.labels import checked_name
from nbspam.model.chosen_settings import check_all_act, chosen
from nbspam.settings import (
    ALL_VIEWS,
    Settings,
)

if TYPE_CHECKING:
    from nbspam.model.chosen_settings import Scoring

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


# Defaults that depend on the user and the machine.
_DEFAULTS: dict[str, Callable[[], object]] = {
    "model": lambda: default_model(os.environ),
    "start": lambda: default_start(os.environ),
    "jobs": default_jobs,
}
source_argument = click.argument("source", metavar="[SOURCE]...", nargs=-1)
files_argument = click.argument("files", metavar="[FILE|-]...", nargs=-1)


class Octal(click.ParamType[int]):
    """Permissions as chmod takes them: 600 is 0o600."""

    name = "octal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """An integer from 0 to 0o777."""
        try:
            number = int(value, 8)
        except ValueError:
            number = -1
        if not 0 <= number <= 0o777:
            self.fail(f"{value!r} is not of the form 660", param, ctx)
        return number


class Real(click.FloatRange):
    """A float in a range; nan, which click takes, is an error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A number in the range."""
        number: float = super().convert(value, param, ctx)
        if isnan(number) and self.min is not None:
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def options(*keys: str) -> Callable[[Decorated], Decorated]:
    """The options of these keys in OPTIONS, in the order of the help."""

    def decorate(command: Decorated) -> Decorated:
        for key in reversed(keys):
            command = _click_option(key, OPTIONS[key])(command)
        return command

    return decorate


def _click_option(key: str, option: Option) -> Callable[[Decorated], Decorated]:
    if key == "verbose":
        return click.option(
            *option.flags, is_flag=True, expose_value=False, callback=_verbose, help=option.help
        )
    if not option.value:
        return click.option(*option.flags, option.name, is_flag=True, help=option.help)
    default = _DEFAULTS.get(key, option.default)
    fallback: dict[str, Any] = {} if default is None else {"default": default}  # None is a value for click
    return click.option(
        *option.flags,
        option.name,
        metavar=None if isinstance(option.type, tuple) else option.value,
        type=_click_type(key, option),
        show_default=option.shown or option.default is not None,
        multiple=option.repeats,
        required=option.required,
        help=option.help,
        **fallback,
    )


def _click_type(key: str, option: Option) -> click.ParamType[Any]:
    if isinstance(option.type, tuple):
        return click.Choice(option.type)
    if key == "jobs":
        return click.IntRange(1, MAX_JOBS)
    if option.type == "int":
        return click.INT if option.least is None else click.IntRange(int(option.least))
    if option.type == "float":
        return click.FLOAT if option.least is None else Real(option.least, option.most)
    return Octal() if option.type == "octal" else click.STRING


def _verbose(context: click.Context, option: click.Parameter, is_given: bool) -> None:
    if is_given:
        show_faults()


def names_mail(given: dict[str, Any]) -> bool:
    """True if labelled mail is named; UsageError for options of it without mail."""
    if any(given[name] for name in ("source", "ham", "spam", "classes")):
        return True
    for name in ("rules", "skip_unread"):
        if given[name]:
            raise UsageError(
                "", "is for labelled mail, and none is named", "name SOURCE", "no-effect", option=name
            )
    return False


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
    )


def asked_name(name: str, where: str) -> str:
    """The canonical spelling of a class name; UsageError if it cannot be one.  where : what holds the name"""
    try:
        return checked_name(name, where)
    except BadDataError as error:
        raise UsageError(where, error.why, "give another name, for example: spam", error.slug) from None


def named_files(given: dict[str, Any]) -> list[str]:
    """The input files that the options name: none of them may be written over."""
    labelled = [item.partition("=")[2] for item in given["classes"]]
    single = [given.get(name) for name in ("rules", "vocab", "model", "word_list")]
    return [*given["source"], *given["ham"], *given["spam"], *labelled, *filter(None, single)]


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
    _check_fixed_elsewhere(settings, given)
    return settings


def _check_fixed_elsewhere(settings: Settings, given: dict[str, Any]) -> None:
    """UsageError if a vocabulary or a prior model already fixes the tokens or the bins."""
    for name in asked_options(name for name in ("bins", "binning", "edges") if name in given):
        if given.get("prior_model"):
            _refuse_both(f"--{name} --prior-model", "the prior model fixes the bins", "no-effect")
    for option, owner in (("vocab", "the vocabulary"), ("prior_model", "the prior model")):
        if settings.views != ALL_VIEWS and given.get(option):
            flags = f"--views {settings.views} {flag_of(option)}"
            _refuse_both(flags, f"{owner} fixes the tokens that are read", "views")
    if settings.features == "numeric" and given.get("vocab"):
        _refuse_both("--features numeric --vocab", "numeric features are not words", "features")


def _refuse_both(flags: str, why: str, slug: str) -> NoReturn:
    raise UsageError(flags, why, "leave out one of them", slug)


def shows_progress(quiet: bool) -> bool:
    """True if stderr is a terminal and -q is not given."""
    return not quiet and sys.stderr.isatty()
