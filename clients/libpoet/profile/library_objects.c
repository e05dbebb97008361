#define _GNU_SOURCE
#include "clients/libpoet/profile/library_objects.h"

#include <elf.h>
#include <string.h>

/* ---- reading one ---- */

static void library_object_read_headers(struct library_object *o, const struct dl_phdr_info *info)
{
    uintptr_t end = 0, code_end = 0;
    o->start = o->code = UINTPTR_MAX;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;
        if (h->p_type == PT_GNU_RELRO) {
            o->sealed = from;
            o->sealed_bytes = h->p_memsz;
        }
        if (h->p_type != PT_LOAD)
            continue;
        o->start = from < o->start ? from : o->start;
        end = to > end ? to : end;
        if (h->p_flags & PF_X) {
            o->code = from < o->code ? from : o->code;
            code_end = to > code_end ? to : code_end;
        }
    }
    o->bytes = end > o->start ? end - o->start : 0;
    o->code_bytes = code_end > o->code ? code_end - o->code : 0;
}

/* (The loader has added the bias, except in objects that are mapped read-only.) */
static const void *library_object_place(const struct library_object *o, ElfW(Addr) address)
{
    return (const void *)(address < o->bias ? o->bias + address : address);
}

static void library_object_read_dynamic(struct library_object *o, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_STRTAB:
            o->names = library_object_place(o, d->d_un.d_ptr);
            break;
        case DT_SYMTAB:
            o->symbols = library_object_place(o, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            o->jumps = library_object_place(o, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            o->jump_count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            o->others = library_object_place(o, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            o->other_count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_VERSYM:
            o->versions = library_object_place(o, d->d_un.d_ptr);
            break;
        case DT_VERNEED:
            o->needs = library_object_place(o, d->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            o->hash = library_object_place(o, d->d_un.d_ptr);
            break;
        }
}

static bool library_object_imports(const struct library_object *o, const ElfW(Rela) * r,
                                   size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (r[i].r_info >> 32 && strcmp(library_object_name(o, &r[i]), name) == 0)
            return true;
    return false;
}

void library_object_read(struct library_object *o, const struct dl_phdr_info *info)
{
    static const char hook[] = "__cyg_profile_func_enter";
    *o = (struct library_object){.bias = info->dlpi_addr,
                                 .headers = info->dlpi_phdr,
                                 .header_count = info->dlpi_phnum,
                                 .path = info->dlpi_name ? info->dlpi_name : "",
                                 .fresh = true};
    library_object_read_headers(o, info);
    for (uint32_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            library_object_read_dynamic(
                o, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    if (!o->jumps)
        o->jump_count = 0;
    if (!o->others)
        o->other_count = 0;
    o->measured = o->names && o->symbols &&
                  (library_object_imports(o, o->jumps, o->jump_count, hook) ||
                   library_object_imports(o, o->others, o->other_count, hook));
}

/* ---- symbols ---- */

const char *library_object_version(const struct library_object *o, uint32_t symbol)
{
    uint16_t version = o->versions ? o->versions[symbol] & 0x7fff : 0;
    if (version < 2 || !o->needs)
        return NULL;
    for (const ElfW(Verneed) *n = o->needs;; n = (const void *)((const char *)n + n->vn_next)) {
        const ElfW(Vernaux) *a = (const void *)((const char *)n + n->vn_aux);
        for (uint32_t i = 0; i < n->vn_cnt; i++, a = (const void *)((const char *)a + a->vna_next))
            if ((a->vna_other & 0x7fff) == version)
                return o->names + a->vna_name;
        if (!n->vn_next)
            return NULL;
    }
}

static uint32_t library_object_hash(const char *name)
{
    uint32_t h = 5381;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        h = h * 33 + *at;
    return h;
}

/* (Of several versions the default one, which is not hidden.) */
static bool library_object_exports(const struct library_object *o, uint32_t symbol,
                                   const char *name)
{
    const ElfW(Sym) *s = &o->symbols[symbol];
    uint32_t type = ELF64_ST_TYPE(s->st_info);
    return s->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
           !(o->versions && o->versions[symbol] & 0x8000) &&
           strcmp(o->names + s->st_name, name) == 0;
}

uintptr_t library_object_symbol(const struct library_object *o, const char *name)
{
    if (!o->hash || !o->names || !o->symbols || !o->hash[0])
        return 0;
    uint32_t buckets = o->hash[0], first = o->hash[1], hash = library_object_hash(name);
    const uint32_t *bucket = o->hash + 4 + o->hash[2] * (sizeof(ElfW(Addr)) / sizeof *o->hash);
    uint32_t i = bucket[hash % buckets];
    for (const uint32_t *chain = bucket + buckets; i >= first; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && library_object_exports(o, i, name))
            return o->bias + o->symbols[i].st_value;
        if (chain[i - first] & 1)
            break;
    }
    return 0;
}

/* ---- code ---- */

/* Notes the entry that an instruction with that distance refers to, unless it calls by it. An entry
 * is relative to the end of the instruction, which is up to four bytes behind the distance. */
static void library_entries_note(const struct library_entries *entries, const unsigned char *at)
{
    int32_t distance;
    memcpy(&distance, at, sizeof distance);
    uintptr_t target = (uintptr_t)at + 4 + (uintptr_t)(intptr_t)distance - entries->from;
    bool calls = at[-2] == 0xff && (at[-1] == 0x15 || at[-1] == 0x25);
    for (uintptr_t behind = calls; behind <= 4; behind++)
        if ((target + behind) % 8 == 0 && (target + behind) / 8 < LIBRARY_ENTRIES)
            entries->loaded[(target + behind) / 64] |= (uint8_t)(1u << (target + behind) / 8 % 8);
}

void library_object_find_loads(const struct library_object *o,
                               const struct library_entries *entries)
{
    memset(entries->loaded, 0, LIBRARY_ENTRIES / 8);
    for (uint32_t i = 0; i < o->header_count; i++) {
        const ElfW(Phdr) *h = &o->headers[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || !(h->p_flags & PF_R))
            continue;
        const unsigned char *code = (const void *)(o->bias + h->p_vaddr);
        for (size_t at = 2; at + 4 <= h->p_memsz; at++)
            library_entries_note(entries, code + at);
    }
}

bool library_entries_are_loaded(const struct library_entries *entries, uintptr_t entry)
{
    uintptr_t i = (entry - entries->from) / 8;
    return i >= LIBRARY_ENTRIES || entries->loaded[i / 8] & 1u << i % 8;
}
