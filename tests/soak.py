#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random requests for a while, and whether memory stays flat.

usage: soak.py --server PATH --synth PATH --seconds N [--captures FOLDER] [--clients N]
               [--seed N] [--no-verdict]

Clients ask at once for every route and tool of every run, with parameters that are right,
wrong or nonsense, break connections off, and change files under the server. Prints
memory over time as a table and a verdict; exit status 1 when the server died, said that
something is wrong within it, or grew. With --no-verdict growth is no failure.
"""

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROUTES = ["/data", "/data", "/data", "/data_csv", "/instances", "/diagnostics", "/runs",
          "/run_list", "/run_info", "/run_tools", "/tools", "/hosts", "/version", "/healthz",
          "/metrics", "/capture_status", "/trace_viewer/tracks", "/trace_viewer/tiles",
          "/trace_viewer/tiles", "/trace_viewer/event", "/trace_viewer/neighbour",
          "/trace_viewer/events", "/trace_viewer/search", "/trace_viewer/aggregate",
          "/trace_viewer/export", "/", "/index.html", "/nothing"]
PARAMETERS = {
    "level": ["0", "12", "25", "30", "34", "40", "62", "99", "-1", "x"],
    "tile": ["0", "1", "7", "99999999999"],
    "tiles": ["1", "4", "64", "100000"],
    "tracks": ["0.0", "0.0,0.1", "0.1,1.0", "9.9", "a"],
    "id": ["0.0.0", "0.1.5", "1.0.1", "0.0.99999999", "x"],
    "direction": ["next", "previous", "parent", "child", "up"],
    "q": ["a", "train", "gemm|conv", "(a+)+$", ".", "[", "\u00e4", "x" * 900],
    "mode": ["text", "regex"], "in": ["name", "args", "all"], "case": ["0", "1"],
    "from_ps": ["0", "1000000", "9223372036854775807", "-5"],
    "to_ps": ["5000000", "100000000000", "0"],
    "limit": ["0", "1", "10", "1000", "x"], "offset": ["0", "5", "99999999"],
    "derived": ["0", "1"], "format": ["chrome", "perfetto", "x"],
    "view": ["x"], "points": ["4", "1000"], "group": ["type"], "type": ["MatMul", "Conv2D"],
    "name": ["x", "train"], "tqx": ["out:csv;", "out:json"],
}
ENCODINGS = [None, "gzip", "zstd", "identity", "gzip;q=0.5, zstd;q=0.1, *;q=0", ",,;q="]


def compose(synth, folder, captures):
    """A log directory: made-up runs, given ones, one that is damaged."""
    runs = []
    for number, more in enumerate((["--hosts", "3"], ["--devices", "2", "--grouped"], [])):
        run = "made_%d" % number
        subprocess.run([synth, "-o", folder, "--run", run, "--steps", "6", "--events-per-step",
                        "900", "--seed", str(number)] + more, check=True,
                       stdout=subprocess.DEVNULL)
        runs.append(run)
    for root, _, names in os.walk(captures or ""):
        for name in names:
            if ".xplane.pb" in name:
                run = "given_%d" % len(runs)
                target = os.path.join(folder, "plugins", "profile", run)
                os.makedirs(target, exist_ok=True)
                shutil.copy(os.path.join(root, name), target)
                runs.append(run)
    bad = os.path.join(folder, "plugins", "profile", "bad")
    os.makedirs(bad)
    with open(os.path.join(bad, "bad.xplane.pb"), "wb") as f:
        f.write(b"no capture at all" * 99)
    return runs + ["bad", "missing", "../..", ""]


class Client(threading.Thread):
    def __init__(self, soak, seed):
        super().__init__()
        self.soak, self.chance = soak, random.Random(seed)
        self.asked, self.statuses, self.wrong = 0, {}, []

    def address(self):
        c = self.chance
        route = c.choice(ROUTES)
        query = {"run": c.choice(self.soak.runs), "tag": c.choice(self.soak.tools)}
        if c.random() < 0.6:
            query["host"] = c.choice(["ALL_HOSTS", "worker-00", "worker-01", "nobody"])
        parameters = self.soak.parameters
        for name in c.sample(sorted(parameters), c.randrange(0, 6)):
            query[name] = c.choice(parameters[name])
        return c.choice(["", "", "/data/plugin/profile"]) + route + "?" + urllib.parse.urlencode(query)

    def run(self):
        while not self.soak.over():
            try:
                self.ask()
            except (OSError, http.client.HTTPException):
                # It may have refused us as one too many; that it lives is asked elsewhere.
                self.statuses["none"] = self.statuses.get("none", 0) + 1

    def ask(self):
        c = self.chance
        self.asked += 1
        connection = http.client.HTTPConnection("127.0.0.1", self.soak.port, timeout=120)
        try:
            for _ in range(c.randrange(1, 4)):
                method = c.choices(["GET", "HEAD", "POST", "PUT"], [20, 2, 1, 1])[0]
                headers = {"Content-Type": "application/json"} if method == "POST" else {}
                encoding = c.choice(ENCODINGS)
                if encoding:
                    headers["Accept-Encoding"] = encoding
                body = c.choice(["{}", "[", "x" * 70000]) if method in ("POST", "PUT") else None
                address = self.address()
                connection.request(method, address, body=body, headers=headers)
                if c.random() < 0.1:
                    return  # without waiting for the answer
                response = connection.getresponse()
                self.statuses[response.status] = self.statuses.get(response.status, 0) + 1
                if c.random() < 0.1:
                    response.read(1000)
                    return  # in the midst of it
                data = response.read()
                if response.status in (500, 501, 502) and b'"internal"' in data:
                    self.wrong.append((address, data[:300]))
        finally:
            connection.close()


class Soak:
    def __init__(self, args, folder):
        self.args = args
        logs = os.path.join(folder, "logs")
        self.logs = logs
        self.runs = compose(args.synth, logs, args.captures)
        self.log = open(os.path.join(folder, "log"), "w+b")
        self.process = subprocess.Popen(
            [args.server, "--port", "0", "--memory-limit", "192M", "--cache-limit", "16M",
             "--cache-dir", os.path.join(folder, "cache"), logs],
            stdout=subprocess.PIPE, stderr=self.log)
        line = self.process.stdout.readline().decode()
        if " at http" not in line:
            raise SystemExit("the server did not start")
        self.port = urllib.parse.urlsplit(line.rpartition(" at ")[2].strip()).port
        self.tools, self.parameters = self.what_can_be_asked()
        self.end = time.monotonic() + args.seconds

    def what_can_be_asked(self):
        """Names of tools, also old and wrong ones, and values of parameters: PARAMETERS, and
        what tools say that theirs take."""
        with urllib.request.urlopen("http://127.0.0.1:%d/tools" % self.port, timeout=60) as answer:
            tools = json.load(answer)
        names = [name for tool in tools for name in [tool["name"], *tool["aliases"]]]
        parameters = {name: list(values) for name, values in PARAMETERS.items()}
        for tool in tools:
            for parameter in tool["parameters"] + tool["row_parameters"]:
                parameters.setdefault(parameter["name"], ["", "0", "7", "x"]).extend(
                    parameter["values"])
        return names + ["nonsense", ""], parameters

    def over(self):
        return time.monotonic() > self.end or self.process.poll() is not None

    def memory(self):
        """Resident and anonymous (heap and stacks) bytes, descriptors, threads."""
        base = "/proc/%d/" % self.process.pid
        values = {}
        try:
            with open(base + "smaps_rollup", encoding="ascii") as f:
                for line in f:
                    parts = line.split()
                    if parts[0] in ("Rss:", "Anonymous:"):
                        values[parts[0]] = int(parts[1]) * 1024
            return (values.get("Rss:", 0), values.get("Anonymous:", 0),
                    len(os.listdir(base + "fd")), len(os.listdir(base + "task")))
        except OSError:
            return None

    def disturb(self, number):
        """Another state of a file, so that what is kept goes and comes."""
        run = os.path.join(self.logs, "plugins", "profile", self.runs[number % 3])
        for name in os.listdir(run):
            os.utime(os.path.join(run, name))


def table(samples, clients):
    print("%8s %10s %10s %6s %8s %10s" % ("seconds", "RSS MB", "heap MB", "fds", "threads", "requests"))
    for at, (rss, heap, fds, threads), asked in samples:
        print("%8.0f %10.1f %10.1f %6d %8d %10d" % (at, rss / 1e6, heap / 1e6, fds, threads, asked))
    statuses = {}
    for client in clients:
        for status, count in client.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    print("answers: " + ", ".join("%s: %d" % item for item in sorted(statuses.items(), key=str)))


def growth(samples):
    """What the last third has more than the second at most, as heap."""
    third = len(samples) // 3
    middle = max(s[1][1] for s in samples[third:2 * third])
    last = max(s[1][1] for s in samples[2 * third:])
    return middle, last


def run(args, folder):
    soak = Soak(args, folder)
    clients = [Client(soak, args.seed * 1000 + i) for i in range(args.clients)]
    samples, started = [], time.monotonic()
    for client in clients:
        client.start()
    step = max(args.seconds / 30, 0.5)
    while not soak.over():
        time.sleep(min(step, max(soak.end - time.monotonic(), 0.01)))
        memory = soak.memory()
        if memory:
            samples.append((time.monotonic() - started, memory, sum(c.asked for c in clients)))
        soak.disturb(len(samples))
    for client in clients:
        client.join()
    died = soak.process.poll() is not None
    if not died:
        soak.process.send_signal(signal.SIGTERM)
    code = soak.process.wait(120)
    soak.process.stdout.close()
    soak.log.seek(0)
    log = soak.log.read().decode(errors="replace")
    soak.log.close()
    table(samples, clients)
    wrong = [w for c in clients for w in c.wrong]
    failures = ["%s: %s" % w for w in wrong[:5]]
    if died or code != 0:
        failures.append("the server ended with %d: %s" % (code, log[-3000:]))
    if "Sanitizer" in log or "runtime error" in log:
        failures.append("a sanitizer complained: " + log[-3000:])
    if len(samples) >= 9:
        middle, last = growth(samples)
        flat = last <= middle * 1.15 + (16 << 20)
        print("heap: at most %.1f MB in the second third, %.1f MB in the last: %s" % (
            middle / 1e6, last / 1e6, "flat" if flat else "NOT FLAT"))
        if not flat and not args.no_verdict:
            failures.append("memory grows")
    for failure in failures:
        print("FAILED: " + failure)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--captures")
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-verdict", action="store_true")
    args = parser.parse_args()
    for name in ("server", "synth"):
        setattr(args, name, os.path.abspath(getattr(args, name)))
    with tempfile.TemporaryDirectory(prefix="tfprof-soak-") as folder:
        return run(args, folder)


if __name__ == "__main__":
    sys.exit(main())
