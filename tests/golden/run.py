#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a server's tables against expected ones and prints TAP.

usage: run.py shared SERVER     real captures, against the peers' own results
       run.py composed SERVER   captures composed from */*.json, against numbers
                                worked out by hand
       run.py random SERVER     captures made up at random, against independent.py
       run.py check SERVER DIR  a log directory of your own, against independent.py

The real captures are in the folder ../shared beside the repository, or in
$TFPROF_SHARED; where ours may differ is in the file `exceptions`.

A composed case is {"why", "hosts": {HOST: CAPTURE}, "answers": [{"query",
"tables": [TABLE or null, ...], "document"}, ...]}. Of a table named columns and
properties are compared, of a document what is named of dicts, and whole lists.
A text "=7/24" in what is expected is that fraction. An answer may have "error":
{"status", "says"}; "costs", a module of hlo_costs/ with the answers of XLA, "ours", by
instruction, what is known beyond these, and "fused": false where those in fusions are left out.
"""
import collections
import contextlib
import csv
import fractions
import glob
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import independent  # noqa: E402
import random_captures  # noqa: E402
import xspace  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
# Tools whose composed captures have operations, and real runs that are not of TensorFlow.
VIEWED = ("framework_op_stats", "hlo_stats", "op_profile", "modules", "overview_page", "tfprof")
RAW = ("jax-mi300-attention/2025_01_01_00_00_00", "tpu-inference/2025_12_10_12_00_00")
SEEDS = [*range(48), 384]  # captures that are made up
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


def get(url, **query):
    with urllib.request.urlopen(f"{url}/data?{urllib.parse.urlencode(query)}") as reply:
        return json.load(reply)


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
    """The rules of the file `exceptions`; each must be good for something, and for no more."""

    def __init__(self, path):
        self.rules = []  # [most in one answer, regular expression, how many it matched]
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    most, rule = line.rpartition("  # ")[0].split(maxsplit=1)
                    self.rules.append([int(most), rule.strip(), 0])

    def not_allowed(self, misses):
        """Of the misses of one tool those that no rule is for, and a sentence for each rule that
        had more to excuse than it may."""
        problems = []
        used = collections.Counter()
        for miss in misses:
            answer = miss.partition(": ")[0]
            matching = [i for i, rule in enumerate(self.rules) if re.search(rule[1], miss)]
            for i in matching:
                self.rules[i][2] += 1
                used[answer, i] += 1
            if not matching:
                problems.append(miss)
        for (answer, i), count in used.items():
            most, rule, _ = self.rules[i]
            if count > most:
                problems.append(f"{answer}: {count} fields, not {most}, by {rule}")
        return problems

    def useless(self):
        return [f"matches nothing: {rule}" for _, rule, count in self.rules if count == 0]


def peers_answers(folder, tool):
    """Documents of a tool that a peer made, as (run, host, document)."""
    for path in sorted(glob.glob(os.path.join(folder, "**", f"{tool}.json*"), recursive=True)):
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as f:
            run, host = os.path.split(os.path.dirname(os.path.relpath(path, folder)))
            yield run, host, json.load(f)


def about(snapshot):
    """What an allocation is, but not which of those that are alike."""
    activity = snapshot["activityMetadata"]
    return {key: value for key, value in activity.items() if key not in ("address", "stepId")}


def check_allocations(want, have):
    """compare.py leaves out when and where an allocation in use at the peak happened, because of
    several that are alike XProf shows any one. Here the one that stands alone has to be the same,
    and one of several has to be among them, as far as XProf lists all events. Returns problems,
    and how many were compared."""
    problems, compared = [], 0
    for allocator, left in want.get("memoryProfilePerAllocator", {}).items():
        right = have.get("memoryProfilePerAllocator", {}).get(allocator, {})
        events = left.get("sampledTimelineSnapshots", [])
        pairs = zip(left.get("activeAllocations", []), right.get("activeAllocations", []))
        for row, mine in pairs:
            if int(row["snapshotIndex"]) < 0:
                continue
            expected = left["memoryProfileSnapshots"][int(row["snapshotIndex"])]
            actual = right["memoryProfileSnapshots"][int(mine["snapshotIndex"])]
            where = f"{allocator} row {row['snapshotIndex']}"
            alike = [event for event in events if about(event) == about(expected)]
            compared += 1
            if row["numOccurrences"] != mine["numOccurrences"]:
                problems.append(f"{where}: {mine['numOccurrences']}, not {row['numOccurrences']}")
            elif row["numOccurrences"] == 1 and actual != expected:
                problems.append(f"{where}: {actual}, not {expected}")
            elif len(events) < 1000 and actual not in alike:
                problems.append(f"{where}: {actual} is none of the {len(alike)} that it may be")
    return problems, compared


def peers_results(folder):
    """The tools that a peer's results are of, as it calls them, which are its files' names."""
    return sorted({name.split(".json")[0] for _, _, names in os.walk(folder) for name in names
                   if ".json" in name} - {"steps_corrected"})


PROGRAMS = ("op_profile", "hlo_stats", "roofline_model", "graph_viewer", "costs", "module_list", "framework_op_stats",
            "overview_page")


def programs_as_peers(url, exceptions, tap):
    """What a peer says of compiled programs. Its lines name the answer's file, which is left out."""
    for tool in PROGRAMS:
        result = subprocess.run(
            [sys.executable, os.path.join(SHARED, "golden", "compare_programs.py"), url,
             os.path.join(SHARED, "golden", "xprof", "programs"), "--tool", tool, "--show", "1000000"],
            stdout=subprocess.PIPE, text=True)
        lines = result.stdout.splitlines()
        misses = [re.sub(r"^(\S+) \S+: ", r"\1: ", line.strip()) for line in lines if line.startswith("    ")]
        problems = exceptions.not_allowed(misses)
        summary = next((line for line in lines if line.startswith(tool + " ")), None)
        if summary is None or (result.returncode != 0 and not misses):
            problems.append(f"compare_programs.py gave {result.returncode} and nothing to read")
        elif misses and not problems:
            summary += f", {len(misses)} by exceptions"
        tap.test(f"{tool} as xprof/programs", problems, f": {summary}")


def shared(server):
    compare = os.path.join(SHARED, "golden", "compare.py")
    if not os.path.exists(compare):
        print("1..0 # SKIP the shared captures are not here")
        return 0
    checks = [(folder, tool, options) for folder, options in
              (("tensorflow", []), ("xprof/served", ["--as-served"]), ("xprof/tf_data", []))
              for tool in peers_results(os.path.join(SHARED, "golden", folder))]
    exceptions = Exceptions(os.path.join(HERE, "exceptions"))
    tap = Tap()
    with serve(server, os.path.join(SHARED, "captures")) as url:
        for expected, tool, options in checks:
            result = subprocess.run(
                [sys.executable, compare, url, os.path.join(SHARED, "golden", expected), "--tool",
                 tool, "--show", "1000000", *options], stdout=subprocess.PIPE, text=True)
            lines = result.stdout.splitlines()
            misses = [line.strip() for line in lines if line.startswith("    ")]
            problems = exceptions.not_allowed(misses)
            summary = next((line for line in lines if line.startswith(tool + " ")), None)
            if summary is None or (result.returncode != 0 and not misses):
                problems.append(f"compare.py gave {result.returncode} and nothing to read")
            elif misses and not problems:
                summary += f", {len(misses)} by exceptions"
            tap.test(f"{tool} as {expected}", problems, f": {summary}")
        programs_as_peers(url, exceptions, tap)
        problems, compared = [], 0
        for run, host, want in peers_answers(os.path.join(SHARED, "golden", "xprof", "served"),
                                             "memory_profile"):
            have = get(url, run=run, host=host, tag="memory_profile")
            found, count = check_allocations(want, have)
            problems += [f"{run}/{host}: {problem}" for problem in found]
            compared += count
        if not compared:
            problems.append("none was compared")
        tap.test("allocations in use at the peak", problems, f": {compared}")
        for run in sorted({run for run, _, _ in peers_answers(
                os.path.join(SHARED, "golden", "tensorflow"), "framework_op_stats")} | set(RAW)):
            tap.test(f"views of {run}", views_agree(url, run=run))
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


def check_costs(module, ours, fused, table):
    """XLA writes -1 where it does not know; that is nothing here, and so is the rest of a
    custom call of which it knows no GPU flops."""
    columns = [column["id"] for column in table["cols"]]
    rows = [dict(zip(columns, (cell["v"] for cell in row["c"]))) for row in table["rows"]]
    have = {(row["computation"], row["instruction"]): row for row in rows}
    with open(os.path.join(HERE, "hlo_costs", f"{module}.costs.tsv"), encoding="utf-8") as f:
        everything = list(csv.DictReader(f, delimiter="\t"))
    wanted = [row for row in everything if fused or row["comp_kind"] != "fusion"]
    inside = sum(row["comp_kind"] == "fusion" for row in everything)
    if table["p"].get("fused_total") != str(inside):
        return [f"{table['p'].get('fused_total')} instructions in fusions, not {inside}"]
    problems = [] if len(wanted) == len(rows) else [f"{len(rows)} rows, not {len(wanted)}"]
    for want in wanted:
        row = have.get((want["computation"], want["instruction"]), {})
        unknown = want["opcode"] == "custom-call" and float(want["gpu_flops_model"]) <= 0
        known = {"cost_source": "unknown" if unknown else "XLA"}
        for name, value in want.items():
            if name.startswith(("xla_", "gpu_")):
                known[name] = None if unknown or float(value) < 0 else int(float(value))
            elif name not in ("program_id", "module"):
                known[name] = value
        del known["gpu_optimal"]
        known.update(ours.get(want["instruction"], {}))
        problems += [f"{want['instruction']} {name}: {row.get(name)!r}, not {value!r}"
                     for name, value in known.items()
                     if name not in row or not same(value, row[name])]
    return problems


def check_answer(answer, document):
    problems = []
    if "costs" in answer:
        return check_costs(answer["costs"], answer.get("ours", {}), answer.get("fused", True), document)
    if "document" in answer:
        problems = check_document("document", answer["document"], document)
    elif "tables" not in answer:
        problems.append("the case expects something else" if "error" in answer else "the case expects nothing")
    if "tables" not in answer:
        return problems
    tables = document if isinstance(document, list) else [document]
    if len(tables) != len(answer["tables"]):
        problems.append(f"{len(tables)} tables, not {len(answer['tables'])}")
    for i, (want, have) in enumerate(zip(answer["tables"], tables)):
        if want is not None:
            problems += check_table(f"table {i}", want, have)
    return problems


def check_error(expected, error):
    body = error.read().decode()
    if error.code == expected.get("status") and expected["says"] in body:
        return []
    return [f"{error.code} {body}"]


# ---- the views of captures, against other tools ----

def tree_of(document):
    """Of a tree in columns: by row its path and what it has."""
    nodes, names = document["nodes"], document["names"]
    rows = []
    for i, (parent, name) in enumerate(zip(nodes["parent"], nodes["name"])):
        above = rows[parent]["path"] if parent >= 0 else ()
        rows.append({"path": above + ((names[name],) if i else ()), "parent": parent,
                     "flags": nodes["flags"][i],
                     "self": {q: v[i] for q, v in nodes["self"].items()},
                     "total": {q: v[i] for q, v in nodes["total"].items()}})
    return rows


def near(a, b):
    return math.isclose(a or 0, b or 0, rel_tol=1e-9, abs_tol=1e-6)


def check_tree(where, rows):
    """A total is its own part and its children's."""
    problems = []
    sums = [{q: v or 0 for q, v in row["self"].items()} for row in rows]
    for i in range(len(rows) - 1, 0, -1):
        for q, value in sums[i].items():
            sums[rows[i]["parent"]][q] += value
    for row, total in zip(rows, sums):
        for q, value in total.items():
            if not near(row["total"][q], value):
                problems.append(f"{where} {row['path']} {q}: {row['total'][q]}, not {value}")
    return problems


def op_stats_rows(url, **run):
    table = get(url, tag="framework_op_stats", limit=0, **run)[1]
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, (cell["v"] for cell in row["c"]))) for row in table["rows"]]


def views_agree(url, **run):
    """Scopes have what TF stats has, lines of code what the op profile has, each step its part."""
    problems = []
    quantities = "micros,accelerator_micros,cpu_micros,occurrence"
    have = {view: get(url, tag="tfprof", view=view, select=quantities, limit=0, **run)
            for view in ("scope", "op", "code", "graph")}
    trees = {view: tree_of(document) for view, document in have.items()}
    for view, rows in trees.items():
        problems += check_tree(view, rows)
    ops = op_stats_rows(url, **run)
    for place, quantity in (("Device", "accelerator_micros"), ("Host", "cpu_micros")):
        want = {}
        for row in ops:
            if row["host_or_device"] == place:
                path = tuple(part for part in row["operation"].split("/") if part)
                want[path] = want.get(path, 0) + row["total_self_time"]
        for view in ("scope", "op"):
            if not near(trees[view][0]["total"][quantity], sum(want.values())):
                problems.append(f"{view} {quantity}: {trees[view][0]['total'][quantity]}, not "
                                f"{sum(want.values())}")
        for row in trees["scope"]:
            path = tuple(part for name in row["path"] for part in name.split("/") if part)
            if row["flags"] & 32 and want.get(path, 0) and not near(row["self"][quantity], want[path]):
                problems.append(f"scope {path} {quantity}: {row['self'][quantity]}, not {want[path]}")
    for others in ("", "true"):
        profile = get(url, tag="op_profile", others=others, **run)
        want = profile["byProgramExcludeIdle"].get("metrics", {"rawTime": 0})["rawTime"] / 1e6
        for view in ("code", "graph"):
            total = get(url, tag="tfprof", view=view, others=others, select="micros", limit=0,
                        **run)["nodes"]["total"]["micros"][0]
            if not near(total, want):
                problems.append(f"{view} others={others}: {total}, not {want}")
    return problems + steps_agree(url, have["scope"], **run)


def steps_agree(url, whole, **run):
    """The mean of the steps is their sum by their number, and they are no more than all."""
    count = whole["steps_total"]
    if not 0 < count <= 20:
        return []
    problems = []
    steps = [tree_of(get(url, tag="tfprof", step=s, select="micros,occurrence", limit=0, **run))
             for s in range(count)]
    mean = tree_of(get(url, tag="tfprof", step="mean", select="micros,occurrence", limit=0, **run))
    everything = {row["path"]: row for row in tree_of(whole)}
    sums = {}
    for rows in steps:
        problems += check_tree("step", rows)
        for row in rows:
            sums[row["path"]] = sums.get(row["path"], 0) + (row["total"]["micros"] or 0)
    for row in mean:
        if not near(row["total"]["micros"], sums[row["path"]] / count):
            problems.append(f"mean {row['path']}: {row['total']['micros']}, not "
                            f"{sums[row['path']] / count}")
    for path, micros in sums.items():
        if micros > (everything[path]["total"]["micros"] or 0) + 1e-6:
            problems.append(f"steps {path}: {micros}, of {everything[path]['total']['micros']}")
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
                    try:
                        problems = check_answer(answer, get(url, **query))
                    except urllib.error.HTTPError as error:
                        problems = check_error(answer.get("error", {}), error)
                    tap.test(f"{run} {answer.get('query', {})}", problems)
            for tool, run, case in described:
                if tool in VIEWED:
                    tap.test(f"views of {run}", views_agree(url, run=run))
    return tap.end()


# ---- any captures, against a second computation ----

def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


class Answers:
    """What the server says of one capture, held against independent.py."""

    def __init__(self, url, run, host, capture):
        self.url, self.run, self.host, self.capture = url, run, host, capture

    def get(self, tag, **query):
        return get(self.url, run=self.run, host=self.host, tag=tag, **query)

    def rows(self, tag, table=None, **query):
        document = self.get(tag, **query)
        document = document if table is None else document[table]
        ids = [column["id"] for column in document["cols"]]
        return ([dict(zip(ids, (cell["v"] for cell in row["c"]))) for row in document["rows"]],
                document.get("p", {}))

    def compare(self, want, have):
        """Problems between two lists of dicts in any order; of have only what want names."""
        def key(row):
            return sorted((k, str(v)) for k, v in row.items() if isinstance(v, (str, bool)))
        names = set(want[0]) if want else set()
        have = [{k: v for k, v in row.items() if k in names} for row in have]
        if len(want) != len(have):
            return [f"{len(have)} rows, not {len(want)}"]
        problems = []
        numbers = sorted(k for k in names if want and not isinstance(want[0][k], (str, bool)))
        for w, h in zip(*(sorted(rows, key=lambda r: (key(r), [r[n] for n in numbers])) for rows in (want, have))):
            for name in w:
                right = (close(w[name], h[name]) if name in numbers and h[name] is not None
                         else w[name] == h[name])
                if not right:
                    problems.append(f"{key(w)} {name}: {h[name]!r}, not {w[name]!r}")
        return problems

    def kernel_stats(self):
        rows, _ = self.rows("kernel_stats", limit=0)
        totals = [row["total_duration_us"] for row in rows]
        return self.compare(independent.kernels(self.capture), rows) + (
            [] if totals == sorted(totals, reverse=True) else ["not by total time"])

    def framework_op_stats(self):
        want = []
        for place, ops in (("Device", independent.device_ops(self.capture)),
                           ("Host", independent.host_ops(self.capture))):
            rows = dict(ops.rows)
            if ops.has_idle:
                rows["IDLE"] = ["IDLE", 0, ops.idle, ops.idle]
            for name, (kind, count, time, own) in rows.items():
                want.append({"host_or_device": place, "type": kind, "operation": name,
                             "occurrences": count, "total_time": time / 1e6, "total_self_time": own / 1e6,
                             f"{place.lower()}_total_self_time_percent": own / ops.total if ops.total else 0})
        rows, _ = self.rows("framework_op_stats", 0, limit=0)
        problems = []
        for place in ("Device", "Host"):
            problems += self.compare([row for row in want if row["host_or_device"] == place],
                                     [row for row in rows if row["host_or_device"] == place])
        return problems

    COLUMNS = {1: "deviceComputeTimeMs", 2: "deviceToDeviceTimeMs", 3: "deviceCollectivesTimeMs",
               4: "hostComputeTimeMs", 5: "kernelLaunchTimeMs", 6: "infeedTimeMs", 7: "outfeedTimeMs",
               8: "compileTimeMs", 9: "otherTimeMs"}

    def step_table(self, rows):
        want = [{"stepnum": step["name"], "stepTimeMs": step["duration"] / 1e9,
                 **{self.COLUMNS[n]: ps / 1e9 for n, ps in independent.categories(step).items()}}
                for step in independent.steps(self.capture)]
        return self.compare(want, rows)

    def overview_page(self):
        rows, _ = self.rows("overview_page", 1)
        _, p = self.rows("overview_page", 3)
        want = independent.verdict(independent.steps(self.capture))
        have = tuple(p[name] for name in ("bottleneck", "kernel_launch_bottleneck", "all_other_bottleneck",
                                          "device_collectives_bottleneck"))
        return self.step_table(rows) + ([] if want == have else [f"verdict {have}, not {want}"])

    def input_pipeline_analyzer(self):
        problems = self.step_table(self.rows("input_pipeline_analyzer", 1)[0])
        ops = independent.input_ops(self.capture)
        whole = sum(own for *_, own in ops) or 1
        want = [{"opName": name, "category": category, "count": count, "timeInMs": time / 1e9,
                 "selfTimeInMs": own / 1e9, "selfTimeInPercent": own / whole}
                for name, category, count, time, own in ops]
        return problems + self.compare(want, self.rows("input_pipeline_analyzer", 2)[0])

    def pod_viewer(self):
        want = []
        for step in independent.steps(self.capture):
            by = independent.categories(step)
            names = {event["id"]: event["name"] for event in self.get("pod_viewer")["stepBreakdownEvents"]}
            want.append({"step": str(step["number"]), "totalDurationUs": step["duration"] / 1e6,
                         "bottleneck": names[max(by, key=lambda n: (by[n], names[n]))],
                         **{str(n): ps / 1e6 for n, ps in by.items()}})
        have = [{"step": str(step["stepNum"]), **record, **record["stepBreakdownUs"]}
                for step in self.get("pod_viewer")["podStatsSequence"]["podStatsMap"]
                for record in step["podStatsPerCore"].values()]
        return self.compare(want, have)

    def memory_profile(self):
        document = self.get("memory_profile")["memoryProfilePerAllocator"]
        summary = {row["memory_id"]: row for row in self.rows("memory_profile", view="summary")[0]}
        problems = []
        for name, want in independent.memory(self.capture).items():
            have = summary.pop(name, {})
            problems += [f"{name} {key}: {have.get(key)}, not {value}" for key, value in want.items()
                         if key not in ("rows", "peak_time_ps") and have.get(key) != value]
            allocator = document[name]
            if int(allocator["profileSummary"]["peakStatsTimePs"]) != want["peak_time_ps"]:
                problems.append(f"{name}: peak at {allocator['profileSummary']['peakStatsTimePs']}")
            rows = collections.Counter()
            for row in allocator["activeAllocations"]:
                index, special = int(row["snapshotIndex"]), int(row["specialIndex"])
                about = (allocator["specialAllocations"][special] if index < 0 else
                         allocator["memoryProfileSnapshots"][index]["activityMetadata"])
                rows[about["tfOpName"], int(about["allocationBytes"])] += int(row["numOccurrences"])
            if rows != want["rows"]:
                problems.append(f"{name}: {dict(rows - want['rows'])} in use, not {dict(want['rows'] - rows)}")
        return problems + [f"an allocator {name}" for name in summary]

    def tf_data_bottleneck_analysis(self):
        want, rows, bottlenecks = [], [], []
        for pipeline in independent.pipelines(self.capture):
            calls = pipeline["calls"]
            times = [call["duration"] for call in calls]
            want.append({"root": pipeline["root"], "min_us": min(times) / 1e6, "max_us": max(times) / 1e6,
                         "avg_us": sum(times) // len(times) / 1e6, "num_calls": len(times),
                         "num_slow_calls": sum(time > 50 * 10 ** 6 for time in times)})
            for call in calls:
                for number, row in call["iterators"].items():
                    kind = 2 if number == call["bottleneck"] else 1 if row["waits"] else 0
                    rows.append({"name": str(number), "parent": str(row["parent"]), "long_name": row["name"],
                                 "type": kind, "total_us": row["total"] / 1e6, "self_us": row["self"] / 1e6,
                                 "num_calls": row["calls"]})
            worst = calls[0]["iterators"].get(calls[0]["bottleneck"])
            bottlenecks.append({"long_name": worst["name"] if worst else "",
                                "max_latency_us": max(times) / 1e6,
                                "latency_us": worst["self"] / 1e6 if worst else 0})
        problems = []
        for number, table in enumerate((rows, want, bottlenecks)):
            have = self.rows("tf_data_bottleneck_analysis", number, limit=0)[0]
            if number < 2:
                have = [row for row in have if row["input_pipeline"].startswith("Host")]
            problems += [f"table {number}: {problem}" for problem in self.compare(table, have)]
        return problems

    def trace_viewer(self):
        want = independent.trace_events(self.capture)
        planes, lines, have = {}, {}, collections.Counter()
        events = self.get("trace_viewer")["traceEvents"]
        for e in events:
            if e.get("name") == "process_name":
                planes[e["pid"]] = e["args"]["name"]
            elif e.get("name") == "thread_name":
                lines[e["pid"], e["tid"]] = e["args"]["name"]
        for e in events:
            if e.get("ph") in ("X", "i"):
                have[planes[e["pid"]], lines.get((e["pid"], e["tid"]), ""), e["name"],
                     round(e["ts"] * 1e6), round(e.get("dur", 0) * 1e6)] += 1
        recorded = {key[:2] for key in want}  # the other rows are derived
        have = collections.Counter({key: n for key, n in have.items() if key[:2] in recorded
                                    and (key in want or key[2] != "ThreadpoolListener::Region")})
        return [f"{sum((have - want).values())} events too many, {sum((want - have).values())} missing: "
                f"{list((have - want) + (want - have))[:3]}"] if have != want else []

    def module_list(self):
        with urllib.request.urlopen(f"{self.url}/module_list?{urllib.parse.urlencode({'run': self.run})}") as r:
            have = sorted(set(r.read().decode().split(",")) - {"NO_MODULE"})
        want = sorted(set(independent.modules(self.capture)))
        return [] if have == want else [f"{have}, not {want}"]


CHECKED = ("overview_page", "input_pipeline_analyzer", "framework_op_stats", "kernel_stats", "pod_viewer",
           "memory_profile", "tf_data_bottleneck_analysis", "trace_viewer", "module_list")


def against_second_computation(server, folder, tap):
    with serve(server, folder) as url:
        with urllib.request.urlopen(url + "/runs") as reply:
            runs = sorted(json.load(reply))
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)):
            where, host = os.path.split(path)
            run = next(run for run in sorted(runs, key=len, reverse=True)
                       if where.replace("/plugins/profile", "").endswith("/" + run))
            with open(path, "rb") as f:
                capture = independent.Capture(f.read())
            answers = Answers(url, run, host[:-len(".xplane.pb")], capture)
            for tool in CHECKED:
                why = independent.not_computed(capture, tool)
                tap.test(f"{run} {answers.host} {tool}", [] if why else getattr(answers, tool)(),
                         f" # SKIP not computed a second time: {why}" if why else "")


def made_up(server):
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="tfprof-golden-") as folder:
        for seed in SEEDS:
            run = os.path.join(folder, "plugins", "profile", f"seed{seed:03}")
            os.makedirs(run)
            with open(os.path.join(run, "h.xplane.pb"), "wb") as f:
                f.write(xspace.encode(random_captures.capture(seed)))
        against_second_computation(server, folder, tap)
    return tap.end()


def check(server, folder):
    tap = Tap()
    against_second_computation(server, os.path.abspath(folder), tap)
    return tap.end()


def main():
    does = {"shared": shared, "composed": composed, "random": made_up, "check": check}
    if len(sys.argv) < 3 or sys.argv[1] not in does or len(sys.argv) != 3 + (sys.argv[1] == "check"):
        print(__doc__, file=sys.stderr)
        return 2
    return does[sys.argv[1]](os.path.abspath(sys.argv[2]), *sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
