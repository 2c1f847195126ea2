"""Options and fixtures of the whole suite."""

import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files; review the difference")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


@pytest.fixture
def shared_data() -> Path:
    """The project's data files, found through WIRESPEED_DATA."""
    root = os.environ.get("WIRESPEED_DATA")
    if not root:
        pytest.skip("WIRESPEED_DATA is not set: the shared data files are not at hand")
    return Path(root)
