# SPDX-License-Identifier: Apache-2.0
"""The Slurm job of contrib/, with a server that only pretends, and scripts/bundle.sh."""

import os
import re
import stat
import subprocess
import tarfile

import support

SCRIPT = os.path.join(support.SOURCE, "contrib", "tfprof-server.slurm")


class SlurmJob(support.Case):
    def stub(self, text):
        path = self.path("stub")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        return path

    def start(self, server):
        self.log = self.path("job.log")
        os.mkdir(self.path("tmp"))
        with open(self.log, "w", encoding="utf-8") as out:
            os.chmod(self.log, 0o644)
            process = subprocess.Popen(
                ["bash", SCRIPT, self.folder], stdout=out, stderr=out,
                env=dict(os.environ, TFPROF_SERVER=server, SLURM_JOB_ID="77", USER="me",
                         SLURM_SUBMIT_HOST="login1", SLURMD_NODENAME="node3",
                         SLURM_CPUS_PER_TASK="2", SLURM_MEM_PER_NODE="1000",
                         TMPDIR=self.path("tmp")))
        self.addCleanup(process.kill)
        return process

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def test_says_how_to_reach_it_and_cleans_up(self):
        server = self.stub(
            'if [ "$1" = --help ]; then echo "--auth"; exit 0; fi\n'
            'echo "$@" >"%s"; echo $$ >"%s"\n'
            'echo "Serving x at http://127.0.0.1:4567/?token=abc"\n'
            "exec sleep 600\n" % (self.path("arguments"), self.path("pid")))
        process = self.start(server)
        self.eventually(lambda: "scancel 77" in self.text())
        text = self.text()
        self.assertIn("ssh -N -L 4567:localhost:4567 -J me@login1 me@node3\n", text)
        self.assertIn("http://127.0.0.1:4567/?token=abc\n", text)
        self.assertEqual(stat.S_IMODE(os.stat(self.log).st_mode), 0o600)
        with open(self.path("arguments"), encoding="utf-8") as f:
            self.assertEqual(f.read().split(),
                             ["--auth", "token", "--port", "0", "--threads", "2",
                              "--memory-limit", "500M", self.folder])
        with open(self.path("pid"), encoding="utf-8") as f:
            pid = int(f.read())
        process.terminate()
        self.assertEqual(process.wait(support.PATIENCE), 0)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_without_tokens_it_does_not_start(self):
        process = self.start(self.stub('echo "nothing"\n'))
        self.assertEqual(process.wait(support.PATIENCE), 1)
        self.assertIn("no --auth", self.text())

    def test_a_server_that_fails(self):
        process = self.start(self.stub(
            'if [ "$1" = --help ]; then echo "--auth"; exit 0; fi\nexit 3\n'))
        self.assertEqual(process.wait(support.PATIENCE), 1)
        self.assertIn("did not start", self.text())
        self.assertEqual(os.listdir(self.path("tmp")), [])


class Bundle(support.Case):
    """scripts/bundle.sh, for nodes without libraries."""

    SCRIPT = os.path.join(support.SOURCE, "scripts", "bundle.sh")

    def bundle(self, *args):
        return subprocess.run(["bash", self.SCRIPT, *args], capture_output=True, text=True,
                              timeout=support.PATIENCE)

    def test_runs_from_any_folder(self):
        build = os.path.dirname(os.path.dirname(support.SERVER))
        done = self.bundle(self.path("b.tar.gz"), build)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("unpack it anywhere", done.stderr)
        with tarfile.open(self.path("b.tar.gz")) as archive:
            archive.extractall(self.path("there"))
        for program in ("tfprof-server", "tfprof", "tfprof-synth"):
            with self.subTest(program=program):
                path = self.path("there/tfprof/" + program)
                version = subprocess.run([path, "--version"], capture_output=True, text=True,
                                         env={"PATH": os.environ["PATH"]}, check=True,
                                         timeout=support.PATIENCE)
                self.assertTrue(version.stdout.startswith(program + " "))
        # The server's libraries are those beside it.
        libraries = os.listdir(self.path("there/tfprof/lib"))
        self.assertTrue(any(name.startswith("libcurl") for name in libraries))
        self.assertFalse(any(name.startswith("libc.") for name in libraries))
        # Each has its notice, and what the notices point to is there.
        notices = os.listdir(self.path("there/tfprof/licences"))
        self.assertNotIn("no notice found", done.stderr)
        self.assertIn("libcurl3-gnutls.txt", notices)
        self.assertIn("LGPL-2.1", notices)
        for name in notices:
            with open(self.path("there/tfprof/licences", name), encoding="utf-8", errors="replace") as f:
                for licence in re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", f.read()):
                    self.assertIn(licence, notices)
        with open(self.path("there/tfprof/THIRD_PARTY.txt"), encoding="utf-8") as f:
            self.assertIn("libmicrohttpd", f.read())

    def test_says_why_not(self):
        for args, code, word in (((), 2, "usage"), (("a", "b", "c"), 2, "usage"),
                                 ((self.path("x"), self.path("none")), 1, "is not there")):
            done = self.bundle(*args)
            self.assertEqual((done.returncode, word in done.stderr), (code, True), done.stderr)
        done = self.bundle(self.path("none/b.tar.gz"),
                           os.path.dirname(os.path.dirname(support.SERVER)))
        self.assertEqual(done.returncode, 1)
        self.assertIn("bundle.sh: line", done.stderr)
