"""First answers, each in a process of its own, in turn with the bare scan."""

import statistics
import subprocess

SMALL_MB, LARGE_MB = 79, 790
WHAT = {
    "scan": "bare scan, one thread",
    "load": "load",
    "overview_page": "overview_page",
    "tile": "first trace tile",
    "derived": "first trace tile, with derived lines",
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
    for kind, goal in (("overview_page", 3), ("tile", 4)):
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
