# SPDX-License-Identifier: Apache-2.0
"""The trace viewer's answers about composed captures, through the server."""

import json
import urllib.parse

from support import SharedServerCase


class Trace(SharedServerCase):
    def trace(self, path, **query):
        return self.json("/trace_viewer/" + path + "?" + "&".join(
            "%s=%s" % pair for pair in query.items()))

    def tracks(self, run):
        return [t for p in self.trace("tracks", run=run)["processes"] for t in p["tracks"]]

    def test_every_level_has_every_event(self):
        for run in ("one", "train/many"):
            whole = self.trace("tracks", run=run)
            self.assertEqual(sum(t["events"] for t in self.tracks(run)), whole["events"])
            for level in (30, 34, 40, 53):
                tiles = whole["duration_ps"] // (512 << level) + 1
                events = 0
                for tile in range(0, tiles, 16):
                    answer = self.trace("tiles", run=run, level=level, tile=tile,
                                        tiles=min(16, tiles - tile))
                    events += answer["events"]
                    counted = 0
                    for track in answer["tracks"]:
                        if "time" in track:
                            counted += sum(track["count"])
                        else:
                            counted += (len(track["start"]) - track["before"]
                                        - len(track["merged"]) + sum(track["count"]))
                    self.assertEqual(counted, answer["events"])
                self.assertEqual(events, whole["events"], (run, level))

    def test_events_are_accounted_for(self):
        for run in ("one", "train/many"):
            with self.subTest(run=run):
                whole = self.trace("tracks", run=run)
                early = self.trace("tracks", run=run, derived=0)
                captures = self.json("/diagnostics?run=%s" % run)["captures"]
                for answer in (whole, early):
                    self.assertEqual(answer["recorded"], sum(c["events"] for c in captures))
                    self.assertEqual(answer["events"], answer["recorded"] - answer["hidden"]
                                     + answer["derived"])
                self.assertEqual(early["derived"], 0)
                self.assertGreater(whole["derived"], 0)
                self.assertGreater(whole["hidden"], 0)

    def test_a_tile_leads_to_its_events(self):
        answer = self.trace("tiles", run="one", level=24, tile=2)
        seen = 0
        for track in answer["tracks"]:
            if "time" in track:
                continue
            merged, at = set(), 0
            for step in track["merged"]:
                at += step
                merged.add(at)
            index = 0
            for depth, count in track["depth"]:
                start = event = 0
                for index in range(index, index + count):
                    start += track["start"][index]
                    event += track["event"][index]
                    if index in merged or seen > 40:
                        continue
                    seen += 1
                    found = self.trace("event", run="one", id="%s.%d" % (track["id"], event))
                    self.assertEqual(found["start_ps"], start)
                    self.assertEqual(found["duration_ps"], track["duration"][index])
                    self.assertEqual(found["depth"], depth)
                    name = track["name"][index]
                    self.assertEqual(found["name"], answer["names"][name])
                    self.assertEqual(found["category"], answer["categories"][name])
                index += 1
        self.assertGreater(seen, 5)

    def test_hosts_are_one_timeline(self):
        whole = self.trace("tracks", run="train/many")
        self.assertEqual([h["index"] for h in whole["hosts"]], [0, 1, 2])
        self.assertTrue(all(h["aligned"] for h in whole["hosts"]))
        self.assertIsNone(whole["alignment"])
        host = whole["hosts"][1]["host"]
        alone = self.trace("tracks", run="train/many", host=host)
        self.assertEqual([h["index"] for h in alone["hosts"]], [1])
        ids = [t["id"] for p in alone["processes"] for t in p["tracks"]]
        self.assertTrue(all(i.startswith("1.") for i in ids))
        self.assertTrue(set(ids) < {t["id"] for t in self.tracks("train/many")})

    def test_some_hosts_keep_the_numbers_of_their_tracks(self):
        names = [h["host"] for h in self.trace("tracks", run="train/many")["hosts"]]
        hosts = ",".join([names[2], names[0]])
        some = self.trace("tracks", run="train/many", hosts=hosts)
        self.assertEqual([(h["host"], h["index"]) for h in some["hosts"]],
                         [(names[2], 2), (names[0], 0)])
        ids = {t["id"] for p in some["processes"] for t in p["tracks"]}
        self.assertEqual(ids, {t["id"] for t in self.tracks("train/many")
                               if not t["id"].startswith("1.")})
        whole = self.trace("search", run="train/many", q="a", tracks=",".join(sorted(ids)))
        found = self.trace("search", run="train/many", hosts=hosts, q="a")
        self.assertGreater(found["total"], 0)
        self.assertEqual(found["total"], whole["total"])
        self.assertEqual({t["id"]: t["count"] for t in found["tracks"]},
                         {t["id"]: t["count"] for t in whole["tracks"]})

    def test_search_pages_are_one_list(self):
        everything = self.trace("search", run="one", q="a", limit=2000)
        self.assertGreater(everything["total"], 100)
        self.assertEqual(everything["total"], sum(t["count"] for t in everything["tracks"]))
        pages = []
        for offset in range(0, min(everything["total"], 2000), 97):
            pages += self.trace("search", run="one", q="a", offset=offset, limit=97)["hits"]
        self.assertEqual(pages[:len(everything["hits"])], everything["hits"])
        starts = [h["start_ps"] for h in everything["hits"]]
        self.assertEqual(starts, sorted(starts))
        self.assertTrue(all("a" in h["name"].lower() for h in everything["hits"]))

    def test_list_and_sums_agree(self):
        whole = self.trace("tracks", run="one")
        events = self.trace("events", run="one", limit=1)["total"]
        sums = self.trace("aggregate", run="one", limit=100000)
        counters = sum(t["events"] for t in self.tracks("one") if t["kind"] == "counter")
        self.assertEqual(events, whole["events"])
        # Each layer is summed up by itself; together they are all events.
        layers = [self.trace("aggregate", run="one", limit=1, layer=urllib.parse.quote(one["layer"]))["events"] for one in sums["layers"]]
        self.assertEqual(sum(layers), whole["events"] - counters)
        self.assertEqual(sums["events"], layers[0])
        for side in ("host_busy_ps", "device_busy_ps"):
            self.assertLessEqual(sums[side], whole["duration_ps"])
        self.assertEqual(sums["events"], sum(r["count"] for r in sums["rows"]))
        totals = [r["total_ps"] for r in sums["rows"]]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_errors(self):
        def error(path, status, code):
            self.assertError(self.get("/trace_viewer/" + path), status, code)
        error("tracks", 400, "bad_query")
        error("tracks?run=none", 404, "not_found")
        error("tracks?run=broken", 422, "bad_input")
        error("tiles?run=one", 400, "bad_query")
        error("tiles?run=one&level=10&tracks=9.9", 404, "not_found")
        error("event?run=one&id=0.0.99999999", 404, "not_found")
        error("neighbour?run=one&id=0.0.0&direction=over", 400, "bad_query")
        error("events?run=one&limit=100000", 400, "bad_query")
        error("search?run=one&q=%5B&mode=regex", 400, "bad_query")
        for choice in ("mode=glob", "mode=", "in=names", "case=2"):
            error("search?run=one&q=a&" + choice, 400, "bad_query")
        answer = self.get("/trace_viewer/search?run=one&q=ab%5B&mode=regex")
        self.assertEqual(json.loads(answer.body)["error"]["offset"], 3)

    def xprof(self, run, **query):
        return self.get("/data?" + urllib.parse.urlencode({"run": run, "tag": "trace_viewer@",
                                                           **query}))

    def processes(self, **query):
        return {e["pid"]: e["args"]["name"].split(" ")[0]
                for e in self.xprof("train/many", **query).json()["traceEvents"]
                if e.get("name") == "process_name"}

    def test_hosts_of_xprofs_page(self):
        """Its page always sends host, too, and means hosts."""
        names = [h["host"] for h in self.trace("tracks", run="train/many")["hosts"]]
        two = ",".join(names[1:])
        for tag in ("trace_viewer@", "trace_viewer"):
            count = len(set(self.processes(tag=tag, hosts=two).items()))
            self.assertEqual(len(self.processes(tag=tag, host=names[0], hosts=two)), count)
        self.assertEqual(set(self.processes(host=names[0], hosts=two).values()), set(names[1:]))
        self.assertEqual(set(self.processes(hosts=names[2], host="ALL_HOSTS").values()), {names[2]})
        for query in ({}, {"hosts": "ALL_HOSTS"}, {"host": "ALL_HOSTS"},
                      {"hosts": "ALL_HOSTS", "host": names[0]}):
            self.assertEqual(set(self.processes(**query).values()), set(names), query)
        self.assertEqual(set(self.processes(host=names[0], hosts="").values()), {names[0]})
        self.assertError(self.xprof("train/many", hosts="none"), 404, "not_found")
        self.assertError(self.xprof("train/many", host=names[0], hosts="none"), 404, "not_found")

    def test_uid_leads_to_an_events_arguments(self):
        """As XProf's page asks: times as milliseconds from its microseconds."""
        whole = [e for e in self.xprof("one", args="all").json()["traceEvents"] if e["ph"] == "X"]
        short = [e for e in self.xprof("one").json()["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(len(short), len(whole))
        some = 0
        for i in range(0, len(short), len(short) // 40):
            event, full = short[i], whole[i]
            self.assertLessEqual(set(event["args"]), {"uid", "group_id"})
            answer = self.xprof("one", event_name=event["name"], unique_id=event["args"]["uid"],
                                start_time_ms=event["ts"] / 1000, duration_ms=event["dur"] / 1000)
            found = [e for e in answer.json()["traceEvents"] if e["ph"] == "X"]
            for e in found + [full]:
                e.pop("sf", None)
            self.assertEqual(found, [full])
            some += len(full.get("args", {})) > 1
        self.assertGreater(some, 5)
        self.assertError(self.xprof("one", event_name="x", unique_id=0), 404, "not_found")

    def test_what_xprofs_viewers_are_asked_in_vain_is_refused(self):
        config = "trace_filter_config"
        for query in ({"format": "pb"}, {"args": "some"}, {"selected_group_ids": "all"},
                      {"selected_group_ids": "1,"}, {config: "no JSON"}, {config: "[]"},
                      {config: '{"deviceRegexes": ["("]}'}, {config: '{"deviceRegexes": "a"}'},
                      {config: '{"traceEventFilters": [{"fieldName": "tid"}]}'},
                      {config: '{"traceEventArgFilters": [{"fieldName": "shape"}]}'}):
            self.assertError(self.xprof("one", **query), 400, "bad_query")
        for query in ({"format": "pb"}, {"selected_group_ids": "all"}, {config: "no JSON"}):
            self.assertError(self.xprof("one", **query, tag="trace_viewer"), 400, "bad_query")

    def test_a_tile_is_not_sent_twice(self):
        path = "/trace_viewer/tiles?run=one&level=40"
        tag = self.get(path).headers["ETag"]
        self.assertEqual(self.get(path, {"If-None-Match": tag}).status, 304)
