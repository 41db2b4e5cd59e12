# SPDX-License-Identifier: Apache-2.0
"""Clients that are many, slow, stuck or too large do not keep others from being served."""

import asyncio
import contextlib
import http.client
import os
import resource
import socket
import time

import support



def descriptors(wanted):
    """Lets this process have as many, or says that it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted:
        return True
    if hard < wanted:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return True


def rss(server):
    with open("/proc/%d/statm" % server.process.pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(server):
    with open("/proc/%d/stat" % server.process.pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(server):
    return len(os.listdir("/proc/%d/fd" % server.process.pid))


class Crowd:
    """Sockets that are open and do as little as they like."""

    def __init__(self, server):
        self.server = server
        self.sockets = []

    def connect(self, count, source=None, data=b""):
        for i in range(count):
            address = (source(i), 0) if source else None
            s = socket.create_connection((self.server.host, self.server.port), timeout=support.PATIENCE,
                                         source_address=address)
            self.sockets.append(s)
            if data:
                with contextlib.suppress(OSError):  # refused already
                    s.sendall(data)
            s.setblocking(False)

    def dribble(self, data=b"X-Slow: 1\r\n"):
        for s in self.sockets:
            with contextlib.suppress(OSError):
                s.send(data)

    def gone(self):
        """How many the server has closed."""
        count = 0
        for s in self.sockets:
            try:
                count += s.recv(65536) == b""
            except BlockingIOError:
                pass
            except OSError:
                count += 1
        return count

    def close(self):
        for s in self.sockets:
            s.close()
        self.sockets = []


def closed_count(server, reason):
    for _ in range(20):
        # With the short limits of these tests a busy machine may be too slow itself.
        with contextlib.suppress(OSError, http.client.HTTPException):
            return server.metric('tfprof_http_connections_closed_total{reason="%s"}' % reason)
    raise AssertionError("the server does not answer")


class LimitsCase(support.Case):
    def crowd(self, server):
        crowd = Crowd(server)
        self.addCleanup(crowd.close)
        return crowd


class Limits(LimitsCase):
    def slowloris(self, source):
        if not descriptors(2048):
            self.skipTest("this process may not have 2048 descriptors")
        self.put_run("plugins", "profile", "one")
        server = self.serve("--request-timeout", "8", self.folder)
        expected = server.get("/data", run="one", tag="kernel_stats").body
        before = rss(server)
        crowd = self.crowd(server)
        crowd.connect(500, source, b"GET /runs HTTP/1.1\r\nHost: localhost\r\n")
        print("# 500 slow clients: %.1f KiB each" % ((rss(server) - before) / 500 / 1024))
        self.assertEqual(server.get("/data", run="one", tag="kernel_stats").body, expected)

        def all_gone():
            crowd.dribble()  # bytes, but never the end
            self.assertEqual(server.get("/data", run="one", tag="kernel_stats").body, expected)
            crowd.sockets = [s for s in crowd.sockets if not self.is_closed(s)]
            return not crowd.sockets

        self.eventually(all_gone, "slow clients stay connected")
        self.assertGreaterEqual(closed_count(server, "slow_head"), 400)

    @staticmethod
    def is_closed(s):
        try:
            if s.recv(65536) == b"":
                s.close()
                return True
        except BlockingIOError:
            return False
        except OSError:
            s.close()
            return True
        return False

    def test_slow_heads_from_one_address(self):
        self.slowloris(None)

    def test_slow_heads_from_many_addresses(self):
        self.slowloris(lambda i: "127.0.%d.%d" % (1 + i // 250, 1 + i % 250))

    def test_heads_that_never_begin_and_bodies_that_never_end(self):
        server = self.serve("--request-timeout", "3", self.folder)
        silent, slow = self.crowd(server), self.crowd(server)
        silent.connect(5)
        slow.connect(5, data=b"POST /capture_profile HTTP/1.1\r\nHost: localhost\r\n"
                             b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
        self.eventually(lambda: silent.gone() == 5, "silent clients stay connected")

        def gone():
            slow.dribble(b" ")
            return slow.gone() == 5

        self.eventually(gone, "clients with slow bodies stay connected")
        self.assertGreaterEqual(closed_count(server, "slow_body"), 5)

    def test_answers_that_nobody_takes(self):
        self.put_run("plugins", "profile", "one")
        server = self.serve("--answer-timeout", "1", self.folder)
        path = "/data?run=one&tag=framework_op_stats"
        # The system's buffers take much: so many answers that they cannot hold them all.
        wanted = (64 << 20) // len(server.get(path).body)
        requests = ("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path).encode() * wanted
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(20)
            s.connect((server.host, server.port))
            s.setblocking(False)

            def cut_off():
                nonlocal requests
                with contextlib.suppress(OSError):
                    requests = requests[s.send(requests):]
                with contextlib.suppress(OSError):
                    s.recv(16)
                return closed_count(server, "slow_reader") == 1

            self.eventually(cut_off, "a client that takes nothing stays")

    def test_places_are_taken_from_those_that_do_nothing(self):
        server = self.serve("--max-connections", "40", "--request-timeout", "600", self.folder)
        crowd = self.crowd(server)
        # More than there is room for, and nobody's time is over.
        for _ in range(3):
            crowd.connect(30, data=b"GET /runs HTTP/1.1\r\n")
            self.eventually(lambda: self.served(server), "a normal client is not served")
        self.assertGreater(closed_count(server, "room"), 0)

    @staticmethod
    def served(server):
        try:
            return server.get("/version").status == 200
        except (OSError, http.client.HTTPException):
            return False  # refused, or sent away: it may try again

    def test_connections_between_requests_go_first(self):
        server = self.serve("--max-connections", "20", self.folder)
        idle = self.crowd(server)
        request = b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"

        def one_more():
            s = socket.create_connection((server.host, server.port), timeout=support.PATIENCE)
            idle.sockets.append(s)
            try:
                s.sendall(request)
                return s.recv(4096).startswith(b"HTTP/1.1 200")
            except OSError:
                return False  # those that make room have not gone yet
            finally:
                s.setblocking(False)

        for _ in range(40):
            self.eventually(one_more, "a newcomer is not served")
        self.eventually(lambda: self.served(server), "a normal client is not served")
        self.eventually(lambda: idle.gone() >= 20, "idle connections stay")

    def test_connections_per_client(self):
        server = self.serve("--max-connections-per-client", "3",
                            "--request-timeout", "600", self.folder)
        crowd = self.crowd(server)
        crowd.connect(10, lambda i: "127.0.0.9", b"GET /runs HTTP/1.1\r\n")
        self.eventually(lambda: crowd.gone() == 7, "more than three are let in")
        # Others are not concerned.
        self.eventually(lambda: self.served(server), "a normal client is not served")
        crowd.close()

        def in_again():
            try:
                with socket.create_connection((server.host, server.port), 20,
                                              ("127.0.0.9", 0)) as s:
                    s.sendall(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    return s.recv(4096).startswith(b"HTTP/1.1 200")
            except OSError:
                return False

        self.eventually(in_again, "places are not given back")

    def test_too_large(self):
        server = self.serve()
        head = b"GET /version HTTP/1.1\r\nHost: localhost\r\n"
        self.assertEqual(server.raw(b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"), 414)
        self.assertEqual(server.raw(head + b"X-Long: " + b"a" * 40000 + b"\r\n\r\n"), 431)
        self.assertEqual(server.raw(head + b"X: 1\r\n" * 20000 + b"\r\n"), 431)
        self.assertEqual(server.get("/version").status, 200)

    def test_what_the_library_refuses_repeats_nothing(self):
        # These answers are libmicrohttpd's own and have none of our headers.
        server = self.serve()
        evil, host = b"<script>evil</script>", b"Host: localhost\r\n"
        for request in (b"GET /" + evil * 2000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                        b"GET / HTTP/1.1\r\n" + host + b"X: " + evil * 2000 + b"\r\n\r\n",
                        b"GET / HTTP/1.1\r\n" + host + evil + b"\r\n\r\n",
                        b"GET /" + evil + b" EVIL\r\n\r\n",
                        b"POST /runs HTTP/1.1\r\n" + host + b"Content-Length: " + evil + b"\r\n\r\n"):
            with socket.create_connection((server.host, server.port), timeout=support.PATIENCE) as s:
                answer = b""
                with contextlib.suppress(OSError):  # it closes with bytes unread
                    s.sendall(request)
                    while piece := s.recv(65536):
                        answer += piece
            self.assertNotIn(b"evil", answer.lower())
            self.assertNotIn(b" 200 ", answer[:20])

    def test_wrong_numbers(self):
        for arguments in (["--max-connections", "0"], ["--max-connections", "x"],
                          ["--max-connections-per-client", "-1"], ["--request-timeout", "0"],
                          ["--answer-timeout", "9999999"]):
            with self.assertRaises(AssertionError, msg=arguments):
                support.Server(*arguments, self.folder)


class ManyAtOnce(LimitsCase):
    PATHS = ["/runs", "/run_list", "/data?run=one&tag=kernel_stats",
             "/data?run=one&tag=framework_op_stats", "/data?run=one&tag=overview_page", "/"]

    async def ask(self, path):
        """Status and body, tried again as the server asks."""
        request = "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path
        while True:
            reader, writer = await asyncio.open_connection(self.server.host, self.server.port)
            writer.write(request.encode())
            answer = await reader.read()
            writer.close()
            head, _, body = answer.partition(b"\r\n\r\n")
            status = int(head.split()[1])
            if status != 429:
                return status, body
            after = [l for l in head.split(b"\r\n") if l.lower().startswith(b"retry-after:")]
            await asyncio.sleep(float(after[0].split(b":")[1]))

    def test_each_gets_what_a_single_one_gets(self):
        # Sanitized programs need several times as much of everything.
        sanitized = any(word in support.SERVER for word in ("asan", "tsan"))
        count = 200 if sanitized else 1000
        if not descriptors(count + 100):
            self.skipTest("this process may not have %d descriptors" % (count + 100))
        self.put_run("plugins", "profile", "one")
        alone = self.serve("--no-cache", self.folder)
        expected = [(200, alone.get(path).body) for path in self.PATHS]
        self.server = self.serve("--no-cache", self.folder)

        async def crowd():
            return await asyncio.wait_for(asyncio.gather(
                *(self.ask(self.PATHS[i % len(self.PATHS)]) for i in range(count))), 300)

        for temperature in ("cold", "warm"):
            for i, got in enumerate(asyncio.run(crowd())):
                want = expected[i % len(self.PATHS)]
                self.assertEqual(got[0], want[0], temperature)
                self.assertTrue(got[1] == want[1], (temperature, self.PATHS[i % len(self.PATHS)]))


class Descriptors(LimitsCase):
    def serve_with_few(self, count, *args):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Inherited; this process keeps the descriptors that it has.
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[0], 4096), before[1]))
        original = support.SERVER
        wrapper = self.path("server.sh")
        with open(wrapper, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nulimit -n %d\nexec "%s" "$@"\n' % (count, original))
        os.chmod(wrapper, 0o700)
        support.SERVER = wrapper
        try:
            return self.serve(*args)
        finally:
            support.SERVER = original
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

    def test_more_clients_than_descriptors(self):
        self.put_run("logs", "plugins", "profile", "one")
        server = self.serve_with_few(80, "--request-timeout", "600", self.path("logs"))
        before_all = open_files(server)
        crowd = self.crowd(server)
        crowd.connect(200, data=b"GET /runs HTTP/1.1\r\n")
        # A capture can be opened although all places for clients are taken.
        get = lambda: self.served_data(server)
        self.eventually(get, "a normal client is not served")
        before, began = cpu_seconds(server), time.monotonic()
        time.sleep(2)
        used, took = cpu_seconds(server) - before, time.monotonic() - began
        self.assertLess(used, 0.5 * took, "it spins")
        crowd.close()
        self.eventually(lambda: open_files(server) <= before_all + 10, "descriptors are not given back")
        self.assertEqual(server.get("/version").status, 200)

    @staticmethod
    def served_data(server):
        try:
            return server.get("/data", run="one", tag="kernel_stats").status == 200
        except (OSError, http.client.HTTPException):
            return False
