# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by scripts/run, scripts/test and scripts/bench: installs what a build or the tests
# need, and builds. Debian and Ubuntu by apt-get; elsewhere it says what is
# missing.
#
#   root   the repository, an absolute path
#   self   name of the script, for messages

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$self: $*"
    exit 1
}

# Prints the tail of a log that explains a failure.
tail_of() {
    sed 's/^/    /' "$1" | tail -n "${2:-25}" >&2
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# The library as meson will look for it.
have_library() {
    have pkg-config && pkg-config --exists "$1"
}

compiles() {
    printf '#include <stdio.h>\nint main(void) { return puts("") == EOF; }\n' |
        "$@" -x c - -o /dev/null >/dev/null 2>&1
}

node_is_new_enough() {
    have node && node -e 'process.exit(+process.versions.node.split(".")[0] >= 18 ? 0 : 1)'
}

# Debian's is for the system's own python3, whichever comes first otherwise.
have_grpcio() {
    python3 -c 'import grpc' || /usr/bin/python3 -c 'import grpc'
}

missing=()

# need PACKAGE... -- COMMAND...: the packages are missing when the command fails.
need() {
    local packages=()
    while [ "$1" != -- ]; do
        packages+=("$1")
        shift
    done
    shift
    "$@" >/dev/null 2>&1 || missing+=("${packages[@]}")
}

look_for_build_packages() {
    missing=()
    need gcc libc6-dev -- compiles "${CC:-cc}"
    need python3 -- python3 -c 'import gzip, hashlib, json, xml.etree.ElementTree'
    need meson -- have meson
    need ninja-build -- have ninja
    need pkg-config -- have pkg-config
    need libmicrohttpd-dev -- have_library 'libmicrohttpd >= 0.9.70'
    need libgnutls28-dev -- have_library gnutls
    need libprotobuf-c-dev -- have_library libprotobuf-c
    need protobuf-c-compiler -- have protoc-c
    need libjansson-dev -- have_library jansson
    need libpcre2-dev -- have_library libpcre2-8
    need libedit-dev -- have_library libedit
    need libzstd-dev -- have_library libzstd
    need zlib1g-dev -- have_library zlib
    need libcurl4-gnutls-dev -- have_library 'libcurl >= 7.68'
    need nodejs -- node_is_new_enough
    need npm -- have npm
    need ca-certificates -- test -e /etc/ssl/certs/ca-certificates.crt -o ! -e /etc/debian_version
}

look_for_quick_test_packages() {
    look_for_build_packages
    need libcmocka-dev -- have_library cmocka
    need libnghttp2-dev -- have_library libnghttp2
    need reuse -- have reuse
    # The engine of chromium in half the time; CHROMIUM names another browser.
    need chromium-headless-shell -- test -x "${CHROMIUM:-/usr/bin/chromium-headless-shell}"
}

look_for_test_packages() {
    look_for_quick_test_packages
    need shellcheck -- have shellcheck
    need pyflakes3 -- have pyflakes3
    need clang-tidy -- have clang-tidy
    need clang-format -- have clang-format
    need python3-grpcio -- have_grpcio
    need gcc libc6-dev -- compiles gcc -fsanitize=thread
    need clang libclang-rt-14-dev llvm-14 -- compiles clang -fsanitize=address,undefined
}

look_for_bench_packages() {
    look_for_build_packages
    need libcmocka-dev -- have_library cmocka
    need libnghttp2-dev -- have_library libnghttp2
    need binutils -- have strip
    need wrk -- have wrk
}

apt_failed() {
    say "$self: apt-get could not install: ${missing[*]}"
    tail_of "$1" 12
    if grep -qE 'Could not resolve|Could not connect|Temporary failure|Failed to fetch|Network is unreachable|timed out' "$1"; then
        say "The package archive cannot be reached. Check this machine's network and proxy"
        say "(/etc/apt/apt.conf.d), or install the packages some other way, and start again."
    elif grep -qE 'Unable to locate package|has no installation candidate' "$1"; then
        say "This system's archive does not have all of them; Debian 12 does. Install what"
        say "stands for them here, and start again."
    elif grep -q 'Could not get lock' "$1"; then
        say "Another program is installing packages. Wait for it, and start again."
    fi
    rm -f "$1"
    exit 1
}

# ensure_packages LOOK [ARGUMENT...]: LOOK is one of the functions above; the
# arguments are the script's own, to start it again with.
ensure_packages() {
    local look=$1 log
    shift
    "$look"
    if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && have apt-get; then
        # One list, without what two needs have in common.
        mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
        say "$self: installing ${missing[*]}"
        log=$(mktemp)
        export DEBIAN_FRONTEND=noninteractive
        # Failing to refresh the lists matters only if the installation fails.
        apt-get update >"$log" 2>&1 || true
        apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 || apt_failed "$log"
        hash -r
        "$look"
        if [ ${#missing[@]} -gt 0 ]; then
            say "$self: installed, but still not usable: ${missing[*]}"
            tail_of "$log" 5
            exit 1
        fi
        rm -f "$log"
    fi
    if [ ${#missing[@]} -gt 0 ]; then
        mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
        say "$self: these packages are missing: ${missing[*]}"
        if have apt-get; then
            say "Install them with"
            say
            say "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
            say
            say "or start this once as root (sudo $0), and again."
        else
            say "These are Debian's names; install what stands for them on this system."
        fi
        exit 1
    fi
    become_the_invoker "$@"
}

# Root is for installing packages only: under sudo everything else is done as
# the calling user, so that the build folder is theirs and no server runs as root.
become_the_invoker() {
    [ "$(id -u)" = 0 ] && [ "${SUDO_UID:-0}" != 0 ] && have sudo || return 0
    exec sudo -H -u "#$SUDO_UID" -- "$0" "$@"
}

# Files that meson finds by looking into their folders, which it does only when it configures.
found_files() {
    (cd "$root" && ls tests/http/test_*.py && find src -name '*.c' | sort)
}

# The folder of build $1, set up with the remaining arguments for meson. Output
# goes to a log, shown when something fails.
set_up() {
    local folder=$root/$1 log status=0
    shift
    log=$folder/set-up.log
    if [ -e "$folder/build.ninja" ] &&
        ! grep -qF "\"source\": \"$root\"" "$folder/meson-info/meson-info.json" 2>/dev/null; then
        # Made for a checkout in another place: copied or moved.
        rm -rf "$folder"
    fi
    mkdir -p "$folder"
    if [ ! -e "$folder/build.ninja" ]; then
        meson setup "$folder" "$root" "$@" >"$log" 2>&1 || status=$?
    elif ! found_files | cmp -s - "$folder/found_files"; then
        meson setup --reconfigure "$folder" "$root" "$@" >"$log" 2>&1 || status=$?
    elif [ $# -gt 0 ]; then
        meson configure "$folder" "$@" >"$log" 2>&1 || status=$?
    fi
    found_files >"$folder/found_files"
    [ "$status" = 0 ] || tail_of "$log" 30
    return "$status"
}

# compile FOLDER [TARGET...]: one at a time for a folder, however many ask.
compile() {
    local folder=$root/$1 log
    shift
    log=$folder/compile.log
    if ! flock "$folder" ninja -C "$folder" "$@" >"$log" 2>&1; then
        # From the first failure on, without ninja's lines of progress.
        sed -n '/^FAILED: /,$p' "$log" | grep -vE '^\[[0-9]+/[0-9]+\]' >"$log.failed" || cp "$log" "$log.failed"
        tail_of "$log.failed" 200
        rm -f "$log.failed"
        return 1
    fi
}
