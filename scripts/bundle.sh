#!/bin/bash
# Packs the built programs and the shared libraries that a bare machine lacks
# into an archive that runs from any folder:
#
#   scripts/bundle.sh tfprof.tar.gz
#   scripts/bundle.sh tfprof.tar.gz build-other    from another build folder
#
# The C library is not among them: the other machine's must be as new as this
# one's, or newer.
set -euo pipefail

fail() {
    echo "scripts/bundle.sh: $1" >&2
    exit 1
}
# Nothing ends it without a word.
trap 'fail "line $LINENO failed: $BASH_COMMAND"' ERR

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: scripts/bundle.sh ARCHIVE.tar.gz [BUILD]" >&2
    exit 2
fi
archive=$1
build=${2:-$root/build}
programs=(tfprof-server tfprof tfprof-synth)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tfprof/lib" "$work/tfprof/bin"

# The libraries of a program, but for those of the C library.
libraries() {
    ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// && $3 !~ /\/(ld-linux|libc|libm|libpthread|libdl|librt)[.-]/ { print $3 }'
}

for program in "${programs[@]}"; do
    [ -x "$build/src/$program" ] || fail "$build/src/$program is not there; scripts/run builds it"
    cp "$build/src/$program" "$work/tfprof/bin/"
    found=$(libraries "$build/src/$program")
    # A program may need none.
    while IFS= read -r library; do
        [ -z "$library" ] || cp -L "$library" "$work/tfprof/lib"
    done <<<"$found"
    cat >"$work/tfprof/$program" <<'START'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/bin/${0##*/}" "$@"
START
    chmod +x "$work/tfprof/$program"
done
cp "$root/LICENSE" "$work/tfprof/"
tar -czf "$work/archive" -C "$work" tfprof
cp "$work/archive" "$archive"
echo "$archive: unpack it anywhere and run tfprof/tfprof-server" >&2
