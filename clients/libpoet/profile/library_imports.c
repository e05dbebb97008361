/* An import has an entry in the object's global offset table, of one of two kinds: one for calls
 * only, by the procedure linkage table (JUMP_SLOT), and one that code may also load as the address
 * of the function (GLOB_DAT). The latter is replaced only if all code that refers to it calls: the
 * program must not see another address. Entries that the loader would fill in at the first call are
 * resolved here as it would. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/library_imports.h"

#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/profile/library_calls.h"
#include "clients/libpoet/profile/library_names.h"
#include "clients/libpoet/profile/library_objects.h"
#include "clients/libpoet/profile/library_stubs.h"
#include "wire/profile_region.h"

#if defined(LIBRARY_STUB_BYTES)

#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- objects ---- */

#define OBJECTS_MOST 512u

static struct library_object library_objects[OBJECTS_MOST];
static uint32_t library_object_count;
static unsigned library_round;
static _Atomic bool library_busy; /* one thread at a time; others leave it to that one */
/* what cannot be measured: names of functions of which the addresses are used, and how many more */
static char library_taken[200];
static uint32_t library_taken_more, library_too_many;

static bool library_object_is(const struct library_object *object, const struct dl_phdr_info *info)
{
    return object->headers == info->dlpi_phdr && object->bias == info->dlpi_addr;
}

static int library_object_note(struct dl_phdr_info *info, size_t size, void *unused)
{
    uint32_t i = 0, none = OBJECTS_MOST;
    (void)size, (void)unused;
    for (; i < library_object_count && !library_object_is(&library_objects[i], info); i++)
        none = library_objects[i].headers ? none : i;
    if (i == library_object_count) {
        i = none < OBJECTS_MOST ? none : i;
        if (i == OBJECTS_MOST)
            return 1;
        library_object_read(&library_objects[i], info);
        library_object_count += i == library_object_count;
    }
    library_objects[i].round = library_round;
    return 0;
}

/* Takes those that were loaded since, and forgets those that were unloaded. */
static void library_objects_list(void)
{
    library_round++;
    dl_iterate_phdr(library_object_note, NULL);
    for (uint32_t i = 0; i < library_object_count; i++)
        if (library_objects[i].round != library_round)
            library_objects[i] = (struct library_object){0};
}

static const struct library_object *library_object_at(uintptr_t address)
{
    for (uint32_t i = 0; i < library_object_count; i++)
        if (address - library_objects[i].start < library_objects[i].bytes)
            return &library_objects[i];
    return NULL;
}

/* ---- one import ---- */

/* Returns what the loader would fill in; 0: nothing. */
static uintptr_t library_import_resolve(const struct library_object *in, const char *name,
                                        const char *version)
{
    void *p = version ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);
    void *handle = p || !*in->path ? NULL : dlopen(in->path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        p = version ? dlvsym(handle, name, version) : dlsym(handle, name);
        dlclose(handle);
    }
    if (!p)
        dlerror();
    return (uintptr_t)p;
}

/* Returns the address by which the function is measured: that of its symbol, which an indirect
 * function does not have at run time. */
static uint64_t library_import_identity(const struct library_object *of, const char *name,
                                        uintptr_t target)
{
    uintptr_t symbol = library_object_symbol(of, name);
    return (symbol ? symbol : target) | FUNCTION_OF_LIBRARY;
}

/* Calls that libpoet only looks at count as the C library's, which makes them. */
static bool library_import_fill(struct library_import *import, const struct library_object *of,
                                const char *name)
{
    import->function = library_import_identity(of, name, import->target);
    if (!library_name_is_poet(of->path))
        return true;
    uintptr_t real = library_name_is_looked_at(of->path, name) && next_libc()
                         ? (uintptr_t)next_in(next_libc(), name)
                         : 0;
    const struct library_object *libc = real ? library_object_at(real) : NULL;
    if (!libc || library_name_is_poet(libc->path))
        return false;
    import->function = library_import_identity(libc, name, real);
    return true;
}

static bool library_entry_write(const struct library_object *in, uintptr_t *entry, uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)entry & ~(page - 1);
    bool sealed = (uintptr_t)entry - in->sealed < in->sealed_bytes;
    if (sealed && mprotect((void *)from, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(entry, value, __ATOMIC_RELEASE);
    if (sealed)
        mprotect((void *)from, page, PROT_READ);
    return true;
}

static void library_import_skip_taken(const char *name)
{
    size_t used = strlen(library_taken), more = strlen(name) + 2;
    if (used + more < sizeof library_taken)
        snprintf(library_taken + used, sizeof library_taken - used, "%s%s", used ? ", " : "", name);
    else
        library_taken_more++;
}

/* Replaces an entry, if calls by it are to be measured. entries: NULL: it is only called by. */
static void library_import_replace(const struct library_object *in, const ElfW(Rela) * r,
                                   const struct library_entries *entries)
{
    const ElfW(Sym) *symbol = &in->symbols[ELF64_R_SYM(r->r_info)];
    const char *name = library_object_name(in, r);
    uintptr_t *entry = (uintptr_t *)(in->bias + r->r_offset);
    if (symbol->st_shndx != SHN_UNDEF || library_name_is_excluded(name))
        return;
    struct library_import import = {
        .target = *entry, .code = in->code, .code_bytes = in->code_bytes};
    if (import.target - in->start < in->bytes)
        import.target = library_import_resolve(
            in, name, library_object_version(in, (uint32_t)ELF64_R_SYM(r->r_info)));
    const struct library_object *of = import.target ? library_object_at(import.target) : NULL;
    if (!of || of->measured || !library_import_fill(&import, of, name))
        return;
    if (entries && library_entries_are_loaded(entries, (uintptr_t)entry)) {
        library_import_skip_taken(name);
        return;
    }
    uintptr_t stub = library_call_add(&import, !library_name_is_narrow(of->path));
    if (!stub || !library_entry_write(in, entry, stub))
        library_too_many++;
}

/* ---- all imports ---- */

static bool library_import_is_jump(const ElfW(Rela) * r)
{
    return ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT;
}

static bool library_import_is_address(const struct library_object *in, const ElfW(Rela) * r)
{
    return ELF64_R_TYPE(r->r_info) == R_X86_64_GLOB_DAT &&
           ELF64_ST_TYPE(in->symbols[ELF64_R_SYM(r->r_info)].st_info) == STT_FUNC;
}

/* Replaces entries of which the addresses may be used. */
static void library_object_replace_addresses(const struct library_object *in)
{
    static uint8_t loaded[LIBRARY_ENTRIES / 8];
    struct library_entries entries = {UINTPTR_MAX, loaded};
    for (size_t i = 0; i < in->other_count; i++)
        if (library_import_is_address(in, &in->others[i]) &&
            in->bias + in->others[i].r_offset < entries.from)
            entries.from = in->bias + in->others[i].r_offset;
    if (entries.from == UINTPTR_MAX)
        return;
    library_object_find_loads(in, &entries);
    for (size_t i = 0; i < in->other_count; i++)
        if (library_import_is_address(in, &in->others[i]))
            library_import_replace(in, &in->others[i], &entries);
}

static void library_object_replace(const struct library_object *in)
{
    for (size_t i = 0; i < in->jump_count; i++)
        if (library_import_is_jump(&in->jumps[i]))
            library_import_replace(in, &in->jumps[i], NULL);
    for (size_t i = 0; i < in->other_count; i++)
        if (library_import_is_jump(&in->others[i]))
            library_import_replace(in, &in->others[i], NULL);
    library_object_replace_addresses(in);
}

static void library_imports_report(void)
{
    static bool reported;
    if (reported || (!*library_taken && !library_too_many))
        return;
    reported = true;
    if (library_too_many)
        stderr_log_print_once("calls=libraries: calls of %u functions are not measured: there are "
                              "too many, or their entries cannot be written",
                              library_too_many);
    if (library_taken_more)
        stderr_log_print_once("calls=libraries: not measured are calls of %s and %u others: the "
                              "program also uses their addresses",
                              library_taken, library_taken_more);
    else if (*library_taken)
        stderr_log_print_once("calls=libraries: not measured are calls of %s: the program also "
                              "uses their addresses",
                              library_taken);
}

/* Objects that are loaded together are known before the first one's imports are looked at. */
static void library_imports_look(void)
{
    library_objects_list();
    for (uint32_t i = 0; i < library_object_count; i++) {
        if (library_objects[i].measured && library_objects[i].fresh)
            library_object_replace(&library_objects[i]);
        library_objects[i].fresh = false;
    }
    library_imports_report();
}

static void library_imports_look_alone(void)
{
    if (atomic_exchange(&library_busy, true))
        return;
    library_imports_look();
    atomic_store(&library_busy, false);
}

/* A function is measured for the first time in a thread. */
static void library_imports_meet(uintptr_t function)
{
    modules_check_function(function);
    if (!library_object_at(function))
        library_imports_look_alone();
}

/* Whether the processor compares return addresses with a stack of its own, which stubs do not
 * change. */
static bool library_has_shadow_stack(void)
{
    uint64_t shadow = 0;
    __asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(shadow)); /* rdsspq %rax */
    return shadow != 0;
}

/* SSE, AVX and the upper halves of AVX-512, if the system saves them: those of other components
 * have no arguments. */
static uint32_t library_find_wide(void)
{
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low & 4 ? low & 0x46 : 0;
}

/* Whether XGETBV tells which state components are in use. */
static bool library_can_probe(void)
{
    uint32_t a, b, c, d;
    return __get_cpuid_count(13, 1, &a, &b, &c, &d) && a & 4;
}

void library_imports_begin(uint32_t wanted)
{
    if (!(wanted & WANTED_LIBRARIES))
        return;
    if (library_has_shadow_stack()) {
        stderr_log_print_once("calls=libraries: not possible with a shadow stack (CET), which "
                              "this program has; calls of libraries are not measured");
        return;
    }
    library_calls_begin(library_find_wide(), library_can_probe());
    library_imports_look_alone();
    atomic_store(&tracer.profile.on_new_function, library_imports_meet);
}
#else
#include "clients/libpoet/core/stderr_log.h"

void library_imports_begin(uint32_t wanted)
{
    if (wanted & WANTED_LIBRARIES)
#if defined(POET_STATIC)
        stderr_log_print_once("calls=libraries: not possible in a program that is linked "
                              "statically; calls of libraries are not measured");
#else
        stderr_log_print_once("calls=libraries: only on x86-64; calls of libraries are not "
                              "measured");
#endif
}
#endif
