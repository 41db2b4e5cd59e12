# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that are programs: what a load costs, and its parts. Their goals are theirs."""

import os
import shutil
import subprocess

from captures import SUFFIX, files_below


def load(bench):
    """A load, first tables and the heap they take, against the bare scan."""
    for size, runs in (("100M", "7"), ("1G", "3")):
        (file,) = files_below(bench.captures.composed(size, "--size", size))
        subprocess.run([bench.program("load"), file, runs], check=True)
    print("goals: load on one thread at most 3 x, faster with two; framework_op_stats at most 5 x;"
          " overview_page at most 8 x on one thread, 5 x on two; peak heap of a load at most 1 x,"
          " of an overview 1.3 x the file")


def packed(bench):
    """A load of a compressed capture, beside unpacking it and beside the plain one's load."""
    (plain,) = files_below(bench.captures.composed("300M", "--size", "300M"))
    for kind in ("zst", "gz"):
        folder = bench.captures.composed("300M-" + kind, "--size", "300M", "--compress", kind)
        (file,) = files_below(folder, SUFFIX + "." + kind)
        print(kind, flush=True)
        subprocess.run([bench.program("packed"), plain, file, "5"], check=True)
    print("goal: about the longer of the two")


def memory(bench):
    """A capture with a million events of allocators, raw and grouped."""
    options = ["--devices", "1", "--events-per-step", "800", "--steps", "26", "--allocations",
               "20000"]
    for name, more in (("memory-raw", []), ("memory-grouped", ["--grouped"])):
        (file,) = files_below(bench.captures.composed(name, *options, *more))
        subprocess.run([bench.program("load"), file, "5"], check=True)
    print("goals: memory_profile at most 6 x on one thread")


def trace(bench):
    """The trace viewer: index, tiles at random places, searches."""
    for size in ("100M", "1G"):
        folder = bench.captures.composed(size, "--size", size)
        subprocess.run([bench.program("trace"), folder, "500"], check=True)
    print("goals: list, index and categories at most 2 x the load; tiles 99 % at most 20 ms and"
          " 300 kB; search of a name at most 300 ms; index at most 25 % of the columns")


def hosts(bench):
    """The overview of one host of 100 MB and of many of 20 MB, without and with summaries."""
    count = bench.options.hosts
    results = os.path.join(bench.captures.work, "results")
    for name, options, runs in (
            ("100M", ["--size", "100M"], "3"),
            (f"hosts-{count}", ["--hosts", str(count), "--size", "20M"],
             "3" if count < 64 else "1")):
        folder = bench.captures.composed(name, *options)
        run = os.path.dirname(files_below(folder)[0])
        out = subprocess.run([bench.program("hosts"), run, results, runs], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
        print(out, flush=True)
    shutil.rmtree(results, ignore_errors=True)
    heap = next(line for line in out.splitlines() if line.startswith("peak heap, two threads"))
    per_byte = next(line for line in out.splitlines() if "one host's per byte" in line)
    bench.table.at_most(f"cold overview_page of {count} hosts of 20 MB, peak heap", 1.3,
                        float(heap.split(" x ")[0].split()[-1]), "x one file")
    bench.table.at_most(f"cold overview_page of {count} hosts of 20 MB, time for a byte", 1.1,
                        float(per_byte.split(" x one host's")[0].split()[-1]), "x one host's")
