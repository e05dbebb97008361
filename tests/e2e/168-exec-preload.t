#!/bin/bash
# LD_PRELOAD across exec: programs that a traced program executes or starts get only the libraries that they can
# load.
. "$(dirname "$0")/lib.sh"
cat >parent.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
/* Starts the program that its arguments name by each function of the exec and spawn families. */
static void ended(const char *how, int status) { printf("%s %x\n", how, status), fflush(stdout); }
int main(int argc, char **argv)
{
    char *none[] = {"PATH=/bin:/usr/bin", NULL}, line[4096] = "";
    int status = 0;
    pid_t p;
    if (argc < 2)
        return 7;
    for (int way = 0; way < 5; way++) {
        fflush(stdout);
        if (!(p = way == 4 ? vfork() : fork())) {
            if (way == 0) execv(argv[1], argv + 1);
            if (way == 1) execvp(argv[1], argv + 1);
            if (way == 2) execve(argv[1], argv + 1, none);
            if (way == 3) fexecve(open(argv[1], O_RDONLY | O_CLOEXEC), argv + 1, environ);
            if (way == 4) execl(argv[1], argv[1], argc > 2 ? argv[2] : NULL, NULL);
            _exit(99);
        }
        waitpid(p, &status, 0);
        ended((const char *[]){"execv", "execvp", "execve", "fexecve", "execl"}[way], status);
    }
    if (posix_spawn(&p, argv[1], NULL, NULL, argv + 1, environ) == 0 && waitpid(p, &status, 0) == p)
        ended("posix_spawn", status);
    if (posix_spawnp(&p, argv[1], NULL, NULL, argv + 1, environ) == 0 && waitpid(p, &status, 0) == p)
        ended("posix_spawnp", status);
    snprintf(line, sizeof line, "exec %s %s", argv[1], argc > 2 ? argv[2] : "");
    ended("system", system(line));
    FILE *f = popen(line, "r");
    while (f && fgets(line, sizeof line, f))
        fputs(line, stdout);
    ended("popen", f ? pclose(f) : -1);
    return 0;
}
C
# like_bare NAME PROGRAM ARG...: output and errors of a traced program are those without Poet
like_bare() {
    name=$1
    shift
    "$@" >bare.out 2>bare.err
    rm -f traced.poet
    poet record -o traced.poet -- "$@" >traced.out 2>traced.err
    sed -i '/^poet: recording to/d' traced.err
    is "$name: standard output is the same as without Poet" "$(cat traced.out)" "$(cat bare.out)"
    is "$name: standard error is the same as without Poet" "$(cat traced.err)" "$(cat bare.err)"
}
cc parent.c -o plain
cat >hello.c <<'C'
#include <stdio.h>
int main(void) { puts("hello"); return 5; }
C
cc hello.c -o hello
cc -static hello.c -o fixed
like_bare "a program that starts a dynamic one" ./plain ./hello
like_bare "a program that starts a static one" ./plain ./fixed
printf '#!%s\necho "script $1"\nexit 3\n' "$(command -v sh)" >script
chmod +x script
like_bare "a program that starts a script" ./plain ./script
if cc -fsanitize=address hello.c -o watched 2>/dev/null; then
    cc -g -fsanitize=address parent.c -o parent
    like_bare "a program with AddressSanitizer that starts one without" ./parent ./hello
    like_bare "a program with AddressSanitizer that starts another one with it" ./parent ./watched
    like_bare "a program that starts one with AddressSanitizer" ./plain ./watched
    check "a program with AddressSanitizer started by another one is traced" sh -c "poet dump traced.poet | grep -q watched"
    is "a program with AddressSanitizer does not pass libasan to the programs it starts" "$(poet record -o e.poet -- ./parent ./script 2>&1 | grep -c libasan)" 0
    LD_PRELOAD="$(cc -print-file-name=libasan.so) $B/lib/libpoet.so" POET_SERVER=none ./hello >out 2>&1
    is "libpoet works behind an AddressSanitizer that initializes while libpoet resolves calls" "$? $(cat out)" "5 hello"
else
    skip "AddressSanitizer is not installed"
fi
if command -v musl-gcc >/dev/null && musl-gcc hello.c -o other 2>/dev/null; then
    like_bare "a program that starts one of another C library" ./plain ./other
else
    skip "musl-gcc is not installed"
fi
# Programs of another architecture cannot be run here; 32-bit programs stand for them.
if cc -m32 hello.c -o small 2>/dev/null; then
    like_bare "a program that starts a 32-bit one" ./plain ./small
else
    skip "the compiler cannot build 32-bit programs"
fi
if [ "$(id -u)" = 0 ] && mkdir -p cell/lib64 && cp hello cell/ && chroot / true 2>/dev/null; then
    ldd ./hello | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "cell$(dirname "$library")" && cp "$library" "cell$library"
    done
    like_bare "a program run by chroot" chroot cell /hello
else
    skip "the test does not run as root, or chroot is not possible"
fi
done_testing
