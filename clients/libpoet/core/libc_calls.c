#include "clients/libpoet/core/libc_calls.h"

#include "clients/libpoet/next_symbol.h"

#include <stdint.h>

/* ---- binding: the calls that libpoet and its companion libraries make to the C library go to the
 * C library itself, and their calls of libpoet to libpoet, whatever the program defines under those
 * names ---- The loader may have bound them to the program's: a runtime's pthread_key_delete, an
 * allocator's malloc. This uses no function of the program and none that allocates: symbols are
 * looked up in the tables of the objects themselves. */

#if defined(POET_STATIC)
void *libc_bind_found(const char *name) { return (void)name, NULL; }
#elif __WORDSIZE != 64
static bool libc_bind_to_libc(void) { return false; }
void *libc_bind_found(const char *name) { return (void)name, NULL; }
#else
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#define LIBC_NAME "libc.so.6"

/* Contents of an object's dynamic section. */
struct libc_bind_object {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *strings;
    /* version of each symbol; versions that it defines; those that it needs from others */
    const ElfW(Half) * versions;
    const ElfW(Verdef) * defined;
    const ElfW(Verneed) * needed;
    /* (DT_GNU_HASH) */
    const uint32_t *hash;
    const ElfW(Rela) * relocations[2];
    size_t counts[2];
    /* NULL: it has none */
    const char *name;
};

static const void *libc_bind_at(ElfW(Addr) base, ElfW(Addr) address)
{
    /* (the loader adds the base where it may write there, which depends on the system) */
    return (const void *)(address < base ? address + base : address);
}

static struct libc_bind_object libc_bind_object_of(const struct link_map *map)
{
    struct libc_bind_object o = {.base = map->l_addr};
    size_t name = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *p = libc_bind_at(map->l_addr, d->d_un.d_ptr);
        switch (d->d_tag) {
        case DT_SYMTAB:
            o.symbols = p;
            break;
        case DT_STRTAB:
            o.strings = p;
            break;
        case DT_VERSYM:
            o.versions = p;
            break;
        case DT_VERDEF:
            o.defined = p;
            break;
        case DT_VERNEED:
            o.needed = p;
            break;
        case DT_GNU_HASH:
            o.hash = p;
            break;
        case DT_RELA:
            o.relocations[0] = p;
            break;
        case DT_RELASZ:
            o.counts[0] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_JMPREL:
            o.relocations[1] = p;
            break;
        case DT_PLTRELSZ:
            o.counts[1] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_SONAME:
            name = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (name && o.strings)
        o.name = o.strings + name;
    return o;
}

/* No function of the C library may be called before libpoet is bound. */
static bool libc_bind_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static bool libc_bind_begins(const char *text, const char *with)
{
    while (*with && *text == *with)
        text++, with++;
    return !*with;
}

/* Returns the number that libc gives to a version; 0: none. */
static unsigned libc_bind_version_number(const struct libc_bind_object *libc_object,
                                         const char *version)
{
    const char *at = (const char *)libc_object->defined;
    while (at) {
        const ElfW(Verdef) *v = (const void *)at;
        const ElfW(Verdaux) *a = (const void *)(at + v->vd_aux);
        if (libc_bind_same(libc_object->strings + a->vda_name, version))
            return v->vd_ndx;
        at = v->vd_next ? at + v->vd_next : NULL;
    }
    return 0;
}

/* Returns the version of libc in which a symbol is needed; NULL: it is not libc's. */
static const char *libc_bind_version_needed(const struct libc_bind_object *o, size_t symbol)
{
    unsigned wanted = o->versions ? o->versions[symbol] & 0x7fffu : 0;
    for (const char *at = (const char *)o->needed; at && wanted > 1;) {
        const ElfW(Verneed) *v = (const void *)at;
        const char *aux = at + v->vn_aux;
        for (unsigned i = 0; i < v->vn_cnt && libc_bind_same(o->strings + v->vn_file, LIBC_NAME);
             i++) {
            const ElfW(Vernaux) *a = (const void *)aux;
            if (a->vna_other == wanted)
                return o->strings + a->vna_name;
            aux += a->vna_next;
        }
        at = v->vn_next ? at + v->vn_next : NULL;
    }
    return NULL;
}

static void *libc_bind_address(const struct libc_bind_object *o, const ElfW(Sym) * s)
{
    ElfW(Addr) address = o->base + s->st_value;
    if (ELF64_ST_TYPE(s->st_info) == STT_FUNC)
        return (void *)address;
#if defined(__x86_64__)
    /* (libc's resolvers take no arguments here) */
    if (ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC)
        return ((void *(*)(void))address)();
#endif
    return NULL;
}

/* version 0: the one that programs are linked with today; libpoet's own symbols have none */
static void *libc_bind_look_up(const struct libc_bind_object *o, const char *name, unsigned version)
{
    uint32_t h = 5381;
    for (const char *c = name; *c; c++)
        h = h * 33 + (unsigned char)*c;
    uint32_t buckets = o->hash[0], first = o->hash[1], words = o->hash[2];
    const uint32_t *bucket = &o->hash[4 + words * (sizeof(ElfW(Addr)) / 4)];
    const uint32_t *chain = bucket + buckets;
    uint32_t i = bucket[h % buckets];
    for (; i >= first; i++) {
        uint32_t its = chain[i - first];
        const ElfW(Sym) *s = &o->symbols[i];
        bool right = version ? (o->versions[i] & 0x7fffu) == version : !(o->versions[i] & 0x8000u);
        if ((its | 1) == (h | 1) && right && s->st_shndx != SHN_UNDEF &&
            libc_bind_same(o->strings + s->st_name, name))
            return libc_bind_address(o, s);
        if (its & 1)
            break;
    }
    return NULL;
}

static bool libc_bind_is_function(const struct libc_bind_object *o, int table, const ElfW(Rela) * r)
{
    const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(r->r_info)];
    return ELF64_R_SYM(r->r_info) && s->st_shndx == SHN_UNDEF &&
           (table == 1 || ELF64_ST_TYPE(s->st_info) == STT_FUNC) && r->r_addend == 0;
}

static bool libc_bind_is_ours(const char *name)
{
    static const char *const others[] = {"libpoet-process.so", "libpoet-omp.so",
                                         "libpoet-memory.so"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (libc_bind_same(name, others[i]))
            return true;
    return libc_bind_same(name, "libpoet.so") || libc_bind_begins(name, "libpoet.so.");
}

/* The objects with the functions that are called, even if others define the same names. */
struct libc_bind_targets {
    struct libc_bind_object libc, poet;
};

static void *libc_bind_target(const struct libc_bind_targets *targets,
                              const struct libc_bind_object *o, size_t symbol)
{
    const char *version = libc_bind_version_needed(o, symbol);
    const char *name = o->strings + o->symbols[symbol].st_name;
    if (!version)
        return libc_bind_look_up(&targets->poet, name, 0);
    unsigned number = libc_bind_version_number(&targets->libc, version);
    return number ? libc_bind_look_up(&targets->libc, name, number) : NULL;
}

static void libc_bind_object_to(const struct libc_bind_object *o,
                                const struct libc_bind_targets *targets)
{
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; o->relocations[table] && i < o->counts[table]; i++) {
            const ElfW(Rela) *r = &o->relocations[table][i];
            void **slot = (void **)(o->base + r->r_offset);
            void *p = libc_bind_is_function(o, table, r)
                          ? libc_bind_target(targets, o, ELF64_R_SYM(r->r_info))
                          : NULL;
            if (p && *slot != p)
                *slot = p;
        }
}

static ElfW(Addr) libc_bind_page(void)
{
#if defined(__x86_64__)
    return 4096;
#else
    return getauxval(AT_PAGESZ);
#endif
}

static long libc_bind_protect(ElfW(Addr) from, size_t bytes, long how)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_mprotect), "D"(from), "S"(bytes), "d"(how)
                     : "rcx", "r11", "memory");
    return result;
#else
    return mprotect((void *)from, bytes, (int)how);
#endif
}

/* Binds the object; makes the part writable meanwhile that the loader made read-only after
 * binding. */
static void libc_bind_map(const struct link_map *map, const struct libc_bind_targets *targets)
{
    const struct libc_bind_object o = libc_bind_object_of(map);
    const ElfW(Ehdr) *head = (const void *)map->l_addr;
    const ElfW(Phdr) *p = (const void *)(map->l_addr + head->e_phoff), *kept = NULL;
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (p[i].p_type == PT_GNU_RELRO)
            kept = &p[i];
    const ElfW(Addr) page = libc_bind_page();
    ElfW(Addr) from = kept ? (map->l_addr + kept->p_vaddr) & ~(page - 1) : 0;
    ElfW(Addr) end = kept ? (map->l_addr + kept->p_vaddr + kept->p_memsz) & ~(page - 1) : 0;
    if (end > from && libc_bind_protect(from, end - from, PROT_READ | PROT_WRITE) != 0)
        return;
    libc_bind_object_to(&o, targets);
    if (end > from)
        libc_bind_protect(from, end - from, PROT_READ);
}

/* Finds the C library used by libpoet's libraries, and libpoet. */
static bool libc_bind_targets_found(struct libc_bind_targets *targets)
{
    extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
        const struct libc_bind_object o = libc_bind_object_of(m);
        if (!o.name || !o.symbols || !o.versions || !o.hash || !o.hash[0])
            continue;
        if (m->l_ld == _DYNAMIC)
            targets->poet = o;
        else if (!targets->libc.name && o.defined && libc_bind_same(o.name, LIBC_NAME))
            targets->libc = o;
    }
    return targets->libc.name && targets->poet.name;
}

static struct libc_bind_targets bind_known;
static atomic_bool bind_is_known;

void *libc_bind_found(const char *name)
{
    return atomic_load(&bind_is_known) ? libc_bind_look_up(&bind_known.libc, name, 0) : NULL;
}

/* Returns false if the C library's tables were not found; calls then stay as the loader bound
 * them. */
static bool libc_bind_to_libc(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    struct libc_bind_targets targets = {.libc.name = NULL};
    if (!libc_bind_targets_found(&targets))
        return false;
    if (atomic_flag_test_and_set(&begun))
        return true;
    bind_known = targets;
    atomic_store(&bind_is_known, true);
    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
        const struct libc_bind_object o = libc_bind_object_of(m);
        if (o.name && o.symbols && libc_bind_is_ours(o.name))
            libc_bind_map(m, &targets);
    }
    return true;
}
#endif

/* ---- the table ---- */

struct libc_calls libc_calls = {
#define L(name) name,
    LIBC_CALLS(L)
#undef L
};

#if defined(POET_STATIC)
void libc_calls_find(void) {}
#else
void libc_calls_find(void)
{
    void *p;
    if (libc_bind_to_libc())
        return;
#define L(name)                                                                                    \
    if ((p = next_libc_call(#name)) != NULL)                                                       \
        *(void **)&libc_calls.name = p;
    LIBC_CALLS(L)
#undef L
}
#endif

/* ---- memory ---- */

/* Size of the header in front of each allocation. */
#define HEAD 64u

void *pages_resize(void *pages, size_t bytes)
{
    char *old = pages ? (char *)pages - HEAD : NULL, *new;
    size_t size = bytes + HEAD;
    if (old)
        new = mremap(old, *(size_t *)(void *)old, size, MREMAP_MAYMOVE);
    else
        new = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (new == MAP_FAILED)
        return NULL;
    *(size_t *)(void *)new = size;
    return new + HEAD;
}

void pages_free(void *pages)
{
    if (pages)
        munmap((char *)pages - HEAD, *(size_t *)(void *)((char *)pages - HEAD));
}
