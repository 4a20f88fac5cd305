"""Settings: a name that is none is refused, and nothing is told by its place but the event model."""

from __future__ import annotations

import inspect

import pytest

from nbspam.settings import Settings, from_text, textbook


@pytest.mark.parametrize("name", ["alhpa", "kinds", "alphas"])
def test_what_is_no_setting_cannot_be_replaced(name: str) -> None:
    with pytest.raises(AttributeError):
        Settings().replaced(**{name: 5})


def test_the_event_model_alone_is_known_by_its_place() -> None:
    kinds = [one.kind for one in inspect.signature(Settings).parameters.values()]
    assert kinds[0] == inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}


def test_settings_come_back_from_a_model_as_they_were() -> None:
    for settings in (
        Settings(),
        textbook(Settings()),
        Settings("aode", alpha=0.5, prior="uniform", bins=4, binning="width"),
        Settings("complement", normalise=True, threshold=1.5, features="both", numeric_model="aode"),
        Settings(views="header,measures", diluted=False, second_alpha=3.0),
    ):
        assert from_text(settings.as_text()).as_text() == settings.as_text()
