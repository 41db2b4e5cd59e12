# SPDX-License-Identifier: Apache-2.0
"""Who gets in, and by what: tokens, cookies, names, other sites, TLS, socket files."""

import http.client
import os
import shutil
import socket
import ssl
import stat
import subprocess
import unittest
import urllib.parse

from support import Case, write
import support

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def cookie_of(answer):
    return answer.headers["Set-Cookie"].split(";")[0]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=support.PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


class AccessCase(Case):
    def setUp(self):
        super().setUp()
        self.put_run("plugins/profile/one")

    def wide(self, *args, **options):
        """A server for others too; itself asked by the loopback."""
        server = self.serve("--host", "0.0.0.0", *args, self.folder, **options)
        server.host = "127.0.0.1"
        return server

    def assertCode(self, answer, status, code):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.json()["error"]["code"], code)


class Tokens(AccessCase):
    def test_asked_for_beyond_this_machine_only(self):
        self.assertIsNone(self.serve().token)
        server = self.wide()
        self.assertRegex(server.token, r"^[\w-]{32}$")
        self.assertCode(server.get("/runs"), 401, "unauthorized")
        self.assertNotEqual(self.wide().token, server.token)
        self.assertIn("not encrypted", server.log())
        self.assertIn("anyone with the token", server.log())
        self.assertNotIn(server.token, server.log())
        open_one = self.wide("--auth", "none")
        self.assertIsNone(open_one.token)
        self.assertEqual(open_one.get("/runs").status, 200)
        self.assertIn("warning: anyone who can reach", open_one.log())
        private = self.serve("--auth", "token", self.folder)
        self.assertCode(private.get("/runs"), 401, "unauthorized")

    def test_by_address_cookie_and_header(self):
        server = self.wide("--url-prefix", "/p/q", "--verbose")
        token = server.token
        for path, where, cookie_path in (
                ("/?token=%s", "./", "/"), ("/p/q/?x=1&token=%s", "./?x=1", "/p/q/"),
                ("/data/plugin/profile/?token=%s", "./", "/"),
                ("/p/q/data/plugin/profile/?token=%s&y", "./?y", "/p/q/"),
                ("/p/q/run_list?token=%s", "./run_list", "/p/q/")):
            for method in ("GET", "HEAD"):
                with self.subTest(path=path, method=method):
                    answer = server.get(path % token, method=method)
                    self.assertEqual((answer.status, answer.body), (303, b""))
                    self.assertEqual(answer.headers["Location"], where)
                    self.assertRegex(
                        answer.headers["Set-Cookie"],
                        r"^tfprof_%d=[\w-]{32}; Path=%s; HttpOnly; SameSite=Strict$"
                        % (server.port, cookie_path))
                    self.assertEqual(answer.headers["Cache-Control"], "no-store")
                    self.assertNotIn(token, str(answer.headers))
                    cookie = cookie_of(answer)
        for path in ("/runs", "/p/q/runs", "/data/plugin/profile/runs", "/", "/metrics",
                     "/data?run=one&tag=kernel_stats"):
            self.assertEqual(server.get(path, {"Cookie": "a=b; " + cookie}).status, 200, path)
            self.assertEqual(server.get(path, {"Authorization": "Bearer " + token}).status, 200)
            self.assertEqual(server.get(path, {"Authorization": "Bearer " + token},
                                        method="HEAD").status, 200)
            self.assertEqual(server.get(path).status, 401, path)
            self.assertEqual(server.get(path, {"Cookie": cookie + "x"}).status, 401)
        # A prefix without its slash holds nothing secret, and keeps what follows.
        answer = server.get("/data/plugin/profile?token=" + token)
        self.assertEqual((answer.status, answer.headers["Location"]),
                         (308, "profile/?token=" + token))
        for path in ("/healthz", "/icon.svg", "/sign_in.css"):
            self.assertIn(server.get(path).status, (200, 404), path)
        self.assertCode(server.get("/sign_in.html", {"Cookie": cookie}), 404, "not_found")
        # Nothing of all that is in the log.
        self.eventually(lambda: "sign_in.html" in server.log() and " 303 " in server.log())
        self.assertNotIn(token, server.log())
        self.assertNotIn(cookie.split("=")[1], server.log())
        self.assertIn("GET /p/q/?x=1&token=*** 303", server.log())

    def test_what_is_not_let_in(self):
        server = self.wide()
        answer = server.get("/runs")
        self.assertEqual(answer.headers["WWW-Authenticate"], 'Bearer realm="tfprof"')
        self.assertEqual(answer.headers["Cache-Control"], "no-store")
        self.assertCode(answer, 401, "unauthorized")
        for headers in ({"Cookie": "tfprof_%d=" % server.port}, {"Cookie": "tfprof_%d" % server.port},
                        {"Cookie": ";;=;" * 50}, {"Authorization": "Basic " + server.token},
                        {"Authorization": server.token}, {"Cookie": "token=" + server.token}):
            self.assertCode(server.get("/runs", headers), 401, "unauthorized")
        # Nor is a POST read before it is known whose it is.
        answer = server.get("/capture_profile?token=" + server.token,
                            {"Content-Type": "application/json"}, method="POST", body=b"{}")
        self.assertCode(answer, 401, "unauthorized")

    def test_page(self):
        server = self.wide()
        answer = server.get("/", HTML)
        self.assertEqual(answer.status, 401)
        if answer.headers["Content-Type"] == "application/json":
            self.skipTest("built without the page")
        self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn(b"<form method=\"post\">", answer.body)
        self.assertNotIn(b"{{", answer.body)
        self.assertIn("form-action 'self'", answer.headers["Content-Security-Policy"])
        self.assertIn(b"not the token", server.get("/?token=wrong", HTML).body)
        # Programs are told by JSON, and so is whoever opens an address of the API.
        self.assertCode(server.get("/runs", HTML), 401, "unauthorized")

    def test_form(self):
        server = self.wide()

        def enter(token, path="/", **headers):
            body = urllib.parse.urlencode({"token": token}).encode()
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            return server.get(path, {"Content-Type": "application/x-www-form-urlencoded", **headers},
                              method="POST", body=body)
        answer = enter(server.token, Origin="http://127.0.0.1:%d" % server.port)
        self.assertEqual((answer.status, answer.headers["Location"]), (303, "./"))
        self.assertEqual(server.get("/runs", {"Cookie": cookie_of(answer)}).status, 200)
        self.assertCode(enter("wrong"), 401, "unauthorized")
        self.assertCode(enter(""), 401, "unauthorized")
        self.assertCode(enter(server.token, Origin="http://evil.example"), 403, "forbidden")
        self.assertCode(enter(server.token, Origin="null"), 403, "forbidden")
        self.assertCode(enter(server.token, Sec_Fetch_Site="cross-site"), 403, "forbidden")
        self.assertEqual(enter("x" * 100000).status, 413)
        self.assertEqual(enter("%", path="/runs").status, 405)
        self.assertEqual(self.serve().get("/", method="POST", body=b"token=x").status, 405)

    def test_guessing_is_bounded(self):
        server = self.wide()
        cookie = cookie_of(server.get("/?token=" + server.token))
        statuses = [server.get("/runs", {"Authorization": "Bearer guess%d" % i}).status
                    for i in range(30)]
        self.assertEqual(statuses[:20], [401] * 20)
        self.assertLessEqual(set(statuses), {401, 429})
        for _ in range(1000):  # time goes on, and allows one more now and then
            answer = server.get("/runs", {"Authorization": "Bearer guess"})
            if answer.status == 429:
                break
        self.assertEqual(answer.status, 429)
        self.assertGreater(int(answer.headers["Retry-After"]), 0)
        # A session that exists goes on.
        self.assertEqual(server.get("/runs", {"Cookie": cookie}).status, 200)
        self.assertEqual(server.log().count("a wrong token from 127.0.0.1"),
                         server.log().count("wrong token"))
        self.assertNotIn("guess", server.log())

    def test_sessions_end_with_the_server(self):
        path = self.path("token")
        first = self.wide("--token-file", path)
        with open(path, encoding="ascii") as f:
            token = f.read().strip()
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertIsNone(first.token)  # it is in a file, not in somebody's journal
        self.assertNotIn(token, first.log())
        port, cookie = first.port, cookie_of(first.get("/?token=" + token))
        first.stop()
        second = self.serve("--host", "0.0.0.0", "--token-file", path, self.folder, port=str(port))
        second.host = "127.0.0.1"
        self.assertEqual(second.get("/runs", {"Cookie": cookie}).status, 401)
        self.assertEqual(second.get("/runs", {"Authorization": "Bearer " + token}).status, 200)

    def test_token_files(self):
        path = self.path("token")
        for text, mode, words in (("x" * 32, 0o644, "others can read"),
                                  ("short", 0o600, "16 to 256"), ("", 0o600, "16 to 256"),
                                  ("a b" * 9, 0o600, "16 to 256")):
            write(path, text.encode())
            os.chmod(path, mode)
            with self.subTest(text=text, mode=mode):
                done = subprocess.run([support.SERVER, "--port", "0", "--token-file", path, self.folder],
                                      capture_output=True, text=True, timeout=support.PATIENCE)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(words, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_a_token_file_of_somebody_else(self):
        path = self.path("token")
        write(path, b"x" * 32)
        os.chmod(path, 0o600)
        os.chown(path, 65534, -1)
        done = subprocess.run([support.SERVER, "--port", "0", "--token-file", path, self.folder],
                              capture_output=True, text=True, timeout=support.PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("belongs to somebody else", done.stderr)

    def test_usage(self):
        for args in (["--auth", "basic"], ["--auth", "none", "--token-file", "x"],
                     ["--listen", "tcp:1"], ["--listen", "unix:"],
                     ["--listen", "unix:a", "--port", "1"], ["--listen", "unix:a", "--host", "::"],
                     ["--tls-cert", "a"], ["--tls-key", "a"],
                     ["--listen", "unix:a", "--tls-cert", "a", "--tls-key", "b"],
                     ["--allowed-host", "a:1"], ["--allowed-host", ""],
                     ["--allow-embed", "*"], ["--allow-embed", "https://a;script-src"]):
            with self.subTest(args=args):
                done = subprocess.run([support.SERVER, *args, self.folder],
                                      capture_output=True, text=True, timeout=support.PATIENCE)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)


class Names(AccessCase):
    """DNS rebinding: a page of evil.example, whose name was made to point here."""

    def test_on_this_machine(self):
        server = self.serve("--allowed-host", "portal.example,*.node.example", self.folder)
        own = socket.gethostname()
        for host in ("localhost:6006", "127.0.0.1", "[::1]:1", "a.localhost", "portal.example:443",
                     "Trainer.Node.Example", own):
            self.assertEqual(server.get("/runs", {"Host": host}).status, 200, host)
        for host in ("evil.example", "evil.example:%d" % server.port, "node.example",
                     "portal.example.evil", "127.0.0.1.evil.example", "localhost.evil.example",
                     "-"):
            for path in ("/runs", "/", "/main.js", "/healthz", "/data/plugin/profile", "/nothing"):
                with self.subTest(host=host, path=path):
                    self.assertCode(server.get(path, {"Host": host}), 403, "forbidden")
        self.assertCode(server.get("/runs", {"Host": "[::1].evil"}), 400, "bad_query")
        # Browsers never leave it out, old programs do.
        self.assertEqual(server.raw(b"GET /runs HTTP/1.0\r\n\r\n"), 200)
        self.assertEqual(server.raw(b"POST /capture_cancel HTTP/1.0\r\nContent-Type: application/json"
                                    b"\r\nContent-Length: 2\r\n\r\n{}"), 403)

    def test_with_a_token(self):
        # There the cookie is bound to the name.
        server = self.wide()
        bearer = {"Authorization": "Bearer " + server.token}
        self.assertEqual(server.get("/runs", {"Host": "any.example", **bearer}).status, 200)
        strict = self.wide("--allowed-host", "portal.example")
        bearer = {"Authorization": "Bearer " + strict.token}
        self.assertEqual(strict.get("/runs", {"Host": "portal.example", **bearer}).status, 200)
        self.assertCode(strict.get("/runs", {"Host": "any.example", **bearer}), 403, "forbidden")

    def test_without_a_token(self):
        server = self.wide("--auth", "none")
        self.assertEqual(server.get("/runs").status, 200)
        self.assertCode(server.get("/runs", {"Host": "evil.example"}), 403, "forbidden")


class OtherSites(AccessCase):
    def test_headers(self):
        server = self.serve()
        for path in ("/", "/runs", "/nothing", "/data?run=one&tag=kernel_stats"):
            headers = server.get(path).headers
            policy = dict(part.strip().split(" ", 1)
                          for part in headers["Content-Security-Policy"].split(";"))
            self.assertEqual(policy["default-src"], "'none'")
            self.assertEqual(policy["script-src"], "'self'")
            self.assertEqual(policy["style-src"], "'self'")
            self.assertEqual(policy["connect-src"], "'self'")
            for name in ("object-src", "base-uri", "form-action", "frame-ancestors"):
                self.assertEqual(policy[name], "'none'", name)
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["X-Frame-Options"], "DENY")
            self.assertEqual(headers["Cross-Origin-Opener-Policy"], "same-origin")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertIn("camera=()", headers["Permissions-Policy"])

    def test_page_has_nothing_inline(self):
        server = self.serve("--auth", "token", self.folder)
        pages = [server.get("/", HTML), server.get("/", {"Authorization": "Bearer " + server.token})]
        if pages[0].headers["Content-Type"] == "application/json":
            self.skipTest("built without the page")
        for page in pages:
            text = page.body.decode()
            self.assertNotRegex(text, r"<script(?![^>]* src=)[^>]*>")
            self.assertNotRegex(text, r"<style|\sstyle=|\son\w+=|javascript:")

    def test_framing(self):
        server = self.serve("--allow-embed", "https://portal.example,https://*.b.example:8443",
                            self.folder)
        headers = server.get("/").headers
        self.assertTrue(headers["Content-Security-Policy"].endswith(
            "frame-ancestors https://portal.example https://*.b.example:8443"))
        self.assertIsNone(headers["X-Frame-Options"])

    def test_reading_by_other_sites(self):
        server = self.serve()
        cross = {"Sec-Fetch-Site": "cross-site"}
        self.assertCode(server.get("/runs", {**cross, "Sec-Fetch-Mode": "no-cors"}), 403, "forbidden")
        self.assertEqual(server.get("/", {**cross, "Sec-Fetch-Mode": "navigate"}).status, 200)
        self.assertEqual(server.get("/runs", {"Sec-Fetch-Site": "same-origin"}).status, 200)
        self.assertIsNone(server.get("/runs", {"Origin": "https://a.example"})
                          .headers["Access-Control-Allow-Origin"])

    def test_changing_by_other_sites(self):
        server = self.serve("--capture-get", self.folder)
        address = "/capture_profile?service_addr=127.0.0.1:1&duration=1"
        for headers in ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
                        {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"},
                        {"Origin": "null"}, {"Host": "evil.example"}):
            for path, method, body in ((address, "GET", None), ("/capture_profile", "POST", b"{}"),
                                       ("/capture_cancel", "POST", b"{}")):
                with self.subTest(headers=headers, path=path, method=method):
                    answer = server.get(path, {"Content-Type": "application/json", **headers},
                                        method=method, body=body)
                    self.assertCode(answer, 403, "forbidden")


class Paths(AccessCase):
    """What lies outside the log directory is not others' business."""

    def everything(self, server):
        ask = {"Authorization": "Bearer %s" % server.token}
        yield from (server.get(path, ask).body.decode() for path in (
            "/run_list", "/capture_status", "/run_info?run=one", "/diagnostics?run=one",
            "/diagnostics?run=bad", "/data?run=bad&tag=kernel_stats", "/run_info?run=bad",
            "/data?run=none&tag=kernel_stats", "/healthz", "/metrics"))

    def test_hidden_from_others(self):
        write(self.path("plugins/profile/bad/x.xplane.pb"), b"no capture" * 20)
        os.symlink("/etc", self.path("plugins/profile/out"))
        os.symlink(self.folder, self.folder + "-link")
        self.addCleanup(os.unlink, self.folder + "-link")
        outside = os.path.dirname(self.folder)
        for given in (self.folder, self.folder + "-link"):
            server = self.serve("--host", "0.0.0.0", given)
            server.host = "127.0.0.1"
            for text in self.everything(server):
                self.assertNotIn(outside, text)
            ask = {"Authorization": "Bearer %s" % server.token}
            self.assertEqual(server.get("/run_list", ask).json()["logdir"], os.path.basename(given))
        self.assertEqual(self.serve().json("/run_list")["logdir"], self.folder)

    def test_when_nothing_is_there(self):
        self.put_run("above", "loose")
        empty = self.path("above", "empty")
        os.makedirs(empty)
        server = self.serve("--host", "0.0.0.0", "--auth", "none", empty)
        server.host = "127.0.0.1"
        answer = server.get("/run_list")
        self.assertIsNotNone(answer.json()["problem"])
        self.assertNotIn("above", answer.body.decode())

    def test_captures_that_fail(self):
        server = self.serve("--host", "0.0.0.0", "--auth", "none", "--allow-capture", self.folder)
        server.host = "127.0.0.1"
        shutil.rmtree(self.path("plugins"))
        write(self.path("plugins"), b"a file in the way")
        answer = server.get("/capture_profile", {"Content-Type": "application/json"}, method="POST",
                            body=b'{"service_addr": "127.0.0.1:1", "duration": 1}')
        self.assertGreaterEqual(answer.status, 400)
        self.assertNotIn(os.path.dirname(self.folder), answer.body.decode())


class SocketFiles(AccessCase):
    def ask(self, path, where="/runs", **headers):
        connection = UnixConnection(path)
        try:
            connection.request("GET", where, headers=headers)
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()

    def test_serves(self):
        path = self.path("s.sock")
        old = os.umask(0)
        try:
            server = self.serve("--listen", "unix:" + path, self.folder, port=None)
        finally:
            os.umask(old)
        self.assertEqual(server.url, "unix:" + path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(self.ask(path), 200)
        self.assertEqual(self.ask(path, Host="localhost:6006"), 200)
        self.assertEqual(self.ask(path, Host="evil.example:6006"), 403)
        # A second one leaves it alone; its own goes with it.
        second = subprocess.run([support.SERVER, "--listen", "unix:" + path, self.folder],
                                capture_output=True, text=True, timeout=support.PATIENCE)
        self.assertEqual(second.returncode, 1)
        self.assertIn("a server answers there", second.stderr)
        self.assertEqual(self.ask(path), 200)
        server.stop()
        self.assertFalse(os.path.lexists(path))

    def test_what_a_dead_server_left_is_replaced(self):
        path = self.path("s.sock")
        dead = self.serve("--listen", "unix:" + path, self.folder, port=None)
        dead.process.kill()
        dead.process.wait()
        self.assertTrue(os.path.lexists(path))
        self.serve("--listen", "unix:" + path, self.folder, port=None)
        self.assertEqual(self.ask(path), 200)

    def test_other_files_stay(self):
        for make in (lambda p: write(p, b"data"), os.mkdir, os.mkfifo,
                     lambda p: os.symlink(self.path("target"), p)):
            path = self.path("thing%s" % os.urandom(4).hex())
            make(path)
            done = subprocess.run([support.SERVER, "--listen", "unix:" + path, self.folder],
                                  capture_output=True, text=True, timeout=support.PATIENCE)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("not a socket", done.stderr)
            self.assertTrue(os.path.lexists(path))

    def test_long_paths(self):
        done = subprocess.run([support.SERVER, "--listen", "unix:" + self.path("x" * 108), self.folder],
                              capture_output=True, text=True, timeout=support.PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("107", done.stderr)

    def test_token(self):
        path = self.path("s.sock")
        self.serve("--auth", "token", "--token-file", self.path("token"),
                   "--listen", "unix:" + path, self.folder, port=None)
        with open(self.path("token"), encoding="ascii") as f:
            token = f.read().strip()
        self.assertEqual(self.ask(path), 401)
        self.assertEqual(self.ask(path, Authorization="Bearer " + token), 200)

    def test_what_replaced_it_stays(self):
        path = self.path("s.sock")
        server = self.serve("--listen", "unix:" + path, self.folder, port=None)
        os.unlink(path)
        write(path, b"somebody else's")
        server.stop()
        self.assertTrue(os.path.exists(path))


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make certificates with")
class Tls(AccessCase):
    def certificate(self, name="one", kind=support.ELLIPTIC):
        return support.certificate(self.path(name), kind)

    def context(self, cert):
        return ssl.create_default_context(cafile=cert)

    def ask(self, server, context, path="/runs", **headers):
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=support.PATIENCE, context=context)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return support.Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def test_serves(self):
        cert, key = self.certificate()
        server = self.wide("--tls-cert", cert, "--tls-key", key, "--url-prefix", "/p")
        self.assertTrue(server.url.startswith("https://127.0.0.1:"), server.url)
        self.assertNotIn("not encrypted", server.log())
        context = self.context(cert)
        self.assertEqual(self.ask(server, context).status, 401)
        answer = self.ask(server, context, "/p/?token=" + server.token)
        self.assertEqual(answer.status, 303)
        self.assertTrue(answer.headers["Set-Cookie"].endswith(
            "Path=/p/; HttpOnly; SameSite=Strict; Secure"))
        bearer = {"Authorization": "Bearer " + server.token}
        # Large, compressed, streamed and waited for.
        for path in ("/runs", "/data?run=one&tag=kernel_stats&limit=0",
                     "/trace_viewer/export?run=one&format=chrome", "/main.js"):
            answer = self.ask(server, context, path, **bearer)
            self.assertIn(answer.status, (200, 404) if path == "/main.js" else (200,), path)
            self.assertTrue(answer.body)
        # Plain HTTP gets nothing there.
        with socket.create_connection(("127.0.0.1", server.port), timeout=support.PATIENCE) as s:
            s.sendall(b"GET /runs HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try:
                data = s.recv(100)
            except ConnectionResetError:
                data = b""
        self.assertNotIn(b"200 OK", data)

    def test_handshakes_that_are_never_finished(self):
        cert, key = self.certificate()
        server = self.serve("--tls-cert", cert, "--tls-key", key, "--request-timeout", "8",
                            self.folder)
        context = self.context(cert)
        # Nothing; the head of a record that never comes; half a ClientHello.
        begins = (b"", b"\x16\x03\x01\x02\x00", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(60))
        waiting = []
        for i in range(200):
            s = socket.create_connection(("127.0.0.1", server.port), timeout=support.PATIENCE)
            self.addCleanup(s.close)
            if begins[i % len(begins)]:
                s.sendall(begins[i % len(begins)])
            s.setblocking(False)
            waiting.append(s)
        served = 0

        def stays(s):
            try:
                return s.recv(1000) != b""
            except BlockingIOError:
                return True
            except OSError:
                return False

        def all_gone():
            nonlocal waiting, served
            self.assertEqual(self.ask(server, context).status, 200)
            served += 1
            waiting = [s for s in waiting if stays(s)]
            return not waiting

        self.eventually(all_gone, "clients without a handshake stay connected")
        metrics = self.ask(server, context, "/metrics").body.decode()
        closed = [line for line in metrics.splitlines() if 'reason="slow_head"' in line]
        self.assertGreaterEqual(int(closed[0].split()[-1]), 190)
        self.assertGreater(served, 1)

    def test_versions_and_ciphers(self):
        cert, key = self.certificate(kind=("rsa:2048",))
        server = self.serve("--tls-cert", cert, "--tls-key", key, self.folder)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context(cert)
            context.minimum_version = context.maximum_version = version
            self.assertEqual(self.ask(server, context).status, 200)
        for ciphers in ("AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "AES256-SHA",
                        "DHE-RSA-AES128-GCM-SHA256"):
            context = self.context(cert)
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers(ciphers + ":@SECLEVEL=0")
            with self.assertRaises(OSError, msg=ciphers):
                self.ask(server, context)
        context = self.context(cert)
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(OSError):
            self.ask(server, context)

    def test_files_that_do_not_do(self):
        cert, key = self.certificate()
        _, other = self.certificate("two")
        write(self.path("nonsense"), b"nonsense")
        encrypted = self.path("encrypted.key")
        subprocess.run(["openssl", "pkcs8", "-topk8", "-in", key, "-out", encrypted,
                        "-passout", "pass:x"], check=True, stderr=subprocess.DEVNULL, timeout=support.PATIENCE)
        for files, words in (((cert, other), "the key is not the certificate's"),
                             ((key, cert), "this is not a certificate"),
                             ((cert, cert), "this is not a private key"),
                             ((cert, self.path("nonsense")), "this is not a private key"),
                             ((cert, encrypted), "a key with a password"),
                             ((self.path("none"), key), "cannot open the certificate"),
                             ((cert, self.path("none")), "cannot open the key"),
                             ((self.folder, key), "cannot read the certificate")):
            with self.subTest(words=words):
                done = subprocess.run(
                    [support.SERVER, "--port", "0", "--tls-cert", files[0], "--tls-key", files[1],
                     self.folder], capture_output=True, text=True, timeout=support.PATIENCE)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(words, done.stderr)

    def test_open_key(self):
        cert, key = self.certificate()
        os.chmod(key, 0o644)
        server = self.serve("--tls-cert", cert, "--tls-key", key, self.folder)
        self.assertIn("warning: others can read " + key, server.log())
