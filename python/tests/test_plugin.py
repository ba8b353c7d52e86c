"""The fixture of the pytest plugin."""
import pathlib

import pytest

import otaflash

pytest_plugins = ["pytester"]


@pytest.mark.otaflash_board("fast", unix=True)
def test_a_board_is_a_process(otaflash_board, image):
    assert otaflash_board.startswith("unix:")
    assert pathlib.Path(otaflash_board[len("unix:"):]).is_socket()
    assert otaflash.flash(image, otaflash_board).verified
    assert otaflash.inspect(otaflash_board).running_version == "1.3.0"


@pytest.mark.otaflash_board("smp")
def test_the_marker_selects_the_profile(otaflash_board):
    assert otaflash.inspect(otaflash_board).protocol == "smp"


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_has_a_new_board(otaflash_board, image, number):
    assert otaflash.flash(image, otaflash_board).outcome == "flashed"


def test_an_unknown_profile_fails_with_its_message(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(otaflash.__file__).parents[1]))
    # An installed package also registers the plugin by its entry point.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.otaflash_board("no-such-profile", unix=True)
        def test_it(otaflash_board):
            pass
    """)
    result = pytester.runpytest_subprocess("-p", "otaflash.pytest_plugin")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*did not start*no-such-profile*"])
