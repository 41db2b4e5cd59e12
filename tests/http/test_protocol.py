# SPDX-License-Identifier: Apache-2.0
"""HTTP itself: compression, tags, methods, limits, hostile and slow clients."""

import gzip
import os
import socket
import threading
import time
import urllib.parse

import support
from support import Case, SharedServerCase, captures, put, write

BIG = "/data?run=train/many&tag=kernel_stats&limit=0"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Compression(SharedServerCase):
    def encoding(self, accept, path=BIG):
        return self.get(path, {"Accept-Encoding": accept}).headers["Content-Encoding"]

    def test_only_when_accepted(self):
        self.assertIsNone(self.get(BIG).headers["Content-Encoding"])

    def test_gzip_holds_the_same(self):
        answer = self.get(BIG, {"Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(answer.body), self.get(BIG).body)
        self.assertEqual(int(answer.headers["Content-Length"]), len(answer.body))

    def test_zstd(self):
        answer = self.get(BIG, {"Accept-Encoding": "zstd"})
        self.assertEqual(answer.headers["Content-Encoding"], "zstd")
        self.assertEqual(answer.body[:4], ZSTD_MAGIC)
        self.assertLess(len(answer.body), len(self.get(BIG).body) / 4)

    def test_negotiation(self):
        for accept, expected in (
            ("gzip, deflate, br, zstd", "zstd"),
            ("gzip;q=1.0, zstd;q=0.5", "gzip"),
            ("GZIP", "gzip"),
            ("x-gzip", "gzip"),
            ("*", "zstd"),
            ("*;q=0.5, zstd;q=0", "gzip"),
            ("gzip;q=0", None),
            ("zstd;q=0, gzip; q=0.001", "gzip"),
            ("identity", None),
            ("identity;q=1, gzip;q=0.5", None),
            ("br, deflate", None),
            ("", None),
            (";;,,q=1,=", None),
            ("gzip;q=banana", None),
            ("gzipped", None),
        ):
            with self.subTest(accept=accept):
                self.assertEqual(self.encoding(accept), expected)

    def test_varies(self):
        self.assertEqual(self.get(BIG).headers["Vary"], "Accept-Encoding")

    def test_small_bodies_are_left_alone(self):
        self.assertIsNone(self.encoding("gzip", "/runs"))

    def test_page(self):
        answer = self.get("/", {"Accept-Encoding": "gzip"})
        if answer.status == 404:
            self.skipTest("built without the page")
        if answer.headers["Content-Encoding"]:
            self.assertEqual(gzip.decompress(answer.body), self.get("/").body)


class Tags(SharedServerCase):
    PATHS = (BIG, "/runs", "/run_list", "/run_info?run=one", "/tools", "/version",
             "/hosts?run=one&tag=tf_stats", "/diagnostics?run=one",
             "/data_csv?run=one&tag=kernel_stats", "/instances?run=one&tag=kernel_stats&kernel=x")

    def test_not_modified(self):
        for path in self.PATHS:
            with self.subTest(path=path):
                tag = self.get(path).headers["ETag"]
                for header in (tag, "*", '"other", ' + tag, tag[2:], '"a,b" , ' + tag):
                    answer = self.get(path, {"If-None-Match": header})
                    self.assertEqual((answer.status, answer.body), (304, b""), header)
                    self.assertEqual(answer.headers["ETag"], tag)
                for header in ('"other"', tag[:-2] + '"', "nonsense", '"'):
                    self.assertEqual(self.get(path, {"If-None-Match": header}).status, 200, header)

    def test_tags_differ(self):
        tags = {self.get(path).headers["ETag"] for path in self.PATHS}
        self.assertEqual(len(tags), len(self.PATHS))
        other = self.get(BIG + "&host=worker-00").headers["ETag"]
        self.assertNotEqual(self.get(BIG).headers["ETag"], other)

    def test_one_tag_for_all_encodings(self):
        tag = self.get(BIG).headers["ETag"]
        self.assertTrue(tag.startswith("W/"))
        self.assertEqual(self.get(BIG, {"Accept-Encoding": "zstd"}).headers["ETag"], tag)

    def test_errors_have_none(self):
        self.assertNotIn("ETag", self.get("/data").headers)
        self.assertEqual(self.get("/data", {"If-None-Match": "*"}).status, 400)

    def test_page(self):
        tag = self.get("/").headers["ETag"]
        if tag is None:
            self.skipTest("built without the page")
        self.assertEqual(self.get("/", {"If-None-Match": tag}).status, 304)


class TagsOfChangingFiles(Case):
    def test_a_changed_capture_has_a_new_tag(self):
        self.put_run("plugins/profile/r")
        server = self.serve()
        path = "/data?run=r&tag=kernel_stats"
        before = server.get(path)
        put(captures(seed=2)[0], self.path("plugins/profile/r/worker-00.xplane.pb"))
        after = self.eventually(
            lambda: (lambda a: a.status == 200 and a)(
                server.get(path, {"If-None-Match": before.headers["ETag"]})))
        self.assertNotEqual(after.body, before.body)

    def test_the_same_after_a_restart(self):
        self.put_run("plugins/profile/r")
        tags = [self.serve().get("/data?run=r&tag=kernel_stats").headers["ETag"] for _ in range(2)]
        self.assertEqual(tags[0], tags[1])


class Methods(SharedServerCase):
    def test_head(self):
        for path in ("/", "/runs", "/version", BIG, "/nothing"):
            with self.subTest(path=path):
                get, head = self.get(path), self.get(path, method="HEAD")
                self.assertEqual(head.status, get.status)
                self.assertEqual(head.body, b"")
                for name in ("Content-Length", "Content-Type", "ETag", "Vary"):
                    self.assertEqual(head.headers[name], get.headers[name], name)

    def test_others_are_refused(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
            with self.subTest(method=method):
                answer = self.get("/runs", method=method)
                self.assertError(answer, 405, "bad_query")
                self.assertEqual(answer.headers["Allow"], "GET, HEAD")

    def test_a_body_is_refused_or_ignored(self):
        self.assertError(self.get("/runs", method="POST", body=b"x" * 100), 405, "bad_query")
        self.assertEqual(self.get("/runs", body=b"x" * 100000).status, 200)
        self.assertEqual(self.get("/version", body=b"x" * 100000).status, 200)

    def test_a_connection_is_kept(self):
        connection = self.server.connect()
        sockets = set()
        for path in ("/runs", "/version", BIG, "/nothing", "/", "/runs"):
            connection.request("GET", path)
            connection.getresponse().read()
            self.assertIsNotNone(connection.sock, path)
            sockets.add(id(connection.sock))
        self.assertEqual(len(sockets), 1)
        connection.close()


class Headers(SharedServerCase):
    def test_on_every_answer(self):
        for path, method in (("/", "GET"), ("/runs", "GET"), ("/nothing", "GET"), ("/runs", "POST"),
                             ("/data", "GET"), (BIG, "HEAD"), ("/data/plugin/profile", "GET")):
            with self.subTest(path=path, method=method):
                headers = self.get(path, method=method).headers
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Referrer-Policy"], "no-referrer")
                self.assertEqual(headers["Cache-Control"], "private, no-cache")
                self.assertIn("default-src 'none'; ", headers["Content-Security-Policy"])


class Limits(SharedServerCase):
    def test_long_addresses(self):
        self.assertError(self.get("/runs?x=" + "a" * 9000), 400, "bad_query")
        self.assertEqual(self.get("/runs?x=" + "a" * 8000).status, 200)
        self.assertIn(self.server.raw(b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                      (None, 400, 413, 414, 431))
        self.assertEqual(self.get("/healthz").status, 200)

    def test_many_parameters(self):
        parameters = ["a%d=b" % i for i in range(65)]
        self.assertEqual(self.get("/runs?" + "&".join(parameters[1:])).status, 200)
        self.assertError(self.get("/runs?" + "&".join(parameters)), 400, "bad_query")
        self.assertEqual(self.get("/runs?&&&=&=x&a&a=&&").status, 200)

    def test_many_headers(self):
        self.assertIn(self.server.raw(b"GET /runs HTTP/1.1\r\n" + b"X-A: b\r\n" * 20000 + b"\r\n"),
                      (None, 400, 413, 431))
        self.assertEqual(self.get("/healthz").status, 200)

    def test_what_is_no_text(self):
        for bad in ("%00", "a%00b", "%ff", "%c3%28", "%ed%a0%80", "%", "%4", "%zz", "%f4%90%80%80"):
            for path in ("/runs?x=", "/runs?run=", "/runs?%s=1&x=" % bad, "/"):
                with self.subTest(path=path + bad):
                    self.assertError(self.get(path + bad), 400, "bad_query")

    def test_decoding(self):
        self.assertEqual(self.get("/run_info?run=train%2Fmany").status, 200)
        self.assertEqual(self.get("/run%5Finfo?r%75n=train%2fm%61ny").status, 200)
        self.assertEqual(self.get("/run_info?run=no&run=one").status, 404)  # the first counts
        self.assertIn("a+b c", self.get("/run_info?run=a%2Bb+c").json()["error"]["message"])


class Hostile(SharedServerCase):
    PATHS = ("/../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
             "//etc/passwd", "/./index.html/../../etc/passwd", "/\\..\\..\\etc\\passwd",
             "/data/plugin/profile/../../../../etc/passwd", "/index.html%2f..%2f..%2fetc%2fpasswd")

    def test_paths(self):
        for path in self.PATHS:
            with self.subTest(path=path):
                request = "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path
                self.assertEqual(self.server.raw(request.encode()), 404)

    def test_runs_and_hosts_are_names_and_no_paths(self):
        secret = os.path.join(os.path.dirname(self.logdir), "secret")
        write(os.path.join(secret, "host.xplane.pb"), b"x")
        for name in ("../secret", "..", ".", "/", secret, "train/plugins/profile/many",
                     "one/../one", "one/", "../" * 30 + "etc", "x" * 6000, "\n", "one\x1b[31m"):
            with self.subTest(name=name[:40]):
                query = urllib.parse.urlencode({"run": name})
                self.assertError(self.get("/run_info?" + query), 404, "not_found")
                query = urllib.parse.urlencode({"run": "one", "tag": "kernel_stats", "host": name})
                self.assertError(self.get("/data?" + query), 404, "not_found")

    def test_what_is_no_http(self):
        for text in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\r\n",
                     b"GET /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                     b"GET /runs HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"):
            with socket.create_connection((self.server.host, self.server.port)) as s:
                s.sendall(text)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(5)
                try:
                    while s.recv(4096):
                        pass
                except OSError:
                    pass
        self.assertEqual(self.get("/healthz").status, 200)

    def test_clients_that_leave(self):
        for _ in range(50):
            s = socket.create_connection((self.server.host, self.server.port))
            s.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % BIG).encode())
            s.close()
        self.assertEqual(self.get("/healthz").status, 200)
        self.assertEqual(self.get(BIG).status, 200)


class Slow(SharedServerCase):
    def test_half_requests_keep_nobody_waiting(self):
        lazy = []
        for _ in range(100):
            s = socket.create_connection((self.server.host, self.server.port))
            s.sendall(b"GET /runs HTTP/1.1\r\nHo")
            lazy.append(s)
        start = time.monotonic()
        self.assertEqual(self.get("/runs").status, 200)
        self.assertEqual(self.get(BIG).status, 200)
        self.assertLess(time.monotonic() - start, 10)
        lazy[0].sendall(b"st: localhost\r\n\r\n")
        self.assertTrue(lazy[0].recv(100).startswith(b"HTTP/1.1 200"))
        for s in lazy:
            s.close()

    def test_a_client_that_reads_slowly_gets_all(self):
        body = self.get(BIG).body
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(20)
            s.connect((self.server.host, self.server.port))
            s.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % BIG).encode())
            time.sleep(0.5)
            self.assertEqual(self.get("/healthz").status, 200)
            data = b""
            while piece := s.recv(65536):
                data += piece
        self.assertEqual(data.partition(b"\r\n\r\n")[2], body)


class Concurrent(Case):
    def test_first_requests_at_once(self):
        self.put_run("plugins/profile/r", hosts=3, steps=30)
        server = self.serve()
        paths = ["/data?run=r&tag=kernel_stats", "/data?run=r&tag=framework_op_stats",
                 "/data?run=r&tag=kernel_stats&host=worker-01", "/diagnostics?run=r",
                 "/run_info?run=r", "/runs"] * 8
        answers = [None] * len(paths)

        def ask(i):
            answers[i] = server.get(paths[i])

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(paths))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        first = {}
        for path, answer in zip(paths, answers):
            self.assertEqual(answer.status, 200, answer.body[:200])
            self.assertEqual(first.setdefault(path, answer.body), answer.body)

    def test_pipelined_requests(self):
        self.put_run("plugins/profile/r")
        server = self.serve()
        with socket.create_connection((server.host, server.port), timeout=support.PATIENCE) as s:
            s.sendall(b"GET /runs HTTP/1.1\r\nHost: localhost\r\n\r\n" * 9 +
                      b"GET /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            data = b""
            while piece := s.recv(65536):
                data += piece
        self.assertEqual(data.count(b"HTTP/1.1 200"), 10)
