# SPDX-License-Identifier: Apache-2.0
"""What the tests share: composing log directories, and a server to ask."""

import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

SERVER = CLI = SYNTH = PROFILER = FAULTY = DELAYS = None  # paths of the programs, set by run.py
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUN = "2026_01_15_10_00_00"
PATIENCE = 180  # machines that test are busy, and sanitizers slow: this long is never

_made = {}
_scratch = None


def scratch():
    """A folder for the whole test run, removed by cleanup()."""
    global _scratch
    if _scratch is None:
        _scratch = tempfile.mkdtemp(prefix="tfprof-http-test-")
    return _scratch


def cleanup():
    if _scratch:
        shutil.rmtree(_scratch, ignore_errors=True)


def captures(hosts=1, steps=3, seed=1):
    """Paths of composed captures, one a host; made once."""
    key = (hosts, steps, seed)
    if key not in _made:
        folder = os.path.join(scratch(), "synth-%d-%d-%d" % key)
        subprocess.run(
            [SYNTH, "-o", folder, "--run", RUN, "--hosts", str(hosts), "--steps", str(steps),
             "--events-per-step", "600", "--seed", str(seed)],
            check=True, stdout=subprocess.DEVNULL,
        )
        run = os.path.join(folder, "plugins", "profile", RUN)
        _made[key] = [os.path.join(run, name) for name in sorted(os.listdir(run))]
    return _made[key]


def put(source, target):
    """Copies a capture to a path, compressed if the name says gzip."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, "rb") as f:
        data = f.read()
    with open(target, "wb") as f:
        f.write(gzip.compress(data) if target.endswith(".gz") else data)


def write(path, data=b""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


ELLIPTIC = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def certificate(path, kind=ELLIPTIC):
    """A certificate for this machine, and its key."""
    cert, key = path + ".pem", path + ".key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-keyout", key, "-out", cert,
         "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
    os.chmod(key, 0o600)
    return cert, key


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """A running tfprof-server on a free port."""

    def __init__(self, *args, port="0", env=None, program=None, **process):
        self.errors = tempfile.TemporaryFile()
        command = [program or SERVER]
        if port is not None:
            command += ["--port", port]
        self.process = subprocess.Popen(
            command + list(args), stdout=subprocess.PIPE, stderr=self.errors,
            env={**os.environ, **({"LD_PRELOAD": DELAYS} if DELAYS else {}), **(env or {})}, **process,
        )
        self.line = self.process.stdout.readline().decode(errors="replace")
        if not self.line:
            self.process.wait()
            raise AssertionError("the server did not start: " + self.log())
        self.url = self.line.rstrip("\n").rpartition(" at ")[2]
        parts = urllib.parse.urlsplit(self.url)
        self.token = urllib.parse.parse_qs(parts.query).get("token", [None])[0]
        self.host, self.port, self.prefix = parts.hostname, parts.port, parts.path.rstrip("/")

    def connect(self, timeout=PATIENCE):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def get(self, path, headers=None, method="GET", body=None, **query):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection = self.connect()
        try:
            # Without http.client's own Accept-Encoding.
            connection.putrequest(method, path, skip_accept_encoding=True,
                                  skip_host="Host" in (headers or {}))
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            with contextlib.suppress(ConnectionError):
                connection.endheaders(body)  # a refused client may be cut off meanwhile
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def json(self, path, **query):
        answer = self.get(path, **query)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.rpartition(" ")[2])
        raise AssertionError(name + " is not counted")

    def raw(self, text):
        """Sends bytes as they are; the status of the answer."""
        with socket.create_connection((self.host, self.port), timeout=PATIENCE) as s:
            with contextlib.suppress(ConnectionError):
                s.sendall(text)  # a refused client may be cut off before all of it was read
            data = b""
            while b"\r\n" not in data:
                piece = s.recv(65536)
                if not piece:
                    return None
                data += piece
            return int(data.split()[1])

    def log_bytes(self):
        # The server writes at the offset that it shares with this file: it must not be moved.
        descriptor = self.errors.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)

    def log(self):
        return self.log_bytes().decode(errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        return self.process.returncode


class Profiler:
    """A running tests/fake_profiler: the other side of a capture."""

    def __init__(self, behave="ok", **settings):
        self.process = subprocess.Popen(
            [PROFILER, behave] + ["%s=%s" % item for item in settings.items()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.address = "127.0.0.1:%d" % self.port

    def next_request(self):
        return self.process.stdout.readline().strip()

    def stop(self):
        self.process.stdin.close()
        rest = self.process.stdout.read().splitlines()
        self.process.stdout.close()
        assert self.process.wait(PATIENCE) == 0
        return rest


class Case(unittest.TestCase):
    """A test with a folder of its own and servers that are stopped after it."""

    pause = 0.1  # seconds between two looks of eventually()

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=scratch())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def serve(self, *args, **options):
        server = Server(*(args or (self.folder,)), **options)
        self.addCleanup(self.stopped_well, server)
        return server

    def stopped_well(self, server):
        was_running = server.process.poll() is None
        code = server.stop()
        if was_running:
            self.assertEqual(code, 0, server.log())
        server.errors.close()

    def put_run(self, *parts, hosts=1, steps=3, seed=1, suffix=""):
        for source in captures(hosts, steps, seed):
            put(source, self.path(*parts, os.path.basename(source) + suffix))

    def eventually(self, check, message="it did not happen"):
        """Lists may be a second old."""
        end = time.monotonic() + PATIENCE
        while True:
            value = check()
            if value:
                return value
            if time.monotonic() > end:
                self.fail(message)
            time.sleep(self.pause)


class SharedServerCase(Case):
    """Tests that ask one server: two runs, one of them with three hosts."""

    @classmethod
    def setUpClass(cls):
        cls.logdir = tempfile.mkdtemp(dir=scratch())
        runs = os.path.join(cls.logdir, "plugins/profile")
        many = os.path.join(cls.logdir, "train/plugins/profile/many")
        for source in captures(hosts=3):
            put(source, os.path.join(many, os.path.basename(source)))
        put(captures()[0], os.path.join(runs, "one/solo.xplane.pb"))
        write(os.path.join(runs, "broken/bad.xplane.pb"), b"no capture at all" * 9)
        cls.server = Server("--url-prefix", "/some/prefix/", cls.logdir)
        cls.url_prefix = "/some/prefix"

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.server.errors.close()
        assert code == 0, "the server ended with %d" % code

    get = property(lambda self: self.server.get)
    json = property(lambda self: self.server.json)

    def assertError(self, answer, status, code):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        error = answer.json()["error"]
        self.assertEqual(error["code"], code)
        self.assertTrue(error["message"])
        return error


def run_cli(*args, **options):
    return subprocess.run([CLI] + list(args), capture_output=True, timeout=PATIENCE, **options)


def tools():
    """What `tfprof tools --format json` says of every tool, in the order of the navigation."""
    return json.loads(run_cli("tools", "--format", "json").stdout)


@contextlib.contextmanager
def occupied_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        yield s.getsockname()[1]


def documented_routes():
    with open(os.path.join(SOURCE, "docs", "api.md"), encoding="utf-8") as f:
        return re.findall(r"^## (/[\w/]*)", f.read(), re.M)
