#!/usr/bin/env python3
"""The benchmarks: makes the captures, measures, prints ratios within one run.

usage: run.py load SIZE --synth PATH --bench PATH --work DIR
       run.py hosts SIZE --synth PATH --bench-hosts PATH --work DIR
       run.py memory     --synth PATH --bench PATH --work DIR
       run.py trace SIZE --synth PATH --trace PATH --work DIR
       run.py start      --synth PATH --server PATH --work DIR
       run.py list       --synth PATH --server PATH --work DIR

load   reading a capture of SIZE (100M, 1G), against a bare scan of its bytes
hosts  the overview of one host of 100 MB and of 16 of SIZE, without and with summaries kept from
       before
memory the same for a capture with a million events of allocators, raw and grouped
trace  the trace viewer on a capture of SIZE: index, tiles, searches
start  from the start of the process to the first answer, 100 runs in the logdir
list   /run_list with 10,000 runs, first and again

Times are for orientation, machines differ; the ratios are what the goals are
about. Nothing here fails because a machine is slow.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request


def capture(args, name, *options):
    """A capture made once and kept."""
    folder = os.path.join(args.work, name)
    found = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
    if not found:
        subprocess.run([args.synth, *options, "-o", folder], check=True)
        found = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
    return found[0]


def load(args):
    runs = "3" if args.size.endswith("G") else "7"
    subprocess.run([args.bench, capture(args, args.size, "--size", args.size), runs], check=True)
    print("goals: load on one thread at most 3 x, faster with two; framework_op_stats at most 5 x;"
          " overview_page at most 8 x on one thread, 5 x on two; peak heap of a load at most 1 x,"
          " of an overview 1.3 x the file")


def hosts(args):
    many = os.path.join(args.work, "hosts-" + args.size)
    if not os.path.isdir(many):
        subprocess.run([args.synth, "--hosts", "16", "--size", args.size, "-o", many], check=True)
    (run,) = {d for d, _, files in os.walk(many) if files}
    results = os.path.join(args.work, "results")
    for folder in (os.path.dirname(capture(args, "100M")), run):
        subprocess.run([args.bench_hosts, folder, results, "3"], check=True)
    print("goals: first overview of one host of 100 MB at most 8 x on one thread, 5 x on two, of 16 at"
          " most linear in bytes; from summaries under 50 ms; peak heap at most 1.3 x the largest file")


def memory(args):
    options = ["--devices", "1", "--events-per-step", "800", "--steps", "26", "--allocations",
               "20000"]
    for name, more in (("memory-raw", []), ("memory-grouped", ["--grouped"])):
        subprocess.run([args.bench, capture(args, name, *options, *more), "5"], check=True)
    print("goals: memory_profile at most 6 x on one thread")


def trace(args):
    capture(args, args.size, "--size", args.size)
    subprocess.run([args.trace, os.path.join(args.work, args.size), "500"], check=True)
    print("goals: list, index and categories at most 2 x the load; tiles 99 % at most 20 ms and"
          " 300 kB; search of a name at most 300 ms; index at most 25 % of the columns")


def logdir(args, runs):
    """That many runs which share one small capture by hard links."""
    folder = os.path.join(args.work, f"runs-{runs}")
    if os.path.isdir(folder):
        return folder
    seed = os.path.join(args.work, "seed")
    shutil.rmtree(seed, ignore_errors=True)
    subprocess.run([args.synth, "--steps", "2", "--events-per-step", "500", "-o", seed], check=True)
    (file,) = [os.path.join(d, f) for d, _, files in os.walk(seed) for f in files]
    for i in range(runs):
        run = os.path.join(folder, f"experiment_{i % 100}", "plugins", "profile", f"run_{i:05}")
        os.makedirs(run)
        os.link(file, os.path.join(run, os.path.basename(file)))
    return folder


class Server:
    def __init__(self, args, folder):
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [args.server, "--logdir", folder, "--port", "0", "--no-cache"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        self.url = re.search(r"http://\S+/", line).group(0)

    def get(self, path):
        begun = time.perf_counter()
        with urllib.request.urlopen(self.url + path) as reply:
            body = reply.read()
        return time.perf_counter() - begun, len(body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def start(args):
    folder = logdir(args, 100)
    times = []
    for _ in range(15):
        with Server(args, folder) as server:
            server.get("runs")
            times.append((time.perf_counter() - server.begun) * 1e3)
    print(f"start to first answer, 100 runs: best {min(times):.1f} ms,"
          f" median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms (goal: 50 ms)")


def listing(args):
    folder = logdir(args, 10000)
    with Server(args, folder) as server:
        first, size = server.get("run_list")
        again = min(server.get("run_list")[0] for _ in range(5))
    print(f"list of 10,000 runs, {size / 1e6:.1f} MB: first {first * 1e3:.0f} ms,"
          f" again {again * 1e3:.0f} ms (goal: well under a second)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["load", "hosts", "memory", "trace", "start", "list"])
    parser.add_argument("size", nargs="?", default="100M")
    parser.add_argument("--synth", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--bench")
    parser.add_argument("--bench-hosts")
    parser.add_argument("--trace")
    parser.add_argument("--server")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    benchmarks = {"load": load, "hosts": hosts, "memory": memory, "trace": trace, "start": start,
                  "list": listing}
    benchmarks[args.what](args)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
