"""Options and fixtures of the whole suite."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.emulation import founding
from wirespeed.emulation import lab as labs
from wirespeed.emulation.topology import Spec
from wirespeed.model.errors import CouldNot
from wirespeed.verbs.lab.up import KEEPER_MODULE

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


@pytest.fixture(scope="module")
def runtime_directory() -> Iterator[Path]:
    """A private place for labs, so that those of whoever runs the tests are left alone; labs still up at the end are ended."""
    place = Path(tempfile.mkdtemp(prefix="ws-"))  # short: socket paths have 107 bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(place))
        yield place
        for name in labs.names():
            labs.down(name)
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="module")
def lab(runtime_directory: Path) -> Iterator[labs.Lab]:
    """Two leaves, two spines, four hosts; skips where the machine does not permit it."""
    try:
        made = founding.up(Spec(), KEEPER_MODULE)
    except CouldNot as error:
        pytest.skip(f"no lab here: {error.why.en}")
    yield made
    labs.down()
