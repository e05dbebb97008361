#!/bin/sh
# make makes again what other flags, another compiler, another Makefile or other sources would have made otherwise, and nothing
# else.  The tree is small: the Makefile, and of a few modules one file each.
. "$(dirname "$0")/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS LDFLAGS OPTIMISE SANITIZE V CC
mkdir -p tree/wire tree/clients/libpoet/core tree/clients/libpoet/ipc tree/clients/cli
cd tree || exit 1
cp "$root/Makefile" .
echo '#define POET_VERSION "1"' >clients/cli/version.h
echo '{ local: *; };' >clients/libpoet/exports.map
echo '#define NUMBER 1' >clients/libpoet/poet.h
echo 'typedef int t;' >clients/libpoet/core/libc_calls.h
for file in message program_messages recorded_input endpoint function_names; do echo 'typedef int t;' >wire/$file.c; done
echo 'typedef int t;' >clients/libpoet/core/core.c
echo 'int first(void);
__attribute__((visibility("default"))) int first(void) { return 1; }' >clients/libpoet/ipc/first.c
library=b/lib/poet/libpoet-process.so
# made ARG...: what make makes, by the first word of each line: "CC 2, LD 1"
made() {
    make B=b "$@" b/lib/libpoet.a $library >log 2>&1 || { cat log && return; }
    awk '$1 ~ /^(CC|PIC|LD|AR)$/ { n[$1]++ } END { for (k in n) print k, n[k] }' log | sort | tr '\n' ' '
}
all="AR 1 CC 6 LD 2 PIC 7 "
is "everything is made" "$(made)" "$all"
is "and once" "$(made)" ""
is "by an absolute name of the directory, too" "$(made B="$PWD/b")" ""
touch clients/libpoet/core/libc_calls.h
is "and then what includes a header is made after it" "$(made B="$PWD/b")" "AR 1 CC 6 LD 2 PIC 6 "
is "CFLAGS: every object and what is linked of it" "$(made CFLAGS='-DTEXT="\"it'"'"'s | a\""')" "$all"
is "CFLAGS that are the same: nothing" "$(made CFLAGS='-DTEXT="\"it'"'"'s | a\""')" ""
is "make -n says so" "$(make -n B=b $library | grep -c "^cc .* -c ")" 7
is "and changes nothing" "$(made CFLAGS='-DTEXT="\"it'"'"'s | a\""')" ""
is "no CFLAGS" "$(made)" "$all"
is "OPTIMISE" "$(made OPTIMISE=-O1)" "$all"
is "SANITIZE" "$(made OPTIMISE=-O1 SANITIZE=-fno-plt)" "$all"
made >/dev/null
is "LDFLAGS: what is linked by the compiler" "$(made LDFLAGS="-Wl,-rpath,'\$\$ORIGIN'")" "LD 2 "
is "LDFLAGS that are the same" "$(made LDFLAGS="-Wl,-rpath,'\$\$ORIGIN'")" ""
made >/dev/null
printf '#!/bin/sh\n[ "$1" = --version ] && echo "$VERSION" && exit\nexec cc "$@"\n' >other
chmod +x other
is "another compiler" "$(VERSION=1 made CC=./other)" "$all"
is "another version of it" "$(VERSION=2 made CC=./other)" "$all"
is "the same version" "$(VERSION=2 made CC=./other)" ""
made >/dev/null
sed -i 's/^COMPILE_process = .*/& -DEDITED/' Makefile
is "a command of the Makefile: what it makes" "$(made)" "LD 1 PIC 1 "
echo '# a remark' >>Makefile
is "a remark of the Makefile: nothing" "$(made)" ""
sed 's/first/second/' clients/libpoet/ipc/first.c >clients/libpoet/ipc/second.c
is "one more source: it alone is compiled" "$(made)" "LD 1 PIC 1 "
like "and is in the library" "$(nm -D $library)" " T second"
rm clients/libpoet/ipc/second.c
is "a source that was removed: nothing is compiled" "$(made)" "LD 1 "
is "and its functions are gone" "$(nm -D $library | grep -c ' T second')" 0
rm wire/function_names.c
sed -i 's| wire/function_names.c||' Makefile
is "an archive, too" "$(made)" "AR 1 LD 2 "
is "whose members are its sources" "$(ar t b/lib/libpoet.a | grep -c names)" 0
done_testing
