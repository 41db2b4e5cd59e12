#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of a 'meson test' run and shows what failed.

usage: count_tests.py LOGS [--label TEXT]

LOGS is a build's meson-logs folder. Prints "PASSED FAILED SKIPPED" on stdout;
everything that a failed test wrote goes to stderr. A program that prints TAP
counts with each of its cases, any other one as a single case. A program that
failed although none of its cases did (it crashed, or ran too long) counts as
one failure more. A program that ran no case at all counts as skipped.
"""

import argparse
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

BAD = {"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"}


def cases_by_program(path):
    """TAP cases of every program: name -> list of (case, result)."""
    programs = {}
    with open(path, "rb") as f:
        # Meson copies what tests print, also what no XML may contain.
        text = re.sub(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", b"", f.read())
    for suite in ElementTree.fromstring(text):
        # "project.program" for TAP; plain programs are all in "project".
        program = suite.get("name", "").partition(".")[2]
        cases = []
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                result = "FAIL"
            else:
                result = "SKIP" if case.find("skipped") is not None else "OK"
            cases.append((case.get("name"), result))
        if program:
            programs.setdefault(program, []).extend(cases)
    return programs


def show(program, label, failed_cases):
    print("---- %s%s: %s, exit status %s, %.1f s" % (
        label, program["name"], program["result"], program["returncode"], program["duration"]),
        file=sys.stderr)
    for name in failed_cases:
        print("---- failed case: %s" % name, file=sys.stderr)
    for stream in ("stdout", "stderr"):
        text = (program.get(stream) or "").rstrip()
        if text:
            print(text, file=sys.stderr)
    print("----", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs")
    parser.add_argument("--label", default="", help="goes before a failed program's name")
    args = parser.parse_args()
    label = args.label + " " if args.label else ""

    passed = failed = skipped = 0
    tap = cases_by_program(os.path.join(args.logs, "testlog.junit.xml"))
    with open(os.path.join(args.logs, "testlog.json"), encoding="utf-8") as f:
        programs = [json.loads(line) for line in f]
    for program in programs:
        bad = program["result"] in BAD
        results = [result for _, result in tap.get(program["name"], [])]
        if not results:
            results = ["FAIL" if bad else "SKIP" if program["result"] == "SKIP" else "OK"]
        elif bad and "FAIL" not in results:
            results.append("FAIL")
        passed += results.count("OK")
        failed += results.count("FAIL")
        skipped += results.count("SKIP")
        if "FAIL" in results:
            show(program, label,
                 [name for name, result in tap.get(program["name"], []) if result == "FAIL"])
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
