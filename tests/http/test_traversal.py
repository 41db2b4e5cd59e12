# SPDX-License-Identifier: Apache-2.0
"""Ways out of the log directory: names in requests, links, and what changes in between."""

import ctypes
import json
import os
import platform
import shutil
import socket
import struct
import threading

import support
from support import Case, Server, captures, put, write

SECRET = b"a secret that is outside"
OPENAT2 = 437  # the same number on all machines of this age

# What a name could be that is to lead from <logs>/plugins/profile/real to <outside>, where
# there is a capture.
SPELLINGS = [
    "..", "../..", "../../..", "../../../outside", "../../../../outside",
    "real/../../../../outside", "./../../../outside", ".//..//..//../outside",
    "/", "/etc", "/etc/passwd", "//etc/passwd", "///etc/passwd", "{outside}", "/{outside}",
    "{outside}/worker-00.xplane.pb", "file://{outside}", "~", "~root", "~/../outside",
    "..%2f..%2f..%2foutside", "..%252f..%252foutside", "%2e%2e/%2e%2e/outside",
    "%2e%2e%2f%2e%2e%2foutside", "%252e%252e%252foutside", "..%5c..%5coutside",
    "..\\..\\..\\outside", "..\\/..\\/outside", "C:\\outside", "\\\\outside\\share",
    "....//....//outside", "..;/..;/outside", "..%00/outside", "real%00/../../outside",
    "real%0a", "real%0d%0a", "%c0%ae%c0%ae/%c0%ae%c0%ae/outside", "..%c0%af..%c0%afoutside",
    "%e0%80%ae%e0%80%ae/outside", "%uff0e%uff0e/outside", "..%ef%bc%8foutside",
    "\u2025/outside", "\uff0e\uff0e/outside", "real/", "/real", "real/.", "./real",
    "real/worker-00.xplane.pb", "plugins/profile/real/../../../../outside", "-", "*", "?",
    "real*", "[r]eal", "$HOME", "`id`", "$(id)", "%s%s%s%n", "A" * 5000,
    "../" * 1000 + "etc/passwd", "proc/self/root/etc/passwd", "/proc/self/environ", "/dev/zero",
    "/dev/stdin",
]


def quote(text):
    """As a client sends it that encodes nothing but what would end the line."""
    return "".join(c if " " < c < "\x7f" and c not in "#&+" else
                   "".join("%%%02X" % b for b in c.encode()) for c in text)


def without_openat2():
    """In a child before exec: the kernel has no openat2, as before 5.6 and in sandboxes."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Load the number of the call; if it is openat2 then ENOSYS, else allow.
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, OPENAT2), (0x06, 0, 0, 0x00050000 | 38),
            (0x06, 0, 0, 0x7FFF0000)]
    filters = ctypes.create_string_buffer(
        b"".join(struct.pack("HBBI", *instruction) for instruction in code))

    class Program(ctypes.Structure):
        _fields_ = [("size", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    program = Program(len(code), ctypes.addressof(filters))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter for system calls")


class Outside(Case):
    """One run inside, and beside the log directory a capture and a text."""

    options = {}

    def setUp(self):
        super().setUp()
        self.logs = self.path("logs")
        self.outside = self.path("outside")
        self.real = os.path.join(self.logs, "plugins/profile/real")
        put(captures()[0], os.path.join(self.real, "worker-00.xplane.pb"))
        put(captures(seed=2, steps=4)[0], self.path("outside/worker-00.xplane.pb"))
        put(captures(seed=2, steps=4)[0], self.path("outside/plugins/profile/real/worker-00.xplane.pb"))
        write(self.path("outside/secret.txt"), SECRET)
        write(os.path.join(self.logs, "notes.txt"), SECRET)
        self.server = self.serve("--verbose", "--cache-dir", self.path("cache"), self.logs,
                                 **self.options)

    def ask(self, target):
        """An answer to a request line as it stands: status and body."""
        with socket.create_connection((self.server.host, self.server.port), timeout=support.PATIENCE) as s:
            s.sendall(("GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % target).encode())
            data = b""
            while True:
                piece = s.recv(1 << 16)
                if not piece:
                    break
                data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else None, body

    def refused(self, target):
        status, body = self.ask(target)
        self.assertIn(status, (400, 404, 405, 414, 431), (target, status, body[:300]))
        self.assertNotIn(SECRET, body)
        return body

    def alive(self):
        self.assertEqual(self.server.get("/data?run=real&tag=kernel_stats").status, 200)


class Names(Outside):
    def names(self):
        for spelling in SPELLINGS:
            yield quote(spelling.replace("{outside}", self.outside))

    def test_runs(self):
        for name in self.names():
            for route in ("/data?tag=kernel_stats&run=%s", "/data_csv?tag=overview_page&run=%s",
                          "/diagnostics?run=%s", "/run_info?run=%s", "/trace_viewer/export?run=%s"):
                self.refused(route % name)
        self.alive()

    def test_hosts(self):
        for name in self.names():
            self.refused("/data?run=real&tag=kernel_stats&host=" + name)
            self.refused("/data?run=real&tag=trace_viewer&hosts=" + name)
            self.refused("/data?run=real&tag=trace_viewer&hosts=worker-00," + name)
        self.alive()

    def test_tools(self):
        for name in self.names():
            self.refused("/data?run=real&tag=" + name)
            # As XProf has it, what is no tool's name is none: the list is the run's.
            status, body = self.ask("/hosts?run=real&tag=" + name)
            if status == 200:
                self.assertEqual(json.loads(body), [{"hostname": "worker-00"}], name)
            else:
                self.assertIn(status, (400, 414, 431), name)
        self.alive()

    def test_paths(self):
        for name in self.names():
            if not name.startswith("/"):
                name = "/" + name
            status, body = self.ask(name)
            # Some are the page itself, with a query.
            if name.split("?")[0] != "/":
                self.assertIn(status, (400, 404, 405, 414, 431), (name, status, body[:300]))
            self.assertNotIn(SECRET, body)
            self.assertNotIn(b"root:", body)
        self.alive()

    def test_no_folder_and_no_file_is_shown(self):
        for path in ("/plugins", "/plugins/", "/plugins/profile/", "/plugins/profile/real/",
                     "/plugins/profile/real/worker-00.xplane.pb", "/notes.txt", "/logs/",
                     "/data/plugin/profile/plugins/", "/data/plugin/profile/notes.txt",
                     "/index.html/..", "/index.html/../notes.txt", "/../notes.txt"):
            self.refused(path)

    def test_nothing_outside_was_opened(self):
        for name in self.names():
            self.ask("/data?tag=kernel_stats&run=" + name)
        self.alive()
        self.assertEqual(self.server.stop(), 0)
        opened = [line for line in self.server.log().splitlines() if line.startswith("opening ")]
        self.assertEqual(opened, ["opening plugins/profile/real/worker-00.xplane.pb"])


class Swapped(Outside):
    """The run's folder is the folder in one moment and a link out in the next."""

    def test_between_check_and_use(self):
        query = "/data?run=real&tag=overview_page"
        right = self.server.get(query).body
        self.serve_elsewhere()
        wrong = self.elsewhere.get(query).body
        self.assertNotEqual(right, wrong)
        stop = threading.Event()

        def swap():
            aside = self.real + "-aside"
            while not stop.is_set():
                os.rename(self.real, aside)
                os.symlink(os.path.join(self.outside, "plugins/profile/real"), self.real)
                os.remove(self.real)
                os.rename(aside, self.real)
                # Another state of the file, so that it is opened each time.
                os.utime(os.path.join(self.real, "worker-00.xplane.pb"))

        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            seen = set()
            for _ in range(60):
                answer = self.server.get(query)
                seen.add(answer.status)
                self.assertNotEqual(answer.body, wrong)
                if answer.status == 200:
                    self.assertEqual(answer.body, right)
                else:
                    self.assertEqual(answer.status, 404, answer.body)
        finally:
            stop.set()
            swapper.join()
        self.eventually(lambda: self.server.get(query).body == right)

    def serve_elsewhere(self):
        self.elsewhere = Server("--no-cache", self.outside)
        self.addCleanup(self.stopped_well, self.elsewhere)

    def test_a_link_in_the_middle(self):
        moved = os.path.join(self.logs, "plugins-away")
        self.assertEqual(self.server.json("/runs"), ["real"])
        os.rename(os.path.join(self.logs, "plugins"), moved)
        os.symlink(os.path.join(self.outside, "plugins"), os.path.join(self.logs, "plugins"))
        answer = self.server.get("/data?run=real&tag=kernel_stats")
        self.assertEqual(answer.status, 404, answer.body)
        self.assertNotIn(self.outside.encode(), answer.body)

    def test_other_kinds_of_file(self):
        path = os.path.join(self.real, "worker-00.xplane.pb")
        self.assertEqual(self.server.json("/runs"), ["real"])
        for make in (os.mkdir, os.mkfifo, lambda p: os.symlink("/dev/zero", p),
                     lambda p: os.symlink("/proc/self/environ", p),
                     lambda p: os.symlink(p, p)):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
            make(path)
            self.assertIn(self.server.get("/data?run=real&tag=kernel_stats").status, (404, 500))
        self.assertEqual(self.server.get("/healthz").status, 200)


class WithoutOpenat2:
    """The same where files are opened component by component."""

    options = {"preexec_fn": without_openat2}

    def setUp(self):
        if platform.machine() not in ("x86_64", "aarch64"):
            self.skipTest("the number of openat2 is not known here")
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    without_openat2()
                    os._exit(0)
                except BaseException:
                    os._exit(1)
            filtered = os.waitpid(pid, 0)[1] == 0
        except OSError:
            filtered = False
        if not filtered:
            self.skipTest("no filter for system calls can be set here")
        super().setUp()


class NamesWithoutOpenat2(WithoutOpenat2, Names):
    pass


class SwappedWithoutOpenat2(WithoutOpenat2, Swapped):
    pass
