/* Filter of functions: names are resolved before the calls. The symbol table of each module is read
 * once, when it is found in memory, and the addresses that match the lists are kept. A call is
 * looked up in a small table of decisions, by address, and then in these: no lock, no allocation,
 * so that this is async-signal-safe. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/function_filter.h"

#include "clients/libpoet/core/elf_notes.h"
#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/profile/call_stack.h"
#include "wire/function_names.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- function symbols of a mapped ELF file, and their demangled names ---- */

#define SYMBOL_BYTES 512u /* with the terminating 0; longer names are truncated */

struct image {
    const char *bytes;
    size_t size;
};

/* NULL: it does not lie in the file. */
static const void *elf_symbol_file_part(const struct image *of, uint64_t at, uint64_t size)
{
    return at <= of->size && size <= of->size - at ? of->bytes + at : NULL;
}

/* The section of that type; NULL: there is none. */
static const ElfW(Shdr) *
    elf_symbol_find_section(const struct image *of, const ElfW(Ehdr) * head, uint32_t type)
{
    const ElfW(Shdr) *all =
        head->e_shentsize == sizeof *all && head->e_shoff % _Alignof(ElfW(Shdr)) == 0
            ? elf_symbol_file_part(of, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all)
            : NULL;
    for (unsigned i = 0; all && i < head->e_shnum; i++)
        if (all[i].sh_type == type && all[i].sh_link < head->e_shnum)
            return &all[i];
    return NULL;
}

static void elf_symbol_visit_all(const struct image *of, const ElfW(Ehdr) * head,
                                 const ElfW(Shdr) * table, uintptr_t bias,
                                 void (*take)(void *, uint64_t, const char *), void *context)
{
    const ElfW(Shdr) *all = elf_symbol_file_part(of, head->e_shoff, 0),
                     *strings = &all[table->sh_link];
    const ElfW(Sym) *symbol = elf_symbol_file_part(of, table->sh_offset, table->sh_size);
    const char *names = elf_symbol_file_part(of, strings->sh_offset, strings->sh_size);
    if (!symbol || !names || table->sh_offset % _Alignof(ElfW(Sym)) || !strings->sh_size ||
        names[strings->sh_size - 1])
        return;
    for (size_t i = 0; i < table->sh_size / sizeof *symbol; i++)
        if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC && symbol[i].st_shndx != SHN_UNDEF &&
            symbol[i].st_name < strings->sh_size)
            take(context, symbol[i].st_value + bias, names + symbol[i].st_name);
}

static void elf_symbol_read_image(const struct image *of, uintptr_t bias,
                                  void (*take)(void *, uint64_t, const char *), void *context)
{
    const ElfW(Ehdr) *head = elf_symbol_file_part(of, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return;
    const ElfW(Shdr) *table = elf_symbol_find_section(of, head, SHT_SYMTAB);
    if (!table)
        table = elf_symbol_find_section(of, head, SHT_DYNSYM); /* it was stripped */
    if (table)
        elf_symbol_visit_all(of, head, table, bias, take, context);
}

/* Calls back for each symbol, with its address in memory. Returns false if the file cannot be
 * read. */
static bool elf_symbols_read(const char *path, uintptr_t bias,
                             void (*take)(void *context, uint64_t address, const char *symbol),
                             void *context)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    void *bytes = is ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    elf_symbol_read_image(&(struct image){bytes, (size_t)st.st_size}, bias, take, context);
    munmap(bytes, (size_t)st.st_size);
    return true;
}

/* ---- names ---- */

/* Removes suffixes that a compiler adds to parts and copies of a function, such as .part.0. */
static void elf_symbol_strip(char plain[SYMBOL_BYTES], const char *symbol)
{
    size_t size = strcspn(symbol, ".@");
    snprintf(plain, SYMBOL_BYTES, "%.*s",
             size ? (int)(size < SYMBOL_BYTES ? size : SYMBOL_BYTES) : -1, symbol);
}

/* The next part of a name, of those that have their length before them. */
static bool elf_symbol_source_name(char *to, size_t *used, const char **at, size_t *part_at)
{
    size_t size = 0;
    while (**at >= '0' && **at <= '9' && size < SYMBOL_BYTES)
        size = 10 * size + (size_t)(*(*at)++ - '0');
    if (!size || strlen(*at) < size || *used + size + 3 > SYMBOL_BYTES)
        return false;
    if (*used) {
        memcpy(to + *used, "::", 2);
        *used += 2;
    }
    *part_at = *used;
    if (size > 10 && strncmp(*at, "_GLOBAL__N", 10) == 0)
        *used += (size_t)snprintf(to + *used, SYMBOL_BYTES - *used, "(anonymous namespace)");
    else {
        memcpy(to + *used, *at, size);
        *used += size;
    }
    *at += size;
    to[*used] = 0;
    return *used < SYMBOL_BYTES - 24;
}

/* A constructor or a destructor is called as its class. */
static bool elf_symbol_own_name(char *to, size_t used, const char *at, size_t last_at)
{
    bool is = used && (*at == 'C' || *at == 'D') && at[1] >= '0' && at[1] <= '5' && at[2] == 'E';
    size_t size = used - last_at;
    if (!is || used + size + 4 > SYMBOL_BYTES)
        return false;
    memcpy(to + used, *at == 'D' ? "::~" : "::", 3);
    used += *at == 'D' ? 3 : 2;
    memcpy(to + used, to + last_at, size);
    to[used + size] = 0;
    return true;
}

static bool elf_symbol_read_name(char *to, const char *symbol)
{
    size_t used = 0, last_at = 0;
    const char *at = symbol + 2;
    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    if (*at == 'L') /* of its file alone */
        at++;
    if (*at != 'N')
        return elf_symbol_source_name(to, &used, &at, &last_at);
    for (at++; *at == 'K' || *at == 'V' || *at == 'r' || *at == 'R' || *at == 'O';)
        at++;
    while (*at == 'L' || (*at >= '0' && *at <= '9')) {
        at += *at == 'L';
        if (!elf_symbol_source_name(to, &used, &at, &last_at))
            return false;
    }
    return (*at == 'E' && used) || elf_symbol_own_name(to, used, at, last_at);
}

/* Demangles a C++ symbol, without arguments: ns::f, A::A, A::~A; templates and operators keep their
 * symbol. */
static void elf_symbol_demangle(char readable[SYMBOL_BYTES], const char *symbol)
{
    if (!elf_symbol_read_name(readable, symbol))
        snprintf(readable, SYMBOL_BYTES, "%s", symbol);
}

/* ---- the filter ---- */

#define FILE_BYTES (1u << 17) /* of a list, at most */
#define DECISIONS 4096u
/* Types of notes of the name Poet: lists (redirect.h). */
#define COUNT_NOTE 1u
#define SKIP_NOTE 2u

struct filter_pattern {
    struct filter_pattern *next;
    char name[];
};

/* The addresses of a module that match the lists, sorted. */
struct filter_picks {
    struct filter_picks *next;
    uintptr_t start, end;
    uint64_t *found; /* an address times 8, with an enum function_measurement */
    size_t count, room;
};

static struct filter_list {
    const char *variable;
    enum function_measurement pick;
    struct filter_pattern *patterns;
} lists[] = {{"POET_PROFILE_EXCLUDE", MEASUREMENT_EXCLUDED, NULL},
             {"POET_PROFILE_COUNT_ONLY", MEASUREMENT_COUNTED, NULL},
             /* of the module that is looked at */
             {"poetcc -count", MEASUREMENT_COUNTED, NULL},
             {"poetcc -ignore", MEASUREMENT_SKIPPED, NULL},
             {"POET_PROFILE_INCLUDE", MEASUREMENT_FULL, NULL}};
static struct filter_list *const function_filter_counted = &lists[2],
                                 *const function_filter_excluded = &lists[3],
                                 *const function_filter_included = &lists[4];

static enum function_measurement function_filter_decide(uint64_t function);

static struct filter_picks *_Atomic modules;
static _Atomic uint64_t decisions[DECISIONS];

/* ---- the lists ---- */

static bool function_filter_has(const struct filter_list *list, const struct function_names *n)
{
    for (const struct filter_pattern *p = list->patterns; p; p = p->next)
        if (strncmp(p->name, n->word, n->size) == 0 && !p->name[n->size])
            return true;
    return false;
}

static void function_filter_add(struct filter_list *list, const struct function_names *n)
{
    if (function_filter_has(list, n))
        return;
    struct filter_pattern *p = tracer_arena_alloc(sizeof *p + n->size + 1);
    if (!p)
        return;
    memcpy(p->name, n->word, n->size);
    p->next = list->patterns;
    list->patterns = p;
}

static void function_filter_report_error(const struct filter_list *list, const char *file,
                                         const struct function_names *n)
{
    if (file)
        stderr_log_print_once("%s: %.200s:%u: %.*s: %s", list->variable, file, n->line,
                              n->size < 100 ? (int)n->size : 100, n->word, n->wrong);
    else
        stderr_log_print_once("%s: %.*s: %s", list->variable, n->size < 100 ? (int)n->size : 100,
                              n->word, n->wrong);
}

static char *function_filter_get_text(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd < 0 ? NULL : tracer_arena_alloc(FILE_BYTES);
    size_t size = 0;
    ssize_t got = text ? 1 : -1;
    while (got > 0 && size < FILE_BYTES - 1) {
        got = read(fd, text + size, FILE_BYTES - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = size == FILE_BYTES - 1 ? EFBIG : error;
    return got == 0 && memchr(text, 0, size + 1) == text + size ? text : NULL;
}

static void function_filter_read_list(struct filter_list *list, const char *text, const char *file);

static void function_filter_read_file(struct filter_list *list, const struct function_names *n)
{
    char *file = tracer_arena_alloc(n->size), *text;
    if (!file)
        return;
    memcpy(file, n->word + 1, n->size - 1);
    errno = EILSEQ;
    text = function_filter_get_text(file);
    if (text)
        function_filter_read_list(list, text, file);
    else
        stderr_log_print_once("%s: @%.200s: %s", list->variable, file,
                              errno == EILSEQ ? "not a text file" : strerror(errno));
}

static void function_filter_read_list(struct filter_list *list, const char *text, const char *file)
{
    for (struct function_names n = function_names_parse(text);
         function_names_next(&n, file != NULL);)
        if (n.wrong)
            function_filter_report_error(list, file, &n);
        else if (*n.word == '@')
            function_filter_read_file(list, &n);
        else
            function_filter_add(list, &n);
}

/* ---- matching ---- */

/* (fnmatch takes memory, where names are not plain letters.) */
static bool function_filter_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name)
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++from;
        } else
            return false;
    return pattern[strspn(pattern, "*")] == 0;
}

static bool function_filter_names(const struct filter_list *list, const char *symbol,
                                  const char *readable)
{
    for (const struct filter_pattern *p = list->patterns; p; p = p->next)
        if (function_filter_matches(p->name, symbol) || function_filter_matches(p->name, readable))
            return true;
    return false;
}

static enum function_measurement function_filter_pick(const char *symbol, const char *readable)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (function_filter_names(&lists[i], symbol, readable))
            return lists[i].pick;
    return MEASUREMENT_DEFAULT;
}

static void function_filter_add_pick(struct filter_picks *to, uint64_t address,
                                     enum function_measurement pick)
{
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 512;
        uint64_t *more = realloc(to->found, room * sizeof *more);
        if (!more)
            return;
        to->found = more;
        to->room = room;
    }
    to->found[to->count++] = address << 3 | pick;
}

static void function_filter_add_symbol(void *context, uint64_t address, const char *symbol)
{
    char plain[SYMBOL_BYTES], readable[SYMBOL_BYTES];
    elf_symbol_strip(plain, symbol);
    elf_symbol_demangle(readable, plain);
    enum function_measurement pick = function_filter_pick(plain, readable);
    if (pick != MEASUREMENT_DEFAULT)
        function_filter_add_pick(context, address, pick);
}

static void function_filter_sift_down(uint64_t *heap, size_t i, size_t count)
{
    for (size_t under; (under = 2 * i + 1) < count; i = under) {
        under += under + 1 < count && heap[under + 1] > heap[under];
        uint64_t value = heap[i];
        if (value >= heap[under])
            return;
        heap[i] = heap[under];
        heap[under] = value;
    }
}

/* (qsort takes memory.) */
static void function_filter_sort(uint64_t *all, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        function_filter_sift_down(all, i, count);
    for (size_t rest = count; rest-- > 1;) {
        uint64_t most = all[0];
        all[0] = all[rest];
        all[rest] = most;
        function_filter_sift_down(all, 0, rest);
    }
}

/* Reads the lists that its units were compiled with. */
static void function_filter_read_compiled(const struct dl_phdr_info *info)
{
    struct elf_note note;
    function_filter_counted->patterns = function_filter_excluded->patterns = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + h->p_vaddr), *end = at + h->p_memsz;
        while (h->p_type == PT_NOTE && note_next(&at, end, &note))
            if (note.value_bytes && !note.value[note.value_bytes - 1]) {
                if (note_is(&note, COUNT_NOTE, "Poet"))
                    function_filter_read_list(function_filter_counted, note.value, NULL);
                else if (note_is(&note, SKIP_NOTE, "Poet"))
                    function_filter_read_list(function_filter_excluded, note.value, NULL);
            }
    }
}

void function_filter_add_module(const char *path, const struct dl_phdr_info *info, uintptr_t start,
                                uintptr_t end)
{
    function_filter_read_compiled(info);
    bool any = tracer.profile.filter || function_filter_counted->patterns ||
               function_filter_excluded->patterns;
    struct filter_picks *p = any ? tracer_arena_alloc(sizeof *p) : NULL;
    if (!p)
        return;
    p->start = start;
    p->end = end;
    if (!elf_symbols_read(path, info->dlpi_addr, function_filter_add_symbol, p))
        return;
    tracer.profile.filter = function_filter_decide;
    function_filter_sort(p->found, p->count);
    p->next = atomic_load(&modules);
    while (!atomic_compare_exchange_weak(&modules, &p->next, p))
        ;
    for (uint32_t i = 0; i < DECISIONS; i++) /* a module that was there before may have gone */
        atomic_store_explicit(&decisions[i], 0, memory_order_relaxed);
}

/* ---- deciding ---- */

/* Finds the last one that is not after it. */
static enum function_measurement function_filter_search(const struct filter_picks *p,
                                                        uint64_t function)
{
    size_t from = 0, to = p->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (p->found[middle] >> 3 <= function)
            from = middle + 1;
        else
            to = middle;
    }
    return from && p->found[from - 1] >> 3 == function
               ? (enum function_measurement)(p->found[from - 1] & 7)
               : MEASUREMENT_DEFAULT;
}

static enum function_measurement function_filter_lookup(uint64_t function)
{
    enum function_measurement pick = MEASUREMENT_DEFAULT;
    const struct filter_picks *p = atomic_load_explicit(&modules, memory_order_acquire);
    while (p && (function < p->start || function >= p->end))
        p = p->next;
    if (p)
        pick = function_filter_search(p, function);
    return pick == MEASUREMENT_DEFAULT
               ? (function_filter_included->patterns ? MEASUREMENT_SKIPPED : MEASUREMENT_FULL)
               : pick;
}

static enum function_measurement function_filter_decide(uint64_t function)
{
    _Atomic uint64_t *known = &decisions[(function >> 4 ^ function >> 16) % DECISIONS];
    uint64_t is = atomic_load_explicit(known, memory_order_relaxed);
    if (LIKELY(is >> 3 == function))
        return (enum function_measurement)(is & 7);
    enum function_measurement pick = function_filter_lookup(function);
    atomic_store_explicit(known, function << 3 | pick, memory_order_relaxed);
    return pick;
}

void function_filter_begin(void)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *text = environment_get(lists[i].variable);
        if (text)
            function_filter_read_list(&lists[i], text, NULL);
        if (lists[i].patterns)
            tracer.profile.filter = function_filter_decide;
    }
}
