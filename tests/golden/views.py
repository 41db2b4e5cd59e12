#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds tfprof's views of TensorFlow's first profiler against what the original printed; TAP.

usage: views.py shared TFPROF     the commands of ../shared/golden/tfprof, each SHARE-th of them
       views.py composed TFPROF   commands on the inputs in tfprof/cases

The second folder may be in $TFPROF_SHARED. All commands run with TFPROF_GOLDEN_ALL=1, which
takes minutes. A case is {"why", "files": {NAME: base64}, "entries": [{"args",
"command", "table", "exit", "files"}]}: "table" is what the original printed but for the words
that explain, which are everybody's own.
"""
import base64
import concurrent.futures
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("TFPROF_SHARED", os.path.join(os.path.dirname(SOURCE), "shared"))
SHARE = 1 if os.environ.get("TFPROF_GOLDEN_ALL") else 11

# Intended differences from the original (docs/tools/tfprof.md): arguments.
MEANT = ([], ["help"], ["--help"], ["--nosuch=1"])


def tap(results):
    failed = 0
    print(f"1..{len(results)}")
    for i, (name, problems) in enumerate(results):
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {i + 1} - {name}")
        for problem in problems[:20]:
            print("#", problem.replace("\n", "\n# "))
    return 1 if failed else 0


def shared(program):
    path = os.path.join(SHARED, "golden", "tfprof", "compare_tfprof.py")
    if not os.path.exists(path):
        print("1..0 # SKIP the original's results are not here")
        return 0
    spec = importlib.util.spec_from_file_location("compare_tfprof", path)
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    results = []
    cases = os.path.join(os.path.dirname(path), "cases")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in sorted(os.listdir(cases)):
            case = os.path.join(cases, name)
            entries = [e for e in compare.lines_of(os.path.join(case, "expected.jsonl.gz"))
                       if not e.get("peer_crash") and e["args"] not in MEANT]
            # Commands that write files are few, and their results hold more.
            chosen = [e for i, e in enumerate(entries) if i % SHARE == 0 or e.get("files")]
            problems = [f"{e['args']} {e['command']!r}: {problem}" for e, problem in
                        zip(chosen, pool.map(lambda e: compare.run_entry(program, case, e), chosen))
                        if problem]
            results.append((f"{name}: {len(chosen)} of {len(entries)} commands", problems))
    return tap(results)


def table(text):
    """Without what explains."""
    out, explaining = [], False
    for line in text.split("\n"):
        if line == "Doc:" or line.startswith("Found accelerator operation"):
            explaining = True
        if line.startswith("node name |"):
            explaining = False
        if not explaining:
            out.append(line)
    return "\n".join(line for line in out if line)


def run(program, files, entry):
    with tempfile.TemporaryDirectory() as work:
        for name, data in files.items():
            with open(os.path.join(work, name), "wb") as f:
                f.write(base64.b64decode(data))
        command = entry["command"]
        result = subprocess.run([program, *entry["args"]], cwd=work, capture_output=True, timeout=60,
                                input=None if command is None else (command + "\n").encode(),
                                stdin=subprocess.DEVNULL if command is None else None,
                                env=dict(os.environ, HOME=work, TERM="dumb"))
        problems = []
        if result.returncode != entry["exit"]:
            problems.append(f"exit {result.returncode}, not {entry['exit']}")
        out = table(result.stdout.decode())
        if entry["exit"] != 2 and out != entry["table"]:
            problems.append(f"printed\n{out}\nnot\n{entry['table']}")
        for name, content in entry.get("files", {}).items():
            path = os.path.join(work, name)
            if not os.path.exists(path):
                problems.append(f"{name} was not written")
            else:
                with open(path, encoding="utf-8") as f:
                    if table(f.read()) != table(content):
                        problems.append(f"{name} differs")
        return problems


def composed(program):
    results = []
    for path in sorted(glob.glob(os.path.join(HERE, "tfprof", "cases", "*.json"))):
        with open(path, encoding="utf-8") as f:
            case = json.load(f)
        for entry in case["entries"]:
            what = entry["command"] if entry["command"] is not None else " ".join(entry["args"])
            results.append((f"{os.path.basename(path)[:-5]}: {what!r}".replace("#", ""),
                            run(program, case["files"], entry)))
    return tap(results)


if __name__ == "__main__":
    sys.exit({"shared": shared, "composed": composed}[sys.argv[1]](os.path.abspath(sys.argv[2])))
