# SPDX-License-Identifier: Apache-2.0
"""Traces for other programs: what is in the files, and how they are sent."""

import collections
import gzip
import json
import os
import signal
import socket
import sys

import perfetto
import support
from test_limits import closed_count
from support import Case, SharedServerCase, captures, put, run_cli

sys.path.append(os.path.join(support.SOURCE, "tests", "golden"))
import xspace  # noqa: E402

EXPORT = "/trace_viewer/export"


def strict(text):
    """JSON, and nothing that only some readers take."""
    def refuse(constant):
        raise ValueError(constant)

    def unique(pairs):
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), names
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def slices_of(document):
    """(process, row, name, begin, end) of the complete events, in whole nanoseconds."""
    events = document["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    out = collections.Counter()
    for e in events:
        if e["ph"] == "X":
            begin = round(e["ts"] * 1e6)
            end = begin + round(e["dur"] * 1e6)
            out[(processes[e["pid"]], rows[(e["pid"], e["tid"])], e["name"], begin // 1000,
                 end // 1000)] += 1
    return out


class Files(SharedServerCase):
    def export(self, **query):
        answer = self.get(EXPORT, **query)
        self.assertEqual(answer.status, 200, answer.body[:300])
        return answer

    def chrome(self, **query):
        return strict(gzip.decompress(self.export(**query).body).decode())

    def test_chrome_and_perfetto_hold_the_same(self):
        for run in ("one", "train/many"):
            with self.subTest(run=run):
                document = self.chrome(run=run)
                trace = perfetto.Trace(self.export(run=run, format="perfetto").body)
                mine = collections.Counter(s[:5] for s in trace.slices)
                theirs = slices_of(document)
                self.assertGreater(sum(theirs.values()), 1000)
                self.assertEqual(mine, theirs)
                self.assertEqual({name for _, name in trace.processes.values()},
                                 {s[0] for s in theirs})
                self.assertEqual(len(trace.tids), len(set(trace.tids)))

    def test_chrome_events_are_complete(self):
        for e in self.chrome(run="one")["traceEvents"]:
            self.assertIn(e["ph"], "XMCbe")
            self.assertIsInstance(e["pid"], int)
            if e["ph"] == "X":
                self.assertIsInstance(e["tid"], int)
                self.assertGreaterEqual(e["ts"], 0)
                self.assertGreaterEqual(e["dur"], 0)

    def test_flows_lead_from_launches_to_kernels(self):
        ends = collections.defaultdict(list)
        for e in self.chrome(run="one")["traceEvents"]:
            if "bind_id" in e and e.get("cat") == "gpu_launch":
                ends[e["bind_id"]].append(("out" if e.get("flow_out") else "in", e["ts"]))
        self.assertGreater(len(ends), 10)
        for flow in ends.values():
            self.assertEqual(sorted(end for end, _ in flow)[-1], "out")
            self.assertIn("in", [end for end, _ in flow])
        trace = perfetto.Trace(self.export(run="one", format="perfetto").body)
        self.assertGreater(len(trace.flows), 10)
        for flow in trace.flows.values():
            self.assertEqual(sorted(end for end, _, _ in flow),
                             ["flow_ids", "terminating_flow_ids"])

    def test_part_of_it(self):
        whole = slices_of(self.chrome(run="one"))
        begin = min(s[3] for s in whole)
        middle = (begin + max(s[4] for s in whole)) // 2
        part = slices_of(self.chrome(run="one", to_ps=(middle - begin) * 1000))
        self.assertEqual(part, collections.Counter(
            {s: n for s, n in whole.items() if s[3] < middle}) | part)
        self.assertLess(sum(part.values()), sum(whole.values()))
        track = slices_of(self.chrome(run="one", tracks="0.0"))
        self.assertEqual(len({s[:2] for s in track}), 1)
        self.assertLess(sum(track.values()), sum(whole.values()))
        trace = perfetto.Trace(self.export(run="one", tracks="0.0", format="perfetto").body)
        self.assertEqual(collections.Counter(s[:5] for s in trace.slices), track)

    def test_hosts(self):
        hosts = [h["hostname"] for h in self.json("/hosts", run="train/many", tag="trace_viewer")]
        two = self.chrome(run="train/many", hosts=",".join(hosts[1:3]))
        self.assertEqual({s[0].split(" ")[0] for s in slices_of(two)}, set(hosts[1:3]))

    def test_as_sent(self):
        answer = self.export(run="one")
        self.assertEqual(answer.headers["Content-Type"], "application/gzip")
        self.assertEqual(answer.headers["Transfer-Encoding"], "chunked")
        self.assertIsNone(answer.headers["Content-Encoding"])
        self.assertIn('filename="trace_one_ALL_HOSTS.json.gz"',
                      answer.headers["Content-Disposition"])
        plain = self.export(run="one", format="perfetto")
        packed = self.get(EXPORT + "?run=one&format=perfetto", {"Accept-Encoding": "gzip, zstd"})
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertIn(".perfetto-trace", plain.headers["Content-Disposition"])
        again = self.get(EXPORT + "?run=one", {"If-None-Match": answer.headers["ETag"]})
        self.assertEqual((again.status, again.body), (304, b""))

    def test_head(self):
        head = self.get(EXPORT + "?run=one", method="HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["Content-Type"], "application/gzip")

    def test_errors_come_before_the_body(self):
        for query, status, code in (
                ("", 400, "bad_query"), ("?run=none", 404, "not_found"),
                ("?run=one&host=none", 404, "not_found"), ("?run=one&hosts=a,b", 404, "not_found"),
                ("?run=one&format=csv", 400, "bad_query"), ("?run=one&tracks=x", 400, "bad_query"),
                ("?run=one&tracks=0.99999", 404, "not_found"),
                ("?run=one&tracks=1.0", 404, "not_found"),
                ("?run=one&from_ps=-1", 400, "bad_query"),
                ("?run=one&from_ps=2&to_ps=1", 400, "bad_query"),
                ("?run=broken", 422, "bad_input")):
            with self.subTest(query=query):
                self.assertError(self.get(EXPORT + query), status, code)

    def test_command(self):
        folder = support.scratch()
        for name, unpack in (("t.json", bytes), ("t.json.gz", gzip.decompress)):
            path = os.path.join(folder, name)
            done = run_cli("trace_export", self.logdir, "--run", "one", "--output", path)
            self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
            with open(path, "rb") as f:
                self.assertEqual(unpack(f.read()), gzip.decompress(self.export(run="one").body))
        done = run_cli("trace_export", self.logdir, "--run", "one", "--format", "perfetto")
        self.assertEqual(done.stdout, self.export(run="one", format="perfetto").body)
        for args in (("trace_export", self.logdir, "-f", "csv"), ("ls", self.logdir, "-f", "chrome"),
                     ("kernel_stats", self.logdir, "-o", "x")):
            self.assertEqual(run_cli(*args).returncode, 2, args)


class Composed(Case):
    """The capture of tests/golden/trace_viewer, whose events are known one by one."""

    def test_counters_flows_and_what_is_asynchronous(self):
        path = os.path.join(support.SOURCE, "tests/golden/trace_viewer/two_planes.json")
        with open(path, encoding="utf-8") as f:
            capture = json.load(f)["hosts"]["h"]
        support.write(self.path("plugins/profile/r/h.xplane.pb"), xspace.encode(capture))
        server = self.serve(self.folder)
        trace = perfetto.Trace(server.get(EXPORT, run="r", format="perfetto").body)
        device, host = "h /device:CUSTOM:x", "h /host:CPU"
        self.assertEqual(sorted(s[:5] for s in trace.slices), sorted([
            (device, "q", "send", 0, 1000), (device, "q", "async", 2000, 3500),
            (host, "main", "train 3", 1, 5001), (host, "main", "$train.py:1 step", 1001, 3001),
            (host, "main", "Op", 2001, 2501), (host, "main", "recv", 6001, 7001)]))
        self.assertEqual(trace.counters, [(device, "bytes", 1000, 10), (device, "bytes", 2000, 12)])
        args = next(s[5] for s in trace.slices if s[2] == "Op")
        self.assertEqual(args, {"long_name": "op", "group_id": 0, "long": "text", "kind": "k",
                                "big": 9007199254740993, "share": 0.5})
        self.assertEqual([sorted(flow) for flow in trace.flows.values()],
                         [[("flow_ids", "send", 0), ("terminating_flow_ids", "recv", 6001)]])
        events = strict(gzip.decompress(server.get(EXPORT, run="r").body).decode())["traceEvents"]
        self.assertEqual([(e["ts"], e["args"]) for e in events if e["ph"] == "C"],
                         [(1, {"bytes": 10}), (2, {"bytes": 12})])
        self.assertEqual([(e["ph"], e["ts"], e["id"]) for e in events if e["ph"] in "be"],
                         [("b", 2, 6), ("e", 3.5, 6)])

    def test_memory_in_use_is_a_counter_of_its_device(self):
        def report(at, heap, allocator):
            return ["MemoryAllocation", at, 0, {"allocator_name": allocator, "bytes_allocated": heap}]
        capture = {"planes": [
            {"name": "/host:CPU", "lines": [{"id": 1, "name": "main", "at_ns": 0, "events": [
                ["Op", 1000000, 9000000, {}], report(2000000, 300, "GPU_0_bfc"), report(3000000, 20, "cpu"),
                report(4000000, 100, "GPU_0_bfc")]}]},
            {"name": "/device:GPU:0", "lines": [{"id": 7, "name": "Stream", "at_ns": 0, "events": [
                ["kernel", 2500000, 1000000, {}]]}]}]}
        support.write(self.path("plugins/profile/r/h.xplane.pb"), xspace.encode(capture))
        server = self.serve(self.folder)
        trace = perfetto.Trace(server.get(EXPORT, run="r", format="perfetto").body)
        device, host = "Memory GPU_0_bfc", "Memory cpu"
        self.assertEqual(sorted(trace.counters), [("h /device:GPU:0", device, 2000, 300), ("h /device:GPU:0", device, 4000, 100),
                                                  ("h /host:CPU", host, 3000, 20)])
        events = strict(gzip.decompress(server.get(EXPORT, run="r").body).decode())["traceEvents"]
        self.assertEqual([(e["name"], e["ts"], e["args"]) for e in events if e["ph"] == "C"],
                         [(device, 2, {"bytes_in_use": 300}), (device, 4, {"bytes_in_use": 100}), (host, 3, {"bytes_in_use": 20})])
        # XProf's own documents have none.
        for tag in ("trace_viewer", "trace_viewer@"):
            self.assertNotIn(b"bytes_in_use", server.get("/data", run="r", tag=tag).body)


class Sending(Case):
    """Clients that are slow, or go away."""

    def setUp(self):
        super().setUp()
        put(captures(steps=400)[0], self.path("plugins/profile/big/a.xplane.pb"))
        self.server = self.serve(self.folder)
        # Longer than what a pipe and the sockets' buffers hold.
        self.length = len(self.get(EXPORT + "?run=big&format=perfetto").body)
        self.assertGreater(self.length, 12 << 20)

    def get(self, path):
        return self.server.get(path)

    def begin(self):
        """A client that has the head of an export and reads no further."""
        client = socket.create_connection((self.server.host, self.server.port), timeout=support.PATIENCE)
        client.sendall(b"GET %s?run=big&format=perfetto HTTP/1.1\r\nHost: localhost\r\n\r\n"
                       % EXPORT.encode())
        self.addCleanup(client.close)
        self.assertIn(b"200", client.recv(64))
        return client

    def test_slow_clients_do_not_hold_up_others(self):
        clients = [self.begin() for _ in range(4)]
        self.assertEqual(self.get("/healthz").body, b"ok")
        self.assertEqual(self.get("/data?run=big&tag=kernel_stats").status, 200)
        refused = self.get(EXPORT + "?run=big")
        self.assertEqual(refused.status, 429)
        self.assertGreater(int(refused.headers["Retry-After"]), 0)
        self.assertIn("downloads", refused.json()["error"]["message"])
        # What they were promised comes nevertheless.
        client, body = clients.pop(), b""
        while not body.endswith(b"0\r\n\r\n"):
            piece = client.recv(1 << 20)
            self.assertTrue(piece)
            body += piece
        self.assertGreater(len(body), self.length)
        for client in clients:
            client.close()
        # Those who left free their places.
        self.eventually(lambda: self.get(EXPORT + "?run=big").status == 200)

    def test_a_client_that_leaves_ends_the_work(self):
        for _ in range(12):
            self.eventually(lambda: self.get(EXPORT + "?run=big&tracks=0.0").status == 200)
            self.begin().close()
        self.eventually(lambda: self.get(EXPORT + "?run=big&tracks=0.0").status == 200)

    def test_a_client_that_takes_nothing_is_cut_off(self):
        self.server = self.serve("--answer-timeout", "1", self.folder)
        self.begin()
        self.eventually(lambda: closed_count(self.server, "slow_reader") >= 1,
                        "a client that takes nothing stays")
        # And what was made for it ends.
        self.eventually(lambda: b"\ntfprof_downloads 0\n" in self.get("/metrics").body,
                        "the download goes on")

    def test_the_server_stops_while_somebody_does_not_read(self):
        self.begin()
        self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.process.wait(timeout=support.PATIENCE), 0)
