# SPDX-License-Identifier: Apache-2.0
"""Summaries kept on disk: what is opened at a second visit, and what is not believed."""

import json
import os
import stat
import subprocess

import support
from support import Case, captures, put, run_cli

# Those that are made of summaries of hosts; others open the captures.
TOOLS = ("overview_page", "input_pipeline_analyzer", "framework_op_stats", "kernel_stats",
         "pod_viewer")
RUN = "many"


class Kept(Case):
    def setUp(self):
        super().setUp()
        self.logdir = self.path("logs")
        self.cache = self.path("cache")
        self.put_run("logs", "plugins/profile", RUN, hosts=3)

    def visit(self, *args, hosts=(None,), log=None, env=None):
        """The answers of a fresh server, and the captures that it opened for them."""
        args = args or ("--cache-dir", self.cache)
        server = self.serve("--verbose", *args, self.logdir, env=env)
        answers = []
        for host in hosts:
            for tool in TOOLS:
                query = {"run": RUN, "tag": tool, **({"host": host} if host else {})}
                answer = server.get("/data", **query)
                self.assertEqual(answer.status, 200, answer.body)
                answers.append(answer.body)
            # The page asks for these beside every table.
            answers.append(server.get("/diagnostics", run=RUN, host=host or "ALL_HOSTS").body)
        self.assertEqual(server.stop(), 0)
        text = server.log()
        if log is not None:
            log.append(text)
        return answers, sorted(line.split("/")[-1].split(".")[0] for line in text.splitlines()
                               if line.startswith("opening "))

    def files(self):
        return sorted(os.path.join(self.cache, name) for name in os.listdir(self.cache))

    def host_file(self, number):
        return os.path.join(self.logdir, "plugins/profile", RUN, "worker-%02d.xplane.pb" % number)

    def test_a_folder_that_others_may_write(self):
        for mode, owner in ((0o777, None), (0o770, None), (0o700, 65534)):
            if owner and os.geteuid():
                continue  # only root can give it away
            with self.subTest(mode=mode, owner=owner):
                os.makedirs(self.cache, exist_ok=True)
                os.chown(self.cache, owner or -1, -1)
                os.chmod(self.cache, mode)
                log = []
                self.visit(log=log)
                self.assertIn("where somebody else may write", log[0])
                self.assertEqual(self.files(), [])

    def test_a_second_visit_opens_no_capture(self):
        plain, opened = self.visit("--no-cache")
        self.assertEqual(opened, ["worker-00", "worker-01", "worker-02"])
        self.assertFalse(os.path.exists(self.cache))
        first, opened = self.visit()
        self.assertEqual(opened, ["worker-00", "worker-01", "worker-02"])
        log = []
        second, opened = self.visit(log=log)
        self.assertEqual(opened, [])
        self.assertIn("summary of plugins/profile/%s/worker-01.xplane.pb: from the result cache"
                      % RUN, log[0])
        self.assertEqual(first, plain)
        self.assertEqual(second, plain)
        for name in self.files():
            self.assertEqual(stat.S_IMODE(os.stat(name).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(self.cache).st_mode), 0o700)
        self.assertEqual(sorted(os.listdir(self.logdir)), ["plugins"])

    def test_other_peaks(self):
        def ridge(*peaks, cache=("--cache-dir", self.cache)):
            server = self.serve(*cache, *peaks, self.logdir)
            answer = server.get("/data", run=RUN, tag="roofline_model")
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual(server.stop(), 0)
            return json.loads(answer.body)[0]["p"], answer.headers["ETag"]

        files = []
        for number, tflops in enumerate((100, 200)):
            files.append(self.path("peaks%d" % number))
            with open(files[-1], "w", encoding="utf-8") as f:
                f.write("[*]\ntflops = %d\nhbm_gbs = 1000\n" % tflops)
        plain, plain_tag = ridge(cache=("--no-cache",))
        tags = {plain_tag}
        # Each the second time from what an earlier server kept, with others' answers between.
        for visit in range(2):
            for number, name in enumerate(files):
                have, tag = ridge("--peaks", name)
                # GFLOP/s, and FLOP/byte: GFLOP/s / (GB/s).
                self.assertEqual(float(have["peak_flop_rate"]), (100000, 200000)[number])
                self.assertEqual(float(have["hbm_ridge_point"]), (100, 200)[number])
                self.assertEqual(have["peaks_source"], "the file of --peaks")
                self.assertEqual(tag in tags, visit == 1)
                tags.add(tag)
            self.assertEqual(ridge(), (plain, plain_tag))

    def test_another_choice_of_hosts(self):
        hosts = (None, "worker-01", "worker-02")
        plain, _ = self.visit("--no-cache", hosts=hosts)
        self.visit()
        again, opened = self.visit(hosts=hosts)
        self.assertEqual(opened, [])
        self.assertEqual(again, plain)

    def test_within_one_server(self):
        server = self.serve("--verbose", "--cache-dir", self.cache, self.logdir)
        for host in ("ALL_HOSTS", "worker-00", "worker-02"):
            server.json("/data", run=RUN, tag="overview_page", host=host)
        self.assertEqual(server.log().count("opening "), 3)

    def test_a_changed_file_is_read_again(self):
        self.visit()
        put(captures(hosts=3, seed=7)[1], self.host_file(1))
        plain, _ = self.visit("--no-cache")
        again, opened = self.visit()
        self.assertEqual(opened, ["worker-01"])
        self.assertEqual(again, plain)

    def test_a_cut_file_is_read_again(self):
        self.visit()
        with open(self.host_file(2), "r+b") as f:
            f.truncate(os.path.getsize(self.host_file(2)) * 2 // 3)
        plain, _ = self.visit("--no-cache")
        again, opened = self.visit()
        self.assertEqual(opened, ["worker-02"])
        self.assertEqual(again, plain)

    def test_damaged_files_are_ignored_and_written_again(self):
        plain, _ = self.visit()
        for number, name in enumerate(self.files()):
            with open(name, "r+b") as f:
                data = bytearray(f.read())
                if number % 3 == 0:
                    data[len(data) // 2] ^= 0x10
                elif number % 3 == 1:
                    del data[len(data) // 2:]
                else:
                    data[:] = b"something else"
                f.seek(0)
                f.truncate()
                f.write(data)
        log = []
        again, opened = self.visit(log=log)
        self.assertEqual(opened, ["worker-00", "worker-01", "worker-02"])
        self.assertIn("cannot be used and is ignored", log[0])
        self.assertEqual(again, plain)
        again, opened = self.visit()
        self.assertEqual((again, opened), (plain, []))

    def test_a_file_that_is_no_capture(self):
        with open(self.host_file(1), "wb") as f:
            f.write(b"no capture at all" * 9)
        plain, _ = self.visit("--no-cache")
        self.visit()
        again, opened = self.visit()
        self.assertEqual(opened, ["worker-01"])
        self.assertEqual(again, plain)

    def test_two_servers_on_one_folder(self):
        first = self.serve("--verbose", "--cache-dir", self.cache, self.logdir)
        second = self.serve("--verbose", "--cache-dir", self.cache, self.logdir)
        query = {"run": RUN, "tag": "overview_page"}
        body = first.get("/data", **query).body
        self.assertEqual(second.get("/data", **query).body, body)
        self.assertEqual(first.log().count("opening "), 3)
        self.assertEqual(second.log().count("opening "), 0)

    def test_no_room(self):
        plain, _ = self.visit("--no-cache")
        again, _ = self.visit("--cache-dir", self.cache, "--cache-limit", "10")
        self.assertEqual(again, plain)
        self.assertEqual(os.listdir(self.cache), [])

    def test_a_folder_that_cannot_be_written(self):
        log = []
        self.visit("--cache-dir", "/dev/null/cache", log=log)
        self.assertEqual(log[0].count("going on without"), 1)

    def test_the_usual_place(self):
        place = self.path("xdg")
        self.visit("--cache-limit", "1G", env={"XDG_CACHE_HOME": place})
        self.assertEqual(len(os.listdir(os.path.join(place, "tfprof"))), 9 + len(TOOLS))
        home = self.path("home")
        self.visit("--cache-limit", "1G", env={"XDG_CACHE_HOME": "", "HOME": home})
        self.assertEqual(len(os.listdir(os.path.join(home, ".cache/tfprof"))),
                         9 + len(TOOLS))
        log = []
        self.visit("--cache-limit", "1G", env={"XDG_CACHE_HOME": "relative", "HOME": ""}, log=log)
        self.assertEqual(log[0].count("results are not kept"), 1)
        self.assertFalse(os.path.exists("relative"))

    def test_never_inside_the_log_directory(self):
        inside = os.path.join(self.logdir, "cache")
        for program in ([support.SERVER, "--port", "0", self.logdir],
                        [support.CLI, "kernel_stats", self.logdir]):
            done = subprocess.run(program + ["--cache-dir", inside], capture_output=True,
                                  timeout=support.PATIENCE, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("inside", done.stderr)
            self.assertIn("--no-cache", done.stderr)
        # The usual place may happen to be there: then nothing is kept.
        log = []
        self.visit("--cache-limit", "1G", env={"XDG_CACHE_HOME": self.logdir}, log=log)
        self.assertEqual(log[0].count("going on without"), 1)
        self.assertEqual(sorted(os.listdir(self.logdir)), ["plugins"])

    def test_command_line(self):
        args = ("overview_page", self.logdir, "-f", "json")
        plain = run_cli(*args, "--no-cache")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for _ in range(2):
            done = run_cli(*args, "--cache-dir", self.cache)
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
            self.assertEqual(done.stderr, plain.stderr)
            self.assertEqual(len(self.files()), 9)
        # Three hosts whose captures are gone from memory, not from the page.
        done = run_cli("framework_op_stats", self.logdir, "--cache-dir", self.cache)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_demonstration_keeps_nothing(self):
        place = self.path("xdg")
        server = self.serve("--demo", env={"XDG_CACHE_HOME": place})
        run = server.json("/runs")[0]
        server.get("/data", run=run, tag="overview_page")
        self.assertFalse(os.path.exists(place))
