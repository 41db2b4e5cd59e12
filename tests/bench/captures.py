# SPDX-License-Identifier: Apache-2.0
"""The captures to measure: made once, kept for the next time."""

import os
import shutil
import subprocess
import sys

import cut_lines
import lengthen

SUFFIX = ".xplane.pb"


def files_below(folder, suffix=SUFFIX):
    return sorted(os.path.join(d, f) for d, _, names in os.walk(folder) for f in names
                  if f.endswith(suffix))


class Captures:
    """work: the folder they are kept in. synth: tfprof-synth. tpu: a real capture, or None."""

    def __init__(self, work, synth, tpu):
        self.work, self.synth, self.tpu = work, synth, tpu

    def composed(self, name, *options):
        """Folder of a composed run. The name has to tell its options apart."""
        return self._made(name, lambda folder: subprocess.run(
            [self.synth, *options, "-o", folder], check=True))

    def long(self, megabytes):
        """One file of about that size: the real capture made long, or else a composed one."""
        if self.tpu is None:
            print("no --tpu FILE: a composed capture of GPUs stands in for a TPU's", flush=True)
            return files_below(self.composed(f"{megabytes}M", "--size", f"{megabytes}M"))[0]
        state = os.stat(self.tpu)
        name = f"tpu-{megabytes}M-{state.st_size:x}-{int(state.st_mtime):x}"

        def make(folder):
            place = os.path.join(folder, "plugins", "profile", "long")
            os.makedirs(place)
            lengthen.lengthen(self.tpu, os.path.join(place, "host0" + SUFFIX), megabytes * 1000000)

        return files_below(self._made(name, make))[0]

    def long_gpu(self, size):
        """One composed file of about that size, as today's profilers write them."""
        return files_below(self.composed(size, "--size", size))[0]

    def many_lines(self, size, events):
        """A composed file in few lines, and the same one with so many events a line at most."""
        (few,) = files_below(self.composed(size, "--size", size))

        def make(folder):
            place = os.path.join(folder, "plugins", "profile", "lines")
            os.makedirs(place)
            cut_lines.cut_lines(few, os.path.join(place, "host0" + SUFFIX), events)

        return few, files_below(self._made(f"{size}-lines-of-{events}", make))[0]

    def runs(self, count):
        """A log directory with that many runs, which share one small capture by hard links."""
        (seed,) = files_below(self.composed("seed", "--steps", "2", "--events-per-step", "500"))

        def make(folder):
            for i in range(count):
                run = os.path.join(folder, f"experiment_{i % 100}", "plugins", "profile",
                                   f"run_{i:05}")
                os.makedirs(run)
                os.link(seed, os.path.join(run, os.path.basename(seed)))

        return self._made(f"runs-{count}", make)

    def _made(self, name, make):
        folder = os.path.join(self.work, name)
        if not os.path.isdir(folder):
            print(f"making {name}", file=sys.stderr, flush=True)
            half = folder + ".new"
            shutil.rmtree(half, ignore_errors=True)
            os.makedirs(half)
            make(half)
            os.rename(half, folder)
        return folder
