#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether each file says whose it is and under which licence (`reuse lint`); prints TAP.

usage: licences.py
"""
import os
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    if not shutil.which("reuse"):
        print("1..0 # SKIP reuse is not installed (Debian: apt-get install reuse)")
        return 0
    # Outside of git it would take what was built for sources.
    if not os.path.exists(os.path.join(SOURCE, ".git")):
        print("1..0 # SKIP the sources are no git checkout")
        return 0
    done = subprocess.run(["reuse", "--root", SOURCE, "lint"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    print(f"{'not ok' if done.returncode else 'ok'} 1 - each file has a licence")
    for line in done.stdout.splitlines():
        if done.returncode or line.startswith("* Files with"):
            print(f"# {line}")
    print("1..1")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
