# SPDX-License-Identifier: Apache-2.0
"""Every route of docs/api.md: what it answers, and each of its errors."""

import csv
import html
import io
import re

from support import SharedServerCase, documented_routes

QUERY = {
    "/run_tools": "run=one",
    "/hosts": "run=one&tag=kernel_stats",
    "/module_list": "run=one",
    "/data": "run=one&tag=kernel_stats",
    "/data_csv": "run=one&tag=kernel_stats",
    "/run_info": "run=one",
    "/diagnostics": "run=one",
    "/trace_viewer/tracks": "run=one",
    "/trace_viewer/tiles": "run=one&level=40",
    "/trace_viewer/event": "run=one&id=0.0.0",
    "/trace_viewer/neighbour": "run=one&id=0.0.0&direction=next",
    "/trace_viewer/events": "run=one",
    "/trace_viewer/search": "run=one&q=MatMul",
    "/trace_viewer/aggregate": "run=one",
    "/trace_viewer/steps": "run=one",
    "/instances": "run=one&tag=kernel_stats&kernel=x",
    "/trace_viewer/export": "run=one",
    "/progress": "of=data",
}


class Routes(SharedServerCase):
    def test_documented_routes_exist(self):
        routes = documented_routes()
        self.assertGreaterEqual(len(routes), 12)
        for route in routes:
            with self.subTest(route=route):
                answer = self.get(route + "?" + QUERY.get(route, ""))
                self.assertEqual(answer.status, 200, answer.body)

    def test_every_prefix_gives_the_same(self):
        for route in documented_routes():
            if route == "/metrics":
                continue  # it counts these very requests
            query = "?" + QUERY.get(route, "")
            body = self.get(route + query).body
            for prefix in ("/data/plugin/profile", self.url_prefix,
                           self.url_prefix + "/data/plugin/profile"):
                with self.subTest(route=route, prefix=prefix):
                    self.assertEqual(self.get(prefix + route + query).body, body)
                    self.assertEqual(self.get(prefix + route + "/" + query).body, body)

    def test_a_prefix_is_whole_components(self):
        self.assertError(self.get("/some/prefixes/runs"), 404, "not_found")
        self.assertError(self.get("/some/runs"), 404, "not_found")

    def test_prefix_without_slash_redirects(self):
        for path, target in (("/some/prefix", "prefix/"),
                             ("/data/plugin/profile?a=b", "profile/?a=b")):
            answer = self.get(path)
            self.assertEqual(answer.status, 308)
            self.assertEqual(answer.headers["Location"], target)

    def test_page(self):
        answer = self.get("/")
        if answer.status == 404:
            self.skipTest("built without the page")
        self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertEqual(answer.body, self.get("/index.html").body)
        for name in re.findall(rb'(?:src|href)="([^":#]+\.(?:js|css))"', answer.body):
            asset = self.get("/" + name.decode())
            self.assertEqual(asset.status, 200, name)
            kind = asset.headers["Content-Type"].split(";")[0]
            self.assertIn(kind, ("text/javascript", "text/css"))

    def test_version(self):
        answer = self.get("/version")
        self.assertRegex(answer.body.decode(), r"^\d+\.\d+\.\d+")
        self.assertEqual(answer.headers["Content-Type"], "text/plain; charset=utf-8")

    def test_healthz(self):
        self.assertEqual(self.get("/healthz").body, b"ok")

    def test_runs(self):
        self.assertEqual(self.json("/runs"), ["train/many", "one", "broken"])

    def test_run_list(self):
        got = self.json("/run_list")
        self.assertEqual(got["logdir"], self.logdir)
        self.assertIsNone(got["problem"])
        self.assertFalse(got["searched"]["truncated"])
        runs = {r["run"]: r for r in got["runs"]}
        self.assertEqual(set(runs), {"train/many", "one", "broken"})
        self.assertEqual(runs["train/many"]["files"], 3)
        self.assertEqual(len(runs["train/many"]["hosts"]), 3)
        self.assertEqual(runs["one"]["hosts"], ["solo"])
        times = [r["time_ms"] for r in got["runs"]]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_run_info(self):
        got = self.json("/run_info", run="train/many")
        self.assertEqual(got["run"], "train/many")
        self.assertEqual(got["bytes"], sum(h["bytes"] for h in got["hosts"]))
        self.assertEqual(got["device_count"], sum(h["device_count"] for h in got["hosts"]))
        self.assertIn("GPU", got["device_type"])
        for host in got["hosts"]:
            self.assertEqual(host["file"], host["host"] + ".xplane.pb")
            self.assertEqual(host["compression"], "none")
            self.assertIsNone(host["problem"])

    def test_run_info_of_a_broken_file(self):
        host = self.json("/run_info", run="broken")["hosts"][0]
        self.assertEqual(host["problem"]["code"], "bad_input")
        self.assertIsInstance(host["problem"]["offset"], int)
        self.assertIsNone(host["device_type"])

    def test_run_tools(self):
        tools = self.json("/run_tools", run="one")
        self.assertLessEqual({"framework_op_stats", "kernel_stats"}, set(tools))
        self.assertEqual(self.json("/run_tools", run="broken"), [])

    def test_tools(self):
        for tool in self.json("/tools", run="train/many"):
            self.assertEqual(tool["available"], tool["reason"] is None)
            self.assertTrue(tool["title"] and tool["summary"])
            hosts = self.json("/hosts", run="train/many", tag=tool["name"])
            self.assertLessEqual({h["hostname"] for h in hosts}, set(tool["hosts"]))
            self.assertTrue(hosts)

    def test_tools_without_run(self):
        for tool in self.json("/tools"):
            self.assertNotIn("hosts", tool)

    def test_tools_of_a_broken_run_answer_with_the_error(self):
        for tool in self.json("/tools", run="broken"):
            self.assertTrue(tool["available"])
            answer = self.get("/data", run="broken", tag=tool["name"])
            self.assertEqual(answer.json()["error"]["code"], "bad_input")

    def test_hosts(self):
        hosts = [h["hostname"] for h in self.json("/hosts", run="train/many", tag="kernel_stats")]
        self.assertEqual(hosts[0], "ALL_HOSTS")
        self.assertEqual(hosts, sorted(hosts))
        self.assertEqual(len(hosts), 4)
        self.assertEqual(self.json("/hosts", run="one", tag="tf_stats"), [{"hostname": "solo"}])
        self.assertEqual(self.json("/hosts", run="none", tag="tf_stats"), [])

    def test_hosts_as_xprof_lists_them(self):
        each = ["worker-00", "worker-01", "worker-02"]
        for tag, expected in (("overview_page", ["ALL_HOSTS"]), ("pod_viewer", ["ALL_HOSTS"]),
                              ("smart_suggestion", ["ALL_HOSTS"]), ("overview_page^", ["ALL_HOSTS"]),
                              ("input_pipeline_analyzer", ["ALL_HOSTS"] + each),
                              ("framework_op_stats", ["ALL_HOSTS"] + each),
                              ("kernel_stats", ["ALL_HOSTS"] + each),
                              ("trace_viewer@", each), ("trace_viewer", each),
                              ("memory_profile", each), ("no_such_tool", each), ("", each)):
            with self.subTest(tag=tag):
                hosts = self.json("/hosts", run="train/many", tag=tag)
                self.assertEqual([h["hostname"] for h in hosts], expected)
        self.assertEqual(self.json("/hosts", run="train/many"), [{"hostname": h} for h in each])
        for tag in ("overview_page", "none"):
            self.assertEqual(self.json("/hosts", run="one", tag=tag), [{"hostname": "solo"}])
            self.assertEqual(self.json("/hosts", run="none", tag=tag), [])

    def test_config(self):
        answer = self.get("/config")
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        self.assertEqual(answer.json(), {"hideCaptureProfileButton": True, "srcPathPrefix": "",
                                         "enableTabNameLabel": False})

    def test_module_list(self):
        answer = self.get("/module_list?run=one")
        self.assertEqual(answer.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertEqual(answer.body, b"NO_MODULE")
        self.assertEqual(self.get("/module_list?run=train/many&host=worker-01").body, b"NO_MODULE")

    def test_smart_suggestion(self):
        for run in ("one", "train/many"):
            got = self.json("/data", run=run, tag="smart_suggestion")
            self.assertEqual(list(got), ["suggestions"])
            overview = self.json("/data", run=run, tag="overview_page", steps_of="slowest")
            said = {k: v for t in overview for k, v in t.get("p", {}).items()}
            for suggestion in got["suggestions"]:
                self.assertEqual(set(suggestion), {"ruleName", "suggestionText"})
                self.assertRegex(suggestion["ruleName"], "^[A-Z][A-Za-z]+$")
                self.assertIn(html.unescape(suggestion["suggestionText"]), said.values())
                self.assertNotIn("<", suggestion["suggestionText"])
            # What the overview calls a bottleneck is among them.
            rules = [s["ruleName"] for s in got["suggestions"]]
            self.assertEqual(len(rules), len(set(rules)))
            self.assertEqual("InputPipeline" in rules, said["bottleneck"] in ("host", "both"))
            self.assertEqual("KernelLaunch" in rules, said["kernel_launch_bottleneck"] != "no")
            self.assertEqual("DeviceActivity" in rules, said["device_state"] != "busy", said["device_state"])
        # It is XProf's word, and no page of ours.
        self.assertNotIn("smart_suggestion", [t["name"] for t in self.json("/tools")])

    def test_slashes_are_merged(self):
        body = self.get("/runs").body
        for path in ("//runs", "///runs//", "//data/plugin/profile/runs", "/data//plugin/profile//runs",
                     self.url_prefix + "//data/plugin/profile/runs", "//some//prefix///runs"):
            with self.subTest(path=path):
                self.assertEqual(self.get(path).body, body)
        self.assertEqual(self.get("//data/plugin/profile").headers["Location"], "profile/")

    def test_paths_in_place_of_runs_are_refused(self):
        for name in ("session_path", "run_path"):
            for path in ("/runs?", "/run_tools?run=one&", "/hosts?run=one&tag=kernel_stats&",
                         "/data?run=one&tag=kernel_stats&", "/module_list?run=one&"):
                with self.subTest(path=path + name):
                    self.assertError(self.get(path + name + "=%2Ftmp"), 400, "bad_query")
                    self.assertEqual(self.get(path + name + "=").status, 200)

    def test_data_is_tables(self):
        for tag in ("framework_op_stats", "kernel_stats"):
            got = self.json("/data", run="one", tag=tag)
            for table in got if isinstance(got, list) else [got]:
                self.assertEqual(list(table), sorted(table))
                for column in table["cols"]:
                    self.assertLessEqual({"id", "label", "type"}, set(column))
                self.assertTrue(table["rows"])
                for row in table["rows"]:
                    self.assertEqual(len(row["c"]), len(table["cols"]))

    def test_names_of_tools(self):
        body = self.get("/data?run=one&tag=framework_op_stats").body
        for name in ("tag=tf_stats", "tag=tensorflow_stats", "tool=framework_op_stats",
                     "tag=framework_op_stats^", "tag=tf_stats&use_saved_result=false&tqx=reqId:1"):
            self.assertEqual(self.get("/data?run=one&" + name).body, body, name)

    def test_choice_of_hosts(self):
        which = {"run": "train/many", "tag": "kernel_stats"}

        def rows(**query):
            return len(self.json("/data", limit=0, **which, **query)["rows"])

        hosts = [h["hostname"] for h in self.json("/hosts", **which)][1:]
        self.assertEqual(rows(), rows(host="ALL_HOSTS"))
        self.assertEqual(rows(host=""), rows(host="ALL_HOSTS"))
        self.assertEqual(rows(), sum(rows(host=h) for h in hosts))

    def test_a_tool_for_one_host_at_a_time(self):
        which = {"run": "train/many", "tag": "memory_profile"}
        answer = self.get("/data", **which)
        self.assertError(answer, 400, "bad_query")
        self.assertIn("worker-00", answer.json()["error"]["hint"])
        hosts = [h["hostname"] for h in self.json("/hosts", **which)]
        self.assertEqual(hosts, ["worker-00", "worker-01", "worker-02"])
        for host in hosts:
            document = self.json("/data", host=host, **which)
            self.assertEqual(document["numHosts"], 1)
            self.assertEqual(document["memoryIds"], ["GPU_0_bfc", "GPU_1_bfc", "gpu_host_bfc"])

    def test_views_of_a_document(self):
        which = {"run": "one", "tag": "memory_profile"}
        document = self.json("/data", **which)
        summary = self.json("/data", view="summary", **which)
        self.assertEqual([row["c"][0]["v"] for row in summary["rows"]], document["memoryIds"])
        # The table beside the document is its CSV.
        csv = self.get("/data_csv", **which).body.decode().splitlines()
        self.assertEqual(len(csv), 1 + len(document["memoryIds"]))
        self.assertEqual(csv[1].split(",")[0], '"GPU_0_bfc"')
        one = self.json("/data", memory_id="GPU_1_bfc", **which)
        self.assertEqual(list(one["memoryProfilePerAllocator"]), ["GPU_1_bfc"])
        self.assertEqual(one["memoryIds"], document["memoryIds"])
        total = int(self.json("/data", view="timeline", **which)["p"]["events_total"])
        first = document["memoryProfilePerAllocator"]["GPU_0_bfc"]
        self.assertEqual(total, int(first["allocationCount"]) + int(first["deallocationCount"]))
        few = self.json("/data", view="timeline", points=40, **which)
        self.assertLessEqual(len(few["rows"]), 40)
        self.assertEqual(len(self.json("/data", view="steps", **which)["rows"]), 3)
        self.assertEqual(len(self.json("/data", view="breakdown", limit=2, **which)["rows"]), 2)
        for wrong in ({"view": "x"}, {"view": "timeline", "points": "-1"},
                      {"view": "breakdown", "group": "x"}, {"view": "breakdown", "scope": ""},
                      {"view": "breakdown", "at_ps": "x"}):
            self.assertError(self.get("/data", **which, **wrong), 400, "bad_query")
        self.assertError(self.get("/data", memory_id="none", **which), 404, "not_found")

    def test_limit(self):
        which = {"run": "one", "tag": "kernel_stats"}
        table = self.json("/data", limit=2, **which)
        self.assertEqual(len(table["rows"]), 2)
        total = int(table["p"]["rows_total"])
        self.assertEqual(len(self.json("/data", limit=0, **which)["rows"]), total)
        for wrong in ("-1", "x", "", "1x", "99999999999999999999", "+1", " 1"):
            self.assertError(self.get("/data", limit=wrong, **which), 400, "bad_query")

    def test_parameters_are_checked(self):
        tools = {tool["name"]: tool for tool in self.json("/tools")}
        every = {p["name"] for tool in tools.values() for p in tool["parameters"]}
        wrong = {"count": "-1", "integer": "x", "number": "x", "boolean": "x", "choice": "x y"}
        for name, tool in tools.items():
            for parameter in tool["parameters"]:
                if parameter["kind"] in wrong:
                    query = {parameter["name"]: wrong[parameter["kind"]]}
                    with self.subTest(tool=name, **query):
                        self.assertError(self.get("/data", run="one", tag=name, **query), 400, "bad_query")
                        self.assertError(self.get("/data_csv", run="one", tag=name, **query), 400, "bad_query")
            # Another tool's parameter is not read, and is no error: pages share their addresses.
            others = sorted(every - {p["name"] for p in tool["parameters"]})
            with self.subTest(tool=name, others=others):
                right = self.get("/data", run="one", tag=name).body
                # A request has room for 64.
                for i in range(0, len(others), 40):
                    some = {other: "slowest" for other in others[i:i + 40]}
                    self.assertEqual(self.get("/data", run="one", tag=name, **some).body, right)
                error = self.get("/data", run="one", tag=name, limt="5").json()["error"]
                self.assertIn('no parameter "limt"', error["message"])
                for parameter in tool["parameters"]:
                    self.assertIn(parameter["name"], error["hint"])

    def test_step_source(self):
        for tool in ("overview_page", "input_pipeline_analyzer", "pod_viewer"):
            with self.subTest(tool=tool):
                which = {"run": "one", "tag": tool}
                self.assertEqual(self.get("/data", step_source="marked", **which).body,
                                 self.get("/data", **which).body)
                self.assertEqual(self.get("/data", step_source="module", **which).status, 200)
                self.assertError(self.get("/data", step_source="x", **which), 400, "bad_query")

    def test_steps_of(self):
        for tool in ("overview_page", "input_pipeline_analyzer", "pod_viewer"):
            with self.subTest(tool=tool):
                which = {"run": "train/many", "tag": tool}
                self.assertEqual(self.get("/data", steps_of="", **which).body,
                                 self.get("/data", **which).body)
                for host in ("slowest", "worker-01"):
                    self.assertEqual(self.get("/data", steps_of=host, **which).status, 200)
                for wrong in ("x", "ALL_HOSTS"):
                    self.assertError(self.get("/data", steps_of=wrong, **which), 400, "bad_query")
                self.assertError(self.get("/data", steps_of="worker-01", host="worker-00", **which),
                                 400, "bad_query")

    def test_csv(self):
        answer = self.get("/data_csv", run="train/many", tag="kernel_stats", host="worker-01")
        self.assertEqual(answer.headers["Content-Type"], "text/csv; charset=utf-8")
        self.assertEqual(answer.headers["Content-Disposition"],
                         'attachment; filename="kernel_stats_train_many_01.csv"')
        self.assertNotIn(b"\r", answer.body)
        rows = list(csv.reader(io.StringIO(answer.body.decode())))
        table = self.json("/data", run="train/many", tag="kernel_stats", host="worker-01")
        self.assertEqual(rows[0], [c["label"] for c in table["cols"]])
        self.assertEqual(len(rows) - 1, len(table["rows"]))

    def test_csv_by_tqx(self):
        body = self.get("/data_csv?run=one&tag=kernel_stats").body
        for tqx in ("out:csv", "out:csv;"):
            answer = self.get("/data", run="one", tag="kernel_stats", tqx=tqx)
            self.assertEqual(answer.headers["Content-Type"], "text/csv; charset=utf-8")
            self.assertEqual(answer.body, body)

    def test_csv_file_name_is_tame(self):
        answer = self.get("/data_csv", run="one", tag='kernel_stats^')
        self.assertEqual(answer.headers["Content-Disposition"],
                         'attachment; filename="kernel_stats__one_ALL_HOSTS.csv"')

    def test_diagnostics(self):
        got = self.json("/diagnostics", run="train/many")
        self.assertEqual(len(got["captures"]), 3)
        for capture in got["captures"]:
            self.assertGreater(capture["events"], 0)
            self.assertGreater(capture["duration_ms"], 0)
        one = self.json("/diagnostics", run="train/many", host="worker-01")
        self.assertEqual([c["host"] for c in one["captures"]], ["worker-01"])

    def test_diagnostics_of_a_broken_file(self):
        got = self.json("/diagnostics", run="broken")
        self.assertEqual(got["captures"], [])
        self.assertEqual(got["entries"][0]["severity"], "error")
        self.assertEqual(got["entries"][0]["host"], "bad")

    def test_instances(self):
        table = self.json("/data", run="one", tag="kernel_stats")
        ids = [c["id"] for c in table["cols"]]
        first = dict(zip(ids, (c["v"] for c in table["rows"][0]["c"])))
        got = self.json("/instances", run="one", tag="kernel_stats", host="solo",
                        kernel=first["kernel_name"], name=first["op_name"])
        self.assertGreater(got["count"], 0)
        self.assertEqual(sum(b["count"] for b in got["histogram"]), got["count"])
        self.assertLessEqual(len(got["histogram"]), 24)
        self.assertLessEqual(len(got["slowest"]), 10)
        none = self.json("/instances", run="one", tag="kernel_stats", kernel="no such kernel")
        self.assertEqual((none["count"], none["slowest"]), (0, []))

    def test_the_timeline_has_the_slowest_instances(self):
        for run in ("one", "train/many"):
            table = self.json("/data", run=run, tag="kernel_stats")
            kernel = table["rows"][0]["c"][[c["id"] for c in table["cols"]].index("kernel_name")]["v"]
            got = self.json("/instances", run=run, tag="kernel_stats", kernel=kernel)
            for one in got["slowest"]:
                event = self.json("/trace_viewer/event", run=run, host=one["host"],
                                  id=one["event"])
                self.assertEqual(event["name"], kernel)
                self.assertAlmostEqual(event["start_ps"] / 1e6, one["start_us"], delta=1e-6)
                self.assertAlmostEqual(event["duration_ps"] / 1e6, one["duration_us"], delta=1e-6)
        self.assertGreater(len({one["host"] for one in got["slowest"]}), 1)


class Errors(SharedServerCase):
    def test_missing_parameters(self):
        for path in ("/data", "/data_csv", "/run_info", "/run_tools", "/diagnostics", "/instances",
                     "/data?tag=kernel_stats", "/data?run=one", "/module_list",
                     "/hosts?tag=kernel_stats", "/instances?run=one",
                     "/data?run=&tag=kernel_stats"):
            with self.subTest(path=path):
                self.assertError(self.get(path), 400, "bad_query")

    def test_unknown_names(self):
        for path in ("/data?run=none&tag=kernel_stats", "/data?run=one&tag=none",
                     "/data?run=one&tag=kernel_stats&host=none", "/run_info?run=none",
                     "/run_tools?run=none", "/tools?run=none", "/diagnostics?run=none",
                     "/diagnostics?run=one&host=none", "/data_csv?run=none&tag=kernel_stats",
                     "/module_list?run=none", "/instances?run=one&tag=none"):
            with self.subTest(path=path):
                self.assertTrue(self.assertError(self.get(path), 404, "not_found")["hint"])

    def test_several_hosts_by_name(self):
        answer = self.get("/data?run=train/many&tag=kernel_stats&hosts=worker-00,worker-01")
        error = self.assertError(answer, 400, "bad_query")
        self.assertIn("host=", error["hint"])

    def test_broken_capture(self):
        for path in ("/data?run=broken&tag=kernel_stats", "/data_csv?run=broken&tag=tf_stats"):
            error = self.assertError(self.get(path), 422, "bad_input")
            self.assertIn("bad.xplane.pb", error["file"])
            self.assertIsInstance(error["offset"], int)
            self.assertNotIn("ETag", self.get(path).headers)

    def test_unknown_paths(self):
        for path in ("/nothing", "/runs/x", "/Runs", "/data/plugin", "/run%73x", "/generate_cache"):
            with self.subTest(path=path):
                self.assertError(self.get(path), 404, "not_found")
        self.assertEqual(self.get("/run%73").status, 200)
