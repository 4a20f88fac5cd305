"""`nbspam compare`."""

from math import isnan

from nbspam.cli import Options, command, plain
from nbspam.cli.progress import steps
from nbspam.cli.tables import console, fit_table, number, print_sentence, table, write_json
from nbspam.evaluation.comparison import Comparison, Difference, compare
from nbspam.evaluation.formats import read_evaluation
from nbspam.labels import amount


@command("a", "b", "json")
def compare_command(options: Options) -> None:
    """Compare two evaluations of the same mail, paired message by message.

    A and B are files of nbspam eval --save, or of result lines (--results, or another filter's: file= judge=
    class= score=).  Writes which one ranks better, which one decides better, and the probability that this
    is chance.

    \b
    Example:
        nbspam eval ~/Maildir --save a.json
        nbspam eval ~/Maildir --alpha 0.1 --save b.json
        nbspam compare a.json b.json

    Exit status: 0 compared; 65 not an evaluation of this version, or not the same mail; 66 no such file.
    """
    names = options.a, options.b
    first, second = map(read_evaluation, names)
    with steps("Pairing and resampling", None):
        comparison = compare(first, second, names)
    if options.json:
        write_json({"a": options.a, "b": options.b} | comparison._asdict())
    else:
        _show(comparison, names)


def _show(comparison: Comparison, names: tuple[str, str]) -> None:
    """Both evaluations side by side, and the verdict."""
    out = console()
    a, b = map(plain, names)
    messages = amount(comparison.messages, "message")
    print_sentence(out, f"{messages}, judged by A = {a} and by B = {b}.")
    if comparison.costs:
        print_sentence(out, f"Both decide by the costs of A: {comparison.costs}.")
    out.print()
    shown = table("", ">A", ">B", ">B - A", ">95 % interval", ">p")
    if not isnan(comparison.one_minus_roca_percent.a):  # undefined for scores of classes without spam
        shown.add_row("(1-ROCA)%", *_format_cells(comparison.one_minus_roca_percent, 4))
    if comparison.log_loss is not None:
        shown.add_row("log loss", *_format_cells(comparison.log_loss, 5))
    right_a, right_b = comparison.rightly
    numbers = (f"{right_a:,}", f"{right_b:,}", f"{right_b - right_a:+,}")
    shown.add_row("decided rightly", *numbers, "", _format_p(comparison.mcnemar.p))
    out.print(fit_table(shown, out))
    pairs = comparison.mcnemar
    only = f"only A right: {pairs.only_a_right:,}, only B right: {pairs.only_b_right:,}"
    print_sentence(out, f"{only}.")
    print_sentence(out, plain(comparison.verdict), "bold")


def _format_cells(difference: Difference, digits: int) -> list[str]:
    low, high = [number(value, f"+.{digits}f") for value in difference.interval]
    a, b = [number(value, f".{digits}f") for value in (difference.a, difference.b)]
    between = number(difference.difference, f"+.{digits}f")
    return [a, b, between, f"{low} to {high}" if low else "", _format_p(difference.p)]


def _format_p(p: float) -> str:
    """A p-value in a table."""
    return "< 0.001" if p < 0.001 else number(p, ".3f")
