/* Objects that the loader has loaded, as far as their imports and their exported symbols are read
 * here (System V ABI, Dynamic Linking). */
#ifndef CLIENTS_LIBPOET_PROFILE_LIBRARY_OBJECTS_H
#define CLIENTS_LIBPOET_PROFILE_LIBRARY_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct library_object {
    uintptr_t bias, start, bytes, code, code_bytes;
    uintptr_t sealed, sealed_bytes; /* read-only after relocation */
    const ElfW(Phdr) * headers; /* NULL: there is no object */
    uint32_t header_count;
    const char *path; /* "": the program */
    const char *names;
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * jumps, *others;
    size_t jump_count, other_count;
    const uint16_t *versions; /* of symbols; NULL: they have none */
    const ElfW(Verneed) * needs;
    const uint32_t *hash; /* DT_GNU_HASH */
    bool measured; /* compiled with -finstrument-functions, in part at least */
    bool fresh; /* its imports have not been looked at */
    unsigned round; /* the last time that the loader listed it */
};

void library_object_read(struct library_object *object, const struct dl_phdr_info *info);
static inline const char *library_object_name(const struct library_object *object,
                                              const ElfW(Rela) * import)
{
    return object->names + object->symbols[import->r_info >> 32].st_name;
}
/* Returns the version of an imported symbol; NULL: it has none. */
const char *library_object_version(const struct library_object *object, uint32_t symbol);
/* Returns the address of an exported function's symbol; 0: there is none. */
uintptr_t library_object_symbol(const struct library_object *object, const char *name);

/* Entries of an object's global offset table: whether code does anything else with them than to
 * call by them. */
#define LIBRARY_ENTRIES 65536u
struct library_entries {
    uintptr_t from; /* the first one */
    uint8_t *loaded; /* LIBRARY_ENTRIES bits */
};
void library_object_find_loads(const struct library_object *object,
                               const struct library_entries *entries);
bool library_entries_are_loaded(const struct library_entries *entries, uintptr_t entry);

#pragma GCC visibility pop
#endif
