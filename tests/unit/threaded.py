#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the names of the unit tests in which threads are: threaded.py FOLDER

Those that start some themselves or have a pool, and those whose library starts some."""
import glob
import os
import re
import sys

INSIDE = {"limits", "watch"}


def main():
    names = set(INSIDE)
    for path in glob.glob(os.path.join(sys.argv[1], "test_*.c")):
        with open(path, encoding="utf-8") as f:
            if re.search(r"pthread_create|tfp_pool|tfp_jobs_new", f.read()):
                names.add(os.path.basename(path)[5:-2])
    print(*sorted(names))


if __name__ == "__main__":
    main()
