#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmarks: makes the captures, measures, prints ratios within one run.

Times are for orientation, machines differ; ratios are what most goals are about.
Nothing here fails because a machine is slow: the table at the end says what was met.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
import cold  # noqa: E402
import programs  # noqa: E402
import served  # noqa: E402
from captures import Captures  # noqa: E402
from goals import Table  # noqa: E402

# Those of docs/performance.md's table, then the others.
BENCHMARKS = {
    "cold": cold.cold,
    "unkind": cold.unkind,
    "warm": served.warm,
    "clients": served.clients,
    "restart": served.restart,
    "start": served.start,
    "size": served.size,
    "idle": served.idle,
    "hosts": programs.hosts,
    "load": programs.load,
    "packed": programs.packed,
    "memory": programs.memory,
    "trace": programs.trace,
    "list": served.listing,
}
WITH_GOALS = list(BENCHMARKS)[:9]


class Bench:
    """What a benchmark gets: options, programs, captures, and where goals are entered."""

    def __init__(self, options):
        self.options = options
        self.server = os.path.join(options.build, "src", "tfprof-server")
        work = options.work or os.path.join(options.build, "tests", "bench", "captures")
        os.makedirs(work, exist_ok=True)
        self.captures = Captures(work, os.path.join(options.build, "src", "tfprof-synth"),
                                 options.tpu)
        self.table = Table()

    def program(self, name):
        return os.path.join(self.options.build, "tests", "bench", "bench_" + name)


def main():
    words = "".join(f"  {name:10} {what.__doc__ or ''}\n" for name, what in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"benchmarks:\n{words}\nWithout names: {', '.join(WITH_GOALS)}",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *BENCHMARKS])
    parser.add_argument("--build", required=True, help="folder of the build")
    parser.add_argument("--work", help="where captures are kept (in the build)")
    parser.add_argument("--tpu", metavar="FILE",
                        default=os.environ.get("TFPROF_BENCH_TPU") or None,
                        help="a real capture of a TPU, plain; the environment's TFPROF_BENCH_TPU"
                             " without the option")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each cold answer (9)")
    parser.add_argument("--hosts", type=int, default=16,
                        help="hosts of the run of many (16; 256 take 5 GB)")
    options = parser.parse_args()
    bench = Bench(options)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before the first benchmark")
    for name in options.names or WITH_GOALS:
        print(f"\n== {name}", flush=True)
        BENCHMARKS[name](bench)
    bench.table.show()


if __name__ == "__main__":
    sys.exit(main())
