/* C++ runtime: what a std::thread runs, and which call sites lie in the library's inline
 * functions. */
#define _GNU_SOURCE
#include "clients/libpoet/core/cxx_runtime.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define VIRTUAL_RUN 2 /* after both destructors */
#define WORDS 32      /* of a callable and its arguments, at most */

/* Returns the first pointer to code in an object that is known to contain one. Padding between its
 * members was never written, and memory after it may not be mapped: the system copies it. */
static uintptr_t held_function(const void *object)
{
    uintptr_t words[WORDS];
    struct iovec to = {words, sizeof words}, from = {(void *)(uintptr_t)object, sizeof words};
    ssize_t n = !seccomp_allows(ALLOWED_PEEK) ? 0 : process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    for (size_t i = 1; n > 0 && i < (size_t)n / sizeof *words; i++)
        if (modules_has_code(words[i]))
            return words[i];
    return 0;
}

uintptr_t cxx_callable(uintptr_t function, const void *argument)
{
    if (!modules_is_runtime(function) || !argument)
        return function;
    const uintptr_t *object = argument, *table = (const uintptr_t *)object[0];
    const char *const *type = (const char *const *)table[-1]; /* 0 with -fno-rtti */
    const char *name = type ? type[1] : "";
    name += *name == '*';
    if (strncmp(name, "NSt6thread11_State_implI", 24) != 0)
        return type ? function : table[VIRTUAL_RUN];
    const char *called = strstr(name, "St5tupleIJ");
    called = called ? called + 10 : "";
    bool pointer = strncmp(called, "PF", 2) == 0 || *called == 'M';
    uintptr_t held = pointer ? held_function(object) : 0;
    return held ? held : table[VIRTUAL_RUN];
}

/* ---- call sites ---- */

#if defined(__x86_64__)
/* jmp *slot(%rip), as a linkage table has it: the address in the slot. */
static uintptr_t jumps_to(const uint8_t *code)
{
    int32_t distance;
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    code += memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    code += *code == 0xf2;
    if (code[0] != 0xff || code[1] != 0x25)
        return 0;
    memcpy(&distance, code + 2, sizeof distance);
    return *(const uintptr_t *)(code + 6 + distance);
}

bool cxx_calls_runtime(uintptr_t returns)
{
    const uint8_t *after = (const uint8_t *)returns;
    int32_t distance;
    uintptr_t target = 0;
    if (!modules_has_code(returns - 6) || !modules_has_code(returns))
        return false;
    memcpy(&distance, after - 4, sizeof distance);
    if (after[-6] == 0xff && after[-5] == 0x15) /* call *slot(%rip) */
        target = *(const uintptr_t *)(after + distance);
    else if (after[-5] == 0xe8 &&
             modules_has_code((uintptr_t)(after + distance))) /* call table entry */
        target = jumps_to(after + distance);
    return target && modules_is_runtime(target);
}
#else
bool cxx_calls_runtime(uintptr_t returns) { return returns == 0; }
#endif

/* Functions of the library that live in the program: std::..., __gnu_cxx::..., __gthread_... */
static bool is_library_name(const char *name)
{
    return strncmp(name, "_ZNSt", 5) == 0 || strncmp(name, "_ZNKSt", 6) == 0 ||
           strncmp(name, "_ZZNSt", 6) == 0 || strncmp(name, "_ZZNKSt", 7) == 0 ||
           strncmp(name, "_ZSt", 4) == 0 || strncmp(name, "_ZN9__gnu_cxx", 13) == 0 ||
           (strncmp(name, "_ZL", 3) == 0 && strstr(name, "__gthread_")) ||
           strncmp(name, "__gthread_", 10) == 0;
}

static bool lies_in_library_function(const char *file, size_t size, uintptr_t address)
{
    const ElfW(Ehdr) *h = (const void *)file;
    if (size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_shoff > size ||
        h->e_shentsize != sizeof(ElfW(Shdr)) ||
        (size - h->e_shoff) / sizeof(ElfW(Shdr)) < h->e_shnum)
        return false;
    const ElfW(Shdr) *sections = (const void *)(file + h->e_shoff);
    for (unsigned i = 0; i < h->e_shnum; i++) {
        const ElfW(Shdr) *s = &sections[i];
        if (s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum || s->sh_offset > size ||
            s->sh_size > size - s->sh_offset)
            continue;
        const ElfW(Shdr) *strings = &sections[s->sh_link];
        if (strings->sh_offset > size || strings->sh_size > size - strings->sh_offset ||
            !strings->sh_size || file[strings->sh_offset + strings->sh_size - 1])
            return false;
        const ElfW(Sym) *symbols = (const void *)(file + s->sh_offset);
        for (size_t k = 0; k < s->sh_size / sizeof *symbols; k++)
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && address >= symbols[k].st_value &&
                address - symbols[k].st_value < symbols[k].st_size &&
                symbols[k].st_name < strings->sh_size)
                return is_library_name(file + strings->sh_offset + symbols[k].st_name);
    }
    return false;
}

static bool cxx_look_up(uintptr_t site)
{
    uintptr_t bias;
    const char *path = modules_path(site, &bias);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat st;
    bool library = false;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            library = lies_in_library_function(file, (size_t)st.st_size, site - bias);
            munmap(file, (size_t)st.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return library;
}

/* Each site is looked up once: the site, and in its highest bit the answer. */
#define KNOWN 4096u
static _Atomic uintptr_t cxx_known[KNOWN];
#define LIBRARY ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))

bool cxx_in_library(uintptr_t site)
{
    _Atomic uintptr_t *slot = &cxx_known[(site * 0x9e3779b97f4a7c15u) >> 52];
    uintptr_t seen = atomic_load_explicit(slot, memory_order_relaxed);
    if (LIKELY((seen & ~LIBRARY) == site))
        return (seen & LIBRARY) != 0;
    int saved = errno, cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    bool library = cxx_look_up(site);
    pthread_setcancelstate(cancelling, NULL);
    atomic_store_explicit(slot, site | (library ? LIBRARY : 0), memory_order_relaxed);
    errno = saved;
    return library;
}
