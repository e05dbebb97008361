#!/bin/bash
# make install and make uninstall with a prefix that contains spaces, another library directory, and DESTDIR;
# uninstall removes everything that install created.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_KEEP=1 POET_QUIET=1
unset MAKEFLAGS MAKELEVEL MFLAGS PREFIX DESTDIR
prefix="$work/a place/of mine"
check "make install with spaces in the prefix" make -s -C "$root" install PREFIX="$prefix" B="$B"
PATH=$prefix/bin:$(printf %s "$PATH" | sed "s|$B/bin:||")
export PATH
is "the installed poetcc is used" "$(command -v poetcc)" "$prefix/bin/poetcc"
check "installed poetcc -trace compiles" poetcc -trace -g "$root/examples/prodcons.c" -o prodcons
is "installed poetcc -trace: the program runs" "$(./prodcons)" "sum of 10 items: 45"
check "installed poetcc -trace: the trace passes poet check" sound "$(trace_of prodcons)"
check "installed poetcc -trace -static compiles" poetcc -trace -static -g "$root/examples/prodcons.c" -o still
is "installed poetcc -trace -static: the program runs" "$(./still)" "sum of 10 items: 45"
check "installed poetcc -profile -processes -fopenmp compiles" poetcc -profile -processes -fopenmp -g "$root/examples/prodcons.c" -o measured
is "installed poetcc -profile -processes -fopenmp: the program runs" "$(./measured)" "sum of 10 items: 45"
check "installed poet record exits with status 0" poet record -o recorded.poet -- ./prodcons
check "installed poet record: the trace passes poet check" sound recorded.poet
printf 'all: ; cc $(shell poetcc --poet-flags) -g %s/examples/prodcons.c -o flags -pthread\n' "$root" >flags.mk
check "installed poetcc --poet-flags in a makefile: the program compiles" make -s -f flags.mk
is "installed poetcc --poet-flags in a makefile: the program runs" "$(./flags)" "sum of 10 items: 45"
cat >told.c <<'C'
#include <poet.h>
int main(void) { poet_text("told"); return 0; }
C
check "installed pkg-config file: a program compiles" sh -c 'eval "cc told.c $(PKG_CONFIG_PATH="'"$prefix"'/lib/pkgconfig" pkg-config --cflags --libs poet)" -o told'
check "make uninstall exits with status 0" make -s -C "$root" uninstall PREFIX="$prefix" B="$B"
is "make uninstall leaves no files" "$(ls "$work/a place" 2>/dev/null)" ""
check "make uninstall without an installation exits with status 0" make -s -C "$root" uninstall PREFIX="$prefix" B="$B"

# Another directory for libraries.
libraries=lib/$(cc -print-multiarch)
place="$work/another place"
check "make install LIBDIR=$libraries" make -s -C "$root" install PREFIX="$place" LIBDIR="$libraries" B="$B"
is "LIBDIR: no libraries are installed elsewhere" "$(cd "$place" && find . -name '*poet*.so*' | sed "s|^\./$libraries/.*||" | sort -u)" ""
check "LIBDIR: poetcc -trace finds the libraries" "$place/bin/poetcc" -trace -g "$root/examples/prodcons.c" -o elsewhere
is "LIBDIR: the library finds poet-server" "$(PATH=/usr/bin:/bin ./elsewhere 2>&1)" "sum of 10 items: 45"
check "LIBDIR: poet record runs" env PATH=/usr/bin:/bin "$place/bin/poet" record -o elsewhere.poet -- true
check "LIBDIR: make uninstall exits with status 0" make -s -C "$root" uninstall PREFIX="$place" LIBDIR="$libraries" B="$B"
is "LIBDIR: make uninstall leaves no files" "$(ls -A "$place" 2>/dev/null)" ""

# A system has bin, lib, include and share already, and pages in share/man/man1.
PATH=$B/bin:$PATH
check "DESTDIR: make install exits with status 0" make -s -C "$root" install PREFIX=/usr/local DESTDIR="$work/system" B="$B"
touch system/usr/local/share/other
check "DESTDIR: make uninstall exits with status 0" make -s -C "$root" uninstall PREFIX=/usr/local DESTDIR="$work/system" B="$B"
is "DESTDIR: make uninstall leaves only directories of the system" "$(cd system/usr/local && find . -mindepth 1 | sort | tr '\n' ' ')" \
    "./bin ./include ./lib ./libexec ./share ./share/bash-completion ./share/fish ./share/icons ./share/icons/hicolor ./share/icons/hicolor/scalable ./share/man ./share/man/man1 ./share/mime ./share/other ./share/zsh "

# Link-time optimization is disabled, with one message when linking.
is "-flto: poetcc prints nothing when compiling" "$(poetcc -trace -flto -c "$root/examples/prodcons.c" -o lto.o 2>&1)" ""
is "-flto: poetcc reports that it is ignored when linking" "$(poetcc -trace -flto lto.o -o lto 2>&1)" "poetcc: -flto: ignored; -trace does not support link-time optimization"
done_testing
