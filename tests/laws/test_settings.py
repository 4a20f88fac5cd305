"""Settings survive a model file."""

import pytest

from nbspam.errors import UsageError
from nbspam.settings import Settings, parse_settings


def test_an_unknown_event_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as raised:
        Settings("naive")
    assert raised.value.option == "event_model"
    assert "bernoulli" in raised.value.allowed


def test_settings_survive_a_model_file() -> None:
    for settings in (
        Settings(),
        Settings(averaged=False),
        Settings("aode", alpha=0.5, prior="uniform", bins=4, binning="width"),
        Settings("complement", normalise=True, threshold=1.5, features="both", numeric_model="aode"),
        Settings(views="header,measures", diluted=False, second_alpha=3.0),
    ):
        assert parse_settings(settings.as_text()).as_text() == settings.as_text()
