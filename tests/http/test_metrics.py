# SPDX-License-Identifier: Apache-2.0
"""/metrics and /healthz."""

import math
import os
import re
import time

import support

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(r"(%s)(\{[^}]*\})? (\S+)" % NAME)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')


def parse(text):
    """{family: (type, {(sample name, labels): value})}, strict about version 0.0.4."""
    assert text.endswith("\n"), "the last line has no end"
    families, current, helped = {}, None, None
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            name, _, help_text = line[7:].partition(" ")
            assert re.fullmatch(NAME, name) and name not in families and help_text, line
            helped = name
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name == helped and name not in families, line
            assert kind in ("counter", "gauge", "histogram"), line
            families[name], current = (kind, {}), name
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            kind, samples = families[current]
            suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            assert name in [current + s for s in suffixes], line
            found = LABEL.findall(labels[1:-1]) if labels else []
            assert not labels or "{%s}" % ",".join('%s="%s"' % l for l in found) == labels, line
            key = name, tuple(sorted(found))
            assert key not in samples, line
            samples[key] = float(value)
    for family, (kind, samples) in families.items():
        if kind == "counter":
            assert family.endswith("_total"), family
        if kind != "histogram":
            continue
        series = {}
        for (name, labels), value in samples.items():
            if name.endswith("_bucket"):
                bound = dict(labels)["le"]
                rest = tuple(l for l in labels if l[0] != "le")
                series.setdefault(rest, []).append((float(bound.replace("+Inf", "inf")), value))
        for labels, buckets in series.items():
            bounds, counts = zip(*buckets)
            assert list(bounds) == sorted(set(bounds)) and bounds[-1] == math.inf, labels
            assert list(counts) == sorted(counts), labels
            assert samples[family + "_count", labels] == counts[-1], labels
            assert samples[family + "_sum", labels] >= 0, labels
    return families


def value_of(families, name, **labels):
    kind, samples = families[name]
    return samples.get((name, tuple(sorted(labels.items()))), 0)


class Metrics(support.Case):
    def metrics(self, server):
        answer = server.get("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"],
                         "text/plain; version=0.0.4; charset=utf-8")
        return parse(answer.body.decode())

    def test_a_page_that_prometheus_reads(self):
        self.put_run("plugins", "profile", "one")
        server = self.serve("--cache-dir", self.path("..", "results"), self.folder)
        for path in ("/", "/runs", "/runs", "/no/such", "/data?run=one&tag=kernel_stats",
                     '/"}\\evil\n', "/data?run=none&tag=kernel_stats"):
            server.get(path.replace("\n", "%0A").replace('"', "%22"))

        def all_counted():
            # A request is counted once its answer is sent: the last may still be missing.
            found = self.metrics(server)
            total = sum(found["tfprof_http_requests_total"][1].values())
            return found if total >= 7 else None

        found = self.eventually(all_counted)
        requests = lambda route, status: value_of(
            found, "tfprof_http_requests_total", route=route, status=status)
        self.assertEqual(requests("/runs", "2xx"), 2)
        self.assertEqual(requests("page", "2xx"), 1)
        self.assertEqual(requests("other", "4xx"), 2)
        self.assertEqual(requests("/data", "2xx"), 1)
        self.assertEqual(requests("/data", "4xx"), 1)
        self.assertEqual(value_of(found, "tfprof_captures_resident"), 1)
        self.assertGreater(value_of(found, "tfprof_captures_bytes"), 1000)
        self.assertGreaterEqual(value_of(found, "tfprof_capture_cache_misses_total"), 1)
        self.assertGreater(value_of(found, "tfprof_http_response_body_bytes_total"), 1000)
        self.assertGreaterEqual(value_of(found, "tfprof_jobs_started_total"), 1)
        self.assertGreaterEqual(value_of(found, "tfprof_http_connections_accepted_total"), 8)
        self.assertGreater(value_of(found, "tfprof_process_resident_memory_bytes"), 1 << 20)
        started = value_of(found, "tfprof_process_start_time_seconds")
        self.assertLess(abs(time.time() - started), 600)
        # Nothing of what clients write becomes a label.
        for family, (_, samples) in found.items():
            for _, labels in samples:
                for _, text in labels:
                    self.assertNotIn("evil", text)
                    self.assertNotIn("such", text)

    def test_gauges_come_back_to_nothing(self):
        self.put_run("plugins", "profile", "one")
        server = self.serve()
        for _ in range(5):
            server.get("/runs")

        def at_rest():
            found = self.metrics(server)
            # This request's own.
            return (value_of(found, "tfprof_http_requests_in_flight") == 1
                    and value_of(found, "tfprof_http_connections_open") == 1
                    and value_of(found, "tfprof_jobs", state="queued") == 0
                    and value_of(found, "tfprof_jobs", state="running") == 0)

        self.eventually(at_rest)


class Health(support.Case):
    def test_ok(self):
        answer = self.serve().get("/healthz")
        self.assertEqual((answer.status, answer.body), (200, b"ok"))

    def test_log_directory_gone_and_back(self):
        folder = self.path("logs")
        os.mkdir(folder)
        server = self.serve(folder)
        os.rename(folder, folder + ".away")
        bad = self.eventually(lambda: [a for a in [server.get("/healthz")] if a.status == 503])[0]
        error = bad.json()["error"]
        self.assertIn("cannot read the log directory", error["message"])
        self.assertNotIn(folder, error["message"])
        # An answer of another time is no reason to say that nothing changed.
        self.assertNotIn("ETag", bad.headers)
        os.rename(folder + ".away", folder)
        self.eventually(lambda: server.get("/healthz").status == 200)
