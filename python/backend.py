"""Builds the wheel of the package: a PEP 517 backend that needs only Python's standard library.

With OTAFLASH_PROGRAM, the wheel contains this program as a script, and its tag is that of static programs for x86-64
Linux. Without it, the wheel contains only the Python files, which use the `otaflash` in PATH. The bytes of the wheel
depend only on its content and on SOURCE_DATE_EPOCH, which is the time of all files (by default 1980-01-01). The files
are sorted.
"""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import subprocess
import time
import typing
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent
# A static program needs no libraries, so it runs on every system for which pip accepts a manylinux tag.
PROGRAM_TAG = "py3-none-manylinux2014_x86_64"
PURE_TAG = "py3-none-any"
# A ZIP archive stores no earlier time.
EARLIEST = 315532800
Settings = typing.Optional[typing.Dict[str, typing.Any]]


def program() -> typing.Optional[pathlib.Path]:
    """Returns the program for the wheel, if OTAFLASH_PROGRAM names one."""
    named = os.environ.get("OTAFLASH_PROGRAM")
    return pathlib.Path(named).resolve(strict=True) if named else None


def version(included: typing.Optional[pathlib.Path]) -> str:
    """Returns OTAFLASH_WHEEL_VERSION, the version of the included program, or the version in the sources."""
    if os.environ.get("OTAFLASH_WHEEL_VERSION"):
        return os.environ["OTAFLASH_WHEEL_VERSION"]
    if included:
        return subprocess.run([included, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    source = FOLDER.parent / "Sources/Console/Text/Release.swift"
    found = re.search(r'version = "([^"]+)"', source.read_text("utf-8"))
    assert found, f"{source} contains no version"
    return found[1]


def metadata(number: str) -> str:
    return (
        f"Metadata-Version: 2.1\nName: otaflash\nVersion: {number}\n"
        "Summary: Flash firmware over Bluetooth LE, and verify that it runs\n"
        "License: Apache-2.0 WITH LLVM-exception\nRequires-Python: >=3.9\n"
        "Classifier: Framework :: Pytest\nClassifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Typing :: Typed\nDescription-Content-Type: text/markdown\n\n"
        + (FOLDER / "README.md").read_text("utf-8"))


def contents(number: str, included: typing.Optional[pathlib.Path]) -> typing.Dict[str, bytes]:
    """Returns the files of the wheel except RECORD."""
    information = f"otaflash-{number}.dist-info"
    tag = PROGRAM_TAG if included else PURE_TAG
    files = {
        f"otaflash/{path.name}": path.read_bytes()
        for path in (FOLDER / "src/otaflash").iterdir() if path.suffix == ".py" or path.name == "py.typed"
    }
    for name in ("LICENSE", "NOTICE"):
        path = FOLDER.parent / name
        if path.exists():
            files[f"{information}/licenses/{name}"] = path.read_bytes()
    if included:
        # Debian's copyright files of the libraries in a static program.
        for path in sorted((included.parent / "licenses").glob("*")):
            files[f"{information}/licenses/{path.name}"] = path.read_bytes()
        files[f"otaflash-{number}.data/scripts/otaflash"] = included.read_bytes()
    files[f"{information}/METADATA"] = metadata(number).encode()
    files[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: otaflash\nRoot-Is-Purelib: {str(not included).lower()}\nTag: {tag}\n").encode()
    files[f"{information}/entry_points.txt"] = b"[pytest11]\notaflash = otaflash.pytest_plugin\n"
    return files


def record(name: str, files: typing.Dict[str, bytes]) -> bytes:
    """Returns RECORD, the list of the files with their SHA-256 and their sizes."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, lineterminator="\n")
    for path, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([path, f"sha256={digest}", len(content)])
    rows.writerow([name, "", ""])
    return out.getvalue().encode()


def build_wheel(wheel_directory: str, config_settings: Settings = None,
                metadata_directory: typing.Optional[str] = None) -> str:
    """Writes the wheel into a folder, and returns its name."""
    included = program()
    number = version(included)
    files = contents(number, included)
    name = f"otaflash-{number}.dist-info/RECORD"
    files[name] = record(name, files)
    wheel = f"otaflash-{number}-{PROGRAM_TAG if included else PURE_TAG}.whl"
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)), EARLIEST))[:6]
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return wheel


if __name__ == "__main__":
    import sys

    if len(sys.argv) != 2:
        sys.exit("usage: python3 backend.py FOLDER")
    os.makedirs(sys.argv[1], exist_ok=True)
    print(build_wheel(sys.argv[1]))
