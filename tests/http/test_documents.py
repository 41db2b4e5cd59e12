# SPDX-License-Identifier: Apache-2.0
"""Every command that the documents name is run, or its document says that no test runs it.

Commands are the lines of ```sh blocks, lines of other blocks that begin with one of our
programs, such `code` within a text, the examples of man pages and those of --help. They are run
by a shell in a folder that has what they speak of: a log directory, a capture, a certificate,
and an ssh that runs the command here. A new command is tried as it stands; one that cannot be
goes into its document's paragraph that begins with "No test runs".
"""

import base64
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import support
from support import Case, captures, put, write

OURS = ("tfprof", "tfprof-server", "tfprof-synth")
# First words by which code within a text is a command.
PROGRAMS = OURS + ("meson", "ninja", "curl", "ssh", "clang-format", "clang-tidy", "node", "npm",
                   "docker", "git", "systemctl", "sbatch")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/tools/*.md",
             "docs/man/*.1"]
# The paragraph of exceptions.
UNTRIED = r"^No test runs .*?(?=\n\n|\Z)"
# Commands that a test of their own runs, with more care than is possible here.
ELSEWHERE = {"scripts/bundle.sh": ("tests/http/test_contrib.py", "class Bundle")}


def documents():
    for pattern in DOCUMENTS:
        for path in sorted(glob.glob(os.path.join(support.SOURCE, pattern))):
            with open(path, encoding="utf-8") as f:
                yield os.path.relpath(path, support.SOURCE), f.read()


def program_of(command):
    words = [w for w in command.split() if not re.match(r"[A-Z_]+=", w)]
    return words[0] if words else ""


def is_program(word):
    return word in PROGRAMS or word.startswith(("scripts/", ".ci/"))


def lines_of(block):
    for line in block.splitlines():
        # A comment, and several commands in one line.
        line = re.sub(r"\s+#.*$", "", line).strip()
        for part in re.split(r"\s{3,}|\s*&&\s*|;\s+", line):
            if part and not part.startswith("#"):
                yield part


def commands_of_markdown(text):
    fence = r"^```(\w*)\n(.*?)^```"
    for kind, block in re.findall(fence, text, re.S | re.M):
        for command in lines_of(block):
            # In a block for a shell everything is a command, known here or not.
            if kind in ("sh", "bash", "console") or is_program(program_of(command)):
                yield command
    text = re.sub(UNTRIED, "", re.sub(fence, "", text, flags=re.S | re.M), flags=re.S | re.M)
    for code in re.findall(r"`([^`\n]+)`", text):
        word = program_of(code)
        # A program alone is only its name, and what the build runs is a file.
        script = word.startswith(("scripts/", ".ci/")) and not word.endswith(".py")
        if is_program(word) and (code != word or script):
            yield code


def commands_of_manual(text):
    examples = text.partition(".SH EXAMPLES")[2].partition(".SH")[0].replace("\\-", "-")
    for block in re.findall(r"\.nf\n(.*?)\.fi", examples, re.S):
        for line in block.splitlines():
            if not line.startswith("."):
                yield line


def untried(text):
    """What the document's paragraph of exceptions names."""
    return re.findall(r"`([^`]+)`", " ".join(re.findall(UNTRIED, text, re.S | re.M)))


def begins_with(command, words):
    return command.split()[: len(words.split())] == words.split()


def forms(command):
    """The commands that a usage with [options] and a|b stands for."""
    if "[" in command:
        inside = re.search(r"\[([^\[\]]*)\]", command)
        bare = command[: inside.start()] + command[inside.end():]
        first = command[: inside.start()] + inside[1] + command[inside.end():]
        return forms(bare)[:1] + forms(first)
    either = re.search(r"(\S+)\|(\S+)", command)
    if either:
        return [form for one in either[0].split("|")
                for form in forms(command.replace(either[0], one))]
    return [command]


class Documents(Case):
    # What stands for something of the reader's own.
    OWN = [(r"--logdir \S+", "--logdir captured"),
           (r"(?<!\S)(path/to/logdir|/data/logs|/mnt/logs|runs/|DIR)(?!\S)", "runs"),
           (r"--run R\b", "--run 2026_01_15_10_00_00"), (r"--host H\b", "--host worker-00"),
           (r"--limit N\b", "--limit 5"), (r"--output FILE\b", "--output trace.json.gz"),
           (r"--tracks T\b", "--tracks 0.1"), (r"--from PS\b", "--from 0"),
           (r"--to PS\b", "--to 1000000000"), (r"/tmp/runs\b", "made"),
           (r"--size 100M\b", "--size 1M"), (r"^tfprof TOOL$", "tfprof kernel_stats runs"),
           (r"(?<=unix:)PATH\b", "tfprof.sock")]

    def setUp(self):
        super().setUp()
        put(captures(1, steps=3)[0], self.path("runs/plugins/profile/2026_01_15_10_00_00/worker-00.xplane.pb"))
        put(captures(1, steps=3)[0], self.path("host.xplane.pb"))
        for program, path in zip(OURS, (support.CLI, support.SERVER, support.SYNTH)):
            os.makedirs(self.path("bin"), exist_ok=True)
            os.symlink(path, self.path("bin", program))
        # As ssh -L PORT:HOST:PORT|PORT:PATH MACHINE [COMMAND]..., on this machine.
        write(self.path("bin/ssh"), b"""#!/bin/sh
[ "$1" = -L ] || { echo "ssh: no -L: $*" >&2; exit 9; }
case $2 in [0-9]*:*) ;; *) echo "ssh: $2" >&2; exit 9 ;; esac
[ -n "$3" ] || { echo "ssh: no machine" >&2; exit 9; }
shift 3
[ $# = 0 ] || exec "$@"
""")
        os.chmod(self.path("bin/ssh"), 0o755)
        # A model that TensorFlow's first profiler recorded.
        with open(os.path.join(support.SOURCE, "tests/golden/tfprof/cases/mini.json"), encoding="utf-8") as f:
            for name, data in json.load(f)["files"].items():
                with open(self.path(name), "wb") as out:
                    out.write(base64.b64decode(data))
        self.environment = {
            "PATH": self.path("bin") + ":" + os.environ["PATH"], "HOME": self.folder,
            "XDG_RUNTIME_DIR": self.folder, "XDG_CACHE_HOME": self.path("cache"), "LC_ALL": "C.UTF-8",
        }

    def own(self, command):
        for pattern, value in self.OWN:
            command = re.sub(pattern, value, command)
        return command

    def shell(self, command, **process):
        return subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **process)

    def certify(self):
        if not os.path.exists(self.path("node.pem")):
            if not shutil.which("openssl"):
                self.skipTest("no openssl")
            cert, key = support.certificate(self.path("c"))
            os.rename(cert, self.path("node.pem"))
            os.rename(key, self.path("node.key"))

    def serves(self, command):
        """A server says where it is, and ends when it is asked to."""
        if "--tls" in command:
            self.certify()
        if "unix:" not in command:
            command += " --port 0"
        process = self.shell(command + " --no-cache")
        try:
            line = process.stdout.readline()
            self.assertRegex(line, r" at (https?|unix):", process.stderr.read() if not line else "")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=support.PATIENCE)

    def runs(self, command):
        done = self.shell(command)
        out, err = done.communicate(timeout=support.PATIENCE)
        self.assertEqual(done.returncode, 0, command + "\n" + out[-500:] + err[-2000:])

    def captures_from(self, command, addresses):
        if not support.PROFILER:
            return
        os.makedirs(self.path("captured"), exist_ok=True)
        profilers = [support.Profiler() for _ in range(len(addresses.split(",")))]
        for profiler in profilers:
            self.addCleanup(profiler.process.kill)
        there = ",".join(profiler.address for profiler in profilers)
        # The made-up programs are quick.
        self.runs(re.sub(r"--duration \S+", "--duration 10ms", command.replace(addresses, there)))

    def fetches(self, command):
        if not shutil.which("curl"):
            return
        server = self.serve("--auth", "token", self.path("runs"))
        command = command.replace("TOKEN", server.token)
        self.runs("test -n \"$(%s)\"" % re.sub(r"https://node:6006", "http://%s:%d" % (
            server.host, server.port), command).replace("curl ", "curl -fsS "))

    def try_one(self, command):
        program = program_of(command)
        if program in ELSEWHERE:
            file, what = ELSEWHERE[program]
            with open(os.path.join(support.SOURCE, file), encoding="utf-8") as f:
                self.assertIn(what, f.read())
            return
        self.assertTrue(program in OURS + ("curl", "ssh"),
                        "%s: no test runs this, and the document does not say so" % command)
        for form in forms(command):
            form = self.own(form)
            words = form.split()
            addresses = re.search(r"(HOST:PORT|trainer-\S+:\d+)", form)
            if addresses and words[1:2] == ["monitor"]:
                # Only TPUs can be asked: the test is whether the request gets there.
                done = self.shell(form.replace("HOST:PORT", "127.0.0.1:1"))
                self.assertIn("127.0.0.1:1", done.communicate(timeout=support.PATIENCE)[1])
                self.assertEqual(done.returncode, 1)
            elif addresses:
                self.captures_from(form, addresses[0])
            elif program == "curl":
                self.fetches(form)
            elif words[:2] == ["tfprof-server", "--licenses"]:
                self.runs(form)
            elif "tfprof-server" in words:
                self.serves(form)
            elif program == "tfprof" and len(words) == 2 and words[1] != "tools":
                # Only the name of a command.
                done = self.shell(form)
                self.assertNotIn("no command or tool", done.communicate(timeout=support.PATIENCE)[1])
            elif form == "ssh -L":
                continue
            else:
                self.runs(form)

    def test_commands(self):
        tried = set()
        for name, text in documents():
            commands = commands_of_manual(text) if name.endswith(".1") else commands_of_markdown(text)
            exceptions = untried(text)
            used = set()
            for command in commands:
                matching = [e for e in exceptions if begins_with(command, e)]
                used.update(matching)
                if matching or command in tried:
                    continue
                tried.add(command)
                with self.subTest(document=name, command=command):
                    self.try_one(command)
            with self.subTest(document=name):
                # A command named only among the exceptions is not one of the document's.
                self.assertEqual([e for e in exceptions if e not in used], [],
                                 "exceptions that the document does not name elsewhere")
        # Less would mean that they are not found any more.
        self.assertGreater(len(tried), 25)

    def test_scripts_are_there(self):
        for name, text in documents():
            for script in set(re.findall(r"(?<![\w/])((?:scripts|\.ci)/[\w.-]*\w)", text)):
                with self.subTest(document=name, script=script):
                    path = os.path.join(support.SOURCE, script)
                    self.assertTrue(os.path.exists(path))
                    with open(path, "rb") as f:
                        if f.readline().startswith(b"#!/bin/bash"):
                            subprocess.run(["bash", "-n", path], check=True)

    def test_examples_of_help(self):
        for program in OURS:
            usage = subprocess.run([self.path("bin", program), "--help"], text=True, check=True,
                                   capture_output=True).stdout
            for command in lines_of(usage.partition("Examples:")[2]):
                with self.subTest(command=command):
                    self.try_one(command)


class Reading(unittest.TestCase):
    """Commands are found where they stand, so that a new one cannot slip in."""

    def test_markdown(self):
        text = ("`tfprof` and `tfprof ls DIR`, `scripts/new`, `a b`.\n\n```sh\ntfprof a  # why\n"
                "brew install x && scripts/run\n```\n\n```\n/data?run=R\ntfprof x DIR     tfprof y DIR\n```\n")
        self.assertEqual(sorted(commands_of_markdown(text)),
                         ["brew install x", "scripts/new", "scripts/run", "tfprof a", "tfprof ls DIR",
                          "tfprof x DIR", "tfprof y DIR"])
        self.assertEqual(untried("No test runs `a b` or\n`c`.\n\n`d`"), ["a b", "c"])

    def test_forms(self):
        self.assertEqual(forms("a [--b] c|d"), ["a  c", "a --b c", "a --b d"])
