#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of lint.py on purpose, in a copy of the sources, and looks whether it is
found; prints TAP.

usage: test_rules.py

A rule without an entry here fails, and so does one that finds something in sources that are
right. The copy needs nothing from the build: tools are read from the sources.
"""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import lint  # noqa: E402

HEADER = "/* For a test. */\n#ifndef TFP_{0}\n#define TFP_{0}\n{1}\n#endif\n"


def add(text, path):
    """Text at the end of a file, or a new file."""
    def edit(old):
        return (old or "") + text
    return path, edit


def replace(old_text, text, path):
    def edit(old):
        assert old and old_text in old, f"{path} has no {old_text!r} any more"
        return old.replace(old_text, text, 1)
    return path, edit


def remove(path):
    return path, lambda old: None


def header(path, body):
    return add(HEADER.format(path[4:].upper().replace("/", "_").replace(".", "_"), body), path)


# By rule: edits, and what has to be in a problem that is found.
BROKEN = {
    "rings": [
        ([add('#include "store/capture.h"\n', "src/base/zz.c")], "base/ must not include"),
        ([add('#include <base/alloc.h>\n', "src/wire/zz.c")], "use quotes"),
        ([add('#include "alloc.h"\n', "src/base/zz.c")], "without its folder"),
        ([add("int x;\n", "src/attic/zz.c")], "nobody has said what src/attic/"),
    ],
    "rooms": [
        ([add('#include "analysis/steps/steps.h"\n', "src/analysis/events/zz.c")],
         "analysis/events/ must not include"),
        ([add("int x;\n", "src/analysis/attic/zz.c")], "nobody has said what src/analysis/attic/"),
    ],
    "files_of_different_names_do_not_need_each_other": [
        ([header("src/base/zz_one.h", '#include "base/zz_two.h"'),
          add('#include "base/zz_one.h"\n', "src/base/zz_two.c"),
          header("src/base/zz_two.h", "")], "a circle: base/zz_one, base/zz_two"),
        # The files behind a header of their own count as one; the files that they include do not.
        ([header("src/base/zz_parts.h", '#include "base/zz.h"'), header("src/base/zz.h", ""),
          add('#include "base/zz_parts.h"\n#include "base/zz_far.h"\n', "src/base/zz_near.c"),
          header("src/base/zz_far.h", '#include "base/zz.h"')], "a circle: base/zz, base/zz_far"),
    ],
    "tools_do_not_include_each_other": [
        ([header("src/tools/zz_dashboard.h", ""),
          add('#include "tools/zz_dashboard.h"\n', "src/tools/kernel_stats.c")],
         "includes tools/zz_dashboard.h"),
    ],
    "libraries_stay_where_they_are_wrapped": [
        ([add("#include <zlib.h>\n", "src/base/zz.c")], "zlib.h belongs to"),
    ],
    "headers_of_few_files_stay_with_them": [
        ([add('#include "http/server_parts.h"\n', "src/http/zz.c")], "http/server_parts.h is for"),
    ],
    "nothing_but_a_command_ends_the_program": [
        ([add("void f(void) { exit(1); }\n", "src/base/zz.c")], "exit()"),
        ([add("void f(void) { abort(); }\n", "src/tools/zz.c")], "abort()"),
    ],
    "heap_memory_comes_from_alloc": [
        ([add("void *f(void) { return malloc(1); }\n", "src/store/zz.c")], "tfp_malloc()"),
    ],
    "headers_open_with_a_comment": [([add("#ifndef X\n", "src/base/zz.h")], "src/base/zz.h")],
    "headers_guard_themselves": [
        ([add("/* A. */\n#ifndef X\n", "src/base/zz.h")], "no TFP_BASE_ZZ_H"),
    ],
    "external_names_have_the_prefix": [
        ([header("src/base/zz.h", "int other_name(int x);\n")], "other_name"),
        ([header("src/base/zz.h", "struct other {\n\tint x;\n};\n")], "other"),
        ([header("src/base/zz.h", "typedef struct tfp_x tfp_x;\n")], "a typedef"),
    ],
    "no_paths_of_one_machine": [
        ([add("see /" + "home/me/notes\n", "docs/zz.md")], "docs/zz.md:1"),
    ],
    "every_tool_has_its_places": [
        ([remove("docs/tools/kernel_stats.md")], "kernel_stats: there is no docs/tools/kernel_stats.md"),
        ([add("const struct tfp_tool tfp_zz = {\n\t.place = 99,\n};\n", "src/tools/zz.c")],
         "zz: there is no tests/golden/zz"),
        ([add("export const page = 1;\n", "web/src/pages/zz.ts")], "there is no tool zz"),
    ],
    "every_test_is_wired": [
        ([add("int main(void) { return 0; }\n", "tests/unit/test_zz.c")], "tests/unit/test_zz.c"),
    ],
    "every_source_is_built": [
        ([replace("run_command(list_sources, 'base'", "run_command(list_sources, 'attic'",
                  "src/meson.build")], "src/base/alloc.c is not in src/meson.build"),
    ],
    "sources_say_their_licence": [
        ([add("int x;\n", "src/base/zz.c")], "src/base/zz.c: no SPDX-License-Identifier"),
        ([add("int x;\n", "web/src/core/zz.ts")], "web/src/core/zz.ts: no SPDX"),
        ([add("x\n", "scripts/zz")], "scripts/zz: no SPDX"),
    ],
    "references_to_documents_lead_somewhere": [
        ([add("/* As zz_notes.md 3 says. */\n", "src/base/zz.c")], "there is no zz_notes.md"),
        ([add("/* As preprocess.md\n * Z9 says. */\n", "src/base/zz.c")],
         "preprocess.md has no section Z9"),
        ([add("/* As preprocess.md B3, C9 says. */\n", "src/base/zz.c")],
         "preprocess.md has no section C9"),
        ([add('See `docs/tools/overview_page.md`, "No such thing".\n', "docs/zz.md")],
         'has no section "No such thing"'),
        ([add("# see docs/tools/zz_gone.md\n", "scripts/test")], "there is no docs/tools/zz_gone.md"),
        ([remove("docs/reference/op_stats.md")], "there is no op_stats.md"),
    ],
    "links_in_documents_lead_somewhere": [
        ([add("[gone](zz_gone.md)\n", "docs/zz.md")], "there is no zz_gone.md"),
        ([add("[there](api.md#zz-gone)\n", "docs/zz.md")], "docs/api.md has no section #zz-gone"),
        ([add("# A\n[here](#zz-gone)\n", "docs/zz.md")], "docs/zz.md has no section #zz-gone"),
    ],
    "files_that_documents_and_comments_name_exist": [
        ([add("`base/zz_gone` does it.\n", "docs/zz.md")], "there is no base/zz_gone"),
        ([add("It is in `zz_gone.c`.\n", "docs/zz.md")], "there is no zz_gone.c"),
        ([add("Run `scripts/zz_gone`.\n", "docs/zz.md")], "there is no scripts/zz_gone"),
        ([add("/* For zz_gone.c alone. */\n", "src/base/zz.c")], "there is no zz_gone.c"),
        ([add("/* As base/zz_gone.h has it. */\n", "src/base/zz.c")], "there is no base/zz_gone.h"),
    ],
    "every_module_has_its_word": [
        ([header("src/base/zz.h", "")], "src/base/ has no word about zz"),
        ([add("int x;\n", "src/analysis/steps/zz.c")], "src/analysis/steps/ has no word about zz"),
        # A part of a module needs none, but what has a header of its own is no part.
        ([header("src/store/logdir_zz.h", "")], "src/store/ has no word about logdir_zz"),
        ([add("int x;\n", "src/tools/zz.c")], "src/tools/ has no word about zz"),
        ([replace("- `base/`: ", "- `base/`: `zz`, ", "docs/architecture.md")],
         "src/base/ has no zz"),
        ([replace("- `wire/`: ", "- ", "docs/architecture.md")], "no list of src/wire/"),
    ],
    "functions_that_documents_and_comments_name_exist": [
        ([add("`tfp_zz_gone` does it.\n", "docs/zz.md")], "docs/zz.md: there is no tfp_zz_gone"),
        ([add("/* As tfp_zz_gone() has it; tfp_malloc is. */\n", "src/base/zz.c")],
         "src/base/zz.c: there is no tfp_zz_gone"),
    ],
}


def problems(name):
    rule = getattr(lint, f"lint_{name}")
    return list(rule(None) if name == "every_tool_has_its_places" else rule())


class Edited:
    """The copy with some files changed, until the end of the block."""

    def __init__(self, edits):
        self.edits, self.before = edits, []

    def __enter__(self):
        for path, edit in self.edits:
            where = os.path.join(lint.SOURCE, path)
            old = lint.read(path) if os.path.exists(where) else None
            self.before.append((where, old))
            self.put(where, edit(old))
        return self

    def __exit__(self, *_):
        for where, old in reversed(self.before):
            self.put(where, old)

    @staticmethod
    def put(where, text):
        if text is None:
            os.remove(where)
            return
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "w", encoding="utf-8") as f:
            f.write(text)


def copy_sources(folder):
    for path in lint.kept_files():
        where = os.path.join(folder, path)
        if os.path.isfile(os.path.join(lint.SOURCE, path)):
            os.makedirs(os.path.dirname(where), exist_ok=True)
            shutil.copyfile(os.path.join(lint.SOURCE, path), where)


def main():
    rules = [name[5:] for name in vars(lint) if name.startswith("lint_")]
    count = failed = 0

    def test(name, right, *notes):
        nonlocal count, failed
        count += 1
        failed += not right
        print(f"{'ok' if right else 'not ok'} {count} - {name}")
        for note in () if right else notes:
            print(f"# {note}")

    with tempfile.TemporaryDirectory(prefix="tfprof-lint-") as folder:
        copy_sources(folder)
        lint.SOURCE = folder
        for rule in rules:
            found = problems(rule)
            test(f"{rule} finds nothing in what is right", not found, *found[:5])
            test(f"{rule} is broken on purpose", rule in BROKEN)
            for edits, expected in BROKEN.get(rule, []):
                with Edited(edits):
                    found = problems(rule)
                test(f"{rule}: {expected}", any(expected in problem for problem in found),
                     *(found[:5] or ["it found nothing"]))
        test("no entry is about a rule that is no more", set(BROKEN) <= set(rules),
             *(set(BROKEN) - set(rules)))
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
