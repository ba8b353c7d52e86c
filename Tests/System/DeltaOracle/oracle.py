"""Compares otaflash's patches with those of detools: the patches of otaflash must not be larger with the
same settings, and each program must apply the patches of the other.

Pairs are versions of a small Cortex-M firmware that is built here, the samples, and bytes from seeds.
Prints a table of sizes for the document, the time to create patches, and one line of totals; ends with 1
if a patch of otaflash is larger, or if a patch cannot be applied.
"""
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import detools
import hdiffpatch

import firmware

HERE = pathlib.Path(__file__).parent
SAMPLES = HERE.parents[2] / "firmware-samples"
CODECS = ["none", "crle", "heatshrink,8,4", "heatshrink,8,7", "heatshrink,10,8", "heatshrink,10,9"]
SHOWN = ["crle", "heatshrink,8,7", "heatshrink,10,8"]
PART = 16384


class Totals:
    """`longer` counts patches that are larger by at most 4 bytes, if the new image has fewer than 1,000
    bytes. There are two causes: the last seek is 0 in otaflash and any number in detools, which the
    compression may encode together with the data before it; and otaflash finds a long match at the end of
    the base."""
    compared = larger = longer = failed = 0
    ours = theirs = 0
    # The number of mutated patches that otaflash accepted; detools must create the same images from them.
    mutants = 0


def settings(codec):
    name, *bits = codec.split(",")
    extra = {}
    if bits:
        extra = {"heatshrink_window_sz2": int(bits[0]), "heatshrink_lookahead_sz2": int(bits[1])}
    return {"compression": name, **extra}


def their_patch(old, new, codec):
    patch = io.BytesIO()
    detools.create_patch(io.BytesIO(old), io.BytesIO(new), patch, **settings(codec))
    return patch.getvalue()


def their_image(old, patch):
    image = io.BytesIO()
    detools.apply_patch(io.BytesIO(old), io.BytesIO(patch), image)
    return image.getvalue()


class Ours:
    """The codec of this project, as a process that receives jobs."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = pathlib.Path(folder)

    def job(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def patch(self, old, new, codec):
        out = self.folder / "patch"
        answer = self.job("make", codec, self.write("old", old), self.write("new", new), out)
        return out.read_bytes(), float(answer)

    def image(self, old, patch):
        out = self.folder / "image"
        answer = self.job("apply", self.write("old", old), self.write("patch", patch), out)
        return out.read_bytes() if answer == "applied" else answer


def compare(ours, name, old, new, codec):
    mine, _ = ours.patch(old, new, codec)
    other = their_patch(old, new, codec)
    Totals.compared += 1
    Totals.ours += len(mine)
    Totals.theirs += len(other)
    if len(other) < len(mine) <= len(other) + 4 and len(new) < 1000:
        Totals.longer += 1
    elif len(mine) > len(other):
        Totals.larger += 1
        print(f"LARGER: {name}, {codec}: {len(mine)}, detools {len(other)}")
    if their_image(old, mine) != new:
        Totals.failed += 1
        print(f"FAILED: {name}, {codec}: detools creates another image from otaflash's patch")
    if ours.image(old, other) != new:
        Totals.failed += 1
        print(f"FAILED: {name}, {codec}: {ours.image(old, other)[:200]} of detools' patch")
    return len(mine), len(other)


def firmware_pairs():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = cache / "otaflash" / "delta-firmware"
    for name, (old, new) in firmware.versions().items():
        yield f"firmware: {name}", old.build(folder), new.build(folder)


def sample_pairs():
    read = {path.name: path.read_bytes() for path in sorted(SAMPLES.glob("*.bin"))}
    yield "sample app 1.2.0 → 1.3.0", read["app-1.2.0.bin"], read["app-1.3.0.bin"]
    yield "sample for another board", read["plain-1.5.0.bin"], read["other-board-2.0.0.bin"]


def synthetic_pairs():
    draw = random.Random(1)
    base = draw.randbytes(60000)
    shifted = bytearray(base)
    for _ in range(60):
        at = draw.randrange(len(shifted))
        shifted[at:at] = draw.randbytes(draw.randrange(1, 40))
    yield "random bytes, 60 insertions", base, bytes(shifted)
    words = bytearray(base)
    for at in range(0, len(words), 97):
        words[at] = (words[at] + 4) % 256
    yield "random bytes, every 97th byte changed", base, bytes(words)
    padded = base[:20000] + b"\xff" * 40000
    yield "padding replaced by data", padded, base[:23000] + b"\xff" * 37000
    yield "compression without a base", b"", firmware_image()


def firmware_image():
    return next(firmware_pairs())[1]


def small_pairs(count=250):
    """Short inputs with few values, to reach the edge cases of a format."""
    for seed in range(count):
        draw = random.Random(seed)
        kinds = draw.choice((1, 2, 3, 8, 256))
        old = bytes(draw.randrange(kinds) for _ in range(draw.choice((0, 1, 2, 30, 400))))
        new = bytearray(old[draw.randrange(len(old) + 1):])
        for _ in range(draw.randrange(5)):
            at = draw.randrange(len(new) + 1)
            new[at:at] = bytes(draw.randrange(kinds) for _ in range(draw.randrange(60)))
        yield f"seed {seed}", old, bytes(new) or b"\0"


def mutated(ours, name, old, new, codec, draw):
    """A patch with a few wrong bytes: if otaflash accepts the patch, detools must accept it with the same
    result."""
    patch = bytearray(their_patch(old, new, codec))
    for _ in range(draw.choice((1, 1, 2, 3))):
        patch[draw.randrange(len(patch))] = draw.choice((0, 0x40, 0x80, draw.randrange(256)))
    mine = ours.image(old, bytes(patch))
    if isinstance(mine, str):
        return
    Totals.mutants += 1
    try:
        same = their_image(old, bytes(patch)) == mine
    except Exception:  # detools has no separate type for each refusal
        same = False
    if not same:
        Totals.failed += 1
        print(f"FAILED: {name}, {codec}: {patch.hex()} is accepted here, but refused or decoded differently by detools")


def hdiffpatch_size(old, new):
    """HPatchLite with tinyuz and 1 KiB, which needs about as much RAM as heatshrink 10,8."""
    config = hdiffpatch.TuzConfig(dict_size=1024)
    return len(hdiffpatch.diff_lite(old, new, compression=config))


def table(ours, pairs):
    print("| change | new image | " + " | ".join(f"{c} | detools" for c in SHOWN) + " | HPatchLite tinyuz 1 KiB | ours / detools |")
    print("|---" * (4 + 2 * len(SHOWN)) + "|")
    for name, old, new in pairs:
        sizes = {codec: compare(ours, name, old, new, codec) for codec in CODECS}
        cells = [f"{mine} | {other}" for mine, other in (sizes[c] for c in SHOWN)]
        mine, other = sizes["heatshrink,10,8"]
        lite = hdiffpatch_size(old, new) if old else "-"
        print(f"| {name} | {len(new)} | {' | '.join(cells)} | {lite} | {mine / other:.3f} |", flush=True)


def parts(ours, name, old, new):
    """Compares each part as a separate patch against the complete base."""
    for start in range(0, len(new), PART):
        compare(ours, f"{name}, part at {start}", old, new[start:start + PART], "heatshrink,10,8")


def speed(program):
    """Measures the time for half a MiB, the best of five alternating runs, and the memory of a separate
    process."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = cache / "otaflash" / "delta-firmware"
    old, new = (f.build(folder)[:512 * 1024] for f in firmware.large())
    with tempfile.TemporaryDirectory() as temporary:
        ours = Ours(program, temporary)
        mine, other = [], []
        for _ in range(5):
            mine.append(ours.patch(old, new, "heatshrink,10,8")[1])
            start = time.process_time()
            their_patch(old, new, "heatshrink,10,8")
            other.append(time.process_time() - start)
        plan = ours.job("plan", ours.write("old", old), ours.write("new", new), 6000, 1, ours.folder / "x")
        ours.process.stdin.close()
        _, _, usage = os.wait4(ours.process.pid, 0)
    print(f"\n{len(old)} → {len(new)} bytes, heatshrink 10,8, CPU time: {min(mine):.3f} s, "
          f"detools {min(other):.3f} s ({min(mine) / min(other):.2f} times); choosing among all codecs "
          f"{plan.split(chr(9))[-1]} s; {usage.ru_maxrss / 1024:.0f} MB at most")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        ours = Ours(program, temporary)
        pairs = list(firmware_pairs()) + list(sample_pairs()) + list(synthetic_pairs())
        table(ours, pairs)
        for name, old, new in pairs[:8]:
            parts(ours, name, old, new)
        draw = random.Random(2)
        for name, old, new in small_pairs():
            for codec in CODECS:
                compare(ours, name, old, new, codec)
                mutated(ours, name, old, new, codec, draw)
    speed(program)
    print(f"{Totals.compared} patches compared: {Totals.larger} larger than detools' (and {Totals.longer} short "
          f"ones by at most 4 bytes), {Totals.failed} not "
          f"applied; {Totals.ours} bytes against {Totals.theirs}; {Totals.mutants} mutated patches accepted")
    return 1 if Totals.larger or Totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
