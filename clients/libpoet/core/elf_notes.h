/* Iterator over the ELF notes of a module, which the linker concatenates; each has a name and a
 * value. */
#ifndef CLIENTS_LIBPOET_CORE_ELF_NOTES_H
#define CLIENTS_LIBPOET_CORE_ELF_NOTES_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct elf_note {
    uint32_t type;
    const char *name, *value;
    size_t name_bytes, value_bytes;
};

/* Gets the next note between *at and `end`, and advances *at. Returns false if there is none. */
static inline bool note_next(const char **at, const char *end, struct elf_note *note)
{
    if ((size_t)(end - *at) < sizeof(ElfW(Nhdr)))
        return false;
    const ElfW(Nhdr) *h = (const void *)*at;
    size_t room = (size_t)(end - *at) - sizeof *h, name = ((size_t)h->n_namesz + 3) & ~(size_t)3,
           value = ((size_t)h->n_descsz + 3) & ~(size_t)3;
    if (name > room || h->n_descsz > room - name)
        return false;
    *note = (struct elf_note){h->n_type, *at + sizeof *h, *at + sizeof *h + name, h->n_namesz,
                              h->n_descsz};
    *at = value < room - name ? note->value + value : end;
    return true;
}

static inline bool note_is(const struct elf_note *note, uint32_t type, const char *name)
{
    return note->type == type && note->name_bytes == strlen(name) + 1 &&
           memcmp(note->name, name, note->name_bytes) == 0;
}

#endif
