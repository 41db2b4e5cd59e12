# SPDX-License-Identifier: Apache-2.0
"""What a directory may look like, and how it may change under the server."""

import concurrent.futures
import os
import shutil
import struct
import time

from support import Case, captures, put, run_cli, write
from test_cli import crc32c_masked


class Kinds(Case):
    """Everything that may be given as DIR."""

    def runs(self, *parts, args=()):
        return self.serve(*args, self.path(*parts)).json("/runs")

    def usable(self, server, run):
        return server.get("/data", run=run, tag="kernel_stats").status == 200

    def test_log_directory(self):
        self.put_run("plugins/profile/b")
        self.put_run("plugins/profile/a")
        self.put_run("train/x/plugins/profile/c")
        self.assertEqual(self.runs(), ["train/x/c", "b", "a"])

    def test_plugins_folders(self):
        self.put_run("logs/plugins/profile/b")
        self.put_run("logs/plugins/profile/a")
        self.assertEqual(self.runs("logs/plugins/profile"), ["b", "a"])
        self.assertEqual(self.runs("logs/plugins"), ["b", "a"])
        self.assertEqual(self.runs("logs"), ["b", "a"])
        self.assertEqual(self.runs("logs/plugins/profile/b/"), ["b"])

    def test_one_file(self):
        self.put_run("logs/plugins/profile/b", hosts=3)
        server = self.serve(self.path("logs/plugins/profile/b/worker-01.xplane.pb"))
        self.assertEqual(server.json("/runs"), ["b"])
        self.assertEqual(server.json("/run_list")["runs"][0]["hosts"], ["worker-01"])
        self.assertTrue(self.usable(server, "b"))

    def test_one_file_of_any_name(self):
        put(captures()[0], self.path("some.file"))
        put(captures()[0], self.path("h.xplane.pb.gz"))
        server = self.serve(self.path("some.file"))
        self.assertEqual(server.json("/runs"), ["some.file"])
        self.assertTrue(self.usable(server, "some.file"))
        server = self.serve(self.path("h.xplane.pb.gz"))
        self.assertEqual(server.json("/runs"), ["h"])
        self.assertTrue(self.usable(server, "h"))

    def test_loose_captures(self):
        self.put_run("stuff")
        self.put_run("stuff/deep/er")
        self.assertEqual(self.runs("stuff"), ["stuff", "deep/er"])
        self.assertEqual(self.runs(), ["stuff/deep/er", "stuff"])

    def test_names_stay_unique(self):
        self.put_run("plugins/profile/a")
        self.put_run("a")
        self.put_run("a/plugins/profile/b")
        self.put_run("a/b")
        server = self.serve()
        runs = server.json("/runs")
        self.assertEqual(len(set(runs)), 4)
        self.assertIn("a", runs)
        self.assertIn("a/b", runs)
        for run in runs:
            self.assertTrue(self.usable(server, run), run)

    def test_compressed(self):
        self.put_run("plugins/profile/gz", suffix=".gz")
        server = self.serve()
        self.assertEqual(server.json("/run_info", run="gz")["hosts"][0]["compression"], "gzip")
        self.put_run("plain/plugins/profile/gz")
        other = self.serve(self.path("plain"))
        query = "/data?run=gz&tag=kernel_stats"
        self.assertEqual(server.get(query).body, other.get(query).body)

    def test_plain_before_compressed(self):
        self.put_run("plugins/profile/r")
        self.put_run("plugins/profile/r", suffix=".gz")
        got = self.serve().json("/run_list")
        self.assertEqual(got["runs"][0]["files"], 1)
        self.assertIn("not used", "".join(got["notes"]))

    def test_file_without_host(self):
        put(captures()[0], self.path("plugins/profile/a/xplane.pb"))
        put(captures()[0], self.path("plugins/profile/b/xplane.pb"))
        put(captures()[0], self.path("plugins/profile/b/localhost.xplane.pb"))
        server = self.serve()
        for run in server.json("/run_list")["runs"]:
            self.assertEqual(run["hosts"], ["localhost"])
        host = server.json("/run_info", run="b")["hosts"][0]
        self.assertEqual(host["file"], "localhost.xplane.pb")

    def test_files_that_are_no_captures(self):
        self.put_run("plugins/profile/r")
        for name in ("ALL_HOSTS.op_stats_v2.pb", "worker-00.op_stats_v2.pb", "m(1).hlo_proto.pb",
                     "worker-00.SSTABLE", ".cached_tools.json", "cache_version.txt",
                     "worker-01.xplane.pb.tmp", ".worker-02.xplane.pb", "w.xplane.pb.123.tmp",
                     "notxplane.pb", "w.xplane.pbx", "w.xplane.riegeli", ".xplane.pb"):
            write(self.path("plugins/profile/r", name), b"x")
        os.makedirs(self.path("plugins/profile/r/d.xplane.pb"))
        os.mkfifo(self.path("plugins/profile/r/fifo.xplane.pb"))
        self.assertEqual(self.serve().json("/run_list")["runs"][0]["hosts"], ["worker-00"])

    def test_hidden_folders(self):
        self.put_run("plugins/profile/.hidden")
        self.put_run(".git/plugins/profile/a")
        self.put_run("node_modules/plugins/profile/a")
        self.put_run("plugins/profile/seen")
        self.assertEqual(self.runs(), ["seen"])

    def test_names_of_any_bytes(self):
        for name in (b"caf\xc3\xa9", b"\xff\xfe", b'a"b<c>&', b"new\nline", b"50%", b"a b+c"):
            folder = os.fsencode(self.folder) + b"/plugins/profile/" + name
            os.makedirs(folder)
            shutil.copy(captures()[0], folder + b"/h\xf0.xplane.pb")
        server = self.serve()
        runs = server.json("/runs")
        self.assertEqual(len(runs), 6)
        for run in runs:
            self.assertTrue(self.usable(server, run), run)
            self.assertEqual(server.json("/run_info", run=run)["hosts"][0]["host"], "h\ufffd")

    def test_deep_trees(self):
        self.put_run("/".join(["d"] * 60) + "/plugins/profile/ok")
        os.makedirs(self.path("x", "/".join(["d"] * 80)))
        put(captures()[0], self.path("x", "/".join(["d"] * 80), "h.xplane.pb"))
        got = self.serve().json("/run_list")
        self.assertEqual(len(got["runs"]), 1)
        self.assertTrue(got["searched"]["truncated"])
        self.assertIn("deep", "".join(got["notes"]))

    def test_many_runs(self):
        source = captures()[0]
        for i in range(10000):
            folder = self.path("plugins/profile/run%05d" % i)
            os.makedirs(folder)
            os.link(source, folder + "/h.xplane.pb")
        server = self.serve()
        runs = server.json("/runs")
        self.assertEqual(runs, ["run%05d" % i for i in range(9999, -1, -1)])
        self.assertEqual(len(server.json("/run_list")["runs"]), 10000)
        self.assertTrue(self.usable(server, "run04711"))


class Links(Case):
    def setUp(self):
        super().setUp()
        self.put_run("outside/plugins/profile/secret")
        self.put_run("logs/plugins/profile/real")
        self.out = self.path("outside/plugins/profile/secret")
        self.logs = self.path("logs")

    def link(self, target, *name):
        os.makedirs(os.path.dirname(self.path("logs", *name)), exist_ok=True)
        os.symlink(target, self.path("logs", *name))

    def test_out_is_not_followed(self):
        self.link(self.out, "plugins/profile/out")
        self.link("../../../../outside/plugins/profile/secret/worker-00.xplane.pb",
                  "plugins/profile/file/h.xplane.pb")
        self.link(self.path("outside"), "all")
        server = self.serve(self.logs)
        got = server.json("/run_list")
        self.assertEqual([r["run"] for r in got["runs"]], ["real"])
        notes = "\n".join(got["notes"])
        for name in ("plugins/profile/out", "plugins/profile/file/h.xplane.pb", "all"):
            self.assertIn(name + ": a link that leads out", notes)

    def test_out_when_asked_for(self):
        self.link(self.out, "plugins/profile/out")
        self.link(self.path("outside"), "all")
        server = self.serve("--follow-symlinks", self.logs)
        self.assertIn("real", server.json("/runs"))
        self.assertEqual(len(server.json("/runs")), 2)  # one folder, two ways: listed once
        for run in server.json("/runs"):
            self.assertEqual(server.get("/data", run=run, tag="kernel_stats").status, 200)

    def test_inside(self):
        target = self.path("logs/plugins/profile/real/worker-00.xplane.pb")
        self.link(target, "plugins/profile/absolute/a.xplane.pb")
        self.link("../real/worker-00.xplane.pb", "plugins/profile/relative/r.xplane.pb")
        self.link("../../plugins", "plugins/profile/loop")
        server = self.serve(self.logs)
        self.assertEqual(server.json("/runs"), ["relative", "real", "absolute"])
        for run in server.json("/runs"):
            self.assertEqual(server.get("/data", run=run, tag="kernel_stats").status, 200, run)

    def test_circles(self):
        self.link(".", "self")
        self.link("..", "up")
        self.link("loop", "loop")
        self.link("nowhere", "plugins/profile/real/broken.xplane.pb")
        for args in ((), ("--follow-symlinks",)):
            got = self.serve(*args, self.logs).json("/run_list")
            runs = [r["run"] for r in got["runs"]]
            self.assertIn("real", runs)
            self.assertEqual(len(runs), 2 if args else 1)
            self.assertIn("broken.xplane.pb", "".join(got["notes"]))

    def test_a_file_that_becomes_a_link_out(self):
        server = self.serve(self.logs)
        self.assertEqual(server.json("/runs"), ["real"])
        path = self.path("logs/plugins/profile/real/worker-00.xplane.pb")
        os.remove(path)
        os.symlink(self.out + "/worker-00.xplane.pb", path)
        # The list may be a second old, opening must refuse all the same.
        self.assertEqual(server.get("/data?run=real&tag=kernel_stats").status, 404)

    def test_a_folder_that_becomes_a_link_out(self):
        server = self.serve(self.logs)
        self.assertEqual(server.json("/runs"), ["real"])
        os.rename(self.path("logs/plugins/profile/real"), self.path("logs/plugins/profile/old"))
        os.symlink(self.out, self.path("logs/plugins/profile/real"))
        self.assertEqual(server.get("/data?run=real&tag=kernel_stats").status, 404)

    def test_the_directory_itself_may_be_a_link(self):
        os.symlink("logs", self.path("alias"))
        server = self.serve(self.path("alias"))
        self.assertEqual(server.json("/runs"), ["real"])
        self.assertEqual(server.get("/data?run=real&tag=kernel_stats").status, 200)


class Changes(Case):
    def test_new_runs_and_hosts(self):
        server = self.serve()
        self.assertEqual(server.json("/runs"), [])
        self.put_run("plugins/profile/a")
        self.eventually(lambda: server.json("/runs") == ["a"])
        put(captures()[0], self.path("plugins/profile/a/other.xplane.pb"))
        self.eventually(lambda: len(server.json("/run_list")["runs"][0]["hosts"]) == 2)
        shutil.rmtree(self.path("plugins/profile/a"))
        self.eventually(lambda: server.json("/runs") == [])

    def test_half_written_files(self):
        with open(captures()[0], "rb") as f:
            data = f.read()
        target = self.path("plugins/profile/r/h.xplane.pb")
        write(target)
        server = self.serve()
        query = "/data?run=r&tag=kernel_stats"
        self.assertEqual(server.get(query).status, 422)
        write(target, data[: len(data) // 2])
        self.eventually(lambda: server.json("/diagnostics", run="r")["captures"])
        half = server.json("/diagnostics", run="r")
        self.assertTrue(half["entries"])
        self.assertEqual(server.get(query).status, 200)
        write(target, data)
        self.eventually(lambda: not server.json("/diagnostics", run="r")["entries"])
        whole = self.path("whole/plugins/profile/r/h.xplane.pb")
        write(whole, data)
        self.assertEqual(server.get(query).body, self.serve(self.path("whole")).get(query).body)

    def test_files_cut_while_they_are_read(self):
        with open(captures(steps=60)[0], "rb") as f:
            data = f.read()
        target = self.path("plugins/profile/r/h.xplane.pb")
        write(target, data)
        server = self.serve()
        query = "/data?run=r&tag=kernel_stats"
        whole = server.get(query)
        size = len(data) // 6  # within the first GPUs, or the table would not show it
        write(self.path("cut/plugins/profile/r/h.xplane.pb"), data[:size])
        cut = self.serve(self.path("cut")).get(query)
        self.assertEqual([whole.status, cut.status], [200, 200])
        self.assertNotEqual(whole.body, cut.body)
        for i in range(10):
            write(self.path("new"), data)
            os.replace(self.path("new"), target)
            with concurrent.futures.ThreadPoolExecutor() as pool:
                asking = pool.submit(server.get, query)
                time.sleep(0.002 * i)
                os.truncate(target, size)
                answer = asking.result()
            # Before the cut, after it, or an error; never a dead server or a wrong table.
            if answer.status == 200:
                self.assertIn(answer.body, (whole.body, cut.body))
            else:
                self.assertIn(answer.status, (422, 500), answer.body)
                self.assertTrue(answer.json()["error"]["message"])
        write(self.path("new"), data)
        os.replace(self.path("new"), target)
        self.eventually(lambda: server.get(query).body == whole.body)

    def test_repaired_files(self):
        target = self.path("plugins/profile/r/h.xplane.pb")
        write(target, b"nonsense")
        server = self.serve()
        self.assertEqual(server.get("/data?run=r&tag=kernel_stats").status, 422)
        put(captures()[0], target)
        self.eventually(lambda: server.get("/data?run=r&tag=kernel_stats").status == 200)

    NEED_IT = ("/runs", "/run_list", "/run_info?run=a", "/run_tools?run=a", "/tools?run=a",
               "/hosts?run=a&tag=kernel_stats", "/data?run=a&tag=kernel_stats",
               "/data_csv?run=a&tag=kernel_stats", "/diagnostics?run=a",
               "/instances?run=a&tag=kernel_stats&kernel=x", "/trace_viewer/tracks?run=a",
               "/trace_viewer/tiles?run=a&level=40", "/trace_viewer/event?run=a&id=0.0.0",
               "/trace_viewer/search?run=a&q=x", "/trace_viewer/export?run=a")

    def assertAway(self, server):
        """It is said, and not that there is nothing."""
        self.eventually(lambda: server.get("/runs").status == 503)
        for path in self.NEED_IT:
            with self.subTest(path=path):
                answer = server.get(path)
                self.assertEqual(answer.status, 503, answer.body)
                error = answer.json()["error"]
                self.assertEqual(error["code"], "unavailable")
                self.assertRegex(error["message"], "^the (log directory|file) .* (is not there any more|cannot be read: )")
                self.assertTrue(error["hint"])
                self.assertGreater(int(answer.headers["Retry-After"]), 0)

    def test_a_directory_that_cannot_be_read(self):
        self.put_run("logs/plugins/profile/a")
        server = self.serve(self.path("logs"))
        self.assertEqual(server.json("/runs"), ["a"])
        os.rename(self.path("logs"), self.path("other"))
        os.symlink("logs", self.path("logs"))  # opened by nobody, root neither
        self.assertAway(server)
        os.remove(self.path("logs"))
        os.rename(self.path("other"), self.path("logs"))
        self.eventually(lambda: server.get("/runs").status == 200)
        self.assertEqual(server.json("/runs"), ["a"])

    def test_a_single_file_that_vanished(self):
        put(captures()[0], self.path("a/host.xplane.pb"))
        server = self.serve(self.path("a/host.xplane.pb"))
        self.assertEqual(len(server.json("/runs")), 1)
        os.rename(self.path("a/host.xplane.pb"), self.path("a/other"))
        self.eventually(lambda: server.get("/runs").status == 503)
        self.assertIn("host.xplane.pb is not there any more",
                      server.get("/run_list").json()["error"]["message"])
        os.rename(self.path("a/other"), self.path("a/host.xplane.pb"))
        self.eventually(lambda: server.get("/runs").status == 200)

    def test_directory_made_again(self):
        self.put_run("logs/plugins/profile/a")
        server = self.serve(self.path("logs"))
        self.assertEqual(server.json("/runs"), ["a"])
        shutil.rmtree(self.path("logs"))
        self.assertAway(server)
        self.put_run("logs/plugins/profile/b")
        self.eventually(lambda: server.json("/runs") == ["b"])
        self.assertEqual(server.get("/data?run=b&tag=kernel_stats").status, 200)


class Explanations(Case):
    """Nothing found: what the page and the log say."""

    def problem(self, *parts):
        server = self.serve(self.path(*parts))
        problem = server.json("/run_list")["problem"]
        self.assertTrue(problem["message"] and problem["hint"])
        self.eventually(lambda: "no capture" in server.log())
        for line in problem["found"]:
            self.eventually(lambda: line in server.log())
        return "\n".join(problem["found"])

    def test_empty(self):
        self.assertIn("the folder is empty", self.problem())

    def test_event_files(self):
        for i in range(3):
            write(self.path("train/events.out.tfevents.%d.v2" % i))
        write(self.path("ckpt/a"))
        found = self.problem()
        self.assertIn("3 tfevents files in train/", found)
        self.assertIn("ckpt/ (1 other file)", found)

    def test_plugins_without_profile(self):
        os.makedirs(self.path("train/plugins/other"))
        self.assertIn("train/plugins/ without profile/", self.problem())

    def test_profile_without_runs(self):
        os.makedirs(self.path("plugins/profile"))
        self.assertIn("plugins/profile/ without runs", self.problem())

    def test_run_without_captures(self):
        write(self.path("plugins/profile/r/h.trace.json.gz"))
        self.assertIn("plugins/profile/r holds no capture", self.problem())

    def test_half_written(self):
        write(self.path("plugins/profile/r/h.xplane.pb.tmp"))
        self.assertIn("h.xplane.pb.tmp", self.problem())

    def test_one_level_too_deep(self):
        self.put_run("plugins/profile/r")
        os.makedirs(self.path("plugins/profile/r/sub"))
        found = self.problem("plugins/profile/r/sub")
        self.assertIn("one level up", found)
        self.assertIn("..", found)

    def test_beside_the_logs(self):
        self.put_run("plugins/profile/r")
        os.makedirs(self.path("train/checkpoints"))
        self.assertIn("two levels up", self.problem("train/checkpoints"))

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        os.makedirs(self.path("closed"))
        os.chmod(self.path("closed"), 0)
        self.addCleanup(os.chmod, self.path("closed"), 0o700)
        server = self.serve()
        got = server.json("/run_list")
        self.assertTrue(got["searched"]["truncated"])
        self.assertIn("closed cannot be read", "".join(got["notes"]))


def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def field(number, *values):
    out = b""
    for value in values:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def records(*events):
    out = b""
    for event in events:
        head = struct.pack("<Q", len(event))
        out += head + struct.pack("<I", crc32c_masked(head)) + event + struct.pack("<I", crc32c_masked(event))
    return out


def node(name, op, shape, *inputs):
    """A NodeDef whose output has this shape, of which a variable is."""
    dims = b"".join(field(2, field(1, size)) for size in shape)
    attributes = [("_output_shapes", field(1, field(7, dims)))] + ([("shape", field(7, dims))] if op == "VariableV2" else [])
    return field(1, field(1, name) + field(2, op) + field(3, *inputs)
                 + b"".join(field(5, field(1, key) + field(2, value)) for key, value in attributes))


def ran(**micros):
    """A RunMetadata in which each node ran once on the CPU, for so long."""
    stats = b"".join(field(2, field(1, name.replace("__", "/")) + field(2, 1000) + field(3, 0) + field(4, us) + field(5, us))
                     for name, us in micros.items())
    return field(1, field(1, field(1, "/job:localhost/replica:0/task:0/device:CPU:0") + stats))


AT = field(1, 1700000000.5)


class GraphRuns(Case):
    """Event files that hold steps of a graph."""

    START = AT + field(3, "brain.Event:2")
    GRAPH = AT + field(4, node("in", "Placeholder", (2, 3)) + node("layer/w", "VariableV2", (3, 4))
                       + node("layer/product", "MatMul", (2, 4), "in", "layer/w"))
    STEPS = [AT + field(2, step) + field(8, field(1, "step") + field(2, ran(layer__w=2, layer__product=us)))
             for step, us in ((10, 5), (20, 11))]
    SUMMARY = AT + field(2, 1) + field(5, field(1, field(1, "loss") + field(2, b"")))
    NAME = "train/events.out.tfevents.1700000000.h"

    def setUp(self):
        super().setUp()
        write(self.path(self.NAME), records(self.START, self.GRAPH, self.SUMMARY, *self.STEPS))
        write(self.path("eval/events.out.tfevents.1700000000.h"), records(self.START, self.SUMMARY))

    def test_listed_beside_captures(self):
        put(captures()[0], self.path("train/plugins/profile/r/h.xplane.pb"))
        server = self.serve(self.folder)
        self.assertEqual(server.json("/runs"), ["train/r"])
        runs = {run["run"]: run for run in server.json("/run_list")["runs"]}
        self.assertEqual({name: run["kind"] for name, run in runs.items()}, {"train/r": "capture", "train": "graph run"})
        self.assertEqual((runs["train"]["time_ms"], runs["train"]["time_from"]), (1700000000500, "capture"))
        self.assertEqual(server.json("/run_info", run="train")["kind"], "graph run")
        self.assertIn(b"train,", run_cli("ls", self.folder, "--format", "csv").stdout)

    def test_found_when_it_grows(self):
        server = self.serve(self.folder)
        self.assertEqual([run["run"] for run in server.json("/run_list")["runs"]], ["train"])
        with open(self.path("eval/events.out.tfevents.1700000000.h"), "ab") as f:
            f.write(records(*self.STEPS))
        self.eventually(lambda: sorted(run["run"] for run in server.json("/run_list")["runs"]) == ["eval", "train"])

    def test_the_views(self):
        server = self.serve(self.folder)

        def rows(**more):
            answer = server.json("/data", run="train", tag="tfprof", select="micros,float_ops,params,occurrence", **more)
            nodes, names = answer["nodes"], answer["names"]
            self.assertEqual([step["name"] for step in answer["steps"]], ["10", "20"])
            return {names[nodes["name"][i]]: tuple(nodes["total"][q][i] for q in ("micros", "float_ops", "params", "occurrence_run"))
                    for i in range(answer["node_count"])}
        # A product of 2x3 and 3x4 takes 2 * 2 * 3 * 4 flops, and there were two.
        both = rows()
        self.assertEqual(both["product"], (16, 96, None, 2))
        self.assertEqual(both["w"], (4, None, 12, 2))
        self.assertEqual(both["layer"], (20, 96, 12, 4))
        self.assertEqual(both["in"][0], None)
        self.assertEqual(rows(step="1")["product"], (11, 48, None, 1))
        self.assertEqual(rows(step="mean")["product"], (8, 48, None, 1))
        self.assertEqual(rows(view="op")["MatMul"][:2], (16, 96))
        answer = server.json("/data", run="train", tag="tfprof", view="graph")
        names = [answer["names"][i] for i in answer["nodes"]["name"]]
        at = {name: i for i, name in enumerate(names)}
        self.assertEqual(answer["nodes"]["parent"][at["layer/w"]], at["layer/product"])

    def test_details_of_a_node(self):
        server = self.serve(self.folder)
        answer = server.json("/data", run="train", tag="tfprof", node='["layer","product"]')
        totals = {q["id"]: q["total"] for q in answer["quantities"]}
        self.assertEqual((totals["micros"], totals["cpu_micros"], totals["float_ops"]), (16, 16, 96))
        self.assertEqual(answer["by_step"]["cpu_micros"], [5, 11])
        self.assertEqual(answer["by_step"]["occurrence_run"], [1, 1])
        self.assertEqual(answer["op_types"], ["MatMul"])

    def test_in_a_terminal(self):
        done = run_cli("scope", self.folder, "-select", "micros,params", text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("product", done.stdout)
        done = run_cli("kernel_stats", self.folder, text=True)
        self.assertIn("A graph run has no XPlane capture.", done.stdout + done.stderr)

    def test_what_needs_a_capture_says_so(self):
        server = self.serve(self.folder)
        for path, more in (("/data", {"tag": "overview_page"}), ("/data_csv", {"tag": "kernel_stats"}),
                           ("/trace_viewer/tracks", {}), ("/trace_viewer/export", {}), ("/module_list", {})):
            with self.subTest(path=path):
                answer = server.get(path, run="train", **more)
                self.assertGreaterEqual(answer.status, 400)
                self.assertIn("a graph run has no XPlane capture", answer.json()["error"]["message"])
        self.assertEqual(server.json("/diagnostics", run="train")["entries"], [])
        for tool in server.json("/tools", run="train"):
            if tool["name"] != "tfprof":
                self.assertEqual(tool["reason"], "A graph run has no XPlane capture.")
        # A folder whose files hold no step.
        answer = server.get("/data", run="eval", tag="tfprof")
        self.assertEqual(answer.status, 404)
        self.assertIn("hold no step", answer.json()["error"]["message"])

    def test_damaged(self):
        whole = records(self.START, self.GRAPH, *self.STEPS)
        write(self.path("cut/a.tfevents"), whole[:-30])
        write(self.path("other/a.tfevents"), b"no such file" * 1000)
        flipped = bytearray(whole)
        flipped[len(records(self.START)) + 40] ^= 1
        write(self.path("flipped/a.tfevents"), bytes(flipped))
        server = self.serve(self.folder)
        runs = [run["run"] for run in server.json("/run_list")["runs"]]
        self.assertEqual(sorted(runs), ["cut", "flipped", "train"])
        self.assertEqual(len(server.json("/data", run="cut", tag="tfprof")["steps"]), 1)
        for run in ("other", "flipped"):
            self.assertEqual(server.get("/data", run=run, tag="tfprof").status, 404)
