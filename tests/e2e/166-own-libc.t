#!/bin/bash
# A program that defines functions of the C library itself: libpoet takes those that it needs from the C library,
# never from the program. The names are those that the libraries import at present.
. "$(dirname "$0")/lib.sh"

libc=$(ldd "$B/lib/libpoet.so" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
nm -D --defined-only "$libc" | sed -n 's/^[0-9a-f]* [TWi] \([A-Za-z_0-9]*\)@.*/\1/p' | sort -u >functions
for library in libpoet.so poet/libpoet-process.so poet/libpoet-omp.so poet/libpoet-memory.so; do
    readelf -rW "$B/lib/$library" | sed -nE 's/.* ([A-Za-z_0-9]+)(@GLIBC_[0-9.]+)? \+ 0$/\1/p'
done | sort -u | comm -12 - functions >names
like 'libpoet imports more than 99 functions' "$(wc -l <names)" '^[0-9]{3}$'
is 'the imports contain functions of allocators and runtimes' \
    "$(grep -Excf <(printf 'malloc|calloc|abort|pthread_key_delete|strlen|dlsym\n') names)" 6

# Each of these functions counts the call by its caller, and jumps to the C library's.
cat >own.c <<'C'
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static const char *const names[] = {
#define N(name) #name,
#include "names.h"
#undef N
};
enum { COUNT = sizeof names / sizeof *names, CALLERS = 1 << 16 };
void *own_real[COUNT];
static struct { uintptr_t caller; int name; } callers[CALLERS];
static int called;
/* The C library's function, looked up in its tables: nothing here may call the function to look up. */
static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}
static void *real(const char *name)
{
    const struct r_debug *loaded = NULL;
    for (ElfW(Dyn) *d = _DYNAMIC; d->d_tag; d++)
        if (d->d_tag == DT_DEBUG)
            loaded = (const void *)d->d_un.d_ptr;
    for (struct link_map *m = loaded->r_map; m; m = m->l_next) {
        const char *strings = NULL, *end = m->l_name;
        while (*end)
            end++;
        if (end - m->l_name < 10 || !same(end - 10, "/libc.so.6"))
            continue;
        const ElfW(Sym) *symbols = NULL;
        const ElfW(Half) *versions = NULL;
        const uint32_t *hash = NULL;
        for (ElfW(Dyn) *d = m->l_ld; d->d_tag; d++) {
            const void *p = (const void *)d->d_un.d_ptr;
            if (d->d_tag == DT_STRTAB) strings = p;
            if (d->d_tag == DT_SYMTAB) symbols = p;
            if (d->d_tag == DT_VERSYM) versions = p;
            if (d->d_tag == DT_GNU_HASH) hash = p;
        }
        const uint32_t *bucket = hash + 4 + 2 * hash[2], *chain = bucket + hash[0];
        for (uint32_t b = 0; b < hash[0]; b++)
            for (uint32_t i = bucket[b]; i >= hash[1]; i++) {
                if (same(strings + symbols[i].st_name, name) && symbols[i].st_shndx &&
                    !(versions[i] & 0x8000)) {
                    void *p = (void *)(m->l_addr + symbols[i].st_value);
                    return ELF64_ST_TYPE(symbols[i].st_info) == STT_GNU_IFUNC ? ((void *(*)(void))p)() : p;
                }
                if (chain[i - hash[1]] & 1)
                    break;
            }
    }
    return NULL;
}
__attribute__((used)) void *own_called(int name, uintptr_t caller)
{
    if (!own_real[name])
        own_real[name] = real(names[name]);
    int i = __atomic_fetch_add(&called, 1, __ATOMIC_RELAXED);
    if (i < CALLERS)
        callers[i].caller = caller, callers[i].name = name;
    return own_real[name];
}
/* All registers that can carry arguments are saved. */
__asm__(".text\nown_all:\n"
        "push %rax; push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %r10\n"
        "sub $136, %rsp\n"
        "movups %xmm0, 0(%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
        "mov %r11d, %edi; mov 200(%rsp), %rsi; call own_called; mov %rax, %r11\n"
        "movups 0(%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
        "add $136, %rsp\n"
        "pop %r10; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi; pop %rax\n"
        "jmp *%r11\n");
#define N(name) __asm__(".globl " #name "\n.type " #name ", @function\n" #name ": mov $(" #name "_own), %r11d; jmp own_all\n");
#include "names.h"
#undef N
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    for (int i = 0; i < 100; i++)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return a;
}
int main(void)
{
    pthread_t t[4];
    int ends[2];
    char c = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    if (pipe(ends) || write(ends[1], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
        return 1;
    pid_t p = fork();
    if (!p)
        work(NULL), _exit(0);
    waitpid(p, NULL, 0);
    int all = called < CALLERS ? called : CALLERS, by_poet = 0;
    for (int i = 0; i < all; i++) {
        Dl_info info;
        if (dladdr((void *)(callers[i].caller - 1), &info) && strstr(info.dli_fname, "/libpoet"))
            printf("%s calls %s\n", info.dli_fname, names[callers[i].name]), by_poet++;
    }
    printf("%s, %d by libpoet\n", all > 10 ? "calls" : "no calls", by_poet);
    return 0;
}
C
awk '{ printf "N(%s)\n", $1 }' names >names.h
{ awk '{ printf "__asm__(\".set %s_own, %d\");\n", $1, NR - 1 }' names; cat own.c; } >numbered.c
check 'a program with these functions compiles' gcc -O1 -g -w -fno-builtin -fno-stack-protector -U_FORTIFY_SOURCE numbered.c -o own -rdynamic
is 'a program with these functions runs without Poet' "$(./own)" 'calls, 0 by libpoet'
for more in '' '-m memory'; do
    # shellcheck disable=SC2086
    is "poet record $more: libpoet calls no function of the program" \
        "$(poet record -o own.poet $more -- ./own 2>err | sort -u | tail -n 5)" 'calls, 0 by libpoet'
    check "poet record $more: the trace passes poet check" sound own.poet
    rm -f own.poet
done

# ---- a compiler with a runtime that defines pthread_* itself ----
mkdir driver
cat >driver/runtime.c <<'C'
#include <pthread.h>
#include <stdio.h>
/* Its mutexes count, and lock nothing: there is one thread. */
int runtime_locks;
int pthread_mutex_lock(pthread_mutex_t *m) { return (void)m, runtime_locks++, 0; }
int pthread_mutex_unlock(pthread_mutex_t *m) { return (void)m, 0; }
C
gcc -c driver/runtime.c -o driver/runtime.o
cat >driver/u++ <<SH
#!/bin/sh
for word; do case \$word in -c | -E | -S | -M) exec g++ "\$@" ;; esac; done
exec g++ "\$@" $PWD/driver/runtime.o -rdynamic
SH
chmod +x driver/u++
cat >emulated.cc <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <cstdio>
extern "C" int runtime_locks;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main()
{
    sem_t s;
    sem_init(&s, 0, 0);
    for (int i = 0; i < 30; i++)
        pthread_mutex_lock(&m), sem_post(&s), pthread_mutex_unlock(&m);
    std::printf("%d\n", runtime_locks);
}
C
check "runtime with its own pthread_*: poetcc++ compiles" env CXX="$PWD/driver/u++" poetcc++ -trace -g emulated.cc -o emulated
is "runtime with its own pthread_*: calls reach the runtime" "$(./emulated 2>err)" 30
emulated=$(ls emulated.*.poet)
check "runtime with its own pthread_*: the trace passes poet check" sound "$emulated"
like "runtime with its own pthread_*: each sem_post is recorded" "$(poet dump "$emulated" | grep -c sem_post)" '^30$'
is "runtime with its own pthread_*: mutexes have no lines" "$(figure "$emulated" lines)" 2
CXX="$PWD/driver/u++ -DX=1" poetcc++ -trace -c emulated.cc -o emulated.o
is "runtime with its own pthread_*: arguments in CXX do not change that" "$(nm emulated.o | grep -c 'poet_link_with_poetcc_trace__pthread')" 0
done_testing
