# SPDX-License-Identifier: Apache-2.0
"""The command line: the same answers as the server's, readable ones, and errors."""

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

import support
from support import Case, SharedServerCase, captures, run_cli, write


class SameAsServer(SharedServerCase):
    def cli(self, *args):
        done = run_cli(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_same_csv(self, body, query):
        """The server's has the form of XProf's; the terminal's is for programs: the
        same values, numbers as numbers."""
        ours, theirs = (list(csv.reader(io.StringIO(text.decode())))
                        for text in (body, self.get("/data_csv" + query).body))
        self.assertEqual(len(ours), len(theirs))
        for mine, other in zip(ours, theirs):
            for cell, quoted in zip(mine, other, strict=True):
                if cell != quoted:
                    self.assertEqual(re.sub(r"^(-?\d+)\.0$", r"\1", quoted).lower(), cell)
        first = body.decode().splitlines()[1].split(",")[0]
        if ours[0][0] == "Rank":
            self.assertRegex(first, r"^\d+$")  # not quoted, no ".0"

    def test_tools(self):
        for run in ("one", "train/many"):
            for tag in ("framework_op_stats", "kernel_stats", "tf_stats"):
                with self.subTest(run=run, tag=tag):
                    query = "?run=%s&tag=%s" % (run, tag)
                    args = (tag, self.logdir, "--run", run)
                    self.assertEqual(self.cli(*args, "--format", "json"),
                                     self.get("/data" + query).body)
                    self.assertEqual(self.cli(*args, "--format=json", "--limit", "3"),
                                     self.get("/data" + query + "&limit=3").body)
                    self.assert_same_csv(self.cli(*args, "-f", "csv"), query)

    def test_one_host_at_a_time(self):
        many = ("memory_profile", self.logdir, "--run", "train/many")
        refused = run_cli(*many, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("one host at a time", refused.stderr)
        query = "?run=train/many&tag=memory_profile&host=worker-01"
        self.assertEqual(self.cli(*many, "--host", "worker-01", "-fjson"),
                         self.get("/data" + query).body)
        self.assert_same_csv(self.cli(*many, "--host", "worker-01", "-fcsv"), query)
        self.assertIn(b"gpu_host_bfc", self.cli(*many, "--host", "worker-01"))

    def test_hosts(self):
        self.assertEqual(
            self.cli("kernel_stats", self.logdir, "-r", "train/many", "-H", "worker-02", "-fjson"),
            self.get("/data?run=train/many&tag=kernel_stats&host=worker-02").body)

    def test_paths(self):
        body = self.get("/data?run=one&tag=kernel_stats").body
        run = os.path.join(self.logdir, "plugins/profile/one")
        for path in (run, os.path.join(run, "solo.xplane.pb")):
            self.assertEqual(self.cli("kernel_stats", path, "-f", "json"), body)

    def test_ls(self):
        self.assertEqual(self.cli("ls", self.logdir, "-f", "json"), self.get("/run_list").body)


class Reading(Case):
    def setUp(self):
        super().setUp()
        self.put_run("plugins/profile/a")
        self.put_run("plugins/profile/b", hosts=3)
        os.utime(self.path("plugins/profile/a/worker-00.xplane.pb"), (2e9, 2e9))

    def lines(self, *args):
        done = run_cli(*args, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_ls(self):
        lines = self.lines("ls", self.folder)
        self.assertEqual(lines[0].split(), ["run", "hosts", "size", "time", "from", "names"])
        self.assertEqual([l.split()[0] for l in lines[1:]], ["a", "b"])

    def test_info(self):
        lines = self.lines("info", self.folder)
        self.assertIn("/host:CPU", "".join(lines))
        tables = json.loads(run_cli("info", self.folder, "-f", "json").stdout)
        ids = [c["id"] for c in tables[0]["cols"]]
        for row in tables[0]["rows"]:
            plane = dict(zip(ids, (c["v"] for c in row["c"])))
            self.assertTrue(plane["plane"])
        self.assertEqual(tables[1]["rows"], [])

    def test_info_of_a_damaged_file(self):
        with open(captures()[0], "rb") as f:
            data = f.read()
        write(self.path("cut.xplane.pb"), data[: len(data) * 2 // 3])
        self.assertIn("warning", run_cli("info", self.path("cut.xplane.pb"), text=True).stdout)
        write(self.path("bad.xplane.pb"), b"nonsense")
        done = run_cli("info", self.path("bad.xplane.pb"), text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.xplane.pb: ", done.stderr)

    def test_damaged_captures(self):
        """There is an answer, and it says what is missing: status 4."""
        with open(captures()[0], "rb") as f:
            data = f.read()
        whole = self.path("w.xplane.pb")
        write(whole, data)
        packed = gzip.compress(data)
        write(self.path("cut.xplane.pb.gz"), packed[: len(packed) // 3])
        write(self.path("cut.xplane.pb"), data[: len(data) * 2 // 3])
        write(self.path("two/good.xplane.pb"), data)
        write(self.path("two/bad.xplane.pb"), b"nonsense")
        output = self.path("t.json")
        for name, word in (("cut.xplane.pb.gz", b"compressed data ends early"),
                           ("cut.xplane.pb", b"ends in the middle"), ("two", b"bad: ")):
            for args in (("kernel_stats",), ("overview_page",), ("kernel_stats", "-fcsv"),
                         ("framework_op_stats", "-fjson"), ("pod_viewer",), ("info",),
                         ("trace_export", "-o", output)):
                if name == "two" and args[0] == "trace_export":
                    continue
                with self.subTest(name=name, args=args):
                    done = run_cli(args[0], self.path(name), *args[1:])
                    self.assertEqual(done.returncode, 4, done.stderr)
                    if args[0] != "info":
                        self.assertIn(word, done.stderr)
                    good = run_cli(args[0], whole, *args[1:])
                    self.assertEqual((good.returncode, good.stderr), (0, b""))
        # The same from what was kept of an earlier visit.
        for _ in range(2):
            done = run_cli("kernel_stats", self.path("cut.xplane.pb.gz"))
            self.assertEqual(done.returncode, 4)

    def test_a_part_of_a_run_s_name(self):
        for name in ("keras/A/2023", "keras/B/2023", "jax-big", "jax-bigger"):
            self.put_run("logs/%s/plugins/profile/x" % name)
        for part, found in (("keras/A", "keras/A/2023/x"), ("A", "keras/A/2023/x"),
                            ("jax-big", "jax-big/x"), ("bigger", "jax-bigger/x"),
                            ("BIGGER", "jax-bigger/x"), ("b/2023", "keras/B/2023/x")):
            with self.subTest(part=part):
                done = run_cli("info", self.path("logs"), "-r", part, text=True)
                self.assertEqual(done.returncode, 0)
                self.assertIn("run is " + found, done.stderr)
        for part in ("keras", "2023", "x", "jax"):
            done = run_cli("info", self.path("logs"), "-r", part, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(("keras/A/2023/x" in done.stderr, "jax-bigger/x" in done.stderr),
                             (part != "jax", part in ("x", "jax")))
        done = run_cli("info", self.path("logs"), "-r", "keras/A/2023/x", text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_newest_run(self):
        done = run_cli("kernel_stats", self.folder, "-f", "json")
        self.assertIn(b"newest of 2 runs: a", done.stderr)
        named = run_cli("kernel_stats", self.folder, "-r", "a", "-f", "json")
        self.assertEqual((named.stdout, named.stderr), (done.stdout, b""))

    def test_which_run_is_the_newest(self):
        """The capture's own time, else the name's, else the files': in the list, in the
        terminal and in the API."""
        shutil.rmtree(self.path("plugins"))
        untimed = b"\x0a\x0b\x12\x09/host:CPU"
        self.put_run("plugins/profile/2031_01_01_00_00_00")  # 2026, says the capture
        write(self.path("plugins/profile/2027_05_01_10_00_00/h.xplane.pb"), untimed)
        write(self.path("plugins/profile/2021_05_01_10_00_00-again/h.xplane.pb"), untimed)
        write(self.path("plugins/profile/copied/h.xplane.pb"), untimed)
        for folder, _, files in os.walk(self.folder):
            for name in files:
                os.utime(os.path.join(folder, name), (1.83e9, 1.83e9))  # 2027-12-28
        expected = [("copied", "file"), ("2027_05_01_10_00_00", "name"),
                    ("2031_01_01_00_00_00", "capture"), ("2021_05_01_10_00_00-again", "name")]
        lines = self.lines("ls", self.folder)
        self.assertEqual([(l.split()[0], l.split()[6]) for l in lines[1:]], expected)
        server = self.serve()
        listed = server.json("/run_list")["runs"]
        self.assertEqual([(r["run"], r["time_from"]) for r in listed], expected)
        self.assertEqual(listed[2]["time_ms"], 1768471200000)
        info = server.json("/run_info?run=2031_01_01_00_00_00")
        self.assertEqual((info["time_ms"], info["time_from"]), (1768471200000, "capture"))
        done = run_cli("info", self.folder)
        self.assertIn(b"newest of 4 runs: copied", done.stderr)
        # Copied all at once, without the one that has no time of its own.
        shutil.rmtree(self.path("plugins/profile/copied"))
        self.assertIn(b"newest of 3 runs: 2027_05_01_10_00_00",
                      run_cli("info", self.folder).stderr)

    def test_tables(self):
        lines = self.lines("kernel_stats", self.folder, "-r", "b", "-n", "5")
        self.assertEqual(lines[0].split()[0], "rank")
        self.assertEqual([l.split()[0] for l in lines[1:6]], list("12345"))
        total = int(json.loads(run_cli("kernel_stats", self.folder, "-r", "b", "-fjson").stdout)
                    ["p"]["rows_total"])
        self.assertEqual(lines[6], "... and %d more rows: --limit 0 shows all" % (total - 5))
        self.assertEqual(len(self.lines("kernel_stats", self.folder, "-r", "b", "-n", "0")),
                         1 + total)

    def test_width(self):
        kernels = json.loads(run_cli("kernel_stats", self.folder, "-r", "b", "-fjson").stdout)
        ids = [c["id"] for c in kernels["cols"]]
        slowest = dict(zip(ids, (c["v"] for c in kernels["rows"][0]["c"])))
        longest = slowest["total_duration_us"]
        for width in (20, 60, 80, 100, 137):
            lines = self.lines("kernel_stats", self.folder, "-r", "b", "-w", str(width), "-n", "5")
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertIn("--width 0", " ".join(lines))
            # The times are there, and as much of the name as fits.
            self.assertIn(" total (", lines[0])
            scale = {"µs": 1, "ms": 1e3, "s": 1e6}[re.search(r"total \((.*?)\)", lines[0])[1]]
            shown = [float(part.replace(",", "")) for part in lines[1].split()
                     if re.match(r"\d+\.\d{3}$", part)]
            self.assertAlmostEqual(shown[0], longest / scale, places=3)
            name = slowest["kernel_name"]
            self.assertTrue(any(part[:4] == name[:4] for part in lines[1].split()) or width < 60)
        self.assertEqual(self.lines("kernel_stats", self.folder, "-r", "b", "-w", "0"),
                         self.lines("kernel_stats", self.folder, "-r", "b"))

    def test_terminal_width(self):
        try:
            import fcntl, pty, struct, termios
        except ImportError:
            self.skipTest("no terminals")
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
        subprocess.run([support.CLI, "kernel_stats", self.folder, "-r", "b", "-n", "5"],
                       stdout=child, check=True, timeout=support.PATIENCE)
        os.close(child)
        data = b""
        try:
            while piece := os.read(parent, 65536):
                data += piece
        except OSError:
            pass
        os.close(parent)
        lines = data.decode().splitlines()
        self.assertLessEqual(max(map(len, lines)), 90)

    def test_tools(self):
        names = [l.split()[0] for l in self.lines("tools") if not l.startswith(" ")]
        self.assertEqual(names, [tool["name"] for tool in self.serve().json("/tools")])

    def test_where_a_profiler_should_write_is_said_from_the_root(self):
        folder = tempfile.mkdtemp(dir=support.scratch())
        os.mkdir(os.path.join(folder, "runs"))
        for given in ("runs", "./runs/", "."):
            expected = os.path.join(os.path.realpath(folder), "runs" if "runs" in given else "")
            done = subprocess.run([support.CLI, "overview_page", given, "--no-cache"], cwd=folder,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            said = re.search(r'start_trace\("([^"]+)"\)', done.stderr)[1]
            self.assertTrue(os.path.isabs(said), said)
            self.assertEqual(os.path.realpath(said), os.path.realpath(expected))

    def test_help_and_version(self):
        self.assertTrue(all(len(l) <= 80 for l in self.lines("--help")))
        self.assertRegex(self.lines("--version")[0], r"^tfprof \d+\.\d+\.\d+$")

    def test_broken_pipe(self):
        done = subprocess.Popen([support.CLI, "kernel_stats", self.folder, "-r", "b", "-f", "csv"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done.stdout.close()
        self.assertEqual(done.stderr.read(), b"")
        done.stderr.close()
        self.assertEqual(done.wait(support.PATIENCE), 0)

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for args in (("ls",), ("kernel_stats", "-r", "a"), ("kernel_stats", "-r", "a", "-fjson")):
            with self.subTest(args=args), open("/dev/full", "wb") as full:
                done = subprocess.run([support.CLI, args[0], self.folder, *args[1:]], stdout=full,
                                      stderr=subprocess.PIPE, timeout=support.PATIENCE)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"cannot write", done.stderr)


def cells(table, row):
    return dict(zip((c["id"] for c in table["cols"]), (c["v"] for c in row["c"])))


class Dashboards(Case):
    """Each tool says at a terminal what its page says, in units and within the width."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.logs = tempfile.mkdtemp(dir=support.scratch())
        for run, hosts in (("one", 1), ("many", 3)):
            for source in captures(hosts):
                support.put(source, os.path.join(cls.logs, "plugins/profile", run,
                                                 os.path.basename(source)))

    def text(self, tool, run, *args):
        done = run_cli(tool, self.logs, "-r", run, *args, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def tables(self, tool, run, *args):
        return json.loads(self.text(tool, run, "-fjson", *args))

    def test_every_tool_fits(self):
        for tool in self.tools():
            for run in ("one", "many"):
                host = ("-H", "worker-01") if (tool, run) == ("memory_profile", "many") else ()
                for width in (80, 100, 200):
                    with self.subTest(tool=tool, run=run, width=width):
                        text = self.text(tool, run, "-w", str(width), *host)
                        self.assertLessEqual(max(map(len, text.splitlines())), width)
                        self.assertNotIn(text[:1], ("{", "[", ""))
                        self.assertNotRegex(text, r"\d{10}")  # raw picoseconds or bytes
                        self.assertNotIn(" \n", text)

    def tools(self):
        lines = run_cli("tools", text=True).stdout.splitlines()
        return [line.split()[0] for line in lines if not line.startswith(" ")]

    def step_ms(self, text):
        number, unit = re.search(r"Average step +([\d.]+) (\S+?),", text).groups()
        return float(number) * {"µs": 1e-3, "ms": 1, "s": 1e3}[unit]

    def test_steps(self):
        for tool, place in (("overview_page", 1), ("input_pipeline_analyzer", 1)):
            steps = self.tables(tool, "one")[place]
            times = [cells(steps, row)["stepTimeMs"] for row in steps["rows"]]
            text = self.text(tool, "one")
            self.assertAlmostEqual(self.step_ms(text), sum(times) / len(times), places=3)
            self.assertIn("%d steps" % len(times), text)
            self.assertIn(steps["p"]["input_conclusion"].split(":")[0], text)
            compute = [cells(steps, row)["deviceComputeTimeMs"] for row in steps["rows"]]
            share = 100 * sum(compute) / sum(times)
            self.assertRegex(text, r"Device compute .* %.1f %%" % share)
        self.assertAlmostEqual(self.step_ms(self.text("pod_viewer", "one")),
                               sum(times) / len(times), places=3)

    def test_input(self):
        text = self.text("input_pipeline_analyzer", "one")
        ops = self.tables("input_pipeline_analyzer", "one")[2]
        self.assertIn("Host: where the input time goes", text)
        self.assertIn(cells(ops, ops["rows"][0])["opName"], text)

    def test_hosts_of_a_pod(self):
        text = self.text("pod_viewer", "many")
        for host in ("worker-00", "worker-01", "worker-02"):
            self.assertIn(host, text)
        # Whose the verdict is comes after the verdict.
        self.assertRegex(" ".join(text.split()), r"The program is [A-Z]+ input-bound.*\. This verdict is for ")
        rows = list(csv.DictReader(io.StringIO(self.text("pod_viewer", "many", "-fcsv"))))
        document = json.loads(self.text("pod_viewer", "many", "-fjson"))
        steps = document["podStatsSequence"]["podStatsMap"]
        self.assertEqual(len(rows), sum(len(s["podStatsPerCore"]) for s in steps))
        first = steps[0]["podStatsPerCore"]["1"]
        self.assertAlmostEqual(float(rows[0]["Time (us)"]), first["totalDurationUs"], places=6)
        self.assertEqual(rows[0]["Bottleneck"], first["bottleneck"])

    def test_tracks(self):
        text = self.text("trace_viewer", "one")
        self.assertIn("trace_export", text)
        rows = list(csv.DictReader(io.StringIO(self.text("trace_viewer", "one", "-fcsv"))))
        trace = json.loads(self.text("trace_viewer", "one", "-fjson"))
        events = [e for e in trace["traceEvents"] if e]
        shown = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
        names = {e["args"]["name"] for e in events
                 if e.get("name") == "thread_name" and (e["pid"], e["tid"]) in shown}
        self.assertEqual({row["Track"] for row in rows} & names, names)
        self.assertTrue(all(0 <= float(row["Busy, of the trace"] or 0) <= 1 for row in rows))

    def test_memory(self):
        summary = list(csv.DictReader(io.StringIO(self.text("memory_profile", "one", "-fcsv"))))
        text = self.text("memory_profile", "one")
        largest = max(summary, key=lambda row: float(row["Peak memory usage, in the profile (bytes)"]))
        self.assertIn("In use at the peak of %s" % largest["Allocator"], text)
        peak = float(largest["Peak memory usage, in the profile (bytes)"])
        self.assertRegex(text, r"%.2f [MG]iB" % (peak / 1024 ** (3 if peak >= 1 << 30 else 2)))

    def test_tf_data(self):
        text = self.text("tf_data", "one")
        summary = self.tables("tf_data", "one")[2]["p"]["summary_message"]
        self.assertIn(summary[:40], text)

    def test_programs(self):
        folder = os.path.join(self.folder, "programs")
        subprocess.run([support.SYNTH, "-o", folder, "--jax"], check=True, stdout=subprocess.DEVNULL)
        for tool, words in (("modules", "executions"), ("hlo_costs", r"Program +jit_\w+\(\d+\)")):
            for width in (80, 200):
                with self.subTest(tool=tool, width=width):
                    done = run_cli(tool, folder, "-w", str(width), text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertRegex(done.stdout, words)
                    self.assertLessEqual(max(map(len, done.stdout.splitlines())), width)
        modules = json.loads(run_cli("modules", folder, "-fjson", text=True).stdout)
        busiest = cells(modules, modules["rows"][0])
        costs = json.loads(run_cli("hlo_costs", folder, "-fjson", text=True).stdout)
        self.assertEqual(cells(costs, costs["rows"][0])["program_id"], busiest["program_id"])
        self.assertEqual(len(costs["rows"]), busiest["instructions"])

    def test_csv_of_every_tool(self):
        needs = {t["name"]: t["needs"] for t in json.loads(run_cli("tools", "-fjson", text=True).stdout)}
        for tool in self.tools():
            rows = list(csv.reader(io.StringIO(self.text(tool, "one", "-fcsv"))))
            # The run has no compiled program.
            self.assertGreater(len(rows), 0 if needs[tool] == ["program"] else 1, tool)
            self.assertGreater(len(rows[0]), 2, tool)
            self.assertTrue(all(len(row) == len(rows[0]) for row in rows), tool)

    def test_why_there_is_nothing(self):
        """As the page says it."""
        untimed = self.path("plugins/profile/x/h.xplane.pb")
        write(untimed, b"\x0a\x0b\x12\x09/host:CPU")
        reasons = {t["name"]: t["reason"] for t in self.serve().json("/tools?run=x")}
        for tool, words in (("kernel_stats", reasons["kernel_stats"]),
                            ("overview_page", "No step was marked"),
                            ("pod_viewer", "No step was marked"),
                            ("input_pipeline_analyzer", "No input operation was recorded"),
                            ("framework_op_stats", "No operations were recorded"),
                            ("trace_viewer", "No events were recorded"),
                            ("memory_profile", "No allocator reported to the profiler"),
                            ("tf_data_bottleneck_analysis", "No tf.data activity was recorded")):
            with self.subTest(tool=tool):
                done = run_cli(tool, self.folder, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(words, done.stdout)


def crc32c_masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class FirstProfiler(Case):
    """The views of TensorFlow's first profiler; what they print is in tests/golden."""

    def setUp(self):
        super().setUp()
        with open(os.path.join(support.SOURCE, "tests/golden/tfprof/cases/number_formats.json"), encoding="utf-8") as f:
            self.files = {name: base64.b64decode(data) for name, data in json.load(f)["files"].items()}
        for name, data in self.files.items():
            support.write(self.path(name), data)

    def field(self, number, data):
        def varint(n):
            return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
        if isinstance(data, int):
            return varint(number << 3) + varint(data)
        return varint(number << 3 | 2) + varint(len(data)) + data

    def events(self, *events):
        out = b""
        for event in events:
            head = struct.pack("<Q", len(event))
            out += head + struct.pack("<I", crc32c_masked(head)) + event + struct.pack("<I", crc32c_masked(event))
        return out

    def test_event_files(self):
        run = self.files["run_meta_0.pb"]
        whole = self.events(self.field(3, b"brain.Event:2"), self.field(4, self.files["graph.pb"]),
                            self.field(2, 7) + self.field(8, self.field(1, b"a") + self.field(2, run)),
                            self.field(2, 7) + self.field(8, self.field(1, b"b") + self.field(2, run)))
        support.write(self.path("events"), whole + b"half a record")
        table = ("--select=bytes,micros,params,op_types,occurrence", "scope")
        apart = run_cli("--graph_path=" + self.path("graph.pb"), "--run_meta_path=%s,%s" % (
            self.path("run_meta_0.pb"), self.path("run_meta_0.pb")), *table)
        events = run_cli("--event_path=" + self.path("events"), *table)
        self.assertEqual((events.returncode, events.stdout), (0, apart.stdout))
        self.assertIn(b"byte %d on" % len(whole), events.stderr)
        # Two runs of one step are steps of their own.
        for step, lines in (("7", 1), ("8", 1), ("9", 0)):
            done = run_cli("--event_path=" + self.path("events"), "--step=" + step, "scope")
            self.assertEqual(done.stdout.count(b"_TFProfRoot"), lines)
        self.assertIn(b"Available steps: 7 8", done.stderr)

    def test_files_that_are_none(self):
        graph = "--graph_path=" + self.path("graph.pb")
        for flag in ("--graph_path", "--run_meta_path", "--op_log_path", "--event_path", "--checkpoint_path"):
            for path in (self.path("none"), self.path("events")):
                support.write(self.path("events"), b"neither this nor that")
                with self.subTest(flag=flag, path=path):
                    done = run_cli(graph, flag + "=" + path, "scope")
                    self.assertEqual((done.returncode, done.stdout), (1, b""))
                    self.assertRegex(done.stderr, rb"No such file|parse|is no")

    def test_counted_flops(self):
        support.write(self.path("g"), b"node { name: 'a' op: 'Neg' input: 'b' } node { name: 'b' attr { "
                      b"key: '_output_shapes' value { list { shape { dim { size: 1500 } } } } } }")
        graph = "--graph_path=" + self.path("g")
        self.assertIn(b"a (0/0 flops)", run_cli(graph, "--select=float_ops", "scope").stdout)
        self.assertIn(b"a (1.50k/1.50k flops)", run_cli(graph, "--preset=float_operation", "scope").stdout)


class Errors(Case):
    def test_usage(self):
        for args in (("nonsense", "."), ("ls",), ("ls", "a", "b"), ("kernel_stats",),
                     ("kernel_stats", ".", "--format", "xml"), ("ls", ".", "--limit", "x"),
                     ("ls", ".", "--width", "-1"), ("ls", ".", "--nonsense"), ("tools", "x")):
            with self.subTest(args=args):
                done = run_cli(*args)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(b"--help", done.stderr)

    def test_no_arguments(self):
        # As TensorFlow's first profiler did.
        done = run_cli()
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, run_cli("--help").stdout)

    def test_options_of_tools(self):
        self.put_run("plugins/profile/a")
        tools = json.loads(run_cli("tools", "--format", "json", text=True).stdout)
        self.assertEqual(tools, self.serve().json("/tools"))
        for tool in tools:
            shown = run_cli(tool["name"], "--help", text=True)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            words = " ".join(shown.stdout.split())
            self.assertTrue(all(len(line) < 80 for line in shown.stdout.splitlines()), shown.stdout)
            for text in [tool["summary"], *tool["aliases"]]:
                self.assertIn(text, words)
            for parameter in tool["parameters"]:
                if parameter["name"] == "format":
                    continue
                self.assertIn("--" + parameter["name"].replace("_", "-"), words)
                self.assertIn(parameter["sentence"], words)
        # An option is the parameter of the server.
        answer = self.serve().json("/data?run=a&tag=memory_profile&view=breakdown&limit=1")
        done = run_cli("memory_profile", self.folder, "--view", "breakdown", "--limit", "1",
                       "--format", "json")
        self.assertEqual(json.loads(done.stdout), answer)
        for args in (("kernel_stats", self.folder, "--view", "summary"),
                     ("ls", self.folder, "--view", "summary")):
            done = run_cli(*args)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"has no option --view", done.stderr)

    def test_failures(self):
        os.makedirs(self.path("empty"))
        self.put_run("plugins/profile/a")
        for args in (("ls", self.path("none")), ("ls", self.path("empty")),
                     ("info", self.path("empty")), ("kernel_stats", self.folder, "-r", "none"),
                     ("kernel_stats", self.folder, "-H", "none"),
                     ("overview_page", self.folder, "--step-source", "none")):
            with self.subTest(args=args):
                done = run_cli(*args)
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertTrue(done.stderr.splitlines()[-1].startswith(b"tfprof: "))
