# SPDX-License-Identifier: Apache-2.0
"""Compiled programs as texts and bytes: answers that are written as they are made."""

import concurrent.futures
import gzip
import os
import subprocess

import support
from support import Case

RUN = "step"


class Programs(Case):
    def setUp(self):
        super().setUp()
        subprocess.run([support.SYNTH, "--jax", "-o", self.folder, "--run", RUN], check=True,
                       stdout=subprocess.DEVNULL)
        self.server = self.serve("--no-cache", self.folder)
        self.program = self.server.get("/module_list", run=RUN).body.decode().split(",")[0]

    def ask(self, type, headers=None, method="GET", **query):
        return self.server.get("/data", headers=headers, method=method, run=RUN,
                               tag="graph_viewer", type=type, module_name=self.program, **query)

    def test_whole_programs(self):
        text = self.ask("long_txt")
        self.assertEqual(text.status, 200, text.body)
        self.assertEqual(text.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertTrue(text.body.startswith(b"HloModule " + self.program.split("(")[0].encode()))
        self.assertTrue(text.body.rstrip().endswith(b"}"))
        # Lines are those of the text, whatever part of them is asked for.
        lines = self.server.json("/data", run=RUN, tag="graph_viewer", type="lines",
                                 module_name=self.program, large_constants="true", count=10000)
        whole = text.body.decode().split("\n")[:-1]
        self.assertEqual([line["text"] for line in lines["lines"]], whole)
        self.assertEqual(lines["lines_total"], len(whole))
        part = self.server.json("/data", run=RUN, tag="graph_viewer", type="lines",
                                module_name=self.program, large_constants="true",
                                **{"from": 5, "count": 3})
        self.assertEqual([line["text"] for line in part["lines"]], whole[5:8])
        proto = self.ask("pb")
        self.assertEqual(proto.headers["Content-Type"], "application/octet-stream")
        with open(os.path.join(self.folder, "plugins/profile", RUN,
                               os.listdir(os.path.join(self.folder, "plugins/profile", RUN))[0]),
                  "rb") as f:
            self.assertIn(proto.body, f.read())

    def test_as_other_answers(self):
        plain = self.ask("short_txt")
        packed = self.ask("short_txt", headers={"Accept-Encoding": "gzip"})
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        head = self.ask("short_txt", method="HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        tag = plain.headers["ETag"]
        self.assertEqual(self.ask("short_txt", headers={"If-None-Match": tag}).status, 304)
        # Each client has a stream of its own.
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: self.ask("short_txt").body, range(8)))
        self.assertEqual(set(answers), {plain.body})

    def test_what_is_not_there(self):
        for query, status, words in (
                ({"module_name": self.program, "program_id": 1}, 404, b"no program has the id 1"),
                ({"module_name": "nothing"}, 404, b"nothing"),
                ({"module_name": self.program, "count": "x"}, 400, b"count")):
            answer = self.server.get("/data", run=RUN, tag="graph_viewer", type="long_txt", **query)
            self.assertEqual(answer.status, status, answer.body)
            self.assertIn(words, answer.body)
            self.assertEqual(answer.headers["Content-Type"], "application/json")

    def test_in_a_terminal(self):
        text = support.run_cli("graph_viewer", self.folder, "--type", "short_txt",
                               "--module-name", self.program)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertEqual(text.stdout, self.ask("short_txt").body)
        dot = support.run_cli("graph_viewer", self.folder, "--type", "graph", "--node-name",
                              "nothing.at.all")
        self.assertEqual(dot.returncode, 1)
        self.assertIn(b"Couldn't find HloInstruction or HloComputation", dot.stderr)
