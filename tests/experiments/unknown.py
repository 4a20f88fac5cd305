"""The share of tokens of a view that training never met, NOTAWORD, as evidence of its own."""

from nbspam.engine.accumulator import select_rows, time_order
from tests.experiments.calibration import learned
from tests.experiments.lab import Way, counted, heading, mail, row, ways

NAMED = {"with the shares": Way(), "without": Way(unknown=False)}


def in_time_order() -> None:
    """The older part of the mail trains, the newer is judged: new mail brings new words."""
    block = counted(mail("spamassassin"))
    order = time_order(block)
    for share in (0.3, 0.5, 0.7):
        cut = int(len(order) * share)
        past, future = select_rows(block, order[:cut]), select_rows(block, order[cut:])
        heading(f"spamassassin, the oldest {share:.0%} train, the others are judged", len(future))
        for name, way in NAMED.items():
            alone, both = (
                learned(past, future, True, None, way.unknown),
                learned(past, future, True, 0.4, way.unknown),
            )
            print(row(f"{name}, calibrated leave-one-out", alone, future.labels), flush=True)
            print(row(f"{name}, calibrated on both samples, as nbspam does", both, future.labels), flush=True)


if __name__ == "__main__":
    ways(("spamassassin", "sms", "ccert_zh", "enron"), NAMED)
    in_time_order()
