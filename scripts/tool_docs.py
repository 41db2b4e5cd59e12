#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes into docs/tools/ what the tools say of themselves: the index, and in each tool's
document the section "Parameters".

tool_docs.py --cli TFPROF           writes
tool_docs.py --cli TFPROF --check   names what is not as it would be written; exit status 1
"""

import argparse
import json
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = "## Parameters\n"


def words(name):
    return f"`{name}`"


def table(parameters):
    lines = ["| parameter | takes | without it | what it does |", "|---|---|---|---|"]
    for p in parameters:
        takes = ", ".join(map(words, p["values"])) or p["kind"]
        default = "–" if p["default"] is None else words(p["default"])
        lines.append(f"| {words(p['name'])} | {takes} | {default} | {p['sentence']} |")
    return lines


def section(tool):
    """Of the tool's document, or "" where there is nothing to say."""
    lines = []
    if tool["parameters"]:
        lines += ["Of `/data`, and as options of `tfprof`:", "", *table(tool["parameters"]), ""]
    if tool["row_parameters"]:
        lines += ["Of `/instances`, for the row that is meant:", "",
                  *table(tool["row_parameters"]), ""]
    return "\n".join([HEAD, *lines]) + "\n" if lines else ""


def with_section(text, new):
    """The document with the section in place of the one that it has, else before the first."""
    found = re.search(rf"^{HEAD}.*?(?=^## |\Z)", text, re.M | re.S)
    if found:
        return text[:found.start()] + new + text[found.end():]
    first = re.search(r"^## ", text, re.M)
    at = first.start() if first else len(text)
    return text[:at].rstrip("\n") + "\n\n" + new + text[at:] if new else text


def index(tools):
    hosts = {"one": "one at a time", "all": "all together", "both": "one, or all together"}
    lines = ["# The tools", "",
             "In the order of the navigation. A name is the same in the address of a page, in"
             " `/data?tag=` and as the command of `tfprof`; older names are taken, too.", "",
             "| tool | name | also | hosts | |", "|---|---|---|---|---|"]
    for t in tools:
        lines.append(f"| [{t['title']}]({t['name']}.md) | {words(t['name'])} "
                     f"| {', '.join(map(words, t['aliases'])) or '–'} | {hosts[t['host_scope']]} "
                     f"| {t['summary']} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    tools = json.loads(subprocess.run([args.cli, "tools", "--format", "json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    wanted = {"docs/tools/README.md": lambda text: index(tools)}
    for tool in tools:
        wanted[f"docs/tools/{tool['name']}.md"] = (
            lambda text, tool=tool: with_section(text, section(tool)))
    stale = 0
    for name, make in wanted.items():
        path = os.path.join(SOURCE, name)
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
        elif not name.endswith("README.md"):
            print(f"{name}: there is no such document")
            stale += 1
            continue
        new = make(text)
        if new == text:
            continue
        stale += 1
        if args.check:
            print(f"{name}: is not as the tool says; scripts/tool_docs.py --cli TFPROF writes it")
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new)
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
