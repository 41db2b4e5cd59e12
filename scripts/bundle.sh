#!/bin/bash
# Packs the built programs and the shared libraries that a bare machine lacks
# into an archive that runs from any folder:
#
#   scripts/bundle.sh tfprof.tar.gz
#
# The C library is not among them: the other machine's must be as new as this
# one's, or newer.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
if [ $# != 1 ]; then
    echo "usage: scripts/bundle.sh ARCHIVE.tar.gz" >&2
    exit 2
fi
archive=$1
programs=(tfprof-server tfprof tfprof-synth)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tfprof/lib" "$work/tfprof/bin"

for program in "${programs[@]}"; do
    if [ ! -x "$root/build/src/$program" ]; then
        echo "scripts/bundle.sh: build/src/$program is not there; scripts/run builds it" >&2
        exit 1
    fi
    cp "$root/build/src/$program" "$work/tfprof/bin/"
    ldd "$root/build/src/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
        grep -vE '/(ld-linux|libc|libm|libpthread|libdl|librt)[.-]' |
        xargs -r cp -L -t "$work/tfprof/lib"
    cat >"$work/tfprof/$program" <<'START'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/bin/${0##*/}" "$@"
START
    chmod +x "$work/tfprof/$program"
done
cp "$root/LICENSE" "$work/tfprof/"
tar -czf "$archive" -C "$work" tfprof
echo "$archive: unpack it anywhere and run tfprof/tfprof-server" >&2
