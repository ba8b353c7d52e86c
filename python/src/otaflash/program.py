"""Finds the program that the package runs."""
import os
import pathlib
import shutil
import sysconfig
from typing import List


def _candidates() -> List[pathlib.Path]:
    schemes = [sysconfig.get_path("scripts")]
    if "posix_user" in sysconfig.get_scheme_names():
        schemes.append(sysconfig.get_path("scripts", "posix_user"))
    # `pip install --target FOLDER` installs scripts in FOLDER/bin.
    schemes.append(str(pathlib.Path(__file__).resolve().parent.parent / "bin"))
    return [pathlib.Path(folder, "otaflash") for folder in schemes if folder]


def find_program() -> str:
    """Returns the path of the program: OTAFLASH_PROGRAM (without a check whether it exists), the program of the wheel, or
    the `otaflash` in PATH.

    Raises FileNotFoundError if all three are missing."""
    named = os.environ.get("OTAFLASH_PROGRAM")
    if named:
        return named
    for path in _candidates():
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    found = shutil.which("otaflash")
    if found:
        return found
    raise FileNotFoundError(
        "there is no program otaflash: install the wheel for x86-64 Linux or the Debian package, "
        "or set OTAFLASH_PROGRAM to its path")
