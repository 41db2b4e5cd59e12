# SPDX-License-Identifier: Apache-2.0
"""Capturing from running programs: the command, the server's routes, what is allowed."""

import http.client
import json
import os
import resource
import signal
import subprocess
import tempfile
import time

import support
from support import Case, Profiler, captures, put, run_cli, write

MEGABYTE = 1 << 20


def sanitized():
    with open(support.CLI, "rb") as f:
        data = f.read()
    return b"__asan_init" in data or b"__tsan_init" in data


class CaptureCase(Case):
    def setUp(self):
        super().setUp()
        if not support.PROFILER:
            self.skipTest("built without libnghttp2: there is no program to capture from")

    def profiler(self, behave="ok", **settings):
        p = Profiler(behave, **settings)
        self.addCleanup(lambda: p.process.stdin.closed or p.stop())
        return p

    def files(self):
        """Everything below the log directory, hidden things too."""
        found = []
        for path, _, names in os.walk(self.folder):
            found += [os.path.relpath(os.path.join(path, n), self.folder) for n in names]
        return sorted(found)

    def leftovers(self):
        """Folders of runs, hidden ones too."""
        path = self.path("plugins/profile")
        return os.listdir(path) if os.path.isdir(path) else []


class Command(CaptureCase):
    def capture(self, *programs, args=(), code=0):
        done = run_cli("capture", ",".join(p.address for p in programs), "--logdir", self.folder,
                       "--duration", "50ms", *args, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_run_that_can_be_read(self):
        p = self.profiler(file=captures()[0])
        done = self.capture(p)
        run = done.stdout.strip()
        self.assertEqual(os.path.dirname(run), os.path.realpath(self.path("plugins/profile")))
        stored = os.path.join(run, "127.0.0.1_%d.xplane.pb" % p.port)
        with open(stored, "rb") as a, open(captures()[0], "rb") as b:
            self.assertEqual(a.read(), b.read())
        listed = json.loads(run_cli("ls", self.folder, "-f", "json").stdout)
        self.assertEqual([r["run"] for r in listed["runs"]], [os.path.basename(run)])
        self.assertEqual(listed["notes"], [])
        self.assertEqual(run_cli("kernel_stats", self.folder).returncode, 0)
        self.assertIn("stored", done.stderr)

    def test_several_at_once(self):
        programs = [self.profiler(file=c) for c in captures(hosts=3)]
        done = self.capture(*programs, args=["--name", "three"])
        self.assertEqual(len(os.listdir(done.stdout.strip())), 3)
        self.assertEqual(done.stdout.strip(), os.path.realpath(self.path("plugins/profile/three")))

    def test_options_reach_the_program(self):
        p = self.profiler()
        self.capture(p, args=["--host-level", "3", "--device-level=0", "--python-level=1",
                              "--duration", "0.12s", "--option", "a=1", "--option=b=x=y",
                              "--name", "n", "-q"])
        self.assertEqual(p.next_request(), "Profile session=n duration=120 levels=301 settings=2")

    def test_some_answer(self):
        done = self.capture(self.profiler(), self.profiler("status", status=9, message="no%20luck"),
                            code=3)
        self.assertIn("FAILED_PRECONDITION: no luck", done.stderr)
        self.assertEqual(len(os.listdir(done.stdout.strip())), 1)

    def test_none_answers(self):
        for behave, words in (("busy", "already being profiled"), ("empty", "nothing was traced"),
                              ("html", "not gRPC"), ("status", "UNKNOWN")):
            with self.subTest(behave=behave):
                done = self.capture(self.profiler(behave, status=2), code=1)
                self.assertEqual(done.stdout, "")
                self.assertIn(words, done.stderr)
                self.assertEqual(self.leftovers(), [])

    def test_an_old_program(self):
        p = self.profiler("old", disk=self.path("its"))
        done = self.capture(p, code=1)
        self.assertIn("on its own disk", done.stderr)
        self.assertIn("scp -r 127.0.0.1:", done.stderr)
        self.capture(self.profiler("old"))

    def test_interrupted(self):
        p = self.profiler()
        process = subprocess.Popen(
            [support.CLI, "capture", p.address, "-l", self.folder, "-d", "60s"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn("Profile", p.next_request())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=support.PATIENCE)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"cancelled", err)
        self.assertIn("Terminate session=", p.next_request())
        self.assertEqual(self.leftovers(), [])

    def test_500_mb_in_little_memory(self):
        size = (20 if sanitized() else 500) * MEGABYTE
        p = self.profiler(size=size)
        process = subprocess.Popen(
            [support.CLI, "capture", p.address, "-l", self.folder, "-d", "1ms", "--name", "big"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # What wait4() tells holds the memory of this program too, from before exec.
        most = 0
        while process.poll() is None:
            with open("/proc/%d/status" % process.pid) as f:
                lines = [line for line in f if line.startswith("VmHWM:")]
            most = max([most] + [int(line.split()[1]) for line in lines])
            time.sleep(0.005)
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.returncode, 0, err)
        self.assertGreater(most, 0)
        (name,) = os.listdir(self.path("plugins/profile/big"))
        self.assertEqual(os.path.getsize(self.path("plugins/profile/big", name)), size)
        print("# %d MB stored with %.1f MB of memory" % (size / MEGABYTE, most / 1024))
        if not sanitized():
            self.assertLess(most * 1024, 32 * MEGABYTE)

    def test_a_full_disk(self):
        # A limit on the size of files fails writing like a disk that is full.
        p = self.profiler(size=10 * MEGABYTE)
        done = subprocess.run(
            [support.CLI, "capture", p.address, "-l", self.folder, "-d", "1ms"],
            capture_output=True, timeout=support.PATIENCE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"free some space", done.stderr)
        self.assertEqual(self.leftovers(), [])

    def test_a_place_that_cannot_be_written_is_known_before(self):
        write(self.path("plugins"), b"a file in the way")
        p = self.profiler()
        self.assertIn("cannot", self.capture(p, code=1).stderr)
        self.assertEqual(p.stop(), [])

    def test_where_runs_go(self):
        p = self.profiler()
        for sub, expected in (("new", "new/plugins/profile/a"), ("x/plugins/profile", "x/plugins/profile/b"),
                              ("y/plugins", "y/plugins/profile/c")):
            name = expected[-1]
            if sub != "new":
                os.makedirs(self.path(sub))
            done = run_cli("capture", p.address, "-l", self.path(sub), "-d", "1ms", "--name", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.isdir(self.path(expected)))
        for bad in (self.path("x/plugins/profile/b"), self.path("no/such/place")):
            done = run_cli("capture", p.address, "-l", bad, "-d", "1ms")
            self.assertEqual(done.returncode, 1, bad)

    def test_wrong_usage(self):
        for args in (["capture"], ["capture", "localhost:1"], ["capture", "localhost", "-l", "."],
                     ["capture", "a:1", "-l", ".", "-d", "0"], ["capture", "a:1", "-l", ".", "-d", "2h"],
                     ["capture", "a:1", "b:1", "-l", "."], ["capture", "a:1", "-l", ".", "--host-level", "9"],
                     ["capture", "a:1", "-l", ".", "--option", "x"], ["capture", "--nonsense"],
                     ["monitor"], ["monitor", "a"], ["monitor", "a:1", "--level", "3"]):
            with self.subTest(args=args):
                done = run_cli(*args)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, b"")
        self.assertIn(b"--logdir", run_cli("capture", "--help").stdout)
        self.assertIn(b"--level", run_cli("monitor", "-h").stdout)

    def test_monitor(self):
        p = self.profiler(text="TPU type: TPU v2")
        done = run_cli("monitor", p.address, "-d", "10ms", text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "TPU type: TPU v2\n"))
        done = run_cli("monitor", self.profiler().address, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be monitored", done.stderr)


class ServerCase(CaptureCase):
    JSON = {"Content-Type": "application/json"}

    def post(self, server, path, document, **headers):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        return server.get(path, {**self.JSON, "Host": "127.0.0.1:%d" % server.port, **headers},
                          "POST", body)

    def start(self, server, *programs, **more):
        answer = self.post(server, "/capture_profile", {
            "service_addr": ",".join(p.address for p in programs), "duration": 50, **more})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["id"]

    def finish(self, server, number):
        def done():
            status = server.json("/capture_status", id=number)
            return status if status["done"] else None
        return self.eventually(done)

    def assertRefused(self, answer, status, code):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.json()["error"]["code"], code)
        return answer.json()["error"]["message"]


class Routes(ServerCase):
    def test_a_new_run_is_there_at_once(self):
        p = self.profiler(file=captures()[0])
        server = self.serve()
        self.assertEqual(server.json("/runs"), [])
        status = self.finish(server, self.start(server, p, host_tracer_level=3))
        self.assertIsNone(status["error"])
        (host,) = status["hosts"]
        self.assertEqual((host["target"], host["state"], host["bytes"]),
                         (p.address, "stored", os.path.getsize(captures()[0])))
        # No waiting for the next look at the folder.
        self.assertEqual(server.json("/runs"), [status["run"]])
        self.assertTrue(server.json("/data", run=status["run"], tag="kernel_stats"))
        self.assertIn("levels=310", p.next_request())

    def test_below_a_prefix_and_in_part_of_a_log_directory(self):
        p = self.profiler(file=captures()[0])
        os.makedirs(self.path("plugins/profile"))
        server = self.serve(self.path("plugins"), "--url-prefix", "/x")
        answer = self.post(server, "/x/data/plugin/profile/capture_profile",
                           {"service_addr": p.address, "duration": 20})
        status = self.finish(server, answer.json()["id"])
        self.assertIn(status["run"], server.json("/runs"))

    def test_partial_success(self):
        server = self.serve()
        good, bad = self.profiler(), self.profiler("busy")
        status = self.finish(server, self.start(server, good, bad, session="two/of them"))
        self.assertEqual(status["run"], "two_of_them")
        self.assertEqual([h["state"] for h in status["hosts"]], ["stored", "failed"])
        self.assertTrue(status["hosts"][1]["busy"])
        self.assertIsNone(status["error"])

    def test_failure(self):
        server = self.serve()
        status = self.finish(server, self.start(server, self.profiler("empty")))
        self.assertIsNone(status["run"])
        self.assertIn("nothing was traced", status["error"]["message"])
        self.assertEqual(self.leftovers(), [])

    def test_an_old_program(self):
        server = self.serve()
        status = self.finish(server, self.start(server, self.profiler("old", disk=self.path("its"))))
        self.assertEqual(status["hosts"][0]["state"], "elsewhere")
        self.assertIn("scp", status["hosts"][0]["command"])

    def test_progress_and_cancelling(self):
        p = self.profiler("drip", size=1000000, after=10, pause=20)
        server = self.serve()
        number = self.start(server, p)
        self.assertEqual(server.json("/capture_status")["running"], [number])
        self.eventually(lambda: server.json("/capture_status", id=number)["hosts"][0]["bytes"] > 50)
        status = server.json("/capture_status", id=number)
        self.assertEqual((status["done"], status["hosts"][0]["state"]), (False, "receiving"))
        self.assertEqual(self.post(server, "/capture_cancel", {"id": number}).status, 200)
        status = self.finish(server, number)
        self.assertEqual(status["hosts"][0]["state"], "cancelled")
        self.assertIn("Profile", p.next_request())
        self.assertIn("Terminate", p.next_request())
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(server.json("/capture_status")["running"], [])
        # A second time changes nothing.
        self.assertEqual(self.post(server, "/capture_cancel", {"id": number}).status, 200)

    def test_requests_that_make_no_sense(self):
        server = self.serve()
        for document in (b"", b"nonsense", b"[1]", b"{\"a\":1,\"a\":2}", {}, {"service_addr": 7},
                         {"service_addr": "nowhere"}, {"service_addr": "a:1", "duration": 0},
                         {"service_addr": "a:1", "duration": -5}, {"service_addr": "a:1", "duration": 1.5},
                         {"service_addr": "a:1", "duration": "1000"}, {"service_addr": "a:1", "delay": 1e12},
                         {"service_addr": "a:1", "num_retry": 101}, {"service_addr": "a:1", "options": []},
                         {"service_addr": "a:1", "options": {"x": [1]}}, {"service_addr": "a:1", "options": {"": 1}},
                         {"service_addr": "a:1", "host_tracer_level": 4},
                         {"service_addr": "my-tpu", "is_tpu_name": "true"},
                         {"service_addr": "a:1", "worker_list": "10.0.0.1:8466"},
                         {"service_addr": ",".join("a:%d" % n for n in range(1, 70))}):
            with self.subTest(document=document):
                self.assertRefused(self.post(server, "/capture_profile", document), 400, "bad_query")
        for document in (b"x", {"id": 99}, {"id": "1"}, {}):
            self.assertIn(self.post(server, "/capture_cancel", document).status, (400, 404))
        self.assertEqual(server.get("/capture_status?id=7").status, 404)
        self.assertEqual(server.get("/capture_status?id=x").status, 400)
        self.assertEqual(self.files(), [])

    def test_a_path_from_the_client_means_nothing(self):
        server = self.serve()
        p = self.profiler()
        outside = tempfile.mkdtemp(dir=support.scratch())
        status = self.finish(server, self.start(
            server, p, session="../../../../" + outside, repository_root=outside, logdir=outside))
        self.assertEqual(os.listdir(outside), [])
        self.assertEqual(len(self.files()), 1)
        self.assertTrue(self.files()[0].startswith("plugins/profile/" + status["run"] + "/"))

    def test_bodies_are_limited(self):
        server = self.serve()
        big = b'{"service_addr": "' + b"a" * 70000 + b'"}'
        self.assertRefused(self.post(server, "/capture_profile", big), 413, "too_large")
        connection = server.connect()
        try:
            # Without a length, and without an end.
            connection.putrequest("POST", "/capture_profile")
            connection.putheader("Transfer-Encoding", "chunked")
            connection.putheader("Content-Type", "application/json")
            connection.endheaders()
            with self.assertRaises((ConnectionError, OSError, http.client.HTTPException)):
                for _ in range(2000):
                    connection.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
                connection.getresponse()
        finally:
            connection.close()
        self.assertEqual(server.get("/healthz").status, 200)

    def test_methods(self):
        server = self.serve()
        for path, method, allow in (("/capture_cancel", "GET", "POST"),
                                    ("/capture_status", "POST", "GET, HEAD"),
                                    ("/capture_profile", "PUT", "GET, POST"),
                                    ("/capture_profile", "HEAD", "GET, POST")):
            answer = server.get(path, method=method)
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, allow), path)

    def test_a_few_at_a_time(self):
        server = self.serve()
        programs = [self.profiler("hang") for _ in range(5)]
        numbers = [self.start(server, p) for p in programs[:4]]
        answer = self.post(server, "/capture_profile", {"service_addr": programs[4].address})
        self.assertRefused(answer, 503, "busy")
        # They keep nobody else waiting.
        self.assertEqual(server.json("/runs"), [])
        for number in numbers:
            self.post(server, "/capture_cancel", {"id": number})
        for number in numbers:
            self.finish(server, number)
        self.finish(server, self.start(server, self.profiler()))

    def test_old_ones_are_forgotten(self):
        server = self.serve()
        p = self.profiler("status", status=13)
        numbers = []
        for _ in range(18):
            numbers.append(self.start(server, p, duration=1))
            self.finish(server, numbers[-1])
        self.assertEqual(server.get("/capture_status?id=%d" % numbers[0]).status, 404)
        self.assertEqual(server.get("/capture_status?id=%d" % numbers[-1]).status, 200)

    def test_stopping_the_server_ends_captures(self):
        server = self.serve()
        p = self.profiler("drip", size=1000000, after=10, pause=20)
        number = self.start(server, p)
        self.eventually(lambda: server.json("/capture_status", id=number)["hosts"][0]["bytes"] > 0)
        self.assertEqual(server.stop(), 0, server.log())
        self.assertEqual(self.leftovers(), [])
        self.assertIn("Terminate", "".join(p.stop()))

    def test_a_path_that_is_no_utf_8(self):
        folder = os.path.join(os.fsencode(self.folder), b"bad\xff")
        os.mkdir(folder)
        server = self.serve(folder)
        self.assertIn("bad\ufffd", server.json("/capture_status")["logdir"])
        status = self.finish(server, self.start(
            server, self.profiler("old", disk=self.path("its"))))
        self.assertIn("bad\ufffd", status["hosts"][0]["message"])
        self.finish(server, self.start(server, self.profiler()))

    def test_one_file_is_no_place_for_runs(self):
        put(captures()[0], self.path("one.xplane.pb"))
        server = self.serve(self.path("one.xplane.pb"))
        overview = server.json("/capture_status")
        self.assertEqual((overview["allowed"], overview["reason"]["code"]), (False, "bad_query"))
        self.assertRefused(self.post(server, "/capture_profile", {"service_addr": "a:1"}),
                           400, "bad_query")


class Allowed(ServerCase):
    def try_one(self, server, **headers):
        return self.post(server, "/capture_profile",
                         {"service_addr": "127.0.0.1:1", "duration": 1}, **headers)

    def test_only_our_own_page(self):
        server = self.serve()
        own = "http://127.0.0.1:%d" % server.port
        self.assertEqual(self.try_one(server, Origin=own, Sec_Fetch_Site="same-origin").status, 200)
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Origin": "http://127.0.0.1:1"}, {"Sec_Fetch_Site": "cross-site"},
                        {"Host": "evil.example"}):
            with self.subTest(headers=headers):
                self.assertRefused(self.try_one(server, **headers), 403, "forbidden")
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            self.assertRefused(self.try_one(server, Content_Type=kind), 400, "bad_query")
        # Nor may other sites cancel.
        self.assertRefused(self.post(server, "/capture_cancel", {"id": 1}, Origin="http://evil.example"),
                           403, "forbidden")
        self.assertEqual(server.get("/capture_profile", method="OPTIONS").status, 405)

    def test_off_when_others_can_reach_the_server(self):
        server = self.serve("--host", "0.0.0.0", "--auth", "none", self.folder)
        server.host = "127.0.0.1"
        self.assertIn("--allow-capture", self.try_one(server).json()["error"]["hint"])
        self.assertRefused(self.try_one(server), 403, "forbidden")
        overview = server.json("/capture_status")
        self.assertEqual((overview["allowed"], overview["reason"]["code"]), (False, "forbidden"))
        self.assertEqual(self.leftovers(), [])
        server = self.serve("--host", "0.0.0.0", "--auth", "none", "--allow-capture",
                            "--allowed-host", "trainer.example", self.folder)
        server.host = "127.0.0.1"
        self.assertEqual(self.try_one(server).status, 200)
        self.assertEqual(self.try_one(server, Host="trainer.example").status, 200)
        self.assertRefused(self.try_one(server, Host="other.example"), 403, "forbidden")
        self.assertRefused(self.try_one(server, Origin="http://evil.example"), 403, "forbidden")

    def test_targets(self):
        p = self.profiler()
        server = self.serve("--capture-allow", "trainer:6009,%s,[::1]" % p.address, self.folder)
        self.assertEqual(server.json("/capture_status")["targets"],
                         ["trainer:6009", p.address, "[::1]"])
        self.finish(server, self.start(server, p))
        for address in ("127.0.0.1:%d" % (p.port - 1), "localhost:%d" % p.port, "169.254.169.254:80",
                        p.address + ",other:1"):
            answer = self.post(server, "/capture_profile", {"service_addr": address})
            self.assertRefused(answer, 403, "forbidden")
        for bad in ("", "a:", "a b", "http://x"):
            done = subprocess.run([support.SERVER, "--capture-allow", bad, self.folder],
                                  capture_output=True, timeout=support.PATIENCE)
            self.assertEqual(done.returncode, 2, bad)

    def test_xprof_s_form(self):
        p = self.profiler(file=captures()[0])
        path = "/data/plugin/profile/capture_profile"
        query = {"service_addr": "grpc://" + p.address, "is_tpu_name": "false", "duration": "30",
                 "num_retry": "3", "worker_list": "", "host_tracer_level": "2",
                 "device_tracer_level": "1", "python_tracer_level": "0", "delay": "0"}
        off = self.serve()
        self.assertRefused(off.get(path, **query), 403, "forbidden")
        on = self.serve("--capture-get", self.folder)
        answer = on.get(path, **query)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertIn("successfully", answer.json()["result"])
        self.assertEqual(len(on.json("/runs")), 1)
        self.assertRefused(on.get(path, {"Sec-Fetch-Site": "cross-site"}, **query), 403, "forbidden")
        self.assertRefused(on.get(path, **dict(query, duration="x")), 400, "bad_query")
        answer = on.get(path, **dict(query, service_addr="127.0.0.1:1", num_retry="0"))
        self.assertEqual(answer.status, 500)
        self.assertIn("no connection", answer.json()["error"]["message"])
