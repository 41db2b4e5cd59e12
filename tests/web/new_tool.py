#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds two tools to a copy of the sources, by their own files and nothing else, builds, and
opens them in a browser; TAP comes from new_tool.mjs.

usage: new_tool.py BUILD NODE

The first has a C file, a page, a document and a golden folder. The second has no page: it is
shown as its tables. BUILD is copied, so that only what depends on the new files is made.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))

C_FILE = """\
#include "tools/tool.h"

#include <string.h>

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct tfp_column columns[] = {{"host", "Host", TFP_CELL_TEXT},
						    {"length", "Letters", TFP_CELL_NUMBER}};
	const char *unit = tfp_query_get(query, "unit");
	uint64_t least = 0;
	enum tfp_status status = tfp_query_get_count(query, "least", 0, &least, err);
	struct tfp_table *t = &answer->tables[answer->table_count++];
	answer->bare = true;
	tfp_table_init(t, columns, 2);
	for (size_t i = 0; status == TFP_OK && i < session->host_count; i++) {
		const char *host = session->hosts[i].host;
		size_t size = strlen(host);
		if (size < least)
			continue;
		tfp_table_add_text(t, host, size);
		tfp_table_add_number(t, (double)(unit && strcmp(unit, "bits") == 0 ? 8 * size : size));
	}
	if (status == TFP_OK && tfp_table_failed(t))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the names of hosts");
	return status;
}

const struct tfp_tool tfp_%(name)s = {
	.name = "%(name)s",
	.aliases = {"%(name)s_before"},
	.title = "%(title)s",
	.summary = "How long the names of hosts are.",
	.place = %(place)d,
	.key = '%(key)s',
	.filter = "Filter hosts by name",
	.scope = TFP_HOSTS_BOTH,
	.parameters =
		{
			TFP_TAKES(COUNT, "least", "0", "Only names of so many letters or more."),
			TFP_TAKES_ONE_OF("unit", "letters", "What is counted.", "letters", "bits"),
		},
	.render = render,
};
"""

PAGE = """\
import { getTables } from '../core/api';
import { h } from '../core/dom';
import type { PageType } from '../core/page';

export const page: PageType = ({ tool, url }) => {
  const list = h('ul', { class: 'toy' });
  const update = (): void => {
    void getTables({ run: url.get('run'), tag: tool?.name ?? '' }).then(([table]) => {
      list.replaceChildren(...(table?.rows ?? []).map((row) => h('li', {}, String(row.c[0]?.v))));
    });
  };
  const heading = h('h1', { tabindex: '-1' }, tool?.title ?? '');
  return { element: h('div', { class: 'page' }, heading, list), update, destroy: () => undefined };
};
"""

DOCUMENT = """\
# %(title)s (`%(name)s`)

How long the names of hosts are.

## Parameters

Of `/data`, and as options of `tfprof`:

| parameter | takes | without it | what it does |
|---|---|---|---|
| `least` | count | `0` | Only names of so many letters or more. |
| `unit` | `letters`, `bits` | `letters` | What is counted. |

"""

GOLDEN = {
    "why": ["ab has two letters, which are 16 bits."],
    "hosts": {"ab": {"planes": []}},
    "answers": [
        {"tables": [{"columns": ["host", "length"], "rows": [["ab", 2]]}]},
        {"query": {"unit": "bits"}, "tables": [{"rows": [{"host": "ab", "length": 16}]}]},
        {"query": {"least": 3}, "tables": [{"rows": []}]},
    ],
}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def add_tool(copy, page, **words):
    write(f"{copy}/src/tools/{words['name']}.c", C_FILE % words)
    write(f"{copy}/docs/tools/{words['name']}.md", DOCUMENT % words)
    write(f"{copy}/tests/golden/{words['name']}/names.json", json.dumps(GOLDEN))
    if page:
        write(f"{copy}/web/src/pages/{words['name']}.ts", PAGE)


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode != 0:
        for line in done.stdout.splitlines()[-60:]:
            print("# " + line)
        sys.exit(f"Bail out! {' '.join(command[:3])} ended with {done.returncode}")
    return done.stdout


def copy_of(build, folder):
    """The sources and what was built of them, with their times."""
    skipped = {".git", "node_modules", ".cache", "shared", os.path.basename(build)}
    copy = os.path.join(folder, "tfprof")
    shutil.copytree(SOURCE, copy, symlinks=True, ignore=lambda at, names: [
        name for name in names if name in skipped or (at == SOURCE and name.startswith("build"))])
    packages = os.path.join("web", "node_modules")
    os.symlink(os.path.join(SOURCE, packages), os.path.join(copy, packages))
    # Programs of tests are not made anew, and are most of it.
    shutil.copytree(build, os.path.join(copy, "build"), symlinks=True, ignore=lambda at, names: [
        name for name in names if at.startswith(os.path.join(build, "tests"))])
    return copy


def main():
    build, node = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="tfprof-new-tool-") as folder:
        copy = copy_of(build, folder)
        add_tool(copy, True, name="toy_names", title="Toy names", place=9001, key="y")
        add_tool(copy, False, name="toy_tables", title="Toy tables", place=9002, key="z")
        run("meson", "setup", "--reconfigure", "build", ".", cwd=copy)
        run("ninja", "-C", "build", "src/tfprof-server", "src/tfprof", cwd=copy)
        cli = os.path.join(copy, "build", "src", "tfprof")
        server = os.path.join(copy, "build", "src", "tfprof-server")
        docs = [sys.executable, "scripts/tool_docs.py", "--cli", cli]
        stale = subprocess.run([*docs, "--check"], cwd=copy, stdout=subprocess.PIPE, text=True)
        if [line.split(":")[0] for line in stale.stdout.splitlines()] != ["docs/tools/README.md"]:
            sys.exit("Bail out! Not only the index has to be written: " + stale.stdout)
        run(*docs, cwd=copy)
        # Other rules judge the build folder too, which git leaves out elsewhere.
        rules = ("every tool has its places", "tools do not include each other")
        lint = subprocess.run([sys.executable, "tests/lint/lint.py", "--cli", cli,
                               *(part for rule in rules for part in ("--rule", rule))], cwd=copy,
                              stdout=subprocess.PIPE, text=True)
        for rule in rules:
            if not re.search(rf"^ok \d+ - {rule}$", lint.stdout, re.M):
                sys.exit(f"Bail out! The copy breaks the rule: {rule}")
        golden = run(sys.executable, "tests/golden/run.py", "composed", server, cwd=copy)
        if len(re.findall(r"^ok .*toy_(?:names|tables)-names", golden, re.M)) != 6:
            sys.exit("Bail out! The golden folders of the new tools are not looked at")
        return run_page(node, server, cli)


def run_page(node, server, cli):
    process = subprocess.Popen([server, "--demo", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                script = os.path.join(HERE, "new_tool.mjs")
                return subprocess.run([node, script, found.group(), cli]).returncode
        print("Bail out! The server did not start")
        return 1
    finally:
        process.terminate()
        process.communicate(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
