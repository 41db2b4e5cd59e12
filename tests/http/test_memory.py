# SPDX-License-Identifier: Apache-2.0
"""--memory-limit holds while many captures are asked for at once."""

import concurrent.futures
import gzip
import json
import os
import subprocess
import sys
import threading
import urllib.parse

import support

MIB = 1 << 20
LIMIT = 64 * MIB
RUNS = 60
CLIENTS = 4


def sanitized():
    with open(support.SERVER, "rb") as f:
        data = f.read()
    return b"__asan_init" in data or b"__tsan_init" in data


def compose(name, size):
    folder = os.path.join(support.scratch(), name)
    subprocess.run([support.SYNTH, "-o", folder, "--run", name, "--size", size], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(folder, "plugins", "profile", name, "worker-00.xplane.pb")


# ---- captures that take far more memory than disk ----

BOMB = 320 * MIB
NAMES, NAME_BYTES, EVENTS = 500, 15000, 50000
# The allocator and the program itself take something beside what is counted.
MOST_RESIDENT = 200 * MIB
# Runs a program and prints its exit status and how many KB it had at most. Until it begins, that is
# the memory of the process that starts it: so this one, which is small.
MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(process.returncode, usage.ru_maxrss)
"""


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def head(field, size):
    return varint(field << 3 | 2) + varint(size)


def message(field, data):
    return head(field, len(data)) + data


def event_name(i, name):
    return message(4, number(1, i) + message(2, number(1, i) + message(2, name)))


def event(name, start_ps):
    return message(4, number(1, name) + number(2, start_ps) + number(3, 900))


def put_bomb(path):
    """One line of events that are all the same, packed a thousandfold."""
    events = event(1, 1000) * (MIB // len(event(1, 1000)))
    line = number(1, 1) + message(2, b"main")
    plane = message(2, b"/host:CPU") + event_name(1, b"op")
    size = len(line) + BOMB // MIB * len(events)
    with gzip.open(path, "wb", compresslevel=1) as f:
        f.write(head(1, len(plane) + len(head(3, size)) + size) + plane + head(3, size) + line)
        for _ in range(BOMB // MIB):
            f.write(events)


def put_long_names(path):
    """XProf's trace viewer says the name with each event: 700 MB."""
    names = b"".join(event_name(i + 1, b"%06d" % i + b"x" * (NAME_BYTES - 6))
                     for i in range(NAMES))
    events = b"".join(event(i % NAMES + 1, i * 1000) for i in range(EVENTS))
    with open(path, "wb") as f:
        f.write(message(1, message(2, b"/host:CPU") + names + message(3, number(1, 1) + events)))


class MemoryLimit(support.Case):
    def link(self, file, run):
        path = self.path("logs", "plugins", "profile", run, "worker-00.xplane.pb")
        os.makedirs(os.path.dirname(path))
        os.link(file, path)  # another file of the same bytes

    def ask(self, server, **query):
        connection = server.connect(timeout=support.PATIENCE)
        try:
            connection.request("GET", "/data?" + urllib.parse.urlencode(query))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def most_resident(self, server):
        with open("/proc/%d/status" % server.process.pid, encoding="ascii") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))

    def serve_limited(self):
        return self.serve("--no-cache", "--memory-limit", "64M", "--threads", "4",
                          self.path("logs"))

    def test_many_at_once(self):
        file = compose("many", "8M")
        size = os.path.getsize(file)
        for i in range(RUNS):
            self.link(file, "run%02d" % i)
        server = self.serve_limited()
        before = self.most_resident(server)

        def visit(i):
            status, body = self.ask(server, run="run%02d" % i, tag="overview_page")
            # What comes is counted a moment before what goes for it.
            self.eventually(lambda: server.metric("tfprof_captures_bytes") <= LIMIT)
            return status, len(body)

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
            answers = set(clients.map(visit, range(RUNS)))
        self.assertEqual({status for status, _ in answers}, {200})
        self.assertEqual(len(answers), 1, "the same bytes, the same answer")
        self.assertGreater(server.metric("tfprof_captures_resident"), 0)
        one = server.metric("tfprof_captures_bytes") / server.metric(
            "tfprof_captures_resident")
        self.assertGreater(one, size)
        if sanitized():
            return  # it keeps what was freed
        # What is kept; what each answer works with, some four times a file; and as much as
        # the limit for what the allocator keeps.
        bound = 2 * LIMIT + CLIENTS * 4 * size
        # All together would hold more, or this test says nothing.
        self.assertGreater(one * RUNS, 1.5 * bound)
        self.assertLess(self.most_resident(server) - before, bound)

    def test_one_that_is_larger(self):
        file = compose("larger", "80M")
        self.link(file, "larger")
        self.link(compose("small", "2M"), "small")
        server = self.serve_limited()
        self.assertGreater(os.path.getsize(file), LIMIT)
        for tag in ("overview_page", "kernel_stats"):
            status, body = self.ask(server, run="larger", tag=tag)
            self.assertEqual(status, 200, body[:200])
            self.assertGreater(len(body), 1000)
            self.eventually(lambda: server.metric("tfprof_captures_bytes") <= LIMIT, "it is kept")
        self.assertEqual(self.ask(server, run="small", tag="overview_page")[0], 200)
        self.eventually(lambda: server.metric("tfprof_captures_resident") == 1)

    def put(self, run, compose, suffix=""):
        path = self.path("logs", "plugins", "profile", run, "worker-00.xplane.pb" + suffix)
        os.makedirs(os.path.dirname(path))
        compose(path)
        return path

    def three_at_once(self, run, **query):
        """Three runs asked for at the same time, and other things meanwhile."""
        self.link(compose("good", "1M"), "good")
        server = self.serve_limited()
        before = self.most_resident(server)
        refused, others, ended = [], [], threading.Event()

        def go_on():
            while not ended.is_set():
                for path in ("/runs", "/healthz", "/run_info?run=good",
                             "/data?run=good&tag=overview_page"):
                    others.append((path, server.get(path).status))

        with concurrent.futures.ThreadPoolExecutor(4) as clients:
            beside = clients.submit(go_on)
            refused = list(clients.map(
                lambda i: self.ask(server, run="%s%d" % (run, i), **query), range(3)))
            ended.set()
            beside.result()
        self.assertEqual({status for _, status in others}, {200}, others)
        for status, body in refused:
            self.assertIn(status, (413, 503))
            error = json.loads(body)["error"]
            self.assertIn("memory", error["message"] + error["hint"])
            self.assertIn("--memory-limit", error["hint"])
        self.assertIn(413, [status for status, _ in refused])
        # What was taken for them is free again.
        self.assertEqual(server.get("/data?run=good&tag=kernel_stats").status, 200)
        self.eventually(lambda: server.metric("tfprof_memory_bytes") < LIMIT / 2)
        self.assertEqual(server.metric("tfprof_memory_limit_bytes"), LIMIT)
        if not sanitized():
            self.assertLess(self.most_resident(server) - before, MOST_RESIDENT)

    def test_bombs(self):
        first = self.put("bomb0", put_bomb, ".gz")
        self.assertLess(os.path.getsize(first), BOMB / 100)
        for run in ("bomb1", "bomb2"):
            self.put(run, lambda path: os.link(first, path), ".gz")
        self.three_at_once("bomb", tag="overview_page")

    def test_a_quick_look_at_a_bomb(self):
        self.put("bomb", put_bomb, ".gz")
        server = self.serve_limited()
        before = self.most_resident(server)
        answer = server.get("/run_info?run=bomb")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.json()["hosts"][0]["problem"]["code"], "too_large")
        if not sanitized():
            self.assertLess(self.most_resident(server) - before, MOST_RESIDENT)

    def test_answers_that_are_larger_than_their_captures(self):
        for i in range(3):
            self.put("names%d" % i, put_long_names)
        self.three_at_once("names", tag="trace_viewer")

    def run_cli(self, *args):
        """Exit status, what it said, and the most memory that it had."""
        done = subprocess.run([sys.executable, "-c", MEASURE, support.CLI, *args, "--no-cache"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        code, resident = map(int, done.stdout.split())
        return code, done.stderr.decode(), resident << 10

    def test_command(self):
        bomb, names = self.put("bomb", put_bomb, ".gz"), self.put("names", put_long_names)
        for tool, file in (("overview_page", bomb), ("trace_viewer", bomb), ("info", bomb),
                           ("trace_viewer", names)):
            with self.subTest(tool=tool, file=file):
                arguments = [tool, file, "--memory-limit", "64M"]
                if file == names:
                    arguments += ["--format", "json"]
                code, said, resident = self.run_cli(*arguments)
                self.assertNotEqual(code, 0)
                self.assertIn("memory", said)
                self.assertIn("--memory-limit", said)
                if not sanitized():
                    self.assertLess(resident, MOST_RESIDENT)
        # What it needs in pieces it may write.
        code, said, _ = self.run_cli("trace_export", names, "--memory-limit", "64M",
                                     "--output", self.path("trace.json.gz"))
        self.assertEqual((code, said), (0, ""))
        code, said, _ = self.run_cli("ls", names, "--memory-limit", "much")
        self.assertEqual(code, 2)
