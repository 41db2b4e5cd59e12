#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a script against servers with composed captures; TAP comes from there.

usage: serve.py [--demo] [--many SYNTH] [--programs SYNTH] [--empty] SERVER NODE SCRIPT [ARGUMENT...]

The script's first arguments are the addresses of the servers: --demo is one with the demo,
--many one with many kinds of captures: the demo, all that tests/golden composes, a damaged
one, and "slow", which takes a moment to read; --programs one with runs of compiled programs:
"now" and "then", which differ by a layer, "large", whose layers are thousands of instructions,
and "eager", which compiled nothing; --empty one without captures.
"""
import argparse
import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
sys.dont_write_bytecode = True
sys.path.insert(0, GOLDEN)
import xspace  # noqa: E402


@contextlib.contextmanager
def serve(server, *options):
    process = subprocess.Popen([server, "--port", "0", *options], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                yield found.group()
                break
        else:
            raise RuntimeError("the server did not start")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def exhausted():
    """Memory ran out, says the profiler, and its threads' clocks differ."""
    stats = {"allocator_name": "a", "bytes_allocated": 8, "bytes_available": 8, "allocation_bytes": 8, "addr": 1}
    lines = [{"id": i, "at_ns": 1000 * i, "events": [["MemoryAllocation", 10, 0, stats]]} for i in (1, 2)]
    return xspace.encode({"planes": [{"name": "/host:CPU", "lines": lines}]}) + xspace.block(2, "RESOURCE_EXHAUSTED")


def compose(synth, folder):
    """Captures of every kind that the tests know."""
    for run, options in (("demo", ["--demo"]), ("one", ["--steps", "3", "--counters", "4", "--allocations", "20"]),
                         ("slow", ["--size", "30M"])):
        subprocess.run([synth, "-o", folder, "--run", run, *options], check=True, stdout=subprocess.DEVNULL)
    for path in glob.glob(os.path.join(GOLDEN, "*", "*.json")):
        with open(path, encoding="utf-8") as f:
            hosts = json.load(f).get("hosts", {})
        run = os.path.join(folder, "plugins", "profile", os.path.relpath(path, GOLDEN)[:-5].replace(os.sep, "-"))
        for host, capture in hosts.items():
            os.makedirs(run, exist_ok=True)
            with open(os.path.join(run, host + ".xplane.pb"), "wb") as f:
                f.write(xspace.encode(capture))
    for run, data in (("exhausted", exhausted()), ("damaged", b"no capture at all" * 9)):
        os.makedirs(os.path.join(folder, "plugins/profile", run))
        with open(os.path.join(folder, "plugins/profile", run, "h.xplane.pb"), "wb") as f:
            f.write(data)


def compose_programs(synth, folder):
    for run, options in (("now", ["--jax"]), ("then", ["--jax", "--layers", "5", "--seed", "2"]), ("eager", ["--steps", "3"]),
                         ("large", ["--jax", "--unrolled", "--layers", "700", "--hosts", "1", "--devices", "1", "--steps", "1"])):
        subprocess.run([synth, "-o", folder, *options, "--run", run], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--many", metavar="SYNTH")
    parser.add_argument("--programs", metavar="SYNTH")
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("server")
    parser.add_argument("node")
    parser.add_argument("script")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        urls = []
        if args.demo:
            urls.append(stack.enter_context(serve(args.server, "--demo")))
        if args.many:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfprof-web-"))
            compose(args.many, folder)
            urls.append(stack.enter_context(serve(args.server, "--no-cache", folder)))
        if args.programs:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfprof-web-"))
            compose_programs(args.programs, folder)
            urls.append(stack.enter_context(serve(args.server, "--no-cache", folder)))
        if args.empty:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfprof-web-"))
            urls.append(stack.enter_context(serve(args.server, folder)))
        return subprocess.run([args.node, os.path.join(HERE, args.script), *urls, *args.rest]).returncode


if __name__ == "__main__":
    sys.exit(main())
