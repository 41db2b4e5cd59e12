# SPDX-License-Identifier: Apache-2.0
"""What the server as a whole does: warm answers, many clients, starts, its size."""

import json
import os
import re
import shutil
import statistics
import subprocess
import time
from urllib.parse import quote

from cold import LARGE_MB, SMALL_MB
from server import Server

ROUNDS = 9
WARM_ROUNDS = 25
IDLE_S = 20


def first_run(server):
    return quote(json.loads(server.get("runs")[1])[0])


def addresses(server):
    """What the page asks for, of the log directory's first run: every tool, and the timeline."""
    run = first_run(server)
    hosts = json.loads(server.get(f"hosts?run={run}&tag=memory_profile")[1])
    found = ["run_list", f"run_info?run={run}", f"diagnostics?run={run}"]
    for tool in json.loads(server.get(f"run_tools?run={run}")[1]):
        if tool == "memory_profile":
            found.append(f"data?run={run}&tag={tool}&host={quote(hosts[0]['hostname'])}")
        elif not tool.startswith("trace_viewer"):
            found.append(f"data?run={run}&tag={tool.rstrip('^')}")
    tracks = f"trace_viewer/tracks?run={run}"
    info = json.loads(server.get(tracks)[1])
    ids = [track["id"] for process in info["processes"] for track in process["tracks"]][:24]
    level = (info["duration_ps"] // 1600).bit_length()
    return found + [tracks, f"trace_viewer/tiles?run={run}&tracks={','.join(ids)}"
                            f"&level={level}&tile=0&tiles=4"]


def warm(bench):
    """Answers of a server that was asked the same before, by the server's own log."""
    worst, slowest = 0.0, ""
    for file in (bench.captures.long(SMALL_MB), bench.captures.composed("100M", "--size", "100M")):
        with Server(bench.server, file) as server:
            paths = addresses(server)
            for _ in range(WARM_ROUNDS + 1):
                for path in paths:
                    server.get(path, "zstd")
        print(f"{file}: first answer; median and worst of {WARM_ROUNDS} others, ms")
        for path in paths:
            first, *others = [ms for asked, ms in server.answered() if asked == "/" + path]
            median = statistics.median(others[-WARM_ROUNDS:])
            print(f"  {path[:70]:70} {first:8.1f} {median:6.1f} {max(others[-WARM_ROUNDS:]):6.1f}")
            if median >= worst:
                worst, slowest = median, path
    tag = re.search(r"tag=(\w+)", slowest)
    bench.table.at_most("any warm answer, server side", 1, worst, "ms",
                        f"the slowest: {tag.group(1) if tag else slowest.split('?')[0]}")


def clients(bench):
    """Answers a second for 64 connections, of a table of about 10 KB; wrk is on the same machine."""
    measure = "warm answers, 64 connections"
    if not shutil.which("wrk"):
        return bench.table.missing(measure, "wrk is not installed")
    with Server(bench.server, bench.captures.long(SMALL_MB), verbose=False) as server:
        answers = [(abs(len(server.get(path)[1]) - 10000), path)
                   for path in addresses(server) if path.startswith("data")]
        _, path = min(answers)
        size = len(server.get(path)[1])
        for connections in (1, 8, 64):
            out = subprocess.run(
                ["wrk", "-t1", f"-c{connections}", "-d3s", "--latency", server.url + path],
                check=True, text=True, stdout=subprocess.PIPE).stdout
            if "Non-2xx" in out:
                return bench.table.missing(measure, "there were other answers than 200")
            rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
            latency = re.search(r"50%\s+(\S+)\s.*99%\s+(\S+)\s", out, re.S)
            print(f"{connections:3} connections: {rate:9,.0f} a second, median {latency.group(1)},"
                  f" 99 % {latency.group(2)}", flush=True)
    bench.table.at_least(measure, 20000, rate, "a second", f"{size / 1000:.1f} KB")


def restart(bench):
    """The overview of a large capture whose summary another server has left behind."""
    file = bench.captures.long(LARGE_MB)
    results = os.path.join(bench.captures.work, "results")
    shutil.rmtree(results, ignore_errors=True)

    def overview(run):
        with Server(bench.server, file, results) as server:
            ms, _ = server.get(f"data?run={run or first_run(server)}&tag=overview_page")
            return ms, server.since_start_ms(), run or first_run(server)

    cold_ms, _, run = overview(None)
    print(f"cold, with the result cache to fill: {cold_ms:.0f} ms")
    times = [overview(run) for _ in range(ROUNDS)]
    answer = min(ms for ms, _, _ in times)
    totals = [total for _, total, _ in times]
    best = min(totals)
    print(f"from the start of the process to the overview, {LARGE_MB} MB: best {best:.1f} ms,"
          f" median {statistics.median(totals):.1f} ms; the answer alone"
          f" {answer:.1f} ms")
    shutil.rmtree(results)
    bench.table.at_most(f"restart with a filled cache, overview of {LARGE_MB} MB", 20, best, "ms",
                        f"the answer alone {answer:.1f} ms")


def start(bench):
    """From the start of the process to its first answer, 100 runs in the log directory."""
    folder, times = bench.captures.runs(100), []
    for _ in range(15):
        with Server(bench.server, folder) as server:
            server.get("runs")
            times.append(server.since_start_ms())
    print(f"start to first answer, 100 runs: best {min(times):.1f} ms,"
          f" median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms")
    bench.table.at_most("start to first answer", 20, min(times), "ms",
                        f"median {statistics.median(times):.0f} ms")


def size(bench):
    """The program with all of the page in it."""
    copy = os.path.join(bench.captures.work, "stripped")
    subprocess.run(["strip", "-o", copy, bench.server], check=True)
    bytes_ = os.path.getsize(copy)
    os.unlink(copy)
    print(f"tfprof-server, stripped: {bytes_} bytes")
    bench.table.at_most("the program, stripped", 4, bytes_ / 1e6, "MB")


def idle(bench):
    """What a server with 10,000 runs and an open capture takes while nobody asks."""
    with Server(bench.server, bench.captures.runs(10000)) as server:
        server.get("run_list")
        server.get(f"data?run={first_run(server)}&tag=overview_page")
        time.sleep(1)
        before = server.busy_ms()
        time.sleep(IDLE_S)
        spent = server.busy_ms() - before
    print(f"idle for {IDLE_S} s, 10,000 runs: {spent:.0f} ms of the processors")
    bench.table.at_most("idle, 10,000 runs in the log directory", 0.1, spent / IDLE_S / 10,
                        "% of a processor")


def listing(bench):
    """/run_list with 10,000 runs, first and again."""
    with Server(bench.server, bench.captures.runs(10000)) as server:
        first, body = server.get("run_list")
        time.sleep(1.5)
        again = min(server.get("run_list")[0] for _ in range(5))
    print(f"list of 10,000 runs, {len(body) / 1e6:.1f} MB: first {first:.0f} ms,"
          f" again {again:.0f} ms (goal: well under a second)")
