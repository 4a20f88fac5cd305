"""What an evaluation found and how it was made, in plain sentences."""

from nbspam.evaluation.figures import AT_HM, Summary
from nbspam.evaluation.outcomes import Evaluation
from nbspam.labels import amount

STRANGE = "This mail is unlike the mail of training: learn 60 messages with `nbspam label`."


def describe_decisions(found: Summary) -> str:
    """How many messages were judged, lost, missed and left undecided, in one sentence."""
    said = []
    for key, whole, noun, fate in (
        ("hm_percent", "ham", "wanted message", "lost to the spam folder"),
        ("sm_percent", "spam", "spam message", "let through"),
    ):
        if found[key] is not None:
            number = round(found[key] * found[whole] / 100)
            some = {0: "none was", 1: "one was"}.get(number, f"{number:,} were")
            said.append(f"of {amount(found[whole], noun)} {some} {fate} ({found[key]:.2f} %)")
    if not said:
        said.append(f"{100 * found['accuracy']:.2f} % were put into the right class")
    if found["unsure_percent"]:
        unsure = amount(sum(row[-1] for row in found["confusion"]), "message")
        said.append(f"on {unsure} the filter did not decide ({found['unsure_percent']:.2f} %)")
    return f"{amount(found['messages'], 'message')} judged: {'; '.join(said)}."


def describe_scores(found: Summary) -> list[str]:
    """How well the scores rank, and whether the probabilities are true."""
    said = []
    wrong = found["one_minus_roca_percent"]
    if wrong:
        digits = max(0, len(str(int(100 / wrong))) - 2)  # 13,000 rather than 12,987
        all_but_one = f"in all but one of {round(100 / wrong, -digits):,.0f} such pairs"
        said.append(f"Pick a wanted and a spam message at random: the spam scores higher {all_but_one}.")
    elif wrong is not None:
        said.append("Every spam message scored higher than every wanted one.")
    if wrong is not None:
        lost = "at most one wanted message in a thousand" if found["ham"] >= 1000 else "no wanted message"
        caught = f"{100 - found[AT_HM]['0.1']:.2f} % of the spam"
        said.append(f"A threshold that loses {lost} would catch {caught}.")
    if found["ece_percent"] is not None:
        said.append(f"The probabilities are off by {found['ece_percent']:.2f} percentage points on average.")
    return said


def describe_method(evaluation: Evaluation) -> str:
    """How training and judged messages were kept apart."""
    settings = evaluation.settings
    learned = f"{evaluation.trained or 0:,}"
    if evaluation.method == "folds":
        how = f"{settings.get('folds', 'some')} folds"
        how += ", near-duplicates kept together" if settings.get("grouped") else ""
        return f"Each message was judged by a filter that learned from other messages only ({how})."
    if evaluation.method == "replay":
        times = evaluation.times
        is_in_time = (times[1:] >= times[:-1]).all() and times[-1] > times[0]  # not if one is undated
        order = "in the order of their dates" if is_in_time else settings.get("order", "in the order given")
        how = f"; feedback {settings['feedback']}" if "feedback" in settings else ""
        how += f"; the filter learned the class of {learned} of {len(evaluation):,}"
        if "autolearned" in settings:
            own, wrong = settings["autolearned"], settings.get("autolearned_wrongly", 0)
            how += f" and by its own verdict {own:,}, {wrong:,} wrongly"
        return f"The messages were judged one after another {order}, as a user would receive them{how}."
    if evaluation.method == "holdout":
        which = "the newest" if settings.get("by_time") else "drawn at random"
        return f"The messages judged here, {which}, were held back: the filter learned from {learned} others."
    named = f" ({settings['model']})" if "model" in settings else ""
    said = f"A filter made beforehand{named} judged these messages. "
    if (changed := settings.get("changed_by_senders")) is not None:
        said += f"Your list of senders, which is not asked here, would change {changed:,} of the decisions. "
    if known := settings.get("learned"):
        said += f"It has learned {known:,} of them before, so the figures are better than it deserves. "
    if is_strange(settings.get("strange", 0), len(evaluation)):
        said += STRANGE
    return said.strip()


def is_strange(number: int, messages: int) -> bool:
    """True if most of the messages are unlike the mail of training."""
    return 2 * number > messages
