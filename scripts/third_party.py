#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collects the notices of the libraries and web packages that the programs hold.

usage: third_party.py --version VERSION --licence FILE --text OUT.txt --table OUT.c
                      [--web WEB --packages FILE] LIBRARY...

LIBRARY is NAME|VERSION|linked or shared|SPDX|HOME|MODULE: MODULE is its name
for pkg-config. FILE of --packages has a folder of a package on each line, made
by web/build.mjs. OUT.txt is for people, OUT.c is src/base/notices.h's table.

A text that is not on this machine is named in a warning and in OUT.txt: such a
build is for its own machine, not for others.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys

COMMON = "/usr/share/common-licenses"
# Licences whose whole text has to go along, and which Debian's notices only point to.
WHOLE = {"LGPL-2.1-or-later": "LGPL-2.1"}
RELINK = """\
It is linked into the programs under version 2.1 or later of the GNU Lesser General Public
License. A changed {name} takes its place when the programs are built from their source
with it: -Dportable=false links the shared library instead."""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().strip("\n").replace("\r\n", "\n").replace("\t", "    ")


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def licence_files(folder):
    names = re.compile(r"(licen[cs]e|copying|copyright|notice)([.-].*)?$", re.IGNORECASE)
    return sorted(p for p in glob.glob(os.path.join(glob.escape(folder), "*"))
                  if names.match(os.path.basename(p)) and os.path.isfile(p))


def library_texts(source, name, module):
    """Of a wrap, of Debian's package, or of the folder that other systems have."""
    for folder in sorted(glob.glob(os.path.join(source, "subprojects", name + "-*"))):
        if licence_files(folder):
            return licence_files(folder)
    folder = output_of("pkg-config", "--variable=pcfiledir", module).strip()
    owner = output_of("dpkg", "-S", os.path.join(folder, module + ".pc")).split(":")[0]
    copyright_file = os.path.join("/usr/share/doc", owner, "copyright")
    if owner and os.path.isfile(copyright_file):
        return [copyright_file]
    return licence_files(os.path.join("/usr/share/licenses", name))


def web_packages(web, listed):
    """The folders listed, and those of what they depend on: a package may come with others bundled in."""
    modules = os.path.join(web, "node_modules")
    todo, found = [line for line in read(listed).split("\n") if line], {}
    while todo:
        name = todo.pop()
        folder = os.path.join(modules, name)
        if name in found or not os.path.isdir(folder):
            continue
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as f:
            found[name] = json.load(f)
        todo += found[name].get("dependencies", {})
    for name in sorted(found):
        yield name, found[name], licence_files(os.path.join(modules, name))


class Notices:
    def __init__(self):
        self.parts, self.missing = [], []

    def heading(self, text, line):
        self.parts += ["", text, line * len(text), ""]

    def add(self, name, version, licence, home, texts, note=None):
        self.heading("%s %s" % (name, version), "-")
        self.parts += ["%s%s" % (licence, ", " + home if home else "")]
        if note:
            self.parts += ["", note]
        if not texts:
            self.missing.append(name)
            self.parts += ["", "Its notice was not on the machine that made this build; it is at the address above."]
        for path in texts:
            self.parts += ["", read(path)]


def c_table(text):
    rows = ("\t\"%s\\n\"\n" % "".join(
        c if 0x20 <= ord(c) < 0x7F and c not in '"\\?' else "".join("\\%03o" % b for b in c.encode())
        for c in line) for line in text.split("\n"))
    return ('/* Made by scripts/third_party.py; do not edit. */\n#include "base/notices.h"\n\n'
            "const char tfp_notices[] =\n%s\t;\n" % "".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("version", "licence", "text", "table"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--web")
    parser.add_argument("--packages")
    parser.add_argument("libraries", nargs="*")
    args = parser.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    libraries = [text.split("|") for text in args.libraries]
    notices = Notices()

    title = "tfprof-server " + args.version
    notices.parts += [title, "=" * len(title), "", read(args.licence)]

    linked = [row for row in libraries if row[2] == "linked"]
    if linked:
        notices.heading("Libraries in the programs", "=")
    for name, version, _, licence, home, module in linked:
        texts = library_texts(source, name, module)
        whole = os.path.join(COMMON, WHOLE.get(licence, "-"))
        if texts and os.path.isfile(whole):
            texts.append(whole)
        note = RELINK.format(name=name) if licence.startswith("LGPL") else None
        notices.add(name, version, licence, home, texts, note)
    if args.packages:
        notices.heading("Packages in the page", "=")
        for name, about, texts in web_packages(args.web, args.packages):
            notices.add(name, about["version"], about.get("license", "see its notice"), about.get("homepage"), texts)
    shared = [row for row in libraries if row[2] == "shared"]
    if shared:
        notices.heading("Libraries that the programs load, and that come with the system", "=")
        notices.parts += ["%s %s: %s, %s" % (name, version, licence, home)
                          for name, version, _, licence, home, _ in shared]

    text = "\n".join(notices.parts)
    for path, content in ((args.text, text + "\n"), (args.table, c_table(text))):
        with open(path, "w", encoding="utf-8", newline="\n") as f:
            f.write(content)
    if notices.missing:
        print("third_party: no notice found of " + ", ".join(notices.missing), file=sys.stderr)


if __name__ == "__main__":
    main()
