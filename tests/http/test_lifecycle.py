# SPDX-License-Identifier: Apache-2.0
"""Options, ports, signals, exit codes, and what is printed where."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import threading
import time

import support
from support import Case, occupied_port


def run_server(*args):
    return subprocess.run([support.SERVER, *args], capture_output=True, timeout=support.PATIENCE, text=True)


class Starting(Case):
    def test_prints_one_line(self):
        self.put_run("plugins/profile/a")
        server = self.serve()
        url = "http://127.0.0.1:%d/" % server.port
        self.assertEqual(server.line, "Serving %s at %s\n" % (self.folder, url))
        self.eventually(lambda: "1 run" in server.log())
        server.signal(signal.SIGTERM)
        self.assertEqual(server.process.stdout.read(), b"")
        self.assertEqual(server.process.wait(support.PATIENCE), 0)

    def test_ways_to_name_the_directory(self):
        for args in ((self.folder,), ("--logdir", self.folder), ("--logdir=" + self.folder,)):
            self.assertEqual(self.serve(*args).json("/runs"), [])

    def test_url_prefix(self):
        server = self.serve("--url-prefix", "/a/b/", self.folder)
        self.assertTrue(server.url.endswith("/a/b/"))
        self.assertEqual(server.get("/a/b/runs").status, 200)
        self.assertEqual(server.get("/runs").status, 200)

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as s:
                s.bind(("::1", 0))
        except OSError:
            self.skipTest("no IPv6")
        server = self.serve("--host", "::1", self.folder)
        self.assertTrue(server.url.startswith("http://[::1]:"))
        self.assertEqual(server.get("/healthz").status, 200)
        self.assertNotIn("warning: anybody", server.log())

    def test_warns_when_others_can_reach_it(self):
        server = self.serve("--host", "0.0.0.0", "--auth", "none", self.folder)
        self.assertIn("warning: anyone who can reach", server.log())
        self.assertEqual(server.get("/healthz").status, 200)

    def test_verbose(self):
        server = self.serve("--verbose", self.folder)
        server.get("/runs?a=b%20c")
        server.get("/nothing", method="HEAD")
        # Two threads serve the two connections, and each writes when it can.
        self.eventually(lambda: "/nothing" in server.log() and "/runs" in server.log())
        self.assertRegex(server.log(), r"(?m)^GET /runs\?a=b%20c 200 2 [0-9.]+ ms$")
        self.assertRegex(server.log(), r"(?m)^HEAD /nothing 404 0 [0-9.]+ ms$")

    def test_quiet_otherwise(self):
        server = self.serve()
        server.get("/runs")
        self.assertNotIn("/runs 200", server.log())

    def test_options_are_taken(self):
        self.put_run("plugins/profile/a")
        server = self.serve("--threads", "1", "--memory-limit", "16M", self.folder)
        for _ in range(2):
            self.assertEqual(server.get("/data?run=a&tag=kernel_stats").status, 200)


class Ports(Case):
    def test_a_given_port(self):
        with occupied_port() as port:
            pass
        self.assertEqual(self.serve(port=str(port)).port, port)

    def test_a_given_port_that_is_taken(self):
        with occupied_port() as port:
            done = run_server("--port", str(port), self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("port %d" % port, done.stderr)
        self.assertIn("--port 0", done.stderr)

    def test_the_next_free_port(self):
        first = self.serve(port=None)
        second = self.serve(port=None)
        self.assertGreater(second.port, first.port)
        self.assertIn("is taken, using %d" % second.port, second.log())
        self.assertEqual(second.get("/healthz").status, 200)

    def test_the_same_port_again(self):
        server = self.serve()
        server.get("/healthz")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.serve(port=str(server.port)).port, server.port)


class Usage(Case):
    def test_help_and_version(self):
        done = run_server("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--logdir", "--demo", "--host", "--port", "--auth", "--listen", "--url-prefix", "--verbose",
                       "--follow-symlinks", "--memory-limit", "--threads", "--cache-dir",
                       "--cache-limit", "--no-cache", "--help", "--version"):
            self.assertIn(option, done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()))
        done = run_server("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^tfprof-server \d+\.\d+\.\d+\n$")

    def test_wrong_usage(self):
        for args in ((), ("--nonsense",), ("a", "b"), ("--logdir", "a", "b"), ("--demo", "a"),
                     ("--port", "65536", "."), ("--port", "x", "."), ("--port", "-1", "."),
                     ("--port",), ("--memory-limit", "0", "."), ("--memory-limit", "1X", "."),
                     ("--memory-limit", "99999999999999T", "."), ("--threads", "many", "."),
                     ("--idle-minutes", "-1", "."), ("--idle-minutes", "10000001", "."),
                     ("--cache-limit", "0", "."), ("--cache-limit", "much", "."),
                     ("--url-prefix", "nope", "."), ("--url-prefix", "/a b", ".")):
            with self.subTest(args=args):
                done = run_server(*args)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn("--help", done.stderr)

    def test_failures(self):
        for args in ((self.path("none"),), ("/dev/null",),
                     ("--host", "no.such.host.invalid", self.folder),
                     ("--host", "192.0.2.1", self.folder)):
            with self.subTest(args=args):
                done = run_server("--port", "0", *args)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith("tfprof-server: "))


class Stopping(Case):
    def test_signals_that_mean_nothing(self):
        server = self.serve()
        for number in ("USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "PWR", "PIPE", "RTMIN"):
            server.signal(getattr(signal, "SIG" + number))
            self.assertEqual(server.get("/healthz").status, 200, number)
        self.assertEqual(server.stop(), 0)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.serve()
            server.get("/runs")
            server.signal(number)
            self.assertEqual(server.process.wait(support.PATIENCE), 0, server.log())

    def test_idle_connections_do_not_hold_it(self):
        server = self.serve()
        connection = server.connect()
        connection.request("GET", "/runs")
        connection.getresponse().read()
        half = socket.create_connection((server.host, server.port))
        half.sendall(b"GET /ru")
        start = time.monotonic()
        server.signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(support.PATIENCE), 0)
        self.assertLess(time.monotonic() - start, 4)
        connection.close()
        half.close()

    def test_who_asks_on_and_on_does_not_hold_it(self):
        for path in ("/progress?of=data", "/runs"):
            server = self.serve()
            last = {}

            def ask_on():
                connection = server.connect()
                try:
                    while not last.get("closes"):
                        connection.request("GET", path)
                        response = connection.getresponse()
                        response.read()
                        last["status"] = response.status
                        last["closes"] = response.headers["Connection"] == "close"
                        last["asked"] = True
                except (OSError, http.client.HTTPException):
                    pass
                finally:
                    connection.close()

            client = threading.Thread(target=ask_on)
            client.start()
            self.eventually(lambda: last.get("asked"))
            server.signal(signal.SIGTERM)
            # Not by giving up: that would be an end without freeing anything.
            self.assertEqual(server.process.wait(support.PATIENCE), 0, server.log())
            client.join(support.PATIENCE)
            self.assertFalse(client.is_alive())
            self.assertIn(last["status"], (200, 503))
            self.assertNotIn("AddressSanitizer", server.log())

    def test_running_requests_are_finished(self):
        self.put_run("plugins/profile/r", hosts=2, steps=300)
        for attempt in range(8):
            server = self.serve()
            server.json("/runs")
            data = b""
            with socket.create_connection((server.host, server.port), timeout=support.PATIENCE) as s:
                s.sendall(b"GET /data?run=r&tag=tf_stats&limit=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                time.sleep(0.01 * 2 ** attempt)
                server.signal(signal.SIGTERM)
                with contextlib.suppress(ConnectionResetError):
                    while piece := s.recv(65536):
                        data += piece
            self.assertEqual(server.process.wait(support.PATIENCE), 0)
            if data:  # otherwise it was not read yet when the signal came
                break
        self.assertTrue(data.startswith(b"HTTP/1.1 200"))
        self.assertTrue(data.endswith(b"]"))

    def test_a_reader_that_never_reads_is_not_waited_for_long(self):
        self.put_run("plugins/profile/r", hosts=3, steps=3)
        server = self.serve()
        server.get("/data?run=r&tag=kernel_stats&limit=0")
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect((server.host, server.port))
            for _ in range(20):
                s.sendall(b"GET /data?run=r&tag=kernel_stats&limit=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(0.5)
            start = time.monotonic()
            server.signal(signal.SIGTERM)
            time.sleep(0.3)
            self.assertIsNone(server.process.poll())
            server.signal(signal.SIGTERM)  # the second quits at once
            self.assertEqual(server.process.wait(support.PATIENCE), 0)
            self.assertLess(time.monotonic() - start, 4)

    def test_newcomers_are_sent_away_while_it_stops(self):
        self.put_run("plugins/profile/r", hosts=3, steps=3)
        server = self.serve()
        path = "/data?run=r&tag=kernel_stats&limit=0"
        server.get(path)
        with socket.socket() as slow:  # it never reads, and is waited for a while
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((server.host, server.port))
            for _ in range(20):
                slow.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
            time.sleep(0.5)
            server.signal(signal.SIGTERM)
            time.sleep(0.3)
            for _ in range(20):
                try:
                    self.assertIsNone(server.raw(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                except OSError:
                    pass  # cut off while it wrote, or refused as the server has ended
            server.signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(support.PATIENCE), 0, server.log())

    def test_stdout_may_be_closed(self):
        server = self.serve()
        server.process.stdout.close()
        self.assertEqual(server.get("/healthz").status, 200)


class Demo(Case):
    def test_demo(self):
        server = self.serve("--demo", env={"TMPDIR": self.folder})
        made = os.listdir(self.folder)
        self.assertEqual(len(made), 1)
        self.assertEqual(os.stat(self.path(made[0])).st_mode & 0o777, 0o700)
        runs = server.json("/runs")
        self.assertTrue(runs)
        for tag in ("kernel_stats", "framework_op_stats"):
            self.assertEqual(server.get("/data", run=runs[0], tag=tag).status, 200)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_demo_is_removed_after_a_failure(self):
        with occupied_port() as port:
            done = subprocess.run([support.SERVER, "--demo", "--port", str(port)], timeout=support.PATIENCE,
                                  env=dict(os.environ, TMPDIR=self.folder), capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(os.listdir(self.folder), [])
