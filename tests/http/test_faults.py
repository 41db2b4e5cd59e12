# SPDX-License-Identifier: Apache-2.0
"""Things that may fail under a running server: disks, permissions, files, memory, its own life.

In every case it gives the right answer, or an error that says what happened. It keeps
running, and never shows a wrong or half result afterwards.
"""

import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

import support
from support import Case, Profiler, Server, captures, write

SCOPES = {tool["name"]: tool["host_scope"] for tool in support.tools()}
TOOLS = list(SCOPES)
RUN = "many"


def sanitized():
    with open(support.SERVER, "rb") as f:
        data = f.read()
    return b"__asan_init" in data or b"__tsan_init" in data


_asked = itertools.count()


def other():
    """A parameter that means nothing, so that no answer is one that was kept."""
    return {"_": next(_asked)}


class Faults(Case):
    hosts = 3

    def setUp(self):
        super().setUp()
        self.logs = self.path("logs")
        self.cache = self.path("cache")
        self.put_run("logs", "plugins/profile", RUN, hosts=self.hosts)

    def file(self, number=0):
        return os.path.join(self.logs, "plugins/profile", RUN, "worker-%02d.xplane.pb" % number)

    def start(self, *args, **options):
        return self.serve("--cache-dir", self.cache, *args, self.logs, **options)

    def answers(self, server, host="ALL_HOSTS", before=lambda: None):
        bodies = []
        for tool in TOOLS:
            before()
            one = "worker-00" if SCOPES[tool] == "one" else host
            answer = server.get("/data", run=RUN, tag=tool, host=one, **other())
            self.assertEqual(answer.status, 200, (tool, answer.body))
            bodies.append(answer.body)
        return bodies

    def plain(self):
        server = self.serve("--no-cache", self.logs)
        right = self.answers(server)
        self.assertEqual(server.stop(), 0)
        return right

    def replace_cache(self, make):
        """Puts something else in the folder's place, if need be against somebody who makes it
        again: a request may still be keeping what it found."""
        def attempt():
            shutil.rmtree(self.cache, ignore_errors=True)
            try:
                make()
                return True
            except OSError:
                return False
        self.eventually(attempt)

    def touch(self):
        for number in range(self.hosts):
            os.utime(self.file(number))


class CacheFolder(Faults):
    def test_removed_while_running(self):
        right = self.plain()
        server = self.start()
        self.assertEqual(self.answers(server), right)
        self.eventually(lambda: os.listdir(self.cache))
        self.replace_cache(lambda: None)
        self.touch()
        self.assertEqual(self.answers(server), right)
        self.eventually(lambda: os.path.isdir(self.cache) and os.listdir(self.cache))
        self.assertNotIn("cannot be kept", server.log())

    def test_replaced_by_a_link(self):
        right = self.plain()
        server = self.start()
        self.assertEqual(self.answers(server), right)
        elsewhere = self.path("elsewhere")
        os.mkdir(elsewhere, 0o700)
        self.replace_cache(lambda: os.symlink(elsewhere, self.cache))
        self.touch()
        self.assertEqual(self.answers(server), right)
        self.assertEqual(os.listdir(elsewhere), [])
        # One line in the log, not one for each result.
        self.assertEqual(server.log().count("results cannot be kept"), 1)

    def test_replaced_by_one_that_others_may_write(self):
        right = self.plain()
        server = self.start()
        self.assertEqual(self.answers(server), right)
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        self.replace_cache(lambda: os.rename(self.path("open"), self.cache))
        self.touch()
        self.assertEqual(self.answers(server), right)
        self.assertEqual(os.listdir(self.cache), [])

    def test_emptied_again_and_again(self):
        right = self.plain()
        server = self.start()

        def empty():
            shutil.rmtree(self.cache, ignore_errors=True)

        # Between requests, at known moments.
        for _ in range(3):
            self.touch()
            self.assertEqual(self.answers(server, before=empty), right)
        # While they are answered, at any: whatever comes of it has to be right. With pauses,
        # so that emptying is not all that a small machine does.
        stop = threading.Event()

        def empty_on():
            while not stop.wait(0.002):
                empty()

        thread = threading.Thread(target=empty_on)
        thread.start()
        try:
            for _ in range(3):
                self.touch()
                self.assertEqual(self.answers(server), right)
        finally:
            stop.set()
            thread.join()
        # It keeps results again. A request may still be about to write.
        def kept():
            self.touch()
            self.assertEqual(self.answers(server), right)
            return os.path.isdir(self.cache) and os.listdir(self.cache)

        self.eventually(kept, "nothing is kept any more")

    def test_file_that_goes_on_growing(self):
        right = self.plain()
        server = self.start()
        whole = os.path.getsize(self.file(1))
        stop = threading.Event()

        def write_on():
            with open(self.file(1), "ab") as f:
                while not stop.is_set():
                    os.write(f.fileno(), b"\0")
                    os.truncate(self.file(1), whole)

        thread = threading.Thread(target=write_on)
        thread.start()
        try:
            def told(path, **query):
                answer = server.get(path, run=RUN, **query, **other())
                return answer if answer.status == 503 else None

            answer = self.eventually(lambda: told("/data", tag="kernel_stats", host="ALL_HOSTS"))
            part = self.eventually(lambda: told("/trace_viewer/tracks"))
        finally:
            stop.set()
            thread.join()
        error = answer.json()["error"]
        self.assertEqual(error["code"], "changing")
        self.assertIn("worker-01.xplane.pb", error["message"])
        self.assertIn("worker-01.xplane.pb", error["file"])
        self.assertIn("hosts whose files are complete", error["hint"])
        self.assertEqual(answer.headers["Retry-After"], "5")
        self.assertEqual(part.json(), answer.json())
        # Complete: all is there again.
        self.assertEqual(self.answers(server), right)

    def test_full_disk(self):
        # A limit on the size of files fails writing as a disk does that is full.
        right = self.plain()
        server = self.start(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual(self.answers(server), right)
        # Answers are written when they have been sent: what was tried last may be there yet.
        self.eventually(lambda: os.listdir(self.cache) == [], "a half file stays")
        # Room again.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (100, 100))
        self.assertEqual(self.answers(server), right)
        self.assertEqual(server.get("/healthz").status, 200)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.answers(self.start()), right)
        self.eventually(lambda: os.listdir(self.cache))

    def test_small_file_system(self):
        os.mkdir(self.cache)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "none", self.cache],
                                 capture_output=True)
        if mounted.returncode:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.cache])
        right = self.plain()
        server = self.start()
        for _ in range(3):
            self.assertEqual(self.answers(server), right)
            self.touch()
        self.assertIn("results cannot be kept", server.log())
        self.assertEqual(server.stop(), 0)
        # What is there by now is whole.
        self.assertEqual(self.answers(self.start()), right)


class Killed(Faults):
    def test_in_the_midst_of_writing(self):
        """SIGKILL while results are written, and each time right answers afterwards."""
        right = self.plain()
        rounds = 12 if sanitized() else 100
        chance = random.Random(7)
        for _ in range(rounds):
            server = Server("--cache-dir", self.cache, self.logs)
            try:
                # With what the one before left.
                for tool, body in zip(TOOLS[:5], right):
                    answer = server.get("/data", run=RUN, tag=tool, **other())
                    self.assertEqual(answer.status, 200, answer.body)
                    self.assertEqual(answer.body, body)
                self.touch()
                before = set(os.listdir(self.cache))
                asking = [threading.Thread(target=self.ask_and_lose, args=(server, tool))
                          for tool in TOOLS[:3]]
                for thread in asking:
                    thread.start()
                # As soon as so many files are new, half of them temporary ones.
                wanted = chance.randrange(1, 7)
                end = time.monotonic() + 20
                while len(set(os.listdir(self.cache)) - before) < wanted:
                    if time.monotonic() > end or not any(t.is_alive() for t in asking):
                        break
                server.process.kill()
                for thread in asking:
                    thread.join()
            finally:
                server.process.kill()
                server.process.wait()
                server.process.stdout.close()
                server.errors.close()
        self.assertEqual(self.answers(self.start()), right)

    def ask_and_lose(self, server, tool):
        try:
            server.get("/data", run=RUN, tag=tool, **other())
        except (OSError, http.client.HTTPException):
            pass


class ChangingFiles(Faults):
    hosts = 1

    def setUp(self):
        super().setUp()
        self.versions = []
        for steps in (5, 9):
            with open(captures(steps=steps)[0], "rb") as f:
                self.versions.append(f.read())
        self.right = []
        for data in self.versions:
            write(self.file(), data)
            self.right.append(self.plain())

    def disturb(self, change, allowed):
        """Answers while a file changes again and again, and after it did."""
        server = self.start()
        stop = threading.Event()
        turn = [0]

        def go_on():
            while not stop.is_set():
                change(self.versions[turn[0] % 2])
                turn[0] += 1

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            for _ in range(20):
                for number, tool in enumerate(TOOLS[:4]):
                    answer = server.get("/data", run=RUN, tag=tool, **other())
                    self.assertIn(answer.status, allowed, answer.body)
                    if answer.status != 200:
                        self.assertTrue(answer.json()["error"]["message"])
                    elif 422 not in allowed:
                        # Of one state or of the other, never of both.
                        self.assertTrue(answer.body in [right[number] for right in self.right],
                                        tool)
        finally:
            stop.set()
            thread.join()
        # Nothing of what was seen in between is left, here or on disk.
        for number in (0, 1):
            change(self.versions[number])
            self.eventually(lambda n=number: self.answers(server) == self.right[n])
            self.assertEqual(self.answers(self.start()), self.right[number])

    def test_replaced(self):
        def replace(data):
            write(self.path("new"), data)
            os.replace(self.path("new"), self.file())

        self.disturb(replace, (200, 500, 503))

    def test_written_anew_in_place(self):
        # What is read then may be half of it, or nothing.
        def rewrite(data):
            with open(self.file(), "r+b") as f:
                f.truncate()
                f.write(data[:len(data) // 2])
                f.flush()
                f.write(data[len(data) // 2:])

        self.disturb(rewrite, (200, 422, 500, 503))

    def test_cut_while_mapped(self):
        def cut(data):
            write(self.path("new"), data)
            os.replace(self.path("new"), self.file())
            os.truncate(self.file(), len(data) // 3)

        def cut_and_made_whole(data):
            cut(data)
            write(self.path("new"), data)
            os.replace(self.path("new"), self.file())

        self.disturb(cut_and_made_whole, (200, 422, 500, 503))


class Permissions(Faults):
    """The server as a user for whom permissions mean something."""

    def setUp(self):
        super().setUp()
        self.options = {}
        if os.geteuid() == 0:
            for folder in (support.scratch(), self.folder):
                os.chmod(folder, 0o755)
            for root, folders, files in os.walk(self.folder):
                for name in folders + files + [""]:
                    os.chown(os.path.join(root, name), 65534, 65534)

            def become():
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

            try:
                works = subprocess.run([support.SERVER, "--version"], preexec_fn=become,
                                       capture_output=True).returncode == 0
            except OSError:
                works = False
            if not works:
                self.skipTest("another user cannot run the programs where they lie")
            self.options["preexec_fn"] = become

    def test_of_a_file(self):
        server = self.start(**self.options)
        right = self.answers(server)
        self.touch()
        os.chmod(self.file(1), 0)
        # The others are shown; of the one alone it is said why not.
        self.assertEqual(server.get("/data", run=RUN, tag="overview_page", **other()).status, 200)
        alone = server.get("/data", run=RUN, tag="overview_page", host="worker-01", **other())
        self.assertEqual(alone.status, 500, alone.body)
        self.assertIn("ermission", alone.json()["error"]["message"])
        os.chmod(self.file(1), 0o644)
        self.assertEqual(self.answers(server), right)

    def test_of_the_folder(self):
        server = self.start(**self.options)
        right = self.answers(server)
        run = os.path.dirname(self.file())
        os.chmod(run, 0)
        self.eventually(lambda: server.get("/data", run=RUN, tag="overview_page", **other()).status in (404, 500))
        os.chmod(run, 0o755)
        self.eventually(
            lambda: server.get("/data", run=RUN, tag="overview_page", **other()).status == 200)
        self.assertEqual(self.answers(server), right)

    def test_of_the_cache(self):
        server = self.start(**self.options)
        right = self.answers(server)
        os.chmod(self.cache, 0o500)
        self.touch()
        self.assertEqual(self.answers(server), right)
        os.chmod(self.cache, 0)
        self.touch()
        self.assertEqual(self.answers(server), right)
        self.assertEqual(server.log().count("results cannot be kept"), 1)
        os.chmod(self.cache, 0o700)
        self.touch()
        self.assertEqual(self.answers(server), right)


class Clocks(Faults):
    def test_files_of_another_time(self):
        right = self.plain()
        server = self.start()
        for moment in (0, 1, 4102444800, 32503680000):  # 1970, the years 2100 and 3000
            for number in range(self.hosts):
                os.utime(self.file(number), (moment, moment))
            self.assertEqual(self.answers(server), right)
            runs = self.eventually(lambda: server.json("/run_list")["runs"])
            self.assertEqual([r["run"] for r in runs], [RUN])
        # Results that are older or younger than now are results all the same.
        for name in os.listdir(self.cache):
            with contextlib.suppress(FileNotFoundError):  # a temporary name
                os.utime(os.path.join(self.cache, name), (4102444800, 4102444800))
        self.assertEqual(self.answers(self.start()), right)


class Signals(Faults):
    hosts = 1

    def test_sigpipe(self):
        server = self.start()
        right = self.answers(server)
        for _ in range(5):
            with socket.create_connection((server.host, server.port), timeout=support.PATIENCE) as s:
                s.sendall(b"GET /trace_viewer/export?run=many HTTP/1.1\r\nHost: localhost\r\n\r\n")
            server.signal(signal.SIGPIPE)
        self.assertEqual(self.answers(server), right)

    def test_a_closed_terminal_is_an_end_like_others(self):
        # The tests may run under nohup.
        server = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        server.signal(signal.SIGHUP)
        self.assertEqual(server.process.wait(support.PATIENCE), 0)

    def test_nohup(self):
        server = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        server.signal(signal.SIGHUP)
        self.assertEqual(len(self.answers(server)), len(TOOLS))
        self.assertIsNone(server.process.poll())


class Capturing(Faults):
    hosts = 1

    def test_full_disk(self):
        if not support.PROFILER:
            self.skipTest("built without the other side of a capture (libnghttp2)")
        profiler = Profiler(size=1 << 20)
        self.addCleanup(profiler.stop)
        right = self.plain()
        server = self.start(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)))
        body = json.dumps({"service_addr": profiler.address, "duration": 1, "session": "new"})
        started = server.get("/capture_profile", method="POST", body=body.encode(),
                             headers={"Content-Type": "application/json"})
        self.assertEqual(started.status, 200, started.body)
        number = started.json()["id"]
        end = self.eventually(lambda: next(
            (s for s in [server.json("/capture_status", id=number)] if s["done"]), None))
        self.assertTrue(end["error"]["message"])
        # Nothing half is listed, nor left behind.
        self.assertEqual(os.listdir(os.path.join(self.logs, "plugins/profile")), [RUN])
        self.assertEqual(self.answers(server), right)


class Memory(Faults):
    """Allocations fail, each in turn, under requests to every tool."""

    hosts = 2
    REQUESTS = (
        [("/data", {"run": RUN, "tag": tool, "host": "worker-00"}) for tool in TOOLS] +
        [("/data", {"run": RUN, "tag": "trace_viewer"}),
         ("/data_csv", {"run": RUN, "tag": "overview_page"}),
         ("/runs", {}), ("/run_list", {}), ("/run_info", {"run": RUN}), ("/tools", {"run": RUN}),
         ("/hosts", {"run": RUN, "tag": "kernel_stats"}), ("/diagnostics", {"run": RUN}),
         ("/instances", {"run": RUN, "tag": "kernel_stats", "host": "worker-00", "name": "x"}),
         ("/trace_viewer/tracks", {"run": RUN}),
         ("/trace_viewer/tiles", {"run": RUN, "level": "30"}),
         ("/trace_viewer/search", {"run": RUN, "q": "a|b", "mode": "regex", "in": "all"}),
         ("/trace_viewer/aggregate", {"run": RUN}),
         ("/trace_viewer/export", {"run": RUN, "format": "perfetto"})])

    def setUp(self):
        super().setUp()
        if not support.FAULTY:
            self.skipTest("run.py was called without --faulty")
        self.channel, theirs = socket.socketpair()
        self.addCleanup(self.channel.close)
        self.server = self.start(program=support.FAULTY, pass_fds=[theirs.fileno()],
                                 env={"FAULTS": str(theirs.fileno())})
        theirs.close()
        self.channel.settimeout(60)
        self.lines = self.channel.makefile("r")
        self.addCleanup(self.lines.close)

    def tell(self, command):
        self.channel.sendall(command.encode() + b"\n")
        return int(self.lines.readline())

    def anew(self):
        """Nothing of the answer is at hand: another state of the files, no results."""
        self.touch()
        for name in os.listdir(self.cache):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(self.cache, name))

    def ask(self, path, query):
        """Status and body; None where the connection was closed without an answer."""
        try:
            answer = self.server.get(path, **query, **other())
            return answer.status, answer.body
        except (http.client.HTTPException, ConnectionError):
            return None, b""

    @staticmethod
    def steady(path, body):
        # How old the list is, and when files were last changed, is no part of the answer.
        if path not in ("/run_list", "/run_info", "/diagnostics"):
            return body

        def strip(value):
            if isinstance(value, dict):
                return {k: strip(v) for k, v in value.items() if "modified" not in k}
            return [strip(v) for v in value] if isinstance(value, list) else value
        return strip(json.loads(body))

    def sweep(self, command, points):
        for path, query in self.REQUESTS:
            self.anew()
            self.tell("count")
            status, body = self.ask(path, query)
            count = self.tell("off")
            self.assertEqual(status, 200, (path, body[:300]))
            right = self.steady(path, body)
            # The first ones singly, then with growing gaps to the last.
            places = {1 + int(count * (i / points) ** 2) for i in range(points)}
            for n in sorted(places):
                self.anew()
                self.tell("%s %d" % (command, n))
                status, body = self.ask(path, query)
                self.tell("off")
                what = (path, query, command, n, status, body[:300])
                if status == 200 and path != "/trace_viewer/export":
                    self.assertTrue(self.steady(path, body) == right, what)
                elif status not in (None, 200):
                    self.assertGreaterEqual(status, 500, what)
                    error = json.loads(body)["error"]
                    self.assertTrue(error["code"] and error["message"], what)
                self.assertIsNone(self.server.process.poll(), what)
            status, body = self.ask(path, query)
            self.assertEqual(status, 200, (path, body[:300]))
            self.assertTrue(self.steady(path, body) == right, (path, command, body[:300]))

    def test_all_from_the_nth_on(self):
        self.sweep("from", 6 if sanitized() else 20)

    def test_only_the_nth(self):
        self.sweep("only", 6 if sanitized() else 20)

    def test_many_at_once(self):
        right = self.answers(self.server, host="worker-00")
        for n in (1, 5, 50, 500, 2000):
            self.anew()
            self.tell("from %d" % n)
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda q: self.ask(*q), self.REQUESTS * 2))
            self.tell("off")
            self.assertEqual(self.answers(self.server, host="worker-00"), right)
