#!/usr/bin/env python3
"""Rules that no compiler checks; prints TAP.

usage: lint.py [--cli PATH_OF_TFPROF]
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
    "base": {"base"},
    "wire": {"base", "wire"},
    "store": {"base", "wire", "store"},
    "analysis": {"base", "wire", "store", "analysis"},
    "tools": {"base", "wire", "store", "analysis", "tools"},
    "report": {"base", "wire", "store", "analysis", "tools", "report"},
    "remote": {"base", "wire", "remote"},
    "synth": {"base", "wire", "synth"},
    "http": {"base", "wire", "store", "analysis", "tools", "remote", "http"},
    "cmd": {"base", "wire", "store", "analysis", "tools", "remote", "http", "synth", "report",
            "cmd"},
}

# Headers that files of tools/ share; a dashboard includes no other dashboard.
SHARED_TOOLS = {"tool.h", "session.h", "one_state.h", "data_table.h", "device_activity.h", "run_info.h", "summary.h", "instances.h",
                "run_clock.h", "run_summary.h", "run_times.h", "step_table.h", "step_hosts.h", "trace_align.h", "trace_busy.h", "trace_chrome.h", "trace_export.h",
                "trace_filter.h", "trace_select.h", "trace_source.h", "trace_visibility.h", "trace_perfetto.h",
                "trace.h", "trace_hits.h", "text_match.h"}

# Only these may see the libraries.
LIBRARIES = {
    "microhttpd.h": {"http"},
    "curl/curl.h": {"remote"},
    "jansson.h": {"analysis", "tools", "http", "cmd"},
    "pcre2.h": {"tools"},
    "zlib.h": {"store", "synth", "http"},
    "zstd.h": {"store", "synth", "http"},
}

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
        yield text.count("\n", 0, match.start()) + 1, match.group(1) == "<", match.group(2)


C_FILES = sources("src/*/*.c", "src/*/*.h")


def ring_of(path):
    return path.split("/")[1]


def lint_rings():
    for path in C_FILES:
        if ring_of(path) not in RINGS:
            yield f"{path}: nobody has said what src/{ring_of(path)}/ may include"
            continue
        for line, system, name in includes(read(path)):
            folder = name.split("/")[0]
            if "/" in name and not system and folder not in RINGS[ring_of(path)]:
                yield f"{path}:{line}: {ring_of(path)}/ must not include {name}"
            if "/" in name and system and folder in RINGS:
                yield f"{path}:{line}: <{name}> is ours: use quotes"
            if "/" not in name and not system and not name.endswith(".pb-c.h"):
                yield f"{path}:{line}: \"{name}\" without its folder"


def lint_tools_do_not_include_each_other():
    for path in C_FILES:
        if ring_of(path) != "tools":
            continue
        own = os.path.splitext(os.path.basename(path))[0] + ".h"
        for line, _, name in includes(read(path)):
            if name.startswith("tools/") and name[6:] not in SHARED_TOOLS | {own}:
                yield f"{path}:{line}: includes {name}"


def lint_libraries_stay_where_they_are_wrapped():
    for path in C_FILES:
        for line, _, name in includes(read(path)):
            if name in LIBRARIES and ring_of(path) not in LIBRARIES[name]:
                yield f"{path}:{line}: {name} belongs to {', '.join(sorted(LIBRARIES[name]))}/"


def lint_headers_of_few_files_stay_with_them():
    for path in C_FILES:
        for line, _, name in includes(read(path)):
            if path not in FILES.get(name, {path}):
                yield f"{path}:{line}: {name} is for {', '.join(sorted(FILES[name]))}"


def calls(path, pattern):
    text = code(read(path))
    for match in re.finditer(pattern, text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def lint_nothing_but_a_command_ends_the_program():
    for path in C_FILES:
        if ring_of(path) != "cmd":
            for line, name in calls(path, ENDS):
                yield f"{path}:{line}: {name}()"


def lint_heap_memory_comes_from_alloc():
    for path in C_FILES:
        for line, name in calls(path, HEAP):
            if (path, name) not in HEAP_EXCEPTIONS and (path, "*") not in HEAP_EXCEPTIONS:
                yield f"{path}:{line}: {name}() instead of tfp_{name}()"


def lint_headers_open_with_a_comment():
    for path in C_FILES:
        if path.endswith(".h") and not read(path).startswith("/*"):
            yield path


def lint_headers_guard_themselves():
    for path in C_FILES:
        if not path.endswith(".h"):
            continue
        guard = "TFP_" + re.sub(r"[/.]", "_", path[4:]).upper()
        if f"#ifndef {guard}\n#define {guard}\n" not in read(path):
            yield f"{path}: no {guard}"


def lint_external_names_have_the_prefix():
    for path in C_FILES:
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
        return sources("src/**/*.[ch]", "tests/**/*.*", "docs/**/*.md", "web/src/**/*.*", "*.md")


def lint_no_paths_of_one_machine():
    for path in kept_files():
        if not os.path.isfile(os.path.join(SOURCE, path)) or "/corpus/" in path or "/regressions/" in path:
            continue
        text = read(path)
        for match in MACHINE.finditer(text):
            if not any(match.group().startswith(known) for known in MACHINE_EXCEPTIONS):
                yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"


def tool_names(cli):
    if cli:
        out = subprocess.run([cli, "tools"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return [line.split()[0] for line in out.splitlines() if line[:1].strip()]
    return re.findall(r"&tfp_(\w+),", read("src/tools/registry.c"))


def lint_every_tool_has_its_places(cli):
    names = tool_names(cli)
    if not names:
        yield "there is no tool"
    for name in names:
        for path in (f"src/tools/{name}.c", f"web/src/pages/{name}.ts", f"docs/tools/{name}.md",
                     f"tests/golden/{name}"):
            if not os.path.exists(os.path.join(SOURCE, path)):
                yield f"{name}: there is no {path}"


def lint_every_test_is_wired():
    wired = read("tests/unit/meson.build")
    for path in sources("tests/unit/test_*.c"):
        if f"'{os.path.basename(path)[5:-2]}':" not in wired:
            yield f"{path} is not in tests/unit/meson.build"


def lint_every_source_is_built():
    for meson, pattern in (("src/meson.build", "src/*/*.c"),):
        text = read(meson)
        for path in sources(pattern):
            if f"'{path[4:]}'" not in text:
                yield f"{path} is not in {meson}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli")
    cli = parser.parse_args().cli
    checks = [value for name, value in globals().items() if name.startswith("lint_")]
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
