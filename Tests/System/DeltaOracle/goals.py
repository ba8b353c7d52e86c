#!/usr/bin/env python3
"""The sizes of the streams for pairs of firmware, and the goals.

usage: goals.py CODEC PAIRS [FLIPS [GOALS]]

PAIRS is a folder with a folder for each pair, which contains the files 'old' and 'new'. CODEC is the
program delta-codec, which makes the streams. The decoder of the device (C, with sanitizers) applies each
stream. If all parts are of format 2 and the new image has at most 400,000 bytes, format2.py applies it
too. FLIPS damaged copies of each stream must not be accepted. GOALS is the program goals, which measures
the rate of some pairs and the cost of a reset in virtual time. The reference is bsdiff with LZMA (Python's
lzma, preset 9), whose differences are those of delta-codec.

Prints a table for the document, and the goals; ends with 1 if an image differs.
"""
import lzma
import math
import pathlib
import subprocess
import sys
import tempfile

import format2

HERE = pathlib.Path(__file__).parent
RECEIVER = HERE.parents[2] / "Sources" / "OTAReceiver"
FORMATS = ["1", "2a", "2b"]
# The goals in percent of the new image: 2a, 2b.
GOALS = {
    "zephyr-release": (12.8, 9.5),
    "pyb-release": (13.0, 9.5),
    "board-feather-dk": (4.6, 3.2),
    "usb-1024-8192": (1.5, 0.6),
}
# Pairs that are sent to a simulated device (Benchmarks/Goals/ReleaseGoals.swift).
UPDATED = ["zephyr-release", "pyb-release", "board-feather-dk"]
# Pairs that are not Arm code, or not related.
OTHERS = {"moondancer-riscv", "fpga-selftest", "esp8266-release", "unrelated", "lib-372-373"}
MEANS = (0.95, 0.75)


def compile_decoder(folder):
    program = folder / "apply"
    sources = sorted(RECEIVER.glob("ota_delta*.c")) + [RECEIVER / "ota_crc32.c", HERE / "apply.c"]
    subprocess.run(
        ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fsanitize=address,undefined",
         "-fno-sanitize-recover=all", f"-I{RECEIVER}/include", *sources, "-o", program], check=True)
    return program


class Codec:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            sys.exit(f"{words}: {answer or 'delta-codec ended'}")
        return answer.split("\t")


def reference(codec, pair, folder):
    codec.run("make", "none", pair / "old", pair / "new", folder / "plain")
    return len(lzma.compress((folder / "plain").read_bytes(), format=lzma.FORMAT_ALONE, preset=9))


def check(decoder, pair, stream, flips):
    command = [decoder, pair / "old", stream, pair / "new", "244", str(flips), "1"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.returncode == 0


def check_python(pair, stream):
    new = (pair / "new").read_bytes()
    if len(new) > 400_000:
        return True
    made = format2.apply(stream.read_bytes(), (pair / "old").read_bytes(), len(new), page_size=4096)
    return made == new


def measure(codec, decoder, pair, folder, flips):
    """The sizes of the formats, the reference, the longest time, and the errors of a pair."""
    stream = folder / "stream"
    sizes, seconds, errors = [], 0.0, []
    for name in FORMATS + ["only2a", "only2b"]:
        size, _, time = codec.run("stream", name, pair / "old", pair / "new", stream)
        if name in FORMATS:
            sizes.append(int(size))
            seconds = max(seconds, float(time))
        elif not check_python(pair, stream):
            errors.append(f"{pair.name}, {name}: format2.py creates another image")
        if not check(decoder, pair, stream, flips):
            errors.append(f"{pair.name}, {name}: the C decoder fails")
    return sizes, reference(codec, pair, folder), seconds, errors


def main():
    codec, pairs = Codec(sys.argv[1]), pathlib.Path(sys.argv[2])
    flips = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    errors, goals, means = [], [], ([], [])
    print("| pair | new image | format 1 | format 2, heatshrink | format 2, range coder | bsdiff, LZMA |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        decoder = compile_decoder(folder)
        for pair in sorted(pairs.iterdir()):
            sizes, other, _, wrong = measure(codec, decoder, pair, folder, flips)
            errors += wrong
            new = (pair / "new").stat().st_size
            cells = [f"{size} ({100 * size / new:.2f} %)" for size in sizes + [other]]
            print(f"| {pair.name} | {new} | {' | '.join(cells)} |", flush=True)
            for level in (0, 1):
                if pair.name in GOALS:
                    share = 100 * sizes[level + 1] / new
                    goals.append((pair.name, "ab"[level], share, GOALS[pair.name][level], "%"))
                if pair.name not in OTHERS:
                    means[level].append(math.log(sizes[level + 1] / other))
    for level in (0, 1):
        mean = math.exp(sum(means[level]) / len(means[level]))
        goals.append((f"mean of {len(means[level])} Arm pairs / bsdiff, LZMA", "ab"[level], mean,
                      MEANS[level], ""))
    print("\n| goal | level | measured | limit | status |\n|---|---|---|---|---|")
    for name, level, value, limit, unit in goals:
        status = "met" if value <= limit else "missed"
        print(f"| {name} | 2{level} | {value:.2f} {unit} | {limit} {unit} | {status} |")
    if len(sys.argv) > 4:
        print("\n| measurement | goal | measured | status |\n|---|---|---|---|", flush=True)
        for name in UPDATED:
            subprocess.run(
                [sys.argv[4], "pair", pairs / name / "old", pairs / name / "new", name], check=False)
    print("\n".join(errors))
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
