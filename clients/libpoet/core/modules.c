/* Modules that are mapped into the program: they are announced to the server, which looks up call
 * sites in them, and decide whether calls from code that was not compiled with -trace are recorded.
 * Under poet record POET_RECORD is `program` (calls of the program itself) or `all`; POET_INCLUDE
 * and POET_EXCLUDE are patterns (fnmatch, separated by colons) on paths or names. */
#define _GNU_SOURCE
#include "clients/libpoet/core/modules.h"

#include "clients/libpoet/core/cxx_runtime.h"
#include "clients/libpoet/core/elf_notes.h"
#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/profile/function_filter.h"
#include "clients/libpoet/unwind/unwind_rules.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#define MODULES 1024u
#define KEPT_MODULES 512u
#define KEPT_BYTES ((size_t)256 << 20)

enum module_owner {
    OWNER_NONE,
    OWNER_PROGRAM,
    OWNER_RUNTIME,   /* from here on: skipped when looking for the caller */
    OWNER_SANITIZER, /* interposes the calls, as libpoet does */
    OWNER_LIBC,
    OWNER_LIBPOET
};

/* Filled in once, under the lock; an entry is reused if another module is loaded there. */
static struct module {
    _Atomic uintptr_t start, end; /* end 0: nothing yet */
    uintptr_t code_start, code_end;
    enum module_owner owner;
    bool records;
    bool kept; /* it was closed, and its addresses are reserved */
    unsigned present; /* the last round in which the loader listed it */
    uintptr_t bias;
    const char *path;
    const void *announcement; /* the body of its MODULE */
    size_t announcement_bytes;
} modules[MODULES];
static _Atomic unsigned module_count;
static _Atomic uintptr_t program_start, program_end;
static latch module_lock;
static unsigned long long seen_adds;
static size_t kept_bytes = KEPT_BYTES; /* no more is reserved beyond that */

static bool under_record, record_all;
static const char *include, *exclude;
static uintptr_t interpreter_data; /* Python's, 0: there is none */

/* ---- reading the loader's list ---- */

struct loaded {
    char path[PATH_MAX];
    uint8_t build_id[BUILD_ID_BYTES];
    unsigned build_id_bytes;
    uintptr_t start, end, bias, code_start, code_end;
    bool is_program;
};

static void read_notes(struct loaded *m, const char *note, size_t size)
{
    struct elf_note n;
    for (const char *end = note + size; note_next(&note, end, &n);)
        if (note_is(&n, NT_GNU_BUILD_ID, "GNU") && n.value_bytes <= sizeof m->build_id) {
            m->build_id_bytes = (unsigned)n.value_bytes;
            memcpy(m->build_id, n.value, n.value_bytes);
        }
}

static void module_extend_range(uintptr_t *start, uintptr_t *end, uintptr_t from, uintptr_t to)
{
    *start = *end == 0 || from < *start ? from : *start;
    *end = to > *end ? to : *end;
}

/* Makes a path absolute: a library opened by a relative path is looked up later from elsewhere. */
static void module_absolute_path(char path[PATH_MAX], const char *name)
{
    bool relative = *name != '/' && strchr(name, '/') && getcwd(path, PATH_MAX - 1);
    size_t size = relative ? strlen(path) : 0;
    name += relative && strncmp(name, "./", 2) == 0 ? 2 : 0;
    snprintf(path + size, PATH_MAX - size, "%s%s", relative ? "/" : "", name);
}

static bool read_loaded(struct loaded *m, const struct dl_phdr_info *info)
{
    *m = (struct loaded){.bias = info->dlpi_addr,
                         .is_program = !info->dlpi_name || !*info->dlpi_name};
    if (!m->is_program)
        module_absolute_path(m->path, info->dlpi_name);
    else if (readlink("/proc/self/exe", m->path, sizeof m->path - 1) < 0)
        return false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD) {
            module_extend_range(&m->start, &m->end, start, start + h->p_memsz);
            if (h->p_flags & PF_X)
                module_extend_range(&m->code_start, &m->code_end, start, start + h->p_memsz);
        } else if (h->p_type == PT_NOTE) {
            read_notes(m, (const char *)start, h->p_memsz);
        }
    }
    return m->end != 0;
}

static void module_encode(struct encoder *out, const struct loaded *m)
{
    encode_module(
        out, &(struct module_message){.start = m->start,
                                      .end = m->end,
                                      .bias = m->bias,
                                      .build_id = {(const char *)m->build_id, m->build_id_bytes},
                                      .path = text_view_of(m->path)});
}

/* ---- owners ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool module_matches_pattern(const char *patterns, const char *path)
{
    char pattern[512];
    for (const char *at = patterns; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(pattern, sizeof pattern, "%.*s", (int)strcspn(at, ":"), at);
        if (*pattern &&
            (fnmatch(pattern, path, 0) == 0 || fnmatch(pattern, base_name(path), 0) == 0))
            return true;
    }
    return false;
}

/* Returns whether it is a sanitizer, except ThreadSanitizer, which creates a thread of its own
 * before libpoet is ready. */
static bool is_sanitizer(const char *name)
{
    return strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "liblsan.so", 10) == 0 ||
           strncmp(name, "libhwasan.so", 12) == 0;
}

static enum module_owner module_find_owner(const struct loaded *m)
{
#if defined(POET_STATIC)
    uintptr_t here = 0; /* a part of the program */
#else
    uintptr_t here = (uintptr_t)modules_begin;
#endif
    const char *name = base_name(m->path);
    return here >= m->start && here < m->end ? OWNER_LIBPOET
           : m->is_program                   ? OWNER_PROGRAM
           : strncmp(name, "libstdc++.so", 12) == 0 || strncmp(name, "libc++.so", 9) == 0
               ? OWNER_RUNTIME
           : is_sanitizer(name)               ? OWNER_SANITIZER
           : strncmp(name, "libc.so", 7) == 0 ? OWNER_LIBC
                                              : OWNER_NONE;
}

static bool module_is_recorded(const struct loaded *m, enum module_owner owner)
{
    if (!under_record || owner == OWNER_LIBPOET || owner == OWNER_RUNTIME ||
        owner == OWNER_SANITIZER || module_matches_pattern(exclude, m->path))
        return false;
    return record_all || owner == OWNER_PROGRAM || module_matches_pattern(include, m->path);
}

/* Returns whether it is Python's own program, unless its locks are requested by name. */
static bool is_interpreter(const struct loaded *m)
{
    return m->is_program && interpreter_data >= m->start && interpreter_data < m->end &&
           strncmp(base_name(m->path), "python", 6) == 0 &&
           !module_matches_pattern(include, m->path);
}

/* Kept for a child after fork, which must not call the loader. */
static void module_keep_announcement(struct module *new, const struct loaded *m)
{
    size_t room = strlen(m->path) + sizeof m->build_id + 64;
    void *kept = tracer_arena_alloc(room);
    struct encoder body = {.data = kept, .room = room, .failed = !kept};
    module_encode(&body, m);
    new->path = tracer_arena_copy(m->path, strlen(m->path));
    new->bias = m->bias;
    new->announcement = kept;
    new->announcement_bytes = kept ? body.size : 0;
}

/* Adds a module; must hold the lock. Returns NULL if it was known. */
static const struct module *module_add(const struct loaded *m)
{
    unsigned count = atomic_load(&module_count), i = 0;
    while (i < count && (modules[i].end <= m->start || modules[i].start >= m->end))
        i++;
    if (i < count && modules[i].start == m->start && modules[i].end == m->end)
        return NULL;
    if (i == MODULES)
        return NULL;
    struct module *new = &modules[i];
    new->kept = false;
    new->code_start = m->code_start;
    new->code_end = m->code_end;
    new->owner = module_find_owner(m);
    new->records = module_is_recorded(m, new->owner);
    module_keep_announcement(new, m);
    if (is_interpreter(m)) {
        tracer.modules.has_interpreter = true;
    } else if (new->owner == OWNER_PROGRAM) {
        atomic_store(&program_start, m->start);
        atomic_store(&program_end, m->end);
    }
    /* its calls on behalf of the program count as the program's */
    if (new->owner == OWNER_RUNTIME)
        tracer.modules.trace_untraced = tracer.modules.has_cxx = true;
    atomic_store(&new->start, m->start);
    atomic_store(&new->end, m->end);
    if (i == count)
        atomic_store(&module_count, count + 1);
    return new;
}

/* Must hold the lock. */
static void module_list_one(const struct dl_phdr_info *info, void *context)
{
    static struct loaded m;
    if (!read_loaded(&m, info))
        return;
    seen_adds = info->dlpi_adds;
    const struct module *new = module_add(&m);
    if (new &&new->owner != OWNER_LIBPOET)
        function_filter_add_module(m.path, info, m.start, m.end);
    if (new)
        untraced_runtime_check(info, m.path, new->owner == OWNER_PROGRAM, new->records);
    if (new &&context) {
        struct encoder body = {.data = (uint8_t *)(uintptr_t) new->announcement,
                               .size = new->announcement_bytes};
        message_queue_send(context, MESSAGE_MODULE, &body);
    }
}

/* context: the thread that gets new modules in its queue, or NULL. The loader's lock is acquired
 * before libpoet's everywhere: a program may call recorded code while it iterates over modules
 * itself. */
static int module_list(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    latch_lock(&module_lock);
    module_list_one(info, context);
    latch_unlock(&module_lock);
    return 0;
}

void modules_announce(struct encoder *out)
{
    for (unsigned i = 0; i < atomic_load(&module_count); i++) {
        /* there was no memory for it */
        if (!modules[i].announcement_bytes)
            continue;
        encoder_begin_message(out, MESSAGE_MODULE);
        encode_bytes(out, modules[i].announcement, modules[i].announcement_bytes);
        encoder_end_message(out);
    }
}

void modules_forked(void) { latch_reset(&module_lock); }

void modules_begin(void)
{
    const char *record = environment_get("POET_RECORD");
    under_record = record && *record;
    record_all = under_record && strcmp(record, "all") == 0;
    include = environment_get("POET_INCLUDE");
    exclude = environment_get("POET_EXCLUDE");
    tracer.modules.trace_untraced = under_record;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
        kept_bytes = 0;
#if !defined(POET_STATIC)
    interpreter_data = under_record ? (uintptr_t)dlsym(RTLD_DEFAULT, "_PyRuntime") : 0;
#endif
    dl_iterate_phdr(module_list, NULL);
}

bool modules_under_record(void) { return under_record; }

/* ---- by address ---- */

static const struct module *module_find(uintptr_t address)
{
    unsigned count = atomic_load_explicit(&module_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++)
        if (address >= atomic_load_explicit(&modules[i].start, memory_order_relaxed) &&
            address < atomic_load_explicit(&modules[i].end, memory_order_relaxed))
            return &modules[i];
    return NULL;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(unsigned long long *)context = info->dlpi_adds;
    return 1;
}

/* Handles a call from an unknown address: a library that was opened meanwhile. */
static const struct module *module_find_new(struct traced_thread *t, uintptr_t address)
{
    unsigned long long adds = 0;
    if (!seccomp_allows(ALLOWED_FILES))
        return module_find(address);
    dl_iterate_phdr(count_adds, &adds);
    latch_lock(&module_lock);
    bool any = adds != seen_adds;
    latch_unlock(&module_lock);
    if (any)
        dl_iterate_phdr(module_list, t);
    untraced_runtimes_report();
    return module_find(address);
}

void modules_rescan(void)
{
    int saved = errno;
    module_find_new(NULL, 0);
    errno = saved;
}

void modules_announce_opened(struct traced_thread *t)
{
    int saved = errno;
    if (!t || !t->queue || t->busy)
        return;
    busy_begin(t);
    module_find_new(t, 0);
    busy_end(t);
    errno = saved;
}

void modules_check_function(uintptr_t function)
{
    if (!module_find(function))
        modules_announce_opened(thread_mine);
}

void modules_check_caller(struct traced_thread *t, uintptr_t site)
{
    int saved = errno;
    const struct module *m = module_find(site);
    if (!m)
        m = module_find_new(t, site);
    errno = saved;
    if (!m)
        return;
    t->module_start = atomic_load_explicit(&m->start, memory_order_relaxed);
    t->module_bytes = atomic_load_explicit(&m->end, memory_order_relaxed) - t->module_start;
}

/* ---- closed modules ---- */

#if !defined(POET_STATIC)

static unsigned kept_modules, round_of_looking;

static int module_note_present(struct dl_phdr_info *info, size_t size, void *context)
{
    const unsigned *round = context;
    (void)size;
    latch_lock(&module_lock);
    for (unsigned i = 0; i < atomic_load(&module_count); i++)
        if (!modules[i].kept && modules[i].bias == info->dlpi_addr && modules[i].present < *round)
            modules[i].present = *round;
    latch_unlock(&module_lock);
    return 0;
}

static void module_report_not_reserved(void)
{
    static bool reported;
    if (!reported)
        stderr_log_print(
            "libraries were unloaded and their addresses could not be reserved; code in them may "
            "be shown with names of libraries loaded later");
    reported = true;
}

/* Reserves its addresses. Returns false if there is no room for that, or something else is mapped
 * there already. */
static bool module_reserve_range(const struct module *m)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = m->start & ~(page - 1),
              bytes = ((m->end + page - 1) & ~(page - 1)) - start;
    void *at = (void *)start;
    if (kept_modules >= KEPT_MODULES || kept_bytes + bytes > KEPT_BYTES) {
        module_report_not_reserved();
        return false;
    }
    void *kept = mmap(at, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (kept != at) { /* an older kernel treats the address as a hint */
        if (kept != MAP_FAILED)
            munmap(kept, bytes);
        return false;
    }
    kept_modules++;
    kept_bytes += bytes;
    return true;
}

/* Reserves the addresses of libraries that were closed, as far as there is room, so that no other
 * code is loaded there and gets their names. */
static void module_reserve_closed(struct traced_thread *t)
{
    int saved = errno;
    if (!t || t->busy)
        return;
    busy_begin(t);
    latch_lock(&module_lock);
    unsigned round = ++round_of_looking;
    latch_unlock(&module_lock);
    dl_iterate_phdr(module_note_present, &round);
    latch_lock(&module_lock);
    for (unsigned i = 0; i < atomic_load(&module_count); i++)
        if (!modules[i].kept && modules[i].present < round)
            modules[i].kept = module_reserve_range(&modules[i]);
    latch_unlock(&module_lock);
    busy_end(t);
    errno = saved;
}

/* Returns the name of a library that was opened; NULL if it is not known.  (dlinfo would change
 * what dlerror returns.) */
static const char *module_opened_name(void *handle)
{
    bool library = handle && handle != RTLD_NEXT;
    uintptr_t bias = library ? ((const struct link_map *)handle)->l_addr : 0;
    const char *name = NULL;
    latch_lock(&module_lock);
    for (unsigned i = 0; i < atomic_load(&module_count) && !name; i++)
        if (library && !modules[i].kept && modules[i].bias == bias && modules[i].path)
            name = base_name(modules[i].path);
    latch_unlock(&module_lock);
    return name;
}

__attribute__((visibility("default"))) int dlclose(void *handle);

/* dlclose(3): a library is announced to the server before it is closed, and no other library is
 * loaded at its addresses, so that its names remain valid. */
int dlclose(void *handle)
{
    static int (*_Atomic real_dlclose)(void *);
    int (*call)(void *) = atomic_load(&real_dlclose);
    if (!call) {
        *(void **)&call = next_call("dlclose");
        atomic_store(&real_dlclose, call);
    }
    struct traced_thread *t = thread_present();
    modules_announce_opened(t);
    struct running_close outer = running_close_begin(
        t && !t->busy ? module_opened_name(handle) : NULL, __builtin_frame_address(0));
    int result = call ? call(handle) : -1;
    unwind_rules_forget();
    running_close_end(outer);
    module_reserve_closed(thread_present());
    return result;
}
#endif

bool modules_has_code(uintptr_t address)
{
    const struct module *m = module_find(address);
    return m && address >= m->code_start && address < m->code_end;
}

bool modules_is_runtime(uintptr_t address)
{
    const struct module *m = module_find(address);
    return m && m->owner == OWNER_RUNTIME;
}

bool modules_program_data(uintptr_t address)
{
    return address >= atomic_load_explicit(&program_start, memory_order_relaxed) &&
           address < atomic_load_explicit(&program_end, memory_order_relaxed);
}

const char *modules_path(uintptr_t address, uintptr_t *bias)
{
    const struct module *m = module_find(address);
    if (m)
        *bias = m->bias;
    return m ? m->path : NULL;
}

__thread uintptr_t modules_library_function __attribute__((tls_model("initial-exec")));

static _Unwind_Reason_Code module_find_outside(struct _Unwind_Context *context, void *result)
{
    uintptr_t site = _Unwind_GetIP(context) - 1;
    const struct module *m = module_find(site);
    if (m && (m->owner >= OWNER_RUNTIME || cxx_in_library(site))) {
        modules_library_function = site;
        return _URC_NO_REASON;
    }
    *(uintptr_t *)result = m && (m->records || m->owner == OWNER_PROGRAM) ? site : 0;
    return _URC_END_OF_STACK;
}

/* Defined where there is a C++ runtime; a dependence of libpoet on it would load it into every
 * program. */
static uintptr_t caller_of_runtime(void)
{
    static _Unwind_Reason_Code (*_Atomic backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Reason_Code (*call)(_Unwind_Trace_Fn, void *) = atomic_load(&backtrace);
    if (!call) {
#if !defined(POET_STATIC)
        *(void **)&call = dlsym(RTLD_DEFAULT, "_Unwind_Backtrace");
#endif
        atomic_store(&backtrace, call);
    }
    uintptr_t site = 0;
    if (call)
        call(module_find_outside, &site);
    return site;
}

uintptr_t modules_user_site(uintptr_t site)
{
    if (LIKELY(!cxx_in_library(site)))
        return site;
    uintptr_t outer = caller_of_runtime();
    return outer ? outer : site;
}

uintptr_t modules_site(uintptr_t site)
{
    const struct module *m = module_find(site);
    struct traced_thread *t = !m && under_record ? thread_present() : NULL;
    if (t) {
        busy_begin(t);
        m = module_find_new(t, site);
        busy_end(t);
    }
    if (!m)
        return 0;
    if (m->owner == OWNER_RUNTIME || m->owner == OWNER_SANITIZER)
        return caller_of_runtime();
    bool records = m->records || (m->owner == OWNER_PROGRAM && tracer.modules.has_cxx &&
                                  cxx_calls_runtime(site + 1));
    return records ? site_of_traced(site) : 0;
}

uintptr_t modules_lock_site(uintptr_t site)
{
    const struct module *m = module_find(site);
    return m && m->owner == OWNER_PROGRAM ? 0 : modules_site(site);
}

/* Defined in units that poetcc -trace compiles, by redirect.h. */
#pragma weak poet_traced_unit
extern const char poet_traced_unit[];

uintptr_t modules_program_site(uintptr_t site)
{
    const struct module *m = poet_traced_unit ? module_find(site) : NULL;
    return m && m->owner == OWNER_PROGRAM ? site_of_traced(site) : 0;
}
