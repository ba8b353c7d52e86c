"""Updates of simulated boards with the functions of the package."""
import os
import pathlib
import signal

import pytest

import otaflash

#: A board whose flash is slow enough to stop an update halfway.
SLOW = "plain?erase=30ms&write=15ms"


def test_an_update_is_verified(otaflash_board, image):
    progress = []
    result = otaflash.flash(image, otaflash_board, on_progress=progress.append)
    assert (result.outcome, result.verified, result.to_version) == ("flashed", True, "1.3.0")
    assert result.proof == "read-back" and result.duration > 0 and result.resumes == 0
    assert progress and progress[-1].done <= progress[-1].total == os.path.getsize(image)
    assert [p.done for p in progress] == sorted(p.done for p in progress)
    assert otaflash.flash(image, otaflash_board).outcome == "already-current"


def test_a_dry_run_sends_nothing(otaflash_board, image):
    assert otaflash.flash(image, otaflash_board, dry_run=True).outcome == "would-flash"
    assert otaflash.inspect(otaflash_board, image).forecasts == ("would-flash",)


def test_a_board_and_an_image_are_inspected(otaflash_board, image):
    report = otaflash.inspect(otaflash_board)
    assert report.protocol and report.running_version and report.services
    assert [i.version for i in otaflash.inspect_image(image)] == ["1.3.0"]


def test_simulated_devices_are_scanned():
    found = otaflash.scan(1.0, adapter="sim:4")
    assert len({device.id for device in found}) == len(found) >= 4
    assert any(device.name for device in found)


def test_an_error_has_its_class_and_its_texts(otaflash_board, image, older):
    otaflash.flash(image, otaflash_board)
    with pytest.raises(otaflash.errors.Downgrade) as caught:
        otaflash.flash(older, otaflash_board)
    error = caught.value
    assert (error.code, error.exit_status, error.retryable) == ("E-DOWNGRADE", 5, False)
    assert error.message and error.help and "help: " in str(error)
    assert [e["type"] for e in error.events][-1] == "result"
    assert otaflash.flash(older, otaflash_board, allow_downgrade=True).to_version == "1.2.0"


def test_a_missing_file_and_a_wrong_option_are_errors(otaflash_board, tmp_path):
    with pytest.raises(otaflash.errors.FileError) as caught:
        otaflash.flash(tmp_path / "missing.bin", otaflash_board)
    assert caught.value.exit_status == 66
    with pytest.raises(otaflash.errors.UsageError):
        otaflash.flash(tmp_path / "missing.bin", otaflash_board, protocol="unknown")


def test_a_file_name_is_no_option(otaflash_board, tmp_path, image, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("--force").write_bytes(pathlib.Path(image).read_bytes())
    assert otaflash.flash("--force", otaflash_board, dry_run=True).outcome == "would-flash"


@pytest.mark.otaflash_board("fast?cut-at-pdu=300")
def test_a_lost_link_resumes(otaflash_board, image):
    result = otaflash.flash(image, otaflash_board, arguments=["--delta=never"])
    assert result.verified and result.resumes >= 1


@pytest.mark.otaflash_board(SLOW)
def test_a_callback_that_raises_stops_the_program(otaflash_board, image):
    def stop(progress: otaflash.Progress) -> None:
        if progress.done > progress.total // 2:
            raise KeyError("stopped")

    with pytest.raises(KeyError):
        otaflash.flash(image, otaflash_board, on_progress=stop, arguments=["--delta=never"])
    resumed = []
    result = otaflash.flash(image, otaflash_board, on_event=resumed.append, arguments=["--delta=never"])
    assert result.verified
    assert any(e["type"] == "task_begin" and e.get("offset", 0) > 0 for e in resumed)


@pytest.mark.otaflash_board(SLOW)
def test_ctrl_c_stops_the_program(otaflash_board, image):
    def press(progress: otaflash.Progress) -> None:
        if progress.done > progress.total // 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        otaflash.flash(image, otaflash_board, on_progress=press)
    assert otaflash.flash(image, otaflash_board).verified
