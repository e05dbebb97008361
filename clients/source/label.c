#define _GNU_SOURCE
#include "clients/source/label.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_exact(const char *symbol)
{
    const char *plus = strrchr(symbol, '+');
    return !plus || plus[1 + strspn(plus + 1, "0123456789")] != 0;
}

/* The function that runs there; else the variable that the object is or lies in; else where it was made. */
static const char *looked_up(const struct book_line *line, struct sites *sites)
{
    uint32_t process = line->is.process;
    const char *name = line->is.entry ? sites_symbol(sites, process, line->is.entry) : NULL;
    if (name && is_exact(name))
        return name;
    name = line->is.object ? sites_symbol(sites, process, line->is.object) : NULL;
    return name || !line->is.entry ? name : sites_call(sites, process, line->is.entry).place;
}

const char *label_name(const struct book *book, struct sites *sites, uint32_t number)
{
    static char text[32];
    const struct book_line *line = book_line(book, number);
    if (!line)
        return "?";
    if (*line->is.name)
        return line->is.name;
    const char *name = looked_up(line, sites);
    uint64_t address = line->is.entry ? line->is.entry : line->is.object;
    if (name)
        return name;
    if (!address)
        return line->is.kind;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    return text;
}

void label_lines(struct book *book, struct sites *sites, uint32_t *known, enum labels how)
{
    for (; *known < book->process_count; ++*known)
        sites_process(sites, *known, &book->processes[*known]);
    for (uint32_t i = 1; i <= book->line_count; i++) {
        struct book_line *line = book_line(book, i);
        if (!line || line->label)
            continue;
        const char *letter = book_letter(book, i), *name = label_name(book, sites, i);
        if (how == LABELS_ID)
            line->label = memory_printed("%s:%s #%u", letter, name, i);
        else if (how == LABELS_ADDRESS && line->is.object && strncmp(name, "0x", 2) != 0)
            line->label =
                memory_printed("%s:%s (0x%llx)", letter, name, (unsigned long long)line->is.object);
        else
            line->label = memory_printed("%s:%s", letter, name);
    }
}

void label_again(struct book *book, struct sites *sites, uint32_t *known, enum labels how)
{
    for (uint32_t i = 1; i <= book->line_count; i++) {
        struct book_line *line = book_line(book, i);
        if (!line)
            continue;
        free(line->label);
        line->label = NULL;
    }
    label_lines(book, sites, known, how);
}
