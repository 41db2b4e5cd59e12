#!/usr/bin/env python3
"""Holds a server's tables against expected ones and prints TAP.

usage: run.py shared SERVER     real captures, against the peers' own results
       run.py composed SERVER   captures composed from */*.json, against numbers
                                worked out by hand

The real captures are in the folder ../shared beside the repository, or in
$TFPROF_SHARED; where ours may differ is in the file `exceptions`.

A composed case is {"why", "hosts": {HOST: CAPTURE}, "answers": [{"query",
"tables": [TABLE or null, ...], "document"}, ...]}. Of a table named columns and
properties are compared, of a document what is named of dicts, and whole lists.
A text "=7/24" in what is expected is that fraction.
"""
import contextlib
import fractions
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import xspace  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("TFPROF_SHARED", os.path.join(os.path.dirname(SOURCE), "shared"))

@contextlib.contextmanager
def serve(server, folder):
    process = subprocess.Popen([server, "--port", "0", "--no-cache", folder], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                yield found.group().rstrip("/")
                break
        else:
            raise RuntimeError("the server did not start")
    finally:
        process.terminate()
        process.communicate(timeout=30)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def test(self, name, problems, note=""):
        self.count += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.count} - {name}{note}")
        for problem in problems[:20]:
            print(f"# {problem}")
        if len(problems) > 20:
            print(f"# and {len(problems) - 20} more")
        sys.stdout.flush()

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


# ---- real captures ----

class Exceptions:
    """The rules of the file `exceptions`; each must be good for something."""

    def __init__(self, path):
        self.rules = {}  # text of the regular expression: how many lines it matched
        with open(path, encoding="utf-8") as f:
            for line in f:
                rule = line.rstrip("\n").rpartition("  # ")[0].strip()
                if line.strip() and not line.startswith("#"):
                    self.rules[rule or line.strip()] = 0

    def allow(self, miss):
        matching = [rule for rule in self.rules if re.search(rule, miss)]
        for rule in matching:
            self.rules[rule] += 1
        return bool(matching)

    def useless(self):
        return [f"matches nothing: {rule}" for rule, count in self.rules.items() if count == 0]


def shared(server):
    compare = os.path.join(SHARED, "golden", "compare.py")
    if not os.path.exists(compare):
        print("1..0 # SKIP the shared captures are not here")
        return 0
    served = [("xprof/served", tool, ["--as-served"]) for tool in
              ("kernel_stats", "framework_op_stats", "overview_page", "input_pipeline_analyzer",
               "pod_viewer", "memory_profile", "trace_viewer@")]
    checks = [("tensorflow", tool, []) for tool in
              ("tensorflow_stats", "kernel_stats", "overview_page", "input_pipeline",
               "memory_profile", "trace")] + served
    checks.append(("xprof/tf_data", "tf_data", []))
    exceptions = Exceptions(os.path.join(HERE, "exceptions"))
    tap = Tap()
    with serve(server, os.path.join(SHARED, "captures")) as url:
        for expected, tool, options in checks:
            result = subprocess.run(
                [sys.executable, compare, url, os.path.join(SHARED, "golden", expected), "--tool",
                 tool, "--show", "1000000", *options], stdout=subprocess.PIPE, text=True)
            lines = result.stdout.splitlines()
            misses = [line.strip() for line in lines if line.startswith("    ")]
            problems = [miss for miss in misses if not exceptions.allow(miss)]
            summary = next((line for line in lines if line.startswith(tool + " ")), None)
            if summary is None or (result.returncode != 0 and not misses):
                problems.append(f"compare.py gave {result.returncode} and nothing to read")
            elif misses and not problems:
                summary += f", {len(misses)} by exceptions"
            tap.test(f"{tool} as {expected}", problems, f": {summary}")
    tap.test("every exception matches something", exceptions.useless())
    return tap.end()


# ---- composed captures ----

def same(expected, actual):
    if isinstance(expected, str) and expected.startswith("="):
        expected = float(fractions.Fraction(expected[1:]))
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return (isinstance(actual, (int, float)) and not isinstance(actual, bool)
                and math.isclose(expected, actual, rel_tol=1e-12, abs_tol=1e-15))
    return expected == actual and type(expected) is type(actual)


def check_table(where, expected, table):
    problems = []
    columns = [column["id"] for column in table["cols"]]
    rows = [dict(zip(columns, (cell["v"] for cell in row["c"]))) for row in table["rows"]]
    if len(rows) != len(expected["rows"]):
        problems.append(f"{where}: {len(rows)} rows, not {len(expected['rows'])}")
    for i, (want, have) in enumerate(zip(expected["rows"], rows)):
        if isinstance(want, list):
            want = dict(zip(expected["columns"], want))
        if "rank" in columns and "rank" not in want and have.get("rank") != i + 1:
            problems.append(f"{where} row {i + 1}: rank {have.get('rank')}")
        for column, value in want.items():
            if column not in have or not same(value, have[column]):
                problems.append(f"{where} row {i + 1} {column}: {have.get(column)!r}, not {value!r}")
    for key, value in expected.get("p", {}).items():
        if table.get("p", {}).get(key) != value:
            problems.append(f"{where} p.{key}: {table.get('p', {}).get(key)!r}, not {value!r}")
    return problems


def check_document(where, want, have):
    """What of a JSON document is not in another: dicts by key, lists by position."""
    if isinstance(want, dict) and isinstance(have, dict):
        missing = [f"{where}.{key}: is not there" for key in want if key not in have]
        if missing:
            return missing
        pairs = [(f"{where}.{key}", value, have[key]) for key, value in want.items()]
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        pairs = [(f"{where}[{i}]", *pair) for i, pair in enumerate(zip(want, have))]
    else:
        return [] if same(want, have) else [f"{where}: {have!r}, not {want!r}"]
    return [problem for pair in pairs for problem in check_document(*pair)]


def check_answer(answer, document):
    problems = []
    if "document" in answer:
        problems = check_document("document", answer["document"], document)
    elif "tables" not in answer:
        problems.append("the case expects nothing")
    if "tables" not in answer:
        return problems
    tables = document if isinstance(document, list) else [document]
    if len(tables) != len(answer["tables"]):
        problems.append(f"{len(tables)} tables, not {len(answer['tables'])}")
    for i, (want, have) in enumerate(zip(answer["tables"], tables)):
        if want is not None:
            problems += check_table(f"table {i}", want, have)
    return problems


def composed(server):
    tap = Tap()
    cases = sorted(glob.glob(os.path.join(HERE, "*", "*.json")))
    with tempfile.TemporaryDirectory(prefix="tfprof-golden-") as folder:
        described = []
        for path in cases:
            tool, name = os.path.split(os.path.relpath(path, HERE))
            run = f"{tool}-{name[:-5]}"
            with open(path, encoding="utf-8") as f:
                case = json.load(f)
            described.append((tool, run, case))
            run_folder = os.path.join(folder, "plugins", "profile", run)
            os.makedirs(run_folder)
            for host, capture in case["hosts"].items():
                with open(os.path.join(run_folder, f"{host}.xplane.pb"), "wb") as f:
                    f.write(xspace.encode(capture))
        with serve(server, folder) as url:
            for tool, run, case in described:
                for answer in case["answers"]:
                    query = {"run": run, "tag": tool, **answer.get("query", {})}
                    with urllib.request.urlopen(f"{url}/data?{urllib.parse.urlencode(query)}") as r:
                        document = json.load(r)
                    tap.test(f"{run} {answer.get('query', {})}", check_answer(answer, document))
    return tap.end()


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("shared", "composed"):
        print(__doc__, file=sys.stderr)
        return 2
    return {"shared": shared, "composed": composed}[sys.argv[1]](os.path.abspath(sys.argv[2]))


if __name__ == "__main__":
    sys.exit(main())
