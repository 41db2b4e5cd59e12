# SPDX-License-Identifier: Apache-2.0
"""--log-format: one line for each event, whatever clients write."""

import json
import os
import re
import subprocess
import urllib.request

import support

PATHS = [
    b"/runs",
    b"/no%0d%0asuch",
    b'/quo"te\\back',
    b"/bytes\xff\xfe\xc3",
    b"/escape\x1b[2J",
    b"/umlaut\xc3\xa4",
    b"/c1\xc2\x9b",
    b"/runs?token=hunter2&x=1",
    b"/runs?x=1&t%6Fken=hunter2",
    b"/long" + b"\xff" * 7000,
]


class Log(support.Case):
    def lines(self, *arguments):
        server = self.serve("--verbose", *arguments, self.folder)
        for path in PATHS:
            server.raw(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(server.get("/version").status, 200)
        server.stop()
        data = server.log_bytes()
        self.assertNotIn(b"hunter2", data)
        self.assertTrue(data.endswith(b"\n"))
        return data.split(b"\n")[:-1]

    def test_json(self):
        found = [json.loads(line.decode("utf-8")) for line in self.lines("--log-format", "json")]
        for entry in found:
            self.assertRegex(entry["ts"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(entry["level"], ("info", "warning", "debug"))
        requests = [e for e in found if e.get("event") == "request"]
        paths = [e["path"] for e in requests]
        for path in ("/runs", "/no%0d%0asuch", '/quo"te\\back', "/umlaut\xe4",
                     "/runs?token=***&x=1", "/runs?x=1&t%6Fken=***", "/version"):
            self.assertIn(path, paths)
        last = [e for e in requests if e["path"] == "/version"][0]
        self.assertEqual((last["status"], last["method"], last["client"], last["end"]),
                         (200, "GET", "127.0.0.1", "whole"))
        self.assertEqual(last["bytes"], len(support.subprocess.run(
            [support.SERVER, "--version"], capture_output=True).stdout.split()[1]))
        self.assertGreater(last["ms"], 0)

    def test_text(self):
        for line in self.lines():
            text = line.decode("utf-8")
            self.assertIsNone(re.search("[\x00-\x1f\x7f-\x9f]", text), line)

    def served(self, **options):
        process = subprocess.Popen([support.SERVER, "--port", "0", "--verbose", self.folder],
                                   stdout=subprocess.PIPE, **options)
        try:
            url = process.stdout.readline().decode().rstrip().rpartition(" at ")[2]
            for _ in range(3):
                with urllib.request.urlopen(url + "version", timeout=support.PATIENCE) as answer:
                    self.assertEqual(answer.status, 200)
        finally:
            process.terminate()
            self.assertEqual(process.wait(30), 0)
            process.stdout.close()

    def test_stderr_that_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.served(stderr=writer)
        os.close(writer)

    def test_stderr_that_is_closed(self):
        # Nothing that is opened later takes its place: answers would hold lines of the log.
        self.served(preexec_fn=lambda: os.close(2))
