# SPDX-License-Identifier: Apache-2.0
"""Answers that take time: made once for all, kept, stopped, refused; and their progress."""

import concurrent.futures
import os
import signal
import socket
import subprocess
import threading
import urllib.parse

import support
from support import Case

STAGES = {"waiting", "reading", "grouping", "analysing", "writing"}
_large = None


def large():
    """A capture that takes a while."""
    global _large
    if _large is None:
        folder = os.path.join(support.scratch(), "large")
        subprocess.run([support.SYNTH, "-o", folder, "--run", "large", "--size", "30M"],
                       check=True, stdout=subprocess.DEVNULL)
        _large = os.path.join(folder, "plugins/profile/large/worker-00.xplane.pb")
    return _large


def address(run, tag="overview_page", **query):
    return "/data?" + urllib.parse.urlencode({"run": run, "tag": tag, **query})


class Answers(Case):
    pause = 0.01  # jobs do not take long

    def put_large(self, run, hosts=1):
        folder = self.path("logs/plugins/profile", run)
        os.makedirs(folder)
        for host in range(hosts):  # other files of the same bytes
            os.link(large(), os.path.join(folder, "worker-%02d.xplane.pb" % host))

    def serve(self, *args, **options):
        return super().serve("--verbose", *(args or ("--no-cache",)), self.path("logs"), **options)

    def ask(self, server, path, **headers):
        connection = server.connect(timeout=support.PATIENCE)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, response.read(), response.headers
        finally:
            connection.close()

    def progress(self, server, path):
        return server.json("/progress", of=path.lstrip("/"))

    def test_one_job_for_many_first_requests(self):
        self.put_large("a")
        server = self.serve()
        path = address("a")
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: self.ask(server, path), range(50)))
        self.assertEqual({status for status, _, _ in answers}, {200})
        self.assertEqual(len({body for _, body, _ in answers}), 1)
        self.assertEqual(len({headers["ETag"] for _, _, headers in answers}), 1)
        self.assertEqual(server.metric("tfprof_jobs_started_total"), 1)
        self.assertEqual(server.log().count("making /data?"), 1)
        self.assertEqual(server.log().count("opening "), 1)
        # The same bytes as from a server that nobody else asks.
        alone = self.serve()
        self.assertEqual(self.ask(alone, path)[1], answers[0][1])

    def test_what_is_kept_is_sent_as_asked(self):
        self.put_run("logs/plugins/profile/small")
        server = self.serve()
        path = address("small", "kernel_stats")
        status, body, headers = self.ask(server, path)
        self.assertEqual(status, 200)
        for _ in range(2):
            again = server.get(path)
            self.assertEqual((again.status, again.body), (200, body))
            self.assertEqual(again.headers["ETag"], headers["ETag"])
            head = server.get(path, method="HEAD")
            self.assertEqual((head.status, head.body), (200, b""))
            self.assertEqual(head.headers["Content-Length"], str(len(body)))
            for encoding in ("gzip", "zstd"):
                packed = server.get(path, headers={"Accept-Encoding": encoding})
                self.assertEqual(packed.headers["Content-Encoding"], encoding)
                self.assertEqual(packed.headers["Vary"], "Accept-Encoding")
                self.assertLess(len(packed.body), len(body))
            known = server.get(path, headers={"If-None-Match": headers["ETag"]})
            self.assertEqual((known.status, known.body), (304, b""))
            self.assertEqual(known.headers["ETag"], headers["ETag"])
        name = "/data_csv?run=small&tag=kernel_stats"
        first, second = server.get(name), server.get(name)
        self.assertEqual(first.body, second.body)
        self.assertEqual(first.headers["Content-Disposition"],
                         second.headers["Content-Disposition"])
        self.assertIn("text/csv", second.headers["Content-Type"])
        self.assertEqual(server.metric("tfprof_jobs_started_total"), 2)

    def test_a_file_that_changes_is_read_again(self):
        self.put_run("logs/plugins/profile/small", seed=1)
        self.put_run("other", seed=2, steps=5)
        server = self.serve("--cache-dir", self.path("cache"))
        path = address("small", "kernel_stats")
        before = self.ask(server, path)[1]
        os.rename(self.path("other/worker-00.xplane.pb"),
                  self.path("logs/plugins/profile/small/worker-00.xplane.pb"))
        self.eventually(lambda: self.ask(server, path)[1] != before)
        after = self.ask(server, path)[1]
        self.assertEqual(self.ask(self.serve(), path)[1], after)

    def test_after_a_restart(self):
        self.put_run("logs/plugins/profile/small", hosts=3)
        cache = self.path("cache")
        paths = [address("small"), address("small", "kernel_stats", host="worker-01"),
                 "/data_csv?run=small&tag=framework_op_stats"]

        def visit():
            server = self.serve("--cache-dir", cache)
            answers = [server.get(path) for path in paths]
            self.assertEqual(server.stop(), 0)  # what is put on disk is there now
            return ([(a.status, a.body, a.headers["ETag"], a.headers["Content-Type"],
                      a.headers["Content-Disposition"]) for a in answers], server.log())

        first, log = visit()
        self.assertEqual(log.count("from the result cache: /"), 0)
        second, log = visit()
        self.assertEqual(second, first)
        self.assertEqual(log.count("from the result cache: /"), 3)
        self.assertEqual(log.count("opening ") + log.count("making "), 0)
        # A byte of each file is changed: damaged results are not used, and made anew.
        for name in os.listdir(cache):
            with open(os.path.join(cache, name), "r+b") as f:
                f.seek(os.path.getsize(f.name) // 2)
                byte = f.read(1)
                f.seek(-1, os.SEEK_CUR)
                f.write(bytes([byte[0] ^ 0x55]))
        third, log = visit()
        self.assertEqual(third, first)
        self.assertEqual(log.count("from the result cache: /"), 0)
        fourth, log = visit()
        self.assertEqual(fourth, first)
        self.assertEqual(log.count("from the result cache: /"), 3)

    def test_progress(self):
        """What is seen of a job depends on how fast the machine is: several are looked at."""
        seen = []
        for i in range(20):
            self.put_large("run%d" % i)
        server = self.serve()
        self.assertEqual(self.progress(server, address("run0")), {"state": "none"})
        self.assertEqual(server.get("/progress").status, 400)

        def enough():
            return (len({p["bytes_done"] for p in seen}) > 2 and
                    "reading" in {p["stage"] for p in seen} and
                    os.path.getsize(large()) in {p["bytes_total"] for p in seen} and
                    any(p["events"] for p in seen))

        for i in range(20):
            path = address("run%d" % i)
            client = threading.Thread(target=self.ask, args=(server, path))
            client.start()
            while client.is_alive():
                found = self.progress(server, path)
                if found["state"] != "none":
                    seen.append(found)
            client.join()
            self.assertEqual(self.progress(server, path), {"state": "none"})
            if enough():
                break
        self.assertTrue(enough(), seen)
        for p in seen:
            self.assertIn(p["state"], ("waiting", "running"))
            self.assertIn(p["stage"], STAGES)
            self.assertLessEqual(p["bytes_done"], p["bytes_total"])
            self.assertGreaterEqual(p["clients"], 0)
            self.assertGreaterEqual(p["elapsed_ms"], 0)
            self.assertIn("position", p)

    def test_clients_that_leave_stop_their_job(self):
        for i in range(20):
            self.put_large("run%d" % i)
        server = self.serve()
        cancelled = lambda: server.metric("tfprof_jobs_cancelled_total")
        for i in range(0, 20, 2):
            path, other = address("run%d" % i), address("run%d" % (i + 1), "kernel_stats")
            client = server.connect(timeout=support.PATIENCE)
            client.request("GET", path)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                stays = pool.submit(self.ask, server, other)
                # Another tool of the same capture: what both need is made for this one.
                same = pool.submit(self.ask, server, address("run%d" % i, "kernel_stats"))
                self.eventually(lambda: self.progress(server, path)["state"] != "waiting")
                client.close()
                self.assertEqual(stays.result(support.PATIENCE)[0], 200)
                self.assertEqual(same.result(support.PATIENCE)[0], 200)
                self.assertEqual(same.result()[1].count(b"\n"), stays.result()[1].count(b"\n"))
            self.eventually(lambda: server.metric('tfprof_jobs{state="running"}') == 0)
            if cancelled():
                break
        self.assertEqual(cancelled(), 1)
        self.assertEqual(server.log().count("not wanted any more: "), 1)
        # A new request has it made anew, whole.
        again = self.ask(server, path)
        self.assertEqual(again[0], 200)
        self.assertEqual(self.ask(self.serve(), path)[1], again[1])

    def test_a_client_that_has_left_already(self):
        self.put_large("a")
        server = self.serve()
        path = address("a")
        server.signal(signal.SIGSTOP)
        with socket.create_connection((server.host, server.port), timeout=support.PATIENCE) as s:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
        server.signal(signal.SIGCONT)
        self.eventually(lambda: server.metric("tfprof_jobs_cancelled_total") == 1)
        self.eventually(lambda: server.metric("tfprof_http_requests_in_flight") == 1)
        self.assertEqual(self.ask(server, path)[0], 200)

    def test_a_flood_is_refused(self):
        self.put_large("a", hosts=8)  # work for longer than it takes to read all requests
        server = self.serve()
        server.signal(signal.SIGSTOP)  # so that all are there before the first is answered
        clients = []
        for i in range(60):
            client = server.connect(timeout=support.PATIENCE)
            client.request("GET", address("a", "kernel_stats", limit=i + 1))
            clients.append(client)
        server.signal(signal.SIGCONT)
        # Cheap requests are answered meanwhile.
        self.assertEqual(server.get("/healthz").body, b"ok")
        self.assertEqual(server.get("/runs").status, 200)
        taken, refused = 0, 0
        for i, client in enumerate(clients):
            response = client.getresponse()
            body = response.read()
            if response.status == 429:
                refused += 1
                self.assertGreater(int(response.headers["Retry-After"]), 0)
                self.assertIn(b'"too_many"', body)
            else:
                self.assertEqual(response.status, 200)
                taken += 1
            client.close()
        self.assertGreaterEqual(taken, 32)
        self.assertGreater(refused, 0)
        self.assertEqual(server.metric("tfprof_jobs_refused_total"), refused)
        # When it is over all are welcome.
        for i in range(60):
            self.assertEqual(self.ask(server, address("a", "kernel_stats", limit=i + 1))[0], 200)

    def test_an_error_goes_to_all(self):
        support.write(self.path("logs/plugins/profile/bad/a.xplane.pb"), b"no capture at all" * 9)
        server = self.serve("--cache-dir", self.path("cache"))
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: self.ask(server, address("bad")), range(20)))
        self.assertEqual({status for status, _, _ in answers}, {422})
        self.assertEqual(len({body for _, body, _ in answers}), 1)
        self.assertEqual(server.metric("tfprof_answers_kept"), 0)
