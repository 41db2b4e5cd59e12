# SPDX-License-Identifier: Apache-2.0
"""First answers, each in a process of its own, in turn with the bare scan."""

import statistics
import subprocess

SMALL_MB, LARGE_MB = 79, 790
WHAT = {
    "scan": "bare scan, one thread",
    "load": "load",
    "overview_page": "overview_page",
    "op_profile": "op_profile",
    "tile": "first trace tile",
    "derived": "first trace tile, with derived lines",
    "event": "first event looked up",
    "search": "first search over arguments",
}


class Series:
    """Of one WHAT: the figures of all runs."""

    def __init__(self):
        self.ms, self.busy, self.heap, self.size = [], [], [], 0

    def add(self, ms, busy, heap, size):
        self.ms.append(ms)
        self.busy.append(busy)
        self.heap.append(heap)
        self.size = size


def measure(bench, file, kinds, rounds):
    series = {kind: Series() for kind in kinds}
    for _ in range(rounds + 1):
        for kind in kinds:
            out = subprocess.run([bench.program("first"), file, kind, "2"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
            series[kind].add(*(float(word) for word in out.split()))
    for one in series.values():  # the first round brought the file into the page cache
        del one.ms[0], one.busy[0], one.heap[0]
    scan = series["scan"]
    print(f"{file}: {scan.size / 1e6:.1f} MB, best of {rounds}")
    for kind, one in series.items():
        print(f"{WHAT[kind]:40} {min(one.ms):9.1f} ms (median {statistics.median(one.ms):9.1f}),"
              f" busy {min(one.busy):9.1f} ms {min(one.ms) / min(scan.ms):7.2f} x the bare scan,"
              f" peak heap {max(one.heap) / one.size:.2f} x the file", flush=True)
    return series


def joined(before, series):
    """The overviews of all rounds so far."""
    one = series["overview_page"]
    if before is None:
        return one
    before.ms += one.ms
    before.busy += one.busy
    before.heap += one.heap
    return before


def cold(bench):
    """overview_page and the first trace tile of a capture that was just opened."""
    small_file = bench.captures.long(SMALL_MB)
    small = measure(bench, small_file, list(WHAT), bench.options.rounds)
    scan = min(small["scan"].ms)
    for kind, goal in (("overview_page", 3), ("op_profile", 3), ("tile", 4)):
        best = min(small[kind].ms)
        # Where others use the machine too, processor time says more than the clock.
        busy = min(small[kind].busy) / min(small["scan"].busy)
        bench.table.at_most(f"cold {WHAT[kind]}, {SMALL_MB} MB", goal, best / scan,
                            "x a bare scan", f"{best:.0f} ms; both processors' time {busy:.1f} x")
    # Both sizes in turn: a ratio of two runs would be one of two moments of the machine.
    large_file = bench.captures.long(LARGE_MB)
    small_again, large = None, None
    rounds, kinds = max(2, bench.options.rounds // 3), ["scan", "overview_page"]
    for _ in range(rounds):
        small_again = joined(small_again, measure(bench, small_file, kinds, 1))
        large = joined(large, measure(bench, large_file, kinds, 1))
    best = min(large.ms)
    bench.table.at_most(f"cold overview_page, {LARGE_MB} MB", 11, best / min(small_again.ms),
                        f"x the {SMALL_MB} MB case",
                        f"{best:.0f} ms; both processors' time"
                        f" {min(large.busy) / min(small_again.busy):.1f} x")
    bench.table.at_most(f"cold overview_page, {LARGE_MB} MB, peak heap", 0.8,
                        max(large.heap) / large.size, "x the file",
                        f"{max(large.heap) / 1e6:.0f} MB")


def unkind(bench):
    """Captures that cost more than most: 1 GB of raw GPU events, and tens of thousands of lines."""
    file = bench.captures.long_gpu("1G")
    rounds = max(2, bench.options.rounds // 3)
    large = measure(bench, file, ["scan", "overview_page", "derived", "event", "search"], rounds)
    scan = large["scan"]
    for kind, goal in (("overview_page", 5), ("derived", 8)):
        one = large[kind]
        bench.table.at_most(f"cold {WHAT[kind]}, raw GPU capture of 1 GB", goal,
                            min(one.ms) / min(scan.ms), "x a bare scan",
                            f"{min(one.ms):.0f} ms; both processors' time"
                            f" {min(one.busy) / min(scan.busy):.1f} x")
        bench.table.at_most(f"\u2013 {WHAT[kind]}, peak heap", 0.5, max(one.heap) / one.size,
                            "x the file", f"{max(one.heap) / 1e6:.0f} MB")
    for kind in ("event", "search"):
        bench.table.at_most(f"{WHAT[kind]}, the same", 500, min(large[kind].ms), "ms",
                            f"processor time {min(large[kind].busy):.0f} ms")
    few_file, many_file = bench.captures.many_lines("20M", 8)
    few = measure(bench, few_file, ["scan", "overview_page", "tile"], bench.options.rounds)
    many = measure(bench, many_file, ["scan", "overview_page", "tile"], bench.options.rounds)
    one, other = many["overview_page"], few["overview_page"]
    bench.table.at_most("cold overview_page, 39,700 lines of 8 events", 3.5,
                        min(one.busy) / min(other.busy), "x the same events in 26 lines",
                        f"processor time {min(one.busy):.0f} ms;"
                        f" {min(one.busy) / min(many['scan'].busy):.1f} x a bare scan")
