"""The JSON Lines of a command, and the command lines, without the program."""
import json
import pathlib
import re

import pytest

import otaflash
from otaflash import commands, options
from otaflash.session import Session

RESULT = {"type": "result", "exit": 0, "outcome": "flashed", "devices": []}


def session(*events):
    made = Session()
    for event in events:
        made.receive(json.dumps(event) + "\n")
    return made


def test_each_error_code_has_a_class():
    documented = set(re.findall(
        r"^### (E-[A-Z-]+)$", pathlib.Path(__file__).parents[2].joinpath("docs/troubleshooting.md").read_text("utf-8"),
        re.MULTILINE))
    assert documented == set(otaflash.OtaflashError.CLASSES)


def test_an_unknown_code_raises_the_base_class():
    event = {"type": "error", "code": "E-NEW", "message": "m", "why": "w", "help": "h", "retryable": True}
    with pytest.raises(otaflash.OtaflashError) as caught:
        session(event, {**RESULT, "exit": 75}).finish(75, "")
    assert type(caught.value) is otaflash.OtaflashError
    assert (caught.value.code, caught.value.retryable, caught.value.resumable) == ("E-NEW", True, True)


def test_a_restarted_device_is_not_a_success():
    device = {"id": "x", "outcome": "restarted", "verified": False, "proof": "restarted"}
    ended = session({**RESULT, "exit": 8, "outcome": "restarted", "devices": [device]})
    with pytest.raises(otaflash.NotVerified) as caught:
        ended.finish(8, "")
    assert caught.value.exit_status == 8 and not caught.value.result.verified
    assert ended.finish(8, "", accept_unverified=True)[-1]["exit"] == 8


@pytest.mark.parametrize("status", [0, 8])
def test_a_program_that_ends_without_a_result_has_failed(status):
    with pytest.raises(otaflash.OtaflashError) as caught:
        session({"type": "hello"}).finish(status, "killed\n")
    assert "killed" in caught.value.message and caught.value.code == "E-BUG"


@pytest.mark.parametrize("line", ["no JSON", "[1]", "{}", '{"type": 1}'])
def test_a_malformed_line_is_an_error(line):
    with pytest.raises(otaflash.OtaflashError):
        Session().receive(line)


def test_times_and_statuses_are_converted():
    assert options.duration(1.5) == "1500ms" and options.duration(0) == "1ms"
    assert commands.exit_status(-9) == 137 and commands.exit_status(5) == 5


def test_json_is_before_the_arguments(monkeypatch):
    monkeypatch.setenv("OTAFLASH_PROGRAM", "p")
    assert commands.command_line(["flash", "-d", "x", "--", "image"]) == [
        "p", "flash", "-d", "x", "--json", "--", "image"]
