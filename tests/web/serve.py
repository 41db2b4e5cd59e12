#!/usr/bin/env python3
"""Runs a script against a server with made-up captures; TAP comes from there.

usage: serve.py SERVER NODE [SCRIPT]     run.mjs if none is named
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    server, node, script = (*sys.argv[1:], "run.mjs")[:3]
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    if not shutil.which(chromium):
        print("1..0 # SKIP there is no Chromium; CHROMIUM names one")
        return 0
    process = subprocess.Popen([server, "--demo", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                return subprocess.run([node, os.path.join(HERE, script), found.group()]).returncode
        print("Bail out! The server did not start")
        return 1
    finally:
        process.terminate()
        process.communicate(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
