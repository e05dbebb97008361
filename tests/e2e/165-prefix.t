#!/bin/sh
# Poet installed where names have spaces in them; uninstalled without a trace, but for what a system has anyway.
. "$(dirname "$0")/lib.sh"
export POET_KEEP=1 POET_QUIET=1
unset MAKEFLAGS MAKELEVEL MFLAGS PREFIX DESTDIR
prefix="$work/a place/of mine"
check "make install" make -s -C "$root" install PREFIX="$prefix" B="$B"
PATH=$prefix/bin:$(printf %s "$PATH" | sed "s|$B/bin:||")
export PATH
is "this one is called" "$(command -v poetcc)" "$prefix/bin/poetcc"
check "poetcc -trace" poetcc -trace -g "$root/examples/prodcons.c" -o prodcons
is "its program runs" "$(./prodcons)" "sum of 10 items: 45"
check "its trace is sound" sound "$(trace_of prodcons)"
check "poetcc -trace -static" poetcc -trace -static -g "$root/examples/prodcons.c" -o still
is "a static one runs" "$(./still)" "sum of 10 items: 45"
check "poetcc -profile -processes -fopenmp" poetcc -profile -processes -fopenmp -g "$root/examples/prodcons.c" -o measured
is "and runs" "$(./measured)" "sum of 10 items: 45"
check "poet record" poet record -o recorded.poet -- ./prodcons
check "and its trace" sound recorded.poet
printf 'all: ; cc $(shell poetcc --poet-flags) -g %s/examples/prodcons.c -o flags -pthread\n' "$root" >flags.mk
check "--poet-flags in a makefile" make -s -f flags.mk
is "whose program runs" "$(./flags)" "sum of 10 items: 45"
cat >told.c <<'C'
#include <poet.h>
int main(void) { poet_text("told"); return 0; }
C
check "pkg-config" sh -c 'eval "cc told.c $(PKG_CONFIG_PATH="'"$prefix"'/lib/pkgconfig" pkg-config --cflags --libs poet)" -o told'
check "make uninstall" make -s -C "$root" uninstall PREFIX="$prefix" B="$B"
is "leaves nothing" "$(ls "$work/a place" 2>/dev/null)" ""
check "again, where nothing is" make -s -C "$root" uninstall PREFIX="$prefix" B="$B"

# another folder for libraries
libraries=lib/$(cc -print-multiarch)
place="$work/another place"
check "make install LIBDIR=$libraries" make -s -C "$root" install PREFIX="$place" LIBDIR="$libraries" B="$B"
is "libraries are there alone" "$(cd "$place" && find . -name '*poet*.so*' | sed "s|^\./$libraries/.*||" | sort -u)" ""
check "poetcc -trace finds them" "$place/bin/poetcc" -trace -g "$root/examples/prodcons.c" -o elsewhere
is "and the library its server" "$(PATH=/usr/bin:/bin ./elsewhere 2>&1)" "sum of 10 items: 45"
check "so does poet record" env PATH=/usr/bin:/bin "$place/bin/poet" record -o elsewhere.poet -- true
check "uninstalled" make -s -C "$root" uninstall PREFIX="$place" LIBDIR="$libraries" B="$B"
is "without a trace" "$(ls -A "$place" 2>/dev/null)" ""

# a system has bin, lib, include and share, and pages in share/man/man1
PATH=$B/bin:$PATH
check "installed for a system" make -s -C "$root" install PREFIX=/usr/local DESTDIR="$work/system" B="$B"
touch system/usr/local/share/other
check "and uninstalled" make -s -C "$root" uninstall PREFIX=/usr/local DESTDIR="$work/system" B="$B"
is "leaves what a system has" "$(cd system/usr/local && find . -mindepth 1 | sort | tr '\n' ' ')" \
    "./bin ./include ./lib ./libexec ./share ./share/bash-completion ./share/fish ./share/icons ./share/icons/hicolor ./share/icons/hicolor/scalable ./share/man ./share/man/man1 ./share/mime ./share/other ./share/zsh "

# link-time optimization is left out, which is said once, where it is linked
is "-flto: compiling says nothing" "$(poetcc -trace -flto -c "$root/examples/prodcons.c" -o lto.o 2>&1)" ""
is "linking says what is left out" "$(poetcc -trace -flto lto.o -o lto 2>&1)" "poetcc: -flto: left out: with -trace the units must stay apart"
done_testing
