#!/bin/bash
# Packs the built programs and the shared libraries that a bare machine lacks
# into an archive that runs from any folder:
#
#   scripts/bundle.sh tfprof.tar.gz
#   scripts/bundle.sh tfprof.tar.gz build-other    from another build folder
#
# The C library is not among them: the other machine's must be as new as this
# one's, or newer. THIRD_PARTY.txt and licences/ say whose work is in it.
set -euo pipefail
# SPDX-License-Identifier: Apache-2.0

fail() {
    echo "scripts/bundle.sh: $1" >&2
    exit 1
}
# No failure is silent.
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
licences=$work/tfprof/licences
mkdir -p "$work/tfprof/lib" "$work/tfprof/bin" "$licences"

# The libraries of a program, but for those of the C library.
libraries() {
    ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// && $3 !~ /\/(ld-linux|libc|libm|libpthread|libdl|librt)[.-]/ { print $3 }'
}

# The folder of the Debian package that a file belongs to; nothing where there is none. The package may
# list the file as it was called before /lib became a link.
documents_of() {
    local file package
    file=$(readlink -f "$1")
    for file in "$file" "${file#/usr}" "$1"; do
        package=$(dpkg -S "$file" 2>/dev/null) || continue
        package=${package%%:*}
        [ ! -f "/usr/share/doc/$package/copyright" ] || echo "/usr/share/doc/$package"
        return
    done
}

# Takes the library and its notice along.
take() {
    local folder
    [ ! -e "$work/tfprof/lib/${1##*/}" ] || return 0
    cp -L "$1" "$work/tfprof/lib"
    folder=$(documents_of "$1")
    if [ -n "$folder" ]; then
        cp -L "$folder/copyright" "$licences/${folder##*/}.txt"
    else
        echo "scripts/bundle.sh: no notice found of ${1##*/}; add it before you pass the archive on" >&2
    fi
}

for program in "${programs[@]}"; do
    [ -x "$build/src/$program" ] || fail "$build/src/$program is not there; scripts/run builds it"
    cp "$build/src/$program" "$work/tfprof/bin/"
    found=$(libraries "$build/src/$program")
    # A program may need none.
    while IFS= read -r library; do
        [ -z "$library" ] || take "$library"
    done <<<"$found"
    cat >"$work/tfprof/$program" <<'START'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/bin/${0##*/}" "$@"
START
    chmod +x "$work/tfprof/$program"
done
# Debian's notices point to licences that other systems do not have.
common=$(cat "$licences"/*.txt 2>/dev/null | grep -oE '/usr/share/common-licenses/[A-Za-z0-9.+-]+[A-Za-z0-9]' | sort -u) || true
while IFS= read -r licence; do
    [ ! -f "$licence" ] || cp -L "$licence" "$licences/${licence##*/}"
done <<<"$common"
[ -f "$build/THIRD_PARTY.txt" ] || fail "$build/THIRD_PARTY.txt is not there; ninja -C $build makes it"
cp "$root/LICENSE" "$build/THIRD_PARTY.txt" "$work/tfprof/"
tar -czf "$work/archive" -C "$work" tfprof
cp "$work/archive" "$archive"
echo "$archive: unpack it anywhere and run tfprof/tfprof-server" >&2
