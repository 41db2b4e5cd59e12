#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C file with the list of all structs of a kind that some C files define.

list_structs.py OUTPUT --type tfp_tool --prefix tfp_ --list tfp_every_tool FILE.c ...

A file that defines one has a line `const struct tfp_tool tfp_NAME = {`. With --named NAME has to
be the file's own name: a tool is found by it.
"""

import argparse
import pathlib
import re
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("--type", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("--named", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    pattern = re.compile(rf"^const struct {args.type} {args.prefix}(\w+) = ", re.MULTILINE)
    names = []
    for path in sorted(args.files):
        for name in pattern.findall(pathlib.Path(path).read_text(encoding="utf-8")):
            if args.named and name != pathlib.Path(path).stem:
                sys.exit(f"{path}: {args.prefix}{name} is not called as its file")
            names.append(args.prefix + name)
    if not names:
        sys.exit(f"no file defines a struct {args.type}")
    lines = ["/* Made by scripts/list_structs.py. */", "#include <stddef.h>", ""]
    lines += [f"struct {args.type};"]
    lines += [f"extern const struct {args.type} {name};" for name in names]
    lines += [f"extern const struct {args.type} *const {args.list}[];",
              f"extern const size_t {args.list}_count;", ""]
    lines += [f"const struct {args.type} *const {args.list}[] = {{"]
    lines += [f"\t&{name}," for name in names]
    lines += ["};", f"const size_t {args.list}_count = {len(names)};"]
    pathlib.Path(args.output).write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
