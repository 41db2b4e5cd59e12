#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tf_data.mjs against three servers: captures composed here, the demo, and the real
ones where they are (../shared or $TFPROF_SHARED). TAP comes from there.

usage: tf_data.py SERVER NODE
"""
import contextlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("TFPROF_SHARED", os.path.join(os.path.dirname(SOURCE), "shared"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "golden"))
import xspace  # noqa: E402
from serve import serve  # noqa: E402

US = 1000000
HTML = '<img src=x onerror="window.hit=1"><b>bold</b>'


def iterator(name, begin, end, number, parent=None):
    stats = {"id": number} if parent is None else {"id": number, "parent_id": parent}
    return [name, begin * US, (end - begin) * US, stats]


def element(name, begin, end, number):
    return [name, begin * US, (end - begin) * US, {"element_id": number}]


def capture(host, *threads):
    lines = [{"id": i + 1, "name": "thread", "events": events} for i, events in enumerate(threads)]
    return xspace.encode({"hostname": host, "planes": [{"name": "/host:CPU", "lines": lines}]})


def branches():
    """Two inputs of a Zip behind a Prefetch; of the second's readers one was ready before. A
    second call, of 40 us, found everything ready."""
    zip_name = "Iterator::Model::Prefetch::Zip"
    reader = zip_name + "[1]::ParallelInterleaveV4[%d]::TextLine"
    spans = [(520, 800), (520, 830), (100, 200)]
    return [
        [iterator("Iterator::Model", 200, 1200, 1), iterator("Iterator::Model::Prefetch", 210, 1190, 2, 1),
         element("PrefetchConsume", 1100, 1180, 5),
         iterator("Iterator::Model", 3000, 3040, 1), iterator("Iterator::Model::Prefetch", 3010, 3030, 2, 1)],
        [element("PrefetchProduce", 250, 1100, 5), iterator(zip_name, 250, 1100, 3, 2),
         iterator(zip_name + "[0]::Shuffle", 260, 500, 4, 3),
         iterator(zip_name + "[1]::ParallelInterleaveV4", 510, 1080, 8, 3),
         element("ParallelInterleaveConsume", 1000, 1070, 9)],
    ] + [[element("ParallelInterleaveProduce", begin, end, 9), iterator(reader % i, begin, end, 20 + i, 8)]
         for i, (begin, end) in enumerate(spans)]


def deep():
    return [[iterator("Iterator::Map", 0, 2000, 1)] +
            [iterator("Iterator::Map::Map", i, 2000 - i, i + 1, i) for i in range(1, 100)]]


def ring():
    return [[element("PrefetchProduce", 0, 100, 5), iterator("Iterator::Prefetch", 0, 100, 1, 2),
             element("PrefetchConsume", 0, 90, 5)],
            [element("PrefetchProduce", 10, 60, 5), iterator("Iterator::Prefetch::Prefetch", 10, 60, 2, 1),
             element("PrefetchConsume", 10, 50, 5)]]


def wide():
    return [[iterator("Iterator::Interleave", 0, 9000, 1)] +
            [iterator("Iterator::Interleave[%d]::TFRecord" % i, 10 * i, 10 * i + 8, 100 + i, 1)
             for i in range(700)]]


def faster():
    events = branches()
    events[0][0] = iterator("Iterator::Model", 700, 1200, 1)
    events[0][1] = iterator("Iterator::Model::Prefetch", 710, 1190, 2, 1)
    return events


RUNS = {
    "branches": {"h": capture("h", *branches())},
    "faster": {"h": capture("h", *faster())},
    "deep": {"h": capture("h", *deep())},
    "ring": {"h": capture("h", *ring())},
    "wide": {"h": capture("h", *wide())},
    "none": {"h": capture("h", [["matmul:MatMul", 0, 100, {}]])},
    "zero": {"h": capture("h", [iterator("Iterator::Map", 10, 10, 0)])},
    "device": {"h": capture("h", [iterator("Iterator::Prefetch", 100, 200, 123), element("PrefetchConsume", 180, 200, 1)],
                            [element("PrefetchProduce", 100, 180, 1),
                             iterator("Iterator::Prefetch::Generator", 100, 180, 456, 123)])},
    "html": {"h": capture(HTML, [iterator("Iterator::" + HTML, 0, 100, 1),
                                 iterator("Iterator::" + HTML + "::" + HTML, 10, 90, 2, 1)])},
    "hosts": {f"host{i}": capture(f"host{i}", [iterator("Iterator::Model", 0, 30 * (i + 1), 1),
                                               iterator("Iterator::Model::Map", 1, 30 * (i + 1) - 1, 2, 1)])
              for i in range(3)},
}


def main():
    server, node = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfprof-tf-data-"))
        for run, hosts in RUNS.items():
            path = os.path.join(folder, "plugins", "profile", run)
            os.makedirs(path)
            for host, data in hosts.items():
                with open(os.path.join(path, host + ".xplane.pb"), "wb") as f:
                    f.write(data)
        urls = [stack.enter_context(serve(server, folder)), stack.enter_context(serve(server, "--demo"))]
        captures = os.path.join(SHARED, "captures")
        if os.path.isdir(captures):
            urls.append(stack.enter_context(serve(server, captures)))
        return subprocess.run([node, os.path.join(HERE, "tf_data.mjs"), *urls]).returncode


if __name__ == "__main__":
    sys.exit(main())
