#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what gcovr found, the files with the most unreached lines first.

usage: coverage_table.py SUMMARY.json [--least PERCENT] [--files N]
"""

import argparse
import collections
import json
import sys


def row(covered, total, name):
    return "%7.1f %%  %6d of %6d  %s" % (100 * covered / total, covered, total, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("summary")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--files", type=int, default=25)
    args = parser.parse_args()
    with open(args.summary, encoding="utf-8") as f:
        summary = json.load(f)
    files = [(one["line_covered"], one["line_total"], one["filename"])
             for one in summary["files"] if one["line_total"] > 0]
    if not files:
        sys.exit("no file was measured")
    files.sort(key=lambda one: one[0] - one[1])
    print("unreached lines, most first")
    for one in files[:args.files]:
        print(row(*one))
    folders = collections.defaultdict(lambda: [0, 0])
    for covered, total, name in files:
        folder = folders["/".join(name.split("/")[:2]) + "/"]
        folder[0] += covered
        folder[1] += total
    print("folders")
    for name, (covered, total) in sorted(folders.items()):
        print(row(covered, total, name))
    covered, total = (sum(one[i] for one in files) for i in (0, 1))
    print("all")
    print(row(covered, total, "lines of C"))
    return 0 if 100 * covered / total >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
