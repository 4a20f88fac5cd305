"""An agent that delivers mail, set up by its recipe."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.agents import WAYS, Agent


@pytest.fixture
def agent(way: str, installed: Path, data_model: Path, open_folder: Path) -> Iterator[Agent]:
    """The agent of a way, with a model of data/."""
    kind, rules, _ = WAYS[way]
    agent = kind(open_folder, installed, data_model, rules)
    yield agent
    agent.stop()
