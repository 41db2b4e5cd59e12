#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the real programs and prints TAP.

usage: run.py --server PATH --cli PATH --synth PATH [--profiler PATH] [PATTERN...]

With patterns only the tests whose names contain one of them.
"""

import argparse
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import support  # noqa: E402


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.number = 0

    def say(self, line, test, comment=""):
        self.number += 1
        name = test.id() if hasattr(test, "id") else str(test)
        print("%s %d - %s%s" % (line, self.number, name, comment), flush=True)

    def explain(self, error, test):
        for line in self._exc_info_to_string(error, test).splitlines():
            print("# " + line)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("ok", test, " # SKIP " + reason)

    def addError(self, test, error):
        super().addError(test, error)
        self.say("not ok", test)
        self.explain(error, test)

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.say("not ok", subtest)
            self.explain(error, test)


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--profiler", help="tests/fake_profiler; without it captures are not tested")
    parser.add_argument("--faulty", help="tests/faulty_server; without it memory does not run out")
    parser.add_argument("--delays", help="tests/delays.so, for servers that take pauses (scripts/shake)")
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_args()
    support.SERVER = os.path.abspath(args.server)
    support.CLI = os.path.abspath(args.cli)
    support.SYNTH = os.path.abspath(args.synth)
    support.PROFILER = os.path.abspath(args.profiler) if args.profiler else None
    support.FAULTY = os.path.abspath(args.faulty) if args.faulty else None
    support.DELAYS = os.path.abspath(args.delays) if args.delays else None

    # Never the user's own.
    os.environ["XDG_CACHE_HOME"] = os.path.join(support.scratch(), "cache")

    found = unittest.defaultTestLoader.discover(os.path.dirname(os.path.abspath(__file__)))
    tests = list(flatten(found))
    if args.patterns:
        # A file that cannot be loaded is a test of its own, whose name may not fit.
        tests = [t for t in tests if any(p in t.id() for p in args.patterns)
                 or isinstance(t, unittest.loader._FailedTest)]
        if not tests:
            sys.exit("Bail out! There is no test of such a name")
    result = TapResult()
    try:
        # A suite again, for the set-up of classes.
        unittest.TestSuite(tests).run(result)
    finally:
        support.cleanup()
    print("1..%d" % result.number)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
