"""The calibration: a small logistic regression from view evidence to log-odds.

Naive within a view, learned across views; its output is a probability that means what it says.  It is learned
on scores of messages that were not counted yet (nbspam.model.calibrate), and `learn` goes on from there.

Score of class k, relative to class 0, nats:
    z_k = sum_v (a_v E_vk + d_v C_vk) + sum_f g_f B_fk + b_k + sum_v c_vk u_v
E_vk is the evidence of view v for class k against class 0 under a small lambda. C_vk is the same under a
large one, which trusts rare words less. B_fk is what the bin of numeric feature f says (a measure). u_v is
the share of the view's distinct tokens that the model never met. a_v, d_v and g_f are shared by the classes;
b_k and c_vk belong to class k >= 1. For two classes this is plain logistic regression on some 30 numbers.

The weights are in this order: those of the rows of evidence, then OWN_WEIGHTS for each class k >= 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from nbspam.errors import DamagedModelError
from nbspam.tokens.bag import MEASURE_NAMES, VIEWS

Weights = tuple[list[float], list[list[float]]]  # and their covariance

MAX_COVARIANCE = 210  # weights up to which `learn` keeps a covariance; with more (K > 38) they never change
OWN_WEIGHTS = 1 + len(VIEWS)  # of a class: b_k, then c_vk by view
# Where learning starts: the weighing of views that was best without calibration, and how far from it mail
# may lead (docs/decisions.md, "How far may its weights move").  The constant is held near 0: mail like none
# that was met has no evidence, and should not be judged by what balanced the evidence of the mail that was.
_FIRST_WEIGHTS = {  # of all others 0
    "evidence:header": 1.0,
    "evidence:body": 0.6,
    "evidence:structure": 0.4,
    "evidence:bigrams": 0.4,
    "evidence:raw": 0.3,
    **{f"measure:{name}": 0.1 for name in MEASURE_NAMES},
}
_FIRST_VARIANCE = {
    "evidence": 0.25,
    "cautious": 1.0,
    "measure": 0.2,
    "constant": 0.3,
    "unknown": 9.0,
}
# The weights that are right for few counts are not those for many.  So learning along forgets, with each
# message _DRIFT / (messages counted + _DRIFT_DELAY): docs/decisions.md, "Does it forget".
_DRIFT = 0.2
_DRIFT_DELAY = 100
# In a small mailbox the first lessons say little of the mail to come, so the likelihood of a lesson is raised
# to the power counted / (counted + _WARM_UP): docs/decisions.md, "Warm-up of lessons".
_WARM_UP = 200
# A person who corrects mistakes only would teach that the evidence lies.  So a message judged wrongly teaches
# only if one judged rightly was told before; the first few are free, and so many are kept: docs/decisions.md,
# "What does it learn from mistakes alone".
FIRST_CREDIT = 5
CREDIT = "calibration_credit"  # the setting that keeps Learner.credit
_MAX_CREDIT = 20


def own_weights(n_evidence: int, n_classes: int) -> list[int]:
    """Where the weights of each class k >= 1 begin.  n_evidence : rows of evidence"""
    return [n_evidence + k * OWN_WEIGHTS for k in range(n_classes - 1)]


def count_weights(n_evidence: int, n_classes: int) -> int:
    """How many weights there are in all.  n_evidence : rows of evidence"""
    return n_evidence + (n_classes - 1) * OWN_WEIGHTS


def evidence_rows(kinds: Sequence[str]) -> list[str]:
    """The names of the rows of evidence in their order, `kind:view` or `measure:name`."""
    return [f"{kind}:{of}" for kind in kinds for of in (MEASURE_NAMES if kind == "measure" else VIEWS)]


def feature_names(n_classes: int, kinds: Sequence[str]) -> list[tuple[str, int | None]]:
    """The features in the order of the weights, with their class (None: shared).

    kinds : of evidence, see Settings.kinds
    """
    names: list[tuple[str, int | None]] = [(row, None) for row in evidence_rows(kinds)]
    for k in range(1, n_classes):
        names.append(("constant", k))
        names.extend(("unknown:" + view, k) for view in VIEWS)
    return names


def check_places(path: str, weights: Sequence[float], n_classes: int, kinds: Sequence[str]) -> list[int]:
    """The own_weights of a calibration; DamagedModelError for one of another model or an older program."""
    n_evidence = len(evidence_rows(kinds))
    if len(weights) != count_weights(n_evidence, n_classes):
        raise DamagedModelError(path, f"a calibration of {len(weights)} weights, for {n_classes} classes")
    return own_weights(n_evidence, n_classes)


def first_weights(n_classes: int, kinds: Sequence[str]) -> Weights:
    """Weights and covariance before any message was seen: the prior of the regression."""
    names = [name for name, _ in feature_names(n_classes, kinds)]
    covariance = [[0.0] * len(names) for _ in names]
    for i, name in enumerate(names):
        covariance[i][i] = _FIRST_VARIANCE[name.partition(":")[0]]
    return [_FIRST_WEIGHTS.get(name, 0.0) for name in names], covariance


def design(evidence: Sequence[Sequence[float]], common: Sequence[float], k: int) -> list[float]:
    """The features of class k: z_k is their product with the weights.  Class 0 has zeros.

    evidence : by kind and view or measure, by class
    common   : u_v by view
    """
    n_evidence, n_classes = len(evidence), len(evidence[0])
    row = [by_class[k] for by_class in evidence]
    row += [0.0] * (count_weights(n_evidence, n_classes) - n_evidence)
    if k:
        begin = own_weights(n_evidence, n_classes)[k - 1]
        row[begin : begin + OWN_WEIGHTS] = [1.0, *common]
    return row


def scores(
    weights: Sequence[float], evidence: Sequence[Sequence[float]], common: Sequence[float]
) -> list[float]:
    """z_k by class, nats; z_0 = 0."""
    rows = [design(evidence, common, k) for k in range(len(evidence[0]))]
    return [sum([weight * x for weight, x in zip(weights, row, strict=True)]) for row in rows]


class Learner:
    """A calibration that learns message by message, each scored before it was counted.

    One step is one of Bayesian logistic regression: the true class against its strongest rival; for two
    classes that is the exact likelihood.  Between steps the weights move as in an Ornstein-Uhlenbeck process
    whose stationary distribution is the prior: they lose a share of what was learned, and the covariance
    gains what is then uncertain; it never exceeds the prior's.  A message judged wrongly teaches only while
    there is credit from messages judged rightly, because people may tell it of mistakes only.
    Source: Spiegelhalter and Lauritzen 1990, the Gaussian approximation of a logistic posterior; Uhlenbeck
    and Ornstein 1930.
    """

    def __init__(self, prior: Weights, learned: Weights | None = None, credit: int = FIRST_CREDIT) -> None:
        """prior : where learning starts, see first_weights

        learned : weights and covariance so far, changed in place
        credit  : confirmed verdicts minus errors already learned from
        """
        self._prior, self.credit = prior, credit
        weights, covariance = prior
        self.weights, self.covariance = learned or ([*weights], [[*line] for line in covariance])

    def learn(
        self, evidence: Sequence[Sequence[float]], common: Sequence[float], label: int, counted: float
    ) -> None:
        """One more message.

        evidence, common : see design
        counted          : messages, of all classes, that its evidence was counted from
        """
        z = scores(self.weights, evidence, common)
        rival = max((k for k in range(len(z)) if k != label), key=lambda k: z[k])
        was_right = z[label] >= z[rival]
        teaches = was_right or self.credit > 0
        self.credit = min(max(self.credit + (1 if was_right else -1), 0), _MAX_CREDIT)
        if not teaches:
            return
        self._drift(1.0 - _DRIFT / (counted + 1 + _DRIFT_DELAY))
        z = scores(self.weights, evidence, common)
        true_row, rival_row = design(evidence, common, label), design(evidence, common, rival)
        x = [a - b for a, b in zip(true_row, rival_row, strict=True)]
        miss = 1.0 / (1.0 + exp(min(z[label] - z[rival], 700.0)))
        self._step(x, miss, counted / (counted + _WARM_UP))

    def _drift(self, kept: float) -> None:
        """Forget a share of what was learned.  kept : the other share"""
        first, spread = self._prior
        squared = kept * kept
        for i, line in enumerate(self.covariance):
            self.weights[i] = first[i] + kept * (self.weights[i] - first[i])
            for j in range(len(line)):
                line[j] *= squared
            line[i] += (1.0 - squared) * spread[i][i]

    def _step(self, x: Sequence[float], miss: float, power: float) -> None:
        """x     : features of the true class minus those of its rival
        miss  : the probability of the rival
        power : that the likelihood is raised to
        """
        step = [sum(line[j] * x[j] for j in range(len(x)) if x[j]) for line in self.covariance]
        spread = power * miss * (1.0 - miss)
        variance = sum(a * b for a, b in zip(step, x, strict=True))
        shrink = spread / (1.0 + spread * variance)
        gain = 1.0 - shrink * variance
        for i, line in enumerate(self.covariance):
            self.weights[i] += step[i] * power * miss * gain
            scale = shrink * step[i]
            for j in range(i + 1):  # a model file keeps no more, so the other half must be equal to the bit
                line[j] = self.covariance[j][i] = line[j] - scale * step[j]
