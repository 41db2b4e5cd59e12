#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzz targets of a build for a while; scripts/fuzz builds and calls this.

usage: drive.py --build FOLDER --minutes N [--captures FOLDER] [--findings FOLDER]
                [--synth PATH] [--jobs N] [TARGET...]

All targets together take N minutes: the time is shared among them, as many at once as
there are processors. Those whose input is a capture get most of it. With captures an
eighth of the time goes to whole ones made worse (mutate.py), which are too large for a
fuzzer that is led by coverage. What was found new is kept in BUILD/corpus for the next
run. Exit status 1 when something was found.
"""

import argparse
import concurrent.futures
import gzip
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))

# Share of the time, and how long an input is tried.
TARGETS = {
    "fuzz_capture": (4, 16384),
    "fuzz_tools": (8, 16384),
    "fuzz_query": (4, 2048),
    "fuzz_hlo": (2, 8192),
    "fuzz_op_stats": (2, 16384),
    "fuzz_unpack": (1, 65536),
    "fuzz_result": (1, 8192),
    "fuzz_text_match": (1, 1024),
    "fuzz_names": (1, 2048),
    "fuzz_access": (1, 1024),
    "fuzz_headers": (1, 1024),
    "fuzz_framing": (2, 2048),
    "fuzz_grpc": (1, 4096),
    "fuzz_target": (1, 1024),
    "fuzz_profile_response": (1, 8192),
    "fuzz_profile": (3, 8192),
    "fuzz_checkpoint": (1, 2048),
    "fuzz_event_file": (1, 2048),
    "fuzz_view_options": (1, 1024),
}
OTHERS = (1, 4096)
TIMEOUT = 30          # seconds for an input: none needs a hundredth of that
WHOLE_TIMEOUT = 300   # and for a whole capture of some MB
MEMORY_MB = 3000
SEEDS_A_SECOND = {"fuzz_tools": 1, "fuzz_capture": 10}  # that are tried before the rest
FINDINGS_MAX = 8      # of one target; then it is no use to go on
MINIMISE_SECONDS = 30
WHOLE_BATCH = 8

stopping = threading.Event()


class Result:
    def __init__(self, target):
        self.target = target
        self.seconds = self.runs = 0
        self.first = self.last = 0  # edges covered
        self.new = 0
        self.findings = []


def environment():
    env = dict(os.environ)
    for name, value in (("ASAN_OPTIONS", "halt_on_error=1:detect_stack_use_after_return=1"),
                        ("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")):
        env.setdefault(name, value)
    return env


def run(command, limit):
    """Output of a fuzzer, and whether it ended well."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=environment())
    try:
        output = process.communicate(timeout=limit)[0]
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.terminate()
        output = process.communicate()[0]
        return output.decode(errors="replace"), True
    return output.decode(errors="replace"), process.returncode == 0


def summary_of(output):
    for pattern in (r"^.*not so: .*$", r"^.*runtime error: .*$", r"^SUMMARY: .*$",
                    r"^.*ERROR: .*$"):
        match = re.search(pattern, output, re.M)
        if match:
            return match.group().strip()[:160]
    return "it ended badly"


def options(target, folder):
    return ["-timeout=%d" % TIMEOUT, "-rss_limit_mb=%d" % MEMORY_MB,
            "-artifact_prefix=%s/" % folder,
            "-max_len=%d" % TARGETS.get(target, OTHERS)[1]]


def minimise(args, target, path):
    small = path + ".min"
    run([os.path.join(args.targets, target), "-minimize_crash=1",
         "-max_total_time=%d" % MINIMISE_SECONDS, "-timeout=%d" % TIMEOUT,
         "-rss_limit_mb=%d" % MEMORY_MB, "-exact_artifact_path=" + small, path],
        MINIMISE_SECONDS * 4)
    return small if os.path.exists(small) else path


def record(args, result, folder, output):
    """Moves what a fuzzer left to the findings; whether there was something."""
    names = [n for n in os.listdir(folder)
             if n.startswith(("crash-", "leak-", "timeout-", "oom-"))]
    for name in names:
        place = os.path.join(args.findings, result.target)
        os.makedirs(place, exist_ok=True)
        path = os.path.join(place, name)
        shutil.move(os.path.join(folder, name), path)
        with open(path + ".log", "w", encoding="utf-8") as f:
            f.write(output)
        if name.startswith(("crash-", "leak-")):
            path = minimise(args, result.target, path)
        result.findings.append((path, summary_of(output)))
    return bool(names)


def some(folder, count):
    """Leaves so many of a folder's files: all are tried before fuzzing begins."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    random.Random(len(names)).shuffle(names)
    for name in names[max(count, 16):]:
        os.remove(os.path.join(folder, name))
    return folder


def fuzz(args, target, seconds):
    """One target, led by coverage."""
    result = Result(target)
    corpus = os.path.join(args.build, "corpus", target)
    os.makedirs(corpus, exist_ok=True)
    folders = [corpus, os.path.join(HERE, "corpus", target),
               os.path.join(HERE, "regressions", target),
               some(os.path.join(args.seeds, target),
                    int(seconds * SEEDS_A_SECOND.get(target, 100)))]
    before = len(os.listdir(corpus))
    started = time.monotonic()
    while not stopping.is_set() and len(result.findings) < FINDINGS_MAX:
        left = int(seconds - (time.monotonic() - started))
        if left < 1:
            break
        with tempfile.TemporaryDirectory() as folder:
            output, well = run(
                [os.path.join(args.targets, target), "-max_total_time=%d" % left,
                 "-print_final_stats=1"] + options(target, folder) +
                [f for f in folders if os.path.isdir(f)], left * 1.2 + 60)
            covered = re.findall(r"cov: (\d+)", output)
            if covered:
                result.first = result.first or int(covered[0])
                result.last = max(result.last, int(covered[-1]))
            runs = re.findall(r"stat::number_of_executed_units: (\d+)|^#(\d+)\s", output, re.M)
            if runs:
                result.runs += max(int(a or b) for a, b in runs)
            if not well and not record(args, result, folder, output):
                # It fell before it could keep what it fell over.
                path = os.path.join(args.findings, target + ".log")
                os.makedirs(args.findings, exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(output)
                result.findings.append((path, summary_of(output)))
                break
    result.seconds = time.monotonic() - started
    result.new = len(os.listdir(corpus)) - before
    return result


def worse(args, target, seconds, worker):
    """Whole captures made worse, one after the other."""
    result = Result(target)
    started = time.monotonic()
    sources = itertools.cycle(
        [mutate.mutants(data, worker) for data in args.whole[worker::2] or args.whole])
    while time.monotonic() - started < seconds and not stopping.is_set():
        if len(result.findings) >= FINDINGS_MAX:
            break
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for number in range(WHOLE_BATCH):
                name, data = next(next(sources))
                files.append(os.path.join(folder, "%d-%s" % (number, name)))
                with open(files[-1], "wb") as f:
                    f.write(data)
            while files:
                output, well = run(
                    [os.path.join(args.targets, target), "-timeout=%d" % WHOLE_TIMEOUT,
                     "-rss_limit_mb=%d" % MEMORY_MB, "-artifact_prefix=%s/" % folder] + files,
                    WHOLE_TIMEOUT * WHOLE_BATCH)
                done = len(re.findall(r"^Executed ", output, re.M))
                result.runs += done
                if well:
                    break
                # The file itself, as a crash of this form leaves none.
                if done < len(files):
                    shutil.copy(files[done], os.path.join(folder, "crash-" +
                                                          os.path.basename(files[done])))
                record(args, result, folder, output)
                files = files[done + 1:]
    result.seconds = time.monotonic() - started
    return result


# ---- seeds ----

def captures_below(folder):
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(root, name)
            if name.endswith(".xplane.pb"):
                with open(path, "rb") as f:
                    yield f.read()
            elif name.endswith(".xplane.pb.gz"):
                with gzip.open(path) as f:
                    yield f.read()


def compose(args, folder):
    """Small captures of a program that never ran."""
    for number, more in enumerate((["--devices", "1"], ["--devices", "2", "--grouped"],
                                   ["--allocations", "4"])):
        out = os.path.join(folder, str(number))
        subprocess.run([args.synth, "-o", out, "--steps", "2", "--events-per-step", "24",
                        "--seed", str(number)] + more, check=True, stdout=subprocess.DEVNULL)
        yield from captures_below(out)


def put(folder, target, name, data):
    path = os.path.join(folder, target)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as f:
        f.write(data)


def make_seeds(args, folder):
    room = TARGETS["fuzz_tools"][1]
    whole, number = [], 0
    if args.synth:
        with tempfile.TemporaryDirectory() as made:
            whole += list(compose(args, made))
    if args.captures:
        whole += list(captures_below(args.captures))
    for data in whole:
        number += 1
        for name, mutant in mutate.seeds(data, room):
            for target in ("fuzz_capture", "fuzz_tools"):
                put(folder, target, "%d-%s" % (number, name), mutant)
        put(folder, "fuzz_unpack", "%d.gz" % number, b"\0" + gzip.compress(data[:room * 2]))
    return whole


# ---- all of it ----

def table(results):
    print("%-24s %9s %12s %9s %9s %6s %9s" % ("target", "minutes", "runs", "runs/s", "edges",
                                              "new", "findings"))
    for r in sorted(results, key=lambda r: r.target):
        edges = "%d+%d" % (r.first, r.last - r.first) if r.first else "-"
        print("%-24s %9.1f %12d %9.0f %9s %6d %9d" % (
            r.target, r.seconds / 60, r.runs, r.runs / max(r.seconds, 1), edges, r.new,
            len(r.findings)))
    findings = [f for r in results for f in r.findings]
    print("%.1f minutes of processor time, %d runs, %d findings" % (
        sum(r.seconds for r in results) / 60, sum(r.runs for r in results), len(findings)))
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--captures")
    parser.add_argument("--findings")
    parser.add_argument("--synth")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("only", nargs="*", metavar="TARGET")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.targets = os.path.join(args.build, "tests", "fuzz")
    args.findings = os.path.abspath(args.findings or os.path.join(args.build, "findings"))
    targets = sorted(n for n in os.listdir(args.targets)
                     if re.fullmatch(r"fuzz_\w+", n) and os.access(os.path.join(args.targets, n), os.X_OK)
                     and (not args.only or n in args.only))
    if not targets:
        parser.error("there are no such targets in " + args.targets)
    with tempfile.TemporaryDirectory() as args.seeds:
        args.whole = make_seeds(args, args.seeds)
        budget = args.minutes * 60 * args.jobs
        readers = [t for t in ("fuzz_tools", "fuzz_capture") if t in targets]
        whole_budget = budget / 8 if args.whole and readers else 0
        weight = sum(TARGETS.get(t, OTHERS)[0] for t in targets)
        tasks = []
        for target in targets:
            share = (budget - whole_budget) * TARGETS.get(target, OTHERS)[0] / weight
            tasks.append((share, lambda t=target, s=share: fuzz(args, t, s)))
        for number, target in enumerate(readers):
            share = whole_budget / len(readers)
            if whole_budget:
                tasks.append((share, lambda t=target, s=share, n=number: worse(args, t, s, n)))
        # The longest first, so that all end at about the same time.
        tasks.sort(key=lambda t: -t[0])
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            futures = [pool.submit(task) for _, task in tasks]
            try:
                results = []
                for future in concurrent.futures.as_completed(futures):
                    results.append(future.result())
                    r = results[-1]
                    print("%s: %d runs in %.1f minutes, %d findings" % (
                        r.target, r.runs, r.seconds / 60, len(r.findings)), file=sys.stderr)
            except KeyboardInterrupt:
                stopping.set()
                raise
    findings = table(results)
    if not findings:
        return 0
    print()
    for path, what in findings:
        print("%s\n    %s" % (path, what))
    print("\nTo see one again: %s/TARGET FILE. When it is understood, put the smallest file"
          "\nthat shows it into tests/fuzz/regressions/TARGET/, named after what was wrong:"
          "\nit is replayed by every test run from then on." % args.targets)
    return 1


if __name__ == "__main__":
    sys.exit(main())
