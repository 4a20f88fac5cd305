"""The mathematics of naive Bayes: counts, event models, views, calibration, priors, intervals.

The event models on plain arrays are names of this room, loaded when they are used: docs/models.md.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.model.arrays import (
        AODE,
        Bernoulli,
        Categorical,
        Complement,
        Gaussian,
        Multinomial,
        NormalInverseGamma,
        Presence,
    )

__all__ = [
    "AODE",
    "Bernoulli",
    "Categorical",
    "Complement",
    "Gaussian",
    "Multinomial",
    "NormalInverseGamma",
    "Presence",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'nbspam.model' has no attribute {name!r}")
    from nbspam.model import arrays

    return getattr(arrays, name)
