# SPDX-License-Identifier: Apache-2.0
"""tfprof-server for a benchmark, and a client that adds little of its own."""

import http.client
import os
import re
import subprocess
import threading
import time

REQUEST = re.compile(r"^(?:\S+ )?GET (\S+) (\d+) (\d+) ([\d.]+) ms")


class Server:
    """Runs within a with statement. cache: folder of the result cache, None for none. verbose:
    with a log of all requests."""

    def __init__(self, program, folder, cache=None, verbose=True):
        options = ["--no-cache"] if cache is None else ["--cache-dir", cache]
        if verbose:
            options.append("--verbose")
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [program, "--logdir", folder, "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+/", self.process.stdout.readline()).group(0)
        address = self.url.split("/")[2]
        self.client = http.client.HTTPConnection(address)
        self.log = []
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def get(self, path, encoding=None):
        """(milliseconds, body)"""
        begun = time.perf_counter()
        self.client.request("GET", "/" + path, headers={"Accept-Encoding": encoding or "identity"})
        reply = self.client.getresponse()
        body = reply.read()
        ms = (time.perf_counter() - begun) * 1e3
        if reply.status != 200:
            raise RuntimeError(f"{path}: {reply.status} {body[:200]}")
        return ms, body

    def busy_ms(self):
        """Time of all processors that it has had."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")

    def since_start_ms(self):
        return (time.perf_counter() - self.begun) * 1e3

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Afterwards log has everything."""
        self.client.close()
        self.process.terminate()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()

    def answered(self):
        """(address, milliseconds by the server's own log), in order; once it has stopped."""
        found = (REQUEST.search(line) for line in self.log)
        return [(m.group(1), float(m.group(4))) for m in found if m]
