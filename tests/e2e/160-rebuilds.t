#!/bin/bash
# make rebuilds what changed flags, another compiler, another Makefile or other sources affect, and nothing else.
# The tree is small: the Makefile, and one file of each of a few modules.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS LDFLAGS OPTIMISE SANITIZE V CC
mkdir -p tree/wire tree/clients/libpoet/core tree/clients/libpoet/ipc tree/clients/cli
cd tree || exit 1
cp "$root/Makefile" .
echo '#define POET_VERSION "1"' >clients/cli/version.h
echo '{ local: *; };' >clients/libpoet/exports.map
echo '#define NUMBER 1' >clients/libpoet/poet.h
echo 'typedef int t;' >clients/libpoet/core/libc_calls.h
for file in message program_messages recorded_input endpoint; do echo 'typedef int t;' >wire/$file.c; done
for file in core names; do echo 'typedef int t;' >clients/libpoet/core/$file.c; done
echo 'int first(void);
__attribute__((visibility("default"))) int first(void) { return 1; }' >clients/libpoet/ipc/first.c
library=b/lib/poet/libpoet-process.so
# made ARG...: what make builds, by the first word of each line: "CC 2, LD 1"
made() {
    make B=b "$@" b/lib/libpoet.a $library >log 2>&1 || { cat log && return; }
    awk '$1 ~ /^(CC|PIC|LD|AR)$/ { n[$1]++ } END { for (k in n) print k, n[k] }' log | sort | tr '\n' ' '
}
all="AR 1 CC 6 LD 2 PIC 7 "
is "first make: everything is built" "$(made)" "$all"
is "second make: nothing is rebuilt" "$(made)" ""
is "absolute path of the build directory: nothing is rebuilt" "$(made B="$PWD/b")" ""
touch clients/libpoet/core/libc_calls.h
is "changed header: what includes it is rebuilt" "$(made B="$PWD/b")" "AR 1 CC 6 LD 2 PIC 6 "
is "changed CFLAGS: all objects are recompiled and relinked" "$(made CFLAGS='-DTEXT="\"it'"'"'s | a\""')" "$all"
is "unchanged CFLAGS: nothing is rebuilt" "$(made CFLAGS='-DTEXT="\"it'"'"'s | a\""')" ""
is "make -n with changed CFLAGS: the commands are printed" "$(make -n B=b $library | grep -c "^cc .* -c ")" 7
is "make -n: later builds are not affected" "$(made CFLAGS='-DTEXT="\"it'"'"'s | a\""')" ""
is "removed CFLAGS: everything is rebuilt" "$(made)" "$all"
is "changed OPTIMISE: everything is rebuilt" "$(made OPTIMISE=-O1)" "$all"
is "changed SANITIZE: everything is rebuilt" "$(made OPTIMISE=-O1 SANITIZE=-fno-plt)" "$all"
made >/dev/null
is "changed LDFLAGS: linked programs and libraries are relinked" "$(made LDFLAGS="-Wl,-rpath,'\$\$ORIGIN'")" "LD 2 "
is "unchanged LDFLAGS: nothing is rebuilt" "$(made LDFLAGS="-Wl,-rpath,'\$\$ORIGIN'")" ""
made >/dev/null
printf '#!/bin/sh\n[ "$1" = --version ] && echo "$VERSION" && exit\nexec cc "$@"\n' >other
chmod +x other
is "another compiler: everything is rebuilt" "$(VERSION=1 made CC=./other)" "$all"
is "another version of the compiler: everything is rebuilt" "$(VERSION=2 made CC=./other)" "$all"
is "same version of the compiler: nothing is rebuilt" "$(VERSION=2 made CC=./other)" ""
made >/dev/null
sed -i 's/^COMPILE_process = .*/& -DEDITED/' Makefile
is "changed command in the Makefile: its targets are rebuilt" "$(made)" "LD 1 PIC 1 "
echo '# a remark' >>Makefile
is "changed comment in the Makefile: nothing is rebuilt" "$(made)" ""
sed 's/first/second/' clients/libpoet/ipc/first.c >clients/libpoet/ipc/second.c
is "added source: only this source is compiled" "$(made)" "LD 1 PIC 1 "
like "added source: the library contains its functions" "$(nm -D $library)" " T second"
rm clients/libpoet/ipc/second.c
is "removed source: nothing is compiled" "$(made)" "LD 1 "
is "removed source: the library lacks its functions" "$(nm -D $library | grep -c ' T second')" 0
rm clients/libpoet/core/names.c
is "removed source of an archive: the archive is rebuilt" "$(made)" "AR 1 LD 2 "
is "removed source of an archive: the archive lacks its member" "$(ar t b/lib/libpoet.a | grep -c names)" 0
done_testing
