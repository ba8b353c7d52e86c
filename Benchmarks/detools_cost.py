"""Measures the creation of a patch by PyPI's detools: detools_cost.py OLD NEW ROUNDS.

Prints the shortest CPU time of ROUNDS rounds, in seconds; heatshrink with a window of 2^10 bytes.
"""
import io
import pathlib
import sys
import time

import detools


def seconds(old, new):
    start = time.process_time()
    detools.create_patch(
        io.BytesIO(old), io.BytesIO(new), io.BytesIO(), compression="heatshrink",
        heatshrink_window_sz2=10, heatshrink_lookahead_sz2=8)
    return time.process_time() - start


def main():
    old, new = (pathlib.Path(path).read_bytes() for path in sys.argv[1:3])
    print(min(seconds(old, new) for _ in range(int(sys.argv[3]))))


if __name__ == "__main__":
    main()
