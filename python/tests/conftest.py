import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def image() -> str:
    return str(ROOT / "firmware-samples/app-1.3.0.bin")


@pytest.fixture
def older() -> str:
    return str(ROOT / "firmware-samples/app-1.2.0.bin")
