#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bundles the page for meson: installs web packages when they are missing,
runs the bundler, writes what ninja needs to know.

usage: build_page.py --node NODE --source WEB --out DIR --packages FILE --stamp FILE --depfile FILE
       build_page.py --source WEB --install-only
"""

import argparse
import os
import shutil
import subprocess
import sys


def fail(message):
    print("build_page: " + message, file=sys.stderr)
    sys.exit(1)


def newer(a, b):
    return not os.path.exists(b) or os.path.getmtime(a) > os.path.getmtime(b)


def install(source):
    """npm ci, once per lock file."""
    lock = os.path.join(source, "package-lock.json")
    done = os.path.join(source, "node_modules", ".package-lock.json")
    if not newer(lock, done):
        return
    npm = shutil.which("npm")
    if not npm:
        fail("npm is needed to install the page's packages: apt-get install npm")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    if subprocess.run(command, cwd=source).returncode != 0:
        fail("npm could not install the page's packages; run 'npm ci' in web/ to see why, or"
             " configure with -Dpage=disabled for a server without a page")
    os.utime(done)


def inputs(source):
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if f not in ("node_modules", "dist"))
        for name in sorted(names):
            yield os.path.join(folder, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--install-only", action="store_true")
    for name in ("node", "out", "packages", "stamp", "depfile"):
        parser.add_argument("--" + name)
    args = parser.parse_args()
    install(args.source)
    if args.install_only:
        return
    out = os.path.abspath(args.out)
    shutil.rmtree(out, ignore_errors=True)
    bundler = os.path.join(args.source, "build.mjs")
    if subprocess.run([args.node, bundler, "--outdir", out, "--packages", os.path.abspath(args.packages)]).returncode != 0:
        fail("the bundler failed")
    with open(args.depfile, "w", encoding="utf-8") as f:
        names = " ".join(p.replace(" ", "\\ ") for p in inputs(args.source))
        f.write(f"{args.stamp}: {names}\n")
    with open(args.stamp, "w", encoding="utf-8"):
        pass


if __name__ == "__main__":
    main()
