#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that no compiler checks; prints TAP.

usage: lint.py [--cli PATH_OF_TFPROF] [--rule NAME]...
"""
import argparse
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))

# What each folder of src/ may include from the others (docs/architecture.md).
RINGS = {
    "base": set(),
    "wire": {"base"},
    "store": {"base", "wire"},
    "analysis": {"base", "wire", "store"},
    "session": {"base", "wire", "store", "analysis"},
    "trace": {"base", "wire", "store", "analysis", "session"},
    "tfprof": {"base", "wire", "store", "analysis", "session"},
    "tools": {"base", "wire", "store", "analysis", "session", "trace", "tfprof"},
    "report": {"base", "wire", "store", "analysis", "session", "trace", "tools"},
    "remote": {"base", "wire"},
    "synth": {"base", "wire"},
    "http": {"base", "wire", "store", "analysis", "session", "trace", "tools", "remote"},
    "cmd": {"base", "wire", "store", "analysis", "session", "trace", "tools", "remote", "http",
            "synth", "report", "tfprof"},
}

# And each folder of src/analysis/ from its neighbours.
ROOMS = {
    "events": set(),
    "hlo": {"events"},
    "grouping": {"events"},
    "memory": {"events", "grouping"},
    "tf_data": {"events"},
    "steps": {"events", "grouping"},
    "ops": {"events", "grouping", "hlo"},
    "timeline": {"events", "grouping", "hlo", "memory", "steps"},
    "summary": {"events", "grouping", "hlo", "ops", "steps", "timeline"},
}

# Headers that files of tools/ share; a dashboard includes no other dashboard.
SHARED_TOOLS = {"tool.h", "parameter.h", "data_table.h", "device_activity.h", "run_info.h",
                "run_documents.h", "findings.h", "run_tables.h", "instances.h", "program_ops.h",
                "run_summary.h", "step_table.h", "step_hosts.h", "memory_document.h",
                "memory_views.h", "module_list.h", "program_choice.h",
                "program_graph.h", "graph_document.h"}

# Only these may see the libraries.
LIBRARIES = {
    "microhttpd.h": {"http"},
    "curl/curl.h": {"remote"},
    "jansson.h": {"wire", "analysis", "trace", "http"},
    "histedit.h": {"tfprof"},
    "pcre2.h": {"trace", "tfprof"},
    "zlib.h": {"store", "synth", "http"},
    "zstd.h": {"store", "synth", "http"},
}

# Files of different names that need each other. To be taken apart: the list may only get shorter.
CIRCLES = []

# Headers that only these files may include, and why they need it.
FILES = {
    "microhttpd.h": {
        "src/http/server_parts.h": "callbacks and responses of the four files of the server",
        "src/http/gate.c": "cookies and headers of a request",
        "src/http/tls.c": "whether the library can encrypt",
    },
    "http/server_parts.h": {
        "src/http/server.c": "its start and end",
        "src/http/exchange.c": "the life of a request",
        "src/http/send.c": "from a reply to libmicrohttpd",
        "src/http/exchange_log.c": "a request in log and metrics",
    },
}

# (file, function): why it may call the C library's function directly.
HEAP_EXCEPTIONS = {
    ("src/base/alloc.c", "*"): "it is what all others call",
    ("src/store/logdir.c", "free"): "realpath() gives the C library's memory",
}

HEAP = r"(?<![\w>.])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|getline)\s*\("
ENDS = r"(?<![\w>.])(exit|_exit|_Exit|quick_exit|abort|assert)\s*\("
MACHINE = re.compile(r"(?<![\w.>)}\]-])/(?:work|home|root|Users|tmp/[a-z]+)/[\w.-]+")

# Names in documents that stand for others.
PLACEHOLDERS = {"docs/tools/x.md"}

# Paths that mean a place on any machine.
MACHINE_EXCEPTIONS = {"/tmp/tfprof"}


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def sources(*patterns):
    found = set()
    for pattern in patterns:
        found.update(glob.glob(os.path.join(SOURCE, pattern), recursive=True))
    return sorted(os.path.relpath(path, SOURCE) for path in found)


def code(text):
    """C without comments and texts, with its lines kept."""
    def blank(match):
        return match.group()[0] + "\n" * match.group().count("\n") + match.group()[0]
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def includes(text):
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', text, re.M):
        yield line_of(text, match.start()), match.group(1) == "<", match.group(2)


def c_files():
    return sources("src/**/*.c", "src/**/*.h")


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def ring_of(path):
    return path.split("/")[1]


def lint_rings():
    for path in c_files():
        if ring_of(path) not in RINGS:
            yield f"{path}: nobody has said what src/{ring_of(path)}/ may include"
            continue
        for line, system, name in includes(read(path)):
            folder = name.split("/")[0]
            if "/" in name and not system and folder not in RINGS[ring_of(path)] | {ring_of(path)}:
                yield f"{path}:{line}: {ring_of(path)}/ must not include {name}"
            if "/" in name and system and folder in RINGS:
                yield f"{path}:{line}: <{name}> is ours: use quotes"
            if "/" not in name and not system and not name.endswith(".pb-c.h"):
                yield f"{path}:{line}: \"{name}\" without its folder"


def lint_rooms():
    for path in c_files():
        if ring_of(path) != "analysis":
            continue
        room = path.split("/")[2]
        if room not in ROOMS:
            yield f"{path}: nobody has said what src/analysis/{room}/ may include"
            continue
        for line, _, name in includes(read(path)):
            parts = name.split("/")
            if parts[0] == "analysis" and parts[1] not in ROOMS[room] | {room}:
                yield f"{path}:{line}: analysis/{room}/ must not include {name}"


def circles(after):
    """Sets of nodes of a graph that can be reached from one another, of two or more."""
    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for node in after.get(todo.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        return seen
    ahead = {node: reached(node) for node in after}
    found = {frozenset(other for other in ahead[node] if node in ahead.get(other, ()))
             for node in after if node in ahead[node]}
    return [circle for circle in found if len(circle) > 1]


def include_graph():
    """What includes what, by names without their ends: x.c and x.h are one, and so are all
    files that include one x_parts.h."""
    names, family = [], {}

    def name_of(path):
        return re.sub(r"\.[ch]$", "", path)

    def head(name):
        while family.get(name, name) != name:
            name = family[name]
        return name

    for path in c_files():
        for line, system, name in includes(read(path)):
            if not system and name.endswith(".h") and not name.endswith(".pb-c.h"):
                names.append((name_of(path[4:]), name_of(name)))
    for one, other in names:
        if other.endswith("_parts"):
            family[head(one)] = head(other[:-6])
            family[other] = head(other[:-6])
    after = {}
    for one, other in names:
        if head(one) != head(other):
            after.setdefault(head(one), set()).add(head(other))
    return after


def lint_files_of_different_names_do_not_need_each_other():
    found = circles(include_graph())
    for circle in found:
        if circle not in CIRCLES:
            yield f"a circle: {', '.join(sorted(circle))}"
    for known in CIRCLES:
        if known not in found:
            yield f"CIRCLES lists one that is no more: {', '.join(sorted(known))}"


def lint_tools_do_not_include_each_other():
    for path in c_files():
        if ring_of(path) != "tools":
            continue
        own = os.path.splitext(os.path.basename(path))[0] + ".h"
        for line, _, name in includes(read(path)):
            if name.startswith("tools/") and name[6:] not in SHARED_TOOLS | {own}:
                yield f"{path}:{line}: includes {name}"


def lint_libraries_stay_where_they_are_wrapped():
    for path in c_files():
        for line, _, name in includes(read(path)):
            if name in LIBRARIES and ring_of(path) not in LIBRARIES[name]:
                yield f"{path}:{line}: {name} belongs to {', '.join(sorted(LIBRARIES[name]))}/"


def lint_headers_of_few_files_stay_with_them():
    for path in c_files():
        for line, _, name in includes(read(path)):
            if path not in FILES.get(name, {path}):
                yield f"{path}:{line}: {name} is for {', '.join(sorted(FILES[name]))}"


def calls(path, pattern):
    text = code(read(path))
    for match in re.finditer(pattern, text):
        yield line_of(text, match.start()), match.group(1)


def lint_nothing_but_a_command_ends_the_program():
    for path in c_files():
        if ring_of(path) != "cmd":
            for line, name in calls(path, ENDS):
                yield f"{path}:{line}: {name}()"


def lint_heap_memory_comes_from_alloc():
    for path in c_files():
        for line, name in calls(path, HEAP):
            if (path, name) not in HEAP_EXCEPTIONS and (path, "*") not in HEAP_EXCEPTIONS:
                yield f"{path}:{line}: {name}() instead of tfp_{name}()"


def lint_headers_open_with_a_comment():
    for path in c_files():
        if path.endswith(".h") and not re.match(r"/\* SPDX[^\n]*\n/\*", read(path)):
            yield path


def lint_headers_guard_themselves():
    for path in c_files():
        if not path.endswith(".h"):
            continue
        guard = "TFP_" + re.sub(r"[/.]", "_", path[4:]).upper()
        if f"#ifndef {guard}\n#define {guard}\n" not in read(path):
            yield f"{path}: no {guard}"


def lint_external_names_have_the_prefix():
    for path in c_files():
        if not path.endswith(".h"):
            continue
        text = code(read(path))
        names = re.findall(r"^struct (\w+) \{", text, re.M)
        names += re.findall(r"^(?!static|typedef)[a-z][\w* ]*?[ *](\w+)\([^;{}]*\)[^;{}]*;", text, re.M)
        for name in names:
            if not name.startswith("tfp_"):
                yield f"{path}: {name}"
        for match in re.finditer(r"^typedef (?:struct|enum)", text, re.M):
            yield f"{path}: a typedef for a struct or enum"


def kept_files():
    try:
        out = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard", "-z"],
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return sorted(set(out.decode().split("\0")) - {""})
    except (OSError, subprocess.CalledProcessError):
        return [path for path in sources("**/*") if os.path.isfile(os.path.join(SOURCE, path))]


def lint_no_paths_of_one_machine():
    for path in kept_files():
        if not os.path.isfile(os.path.join(SOURCE, path)) or "/corpus/" in path or "/regressions/" in path:
            continue
        text = read(path)
        for match in MACHINE.finditer(text):
            if not any(match.group().startswith(known) for known in MACHINE_EXCEPTIONS):
                yield f"{path}:{line_of(text, match.start())}: {match.group()}"


def tool_names(cli):
    if cli:
        out = subprocess.run([cli, "tools"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return [line.split()[0] for line in out.splitlines() if line[:1].strip()]
    # A tool without a place in the navigation is for XProf's clients only.
    found = re.compile(r"^const struct tfp_tool tfp_(\w+) = (.*?)^};", re.M | re.S)
    return [name for path in sources("src/tools/*.c")
            for name, fields in found.findall(read(path)) if ".place = " in fields]


def lint_every_tool_has_its_places(cli):
    names = tool_names(cli)
    if not names:
        yield "there is no tool"
    for name in names:
        for path in (f"src/tools/{name}.c", f"docs/tools/{name}.md", f"tests/golden/{name}"):
            if not os.path.exists(os.path.join(SOURCE, path)):
                yield f"{name}: there is no {path}"
    # A tool without a page is shown as its tables; a page without a tool would never be seen.
    for path in sources("web/src/pages/*.ts"):
        own = os.path.basename(path)[:-3]
        if own not in names and re.search(r"^export const page\b", read(path), re.M):
            yield f"{path}: there is no tool {own}"


def lint_every_test_is_wired():
    wired = read("tests/unit/meson.build")
    for path in sources("tests/unit/test_*.c"):
        if f"'{os.path.basename(path)[5:-2]}':" not in wired:
            yield f"{path} is not in tests/unit/meson.build"


def lint_every_source_is_built():
    text = read("src/meson.build")
    for ring in sorted({ring_of(path) for path in c_files()}):
        if f"run_command(list_sources, '{ring}'" in text:
            continue
        for path in sources(f"src/{ring}/**/*.c"):
            if f"'{path[4:]}'" not in text:
                yield f"{path} is not in src/meson.build"


def texts():
    """Names and contents of the files that people write, but for inputs of tests."""
    for path in kept_files():
        if (re.search(r"\.(md|[chjt]s?|mjs|py|sh|json|css|html|[1-8]|build|options|proto|service)$|^scripts/",
                      path) and not re.search(r"/(corpus|regressions|subprojects)/|lock\.json$", path)
                and not path.startswith("tests/lint/") and os.path.isfile(os.path.join(SOURCE, path))):
            yield path, read(path)


def slug(title):
    """The anchor that a heading has on a page."""
    title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title.strip().lower())
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title))


def headings(path):
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S)
    return [title.strip() for title in re.findall(r"^#+ (.*)$", text, re.M)]


def document(reference, path):
    """The document that a name in a file means: from the file's folder, from the top, or the one
    below docs/ that is called so. None: there is none, or there are several."""
    near = os.path.normpath(os.path.join(os.path.dirname(path), reference))
    for found in (near, os.path.normpath(reference)):
        if os.path.isfile(os.path.join(SOURCE, found)):
            return found
    named = sources(f"docs/**/{reference}") if "/" not in reference else []
    return named[0] if len(named) == 1 else None


# `x.md B, C2 and D1`, `x.md 1-5`, `x.md 3 to 5`: sections by what their titles begin with.
SECTION = r"(?:[A-Z]\d?|\d[a-z]?)\b(?![./-]\w)"
REFERENCE = re.compile(
    r"(?<![\w./{$*<>-])((?:\.\./|[\w-]+/)*[\w-]+\.md)\b(?!\w)`?"
    rf"((?:(?: +|, +(?:and )?| +and +| +to +|-)(?:{SECTION}))+)?"
    r"((?:`?\)?,?\s+(?:and )?\"[^\"\n]+\")*)")


def joined(text):
    """The same text with lines of a comment joined, as long as it was."""
    return re.sub(r"\n([ \t]*(?:\*|//|#) )", lambda match: " " * len(match.group()), text)


def has_section(path, number):
    """Whether a title begins so; B3 is also point 3 of the list under a title that begins with B."""
    titled = headings(path)
    if any(re.match(re.escape(number) + r"\b", title) for title in titled):
        return True
    under = re.search(rf"^#+ {number[0]}\b.*?(?=^#|\Z)", read(path), re.M | re.S)
    return bool(number[1:] and under and re.search(rf"^{number[1:]}\. ", under.group(), re.M))


def lint_references_to_documents_lead_somewhere():
    for path, text in texts():
        if not path.endswith(".md"):
            flat = joined(text)
        else:
            flat = text
        for match in REFERENCE.finditer(flat):
            name, numbers, titles = match.groups()
            if name in PLACEHOLDERS or re.search(r"https?://\S*$", flat[:match.start()]):
                continue
            where = f"{path}:{line_of(text, match.start())}"
            found = document(name, path)
            if not found:
                yield f"{where}: there is no {name}, or there are several"
                continue
            titled = headings(found)
            for number in re.findall(SECTION, numbers or ""):
                if not has_section(found, number):
                    yield f"{where}: {name} has no section {number}"
            for title in re.findall(r'"([^"]+)"', titles):
                spaces = r"\s+".join(re.escape(word) for word in title.split())
                if title not in titled and not re.search(rf"\*\*{spaces}\b|\| [^|\n]*{spaces}",
                                                         read(found)):
                    yield f'{where}: {name} has no section "{title}"'


def lint_links_in_documents_lead_somewhere():
    for path in kept_files():
        if not path.endswith(".md"):
            continue
        text = read(path)
        for match in re.finditer(r"\]\(([^)\s]*)\)", text):
            target, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            found = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(os.path.join(SOURCE, found)):
                yield f"{path}:{line_of(text, match.start())}: there is no {target}"
            elif anchor and anchor not in [slug(title) for title in headings(found)]:
                yield f"{path}:{line_of(text, match.start())}: {found} has no section #{anchor}"


# A path from the top, or one below src/.
TREE_PATH = (r"(?<![\w./<>*-])(?:src|tests|scripts|docs|web/src|" + "|".join(RINGS)
             + r")/[\w/.-]*\w(?!/?[\w{*<])")


def lint_files_that_documents_and_comments_name_exist():
    kept = set(kept_files())
    folders = {folder for path in kept for folder in parents(path)}
    bases = {os.path.basename(path) for path in kept}
    for path, text in texts():
        is_c = path.startswith("src/")
        if not (is_c or path.endswith(".md")) or path == "CHANGELOG.md":
            continue
        seen = "\n".join(comments(text)) if is_c else text
        for name in re.findall(TREE_PATH, seen) + re.findall(r"(?<![\w./<>*-])\w+\.c\b", seen):
            below = f"src/{name}" if name.split("/")[0] in RINGS else name
            near = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if not (name in bases or re.search(r"(^|[/_])x(\.|$)|\.proto$", name)
                    or {below, near, f"{below}.c", f"{below}.h"} & (kept | folders)):
                yield f"{path}: there is no {name}"


def lint_functions_that_documents_and_comments_name_exist():
    names = set()
    for path in c_files() + sources("tests/**/*.[ch]"):
        names.update(re.findall(r"\b(?:tfp|TFP)_\w+", code(read(path))))
    for path, text in texts():
        if path.endswith((".c", ".h")):
            text = "\n".join(comments(text))
        elif not path.endswith(".md"):
            continue
        for name in sorted(set(re.findall(r"\b(?:tfp|TFP)_\w*\w\b(?!\*)", text)) - names):
            # tfp_x stands for any; tfp_step_ for all that begin so.
            if not name.endswith("_x") and not (name.endswith("_") and any(n.startswith(name) for n in names)):
                yield f"{path}: there is no {name}"


def ring_lists():
    """What docs/architecture.md lists of each ring and room: "- `store/`: ..." by folder."""
    lists = {}
    for name, text in re.findall(r"^- `(\w+)/`: (.*)$", read("docs/architecture.md"), re.M):
        lists[f"src/{name}" if name in RINGS else f"src/analysis/{name}"] = text
    return lists


def speaks_for_itself(path):
    """Files that a list has in one word: dashboards, their reports, programs."""
    kind = {"src/tools": r"^const struct tfp_tool tfp_", "src/report": r"^const struct tfp_reporter tfp_",
            "src/cmd": r"^int main\("}.get(os.path.dirname(path))
    return kind and re.search(kind, read(path), re.M)


def lint_every_module_has_its_word():
    lists = ring_lists()
    files = c_files()
    for folder in sorted({os.path.dirname(path) for path in files} | set(lists)):
        here = [os.path.basename(path) for path in files if os.path.dirname(path) == folder]
        modules = {os.path.splitext(name)[0] for name in here}
        if folder not in lists:
            yield f"docs/architecture.md: no list of {folder}/"
            continue
        words = set(re.findall(r"`(\w+)(?:\.h)?`", lists[folder]))
        for name in sorted(here):
            module = os.path.splitext(name)[0]
            # Parts of a module have no header of their own.
            part = f"{module}.h" not in here and any(
                module.startswith(f"{word}_") for word in words & modules)
            if module not in words and not part and not speaks_for_itself(f"{folder}/{name}"):
                yield f"docs/architecture.md: the list of {folder}/ has no word about {module}"
        for word in sorted(words - modules - {"microhttpd", "pcre2", "histedit"}):
            yield f"docs/architecture.md: {folder}/ has no {word}"


# Files that have a licence line, and the other kinds that .reuse/dep5 speaks for.
LICENSED = r"\.(c|h|css|ts|mjs|js|proto|html|py|sh|service|slurm)$|(^|/)meson(\.build|_options\.txt)$|^scripts/"


def lint_sources_say_their_licence():
    for path in kept_files():
        if (re.search(LICENSED, path) and not re.match(r"subprojects/|tests/fuzz/(corpus|regressions)/", path)
                and os.path.isfile(os.path.join(SOURCE, path))
                and "SPDX-License-Identifier: Apache-2.0" not in read(path)[:4096]):
            yield f"{path}: no SPDX-License-Identifier"


def parents(path):
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def comments(text):
    return re.findall(r'/\*.*?\*/', text, re.S)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli")
    parser.add_argument("--rule", action="append", help="only this one, by its name")
    args = parser.parse_args()
    cli = args.cli
    named = {"lint_" + rule.replace(" ", "_") for rule in args.rule or []}
    checks = [value for name, value in globals().items()
              if name.startswith("lint_") and (name in named or not named)]
    failed = 0
    for number, check in enumerate(checks, 1):
        problems = list(check(cli) if check is lint_every_tool_has_its_places else check())
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {check.__name__[5:].replace('_', ' ')}")
        for problem in problems:
            print(f"# {problem}")
    print(f"1..{len(checks)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
