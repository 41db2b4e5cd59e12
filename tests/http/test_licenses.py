# SPDX-License-Identifier: Apache-2.0
"""Whose work is in the programs: the notices are there, whole, and the same everywhere."""

import json
import os
import re
import subprocess

import support
from support import Case

WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web")


class Licenses(Case):
    def test_all_programs_and_the_server_tell(self):
        texts = {subprocess.run([program, "--licenses"], capture_output=True, check=True).stdout
                 for program in (support.SERVER, support.CLI, support.SYNTH)}
        self.assertEqual(len(texts), 1)
        answer = self.serve().get("/licenses")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertEqual({answer.body}, texts)
        text = answer.body.decode()
        self.assertIn("Apache License", text)
        for library in ("libmicrohttpd", "jansson", "protobuf-c", "pcre2", "libedit", "zstd", "zlib", "GnuTLS", "libcurl"):
            self.assertRegex(text, r"(?m)^%s \d" % re.escape(library))
        self.assertNotIn("/node_modules", text)

    def test_packages_of_the_page(self):
        text = subprocess.run([support.SERVER, "--licenses"], capture_output=True, check=True, text=True).stdout
        if "Packages in the page" not in text:
            self.skipTest("built without the page")
        with open(os.path.join(WEB, "package.json"), encoding="utf-8") as f:
            names = list(json.load(f)["dependencies"])
        for name in names:
            heading = re.search(r"(?m)^%s (\S+)\n-+\n" % re.escape(name), text)
            self.assertTrue(heading, name)
            folder = os.path.join(WEB, "node_modules", name)
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as f:
                self.assertEqual(heading[1], json.load(f)["version"])
            notice = [n for n in os.listdir(folder) if n.lower().startswith("licen")][0]
            with open(os.path.join(folder, notice), encoding="utf-8") as f:
                first = [line.strip() for line in f if "copyright" in line.lower()][0]
            self.assertIn(first, text[heading.end():])
