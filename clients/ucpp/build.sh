#!/bin/sh
# Builds the adapter for uC++ (objects.h) with the user's own u++, once for each kernel of it, and prints its file. A
# program is linked with that, and with the linker options in FILE.wraps.
#
#     build.sh POET_HEADERS COMPILER ARGUMENT...
#
# COMPILER may hold options of its own. It and ARGUMENTs, those of the link, say which kernel it is: -multi or not,
# -debug or not; the last one counts. What is built is kept in $XDG_CACHE_HOME/poet, by default ~/.cache/poet.
set -u
sources=$(dirname -- "$0") headers=$1 compiler=$2
shift 2
debug=-debug multi=-nomulti
# shellcheck disable=SC2086 # CXX may hold options
for word in $compiler "$@"; do
    case $word in
    -debug | -nodebug) debug=$word ;;
    -multi | -nomulti) multi=$word ;;
    esac
done
kernel=$(dirname -- "$(command -v "${compiler%% *}")")/../lib
of=$({ ls -lL "$(command -v "${compiler%% *}")" "$kernel"/uKernel*.a
       cat "$sources"/*.cc "$sources"/*.h "$0" "$headers/poet.h"; echo "$compiler $debug $multi"; } 2>/dev/null | cksum)
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/poet
adapter=$cache/ucpp-${of%% *}$multi$debug.o
if [ ! -e "$adapter" ]; then
    if ! mkdir -p "$cache" || ! building=$(mktemp -d "$cache/ucpp.XXXXXX"); then
        echo "poetcc++: the adapter for u++ could not be built: $cache: cannot be written (XDG_CACHE_HOME is another place)" >&2
        exit 1
    fi
    trap 'rm -rf "$building"' EXIT
    trap 'exit 130' INT TERM
    echo "poetcc++: building the adapter for u++ $multi $debug in $cache" >&2
    # as one unit: the headers of uC++ are most of the work
    for source in "$sources"/*.cc; do echo "#include \"$source\""; done >"$building/adapter.cc"
    # shellcheck disable=SC2086
    $compiler $debug $multi -quiet -g -O2 -fno-omit-frame-pointer -fno-access-control -Wno-attributes -I"$headers" \
        -c "$building/adapter.cc" -o "$building/adapter" 2>"$building/errors" &
    if ! wait $!; then
        cat "$building/errors" >&2
        echo "poetcc++: the adapter for u++ could not be built: it is for uC++ 7, and this is" \
             "$($compiler --version 2>&1 | sed -n 's/^uC++ Version \([^ ]*\).*/\1/p' | head -n 1)" >&2
        exit 1
    fi
    # the symbols that it wraps are those of the lines that begin with WRAP
    sed -n 's/^WRAP[A-Z_]*(\(.*\)/\1/p' "$sources"/*.cc | grep -o '\b\(_Z[A-Za-z0-9_]*\|pthread_[a-z_]*\|p*select\|p*poll\),' | tr -d , |
        sort -u | sed 's/^/--wrap=/' >"$building/wraps"
    mv "$building/wraps" "$adapter.wraps" && mv "$building/adapter" "$adapter" || exit 1
fi
echo "$adapter"
