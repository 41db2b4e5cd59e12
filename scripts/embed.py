#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files below a directory as a C table (src/http/assets.h).

usage: embed.py OUT.c DIR [--depfile FILE]

The same files give the same bytes. Source maps and hidden files are left out.
DIR need not exist: then the table is empty and the program serves no page.
"""

import argparse
import gzip
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
}


def files_below(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".map"):
                yield os.path.join(folder, name)


def c_string(text):
    return '"%s"' % "".join(
        c if 0x20 <= ord(c) < 0x7F and c not in '"\\' else "".join("\\%03o" % b for b in c.encode())
        for c in text
    )


def array(name, data):
    # Decimal numbers and no blanks: half the size of the usual hex.
    rows = [",".join(map(str, data[i : i + 32])) for i in range(0, len(data), 32)]
    return "static const unsigned char %s[] = {\n%s};\n" % (name, ",\n".join(rows) or "0")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("directory")
    parser.add_argument("--depfile", help="write the files read, for ninja")
    args = parser.parse_args()

    parts, entries, read = [], [], []
    for index, path in enumerate(files_below(args.directory)):
        with open(path, "rb") as f:
            data = f.read()
        read.append(path)
        url = "/" + os.path.relpath(path, args.directory).replace(os.sep, "/")
        kind = TYPES.get(os.path.splitext(path)[1].lower(), "application/octet-stream")
        packed = gzip.compress(data, 9, mtime=0)
        parts.append(array("data_%d" % index, data))
        packed_name, packed_size = "NULL", 0
        if len(packed) < len(data):
            packed_name, packed_size = "gzip_%d" % index, len(packed)
            parts.append(array(packed_name, packed))
        etag = 'W/"%s"' % hashlib.sha256(data).hexdigest()[:32]
        entries.append(
            "\t{%s, %s, data_%d, %d, %s, %d,\n\t %s},\n"
            % (c_string(url), c_string(kind), index, len(data), packed_name, packed_size,
               c_string(etag))
        )
    count = len(entries)
    if not entries:
        entries.append("\t{0},\n")  # C has no empty arrays
    with open(args.out, "w", encoding="ascii", newline="\n") as f:
        f.write("/* Made by scripts/embed.py; do not edit. */\n")
        f.write('#include "http/assets.h"\n\n')
        f.write("\n".join(parts))
        f.write("\nconst struct tfp_asset tfp_assets[] = {\n%s};\n" % "".join(entries))
        f.write("const size_t tfp_asset_count = %d;\n" % count)
    if args.depfile:
        with open(args.depfile, "w", encoding="utf-8", newline="\n") as f:
            f.write("%s: %s\n" % (args.out, " ".join(p.replace(" ", "\\ ") for p in read)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
