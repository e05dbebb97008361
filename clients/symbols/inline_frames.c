#define _GNU_SOURCE
#include "clients/symbols/inline_frames.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- DWARF ---- */

/* Returns the unit that describes the functions: the split one (.dwo) of a skeleton unit. */
static Dwarf_Die *unit_of_functions(Dwarf_Die *unit, Dwarf_Die *split)
{
    uint8_t type = 0;
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && dwarf_tag(split) == DW_TAG_compile_unit)
        return split;
    return unit;
}

static const char *name_of(Dwarf_Die *function)
{
    static const unsigned kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    Dwarf_Attribute attribute;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *name = dwarf_formstring(dwarf_attr_integrate(function, kinds[i], &attribute));
        if (name)
            return name;
    }
    return dwarf_diename(function);
}

/* Returns the file of the call by which a function was inlined, and its line; NULL: unknown. */
static const char *call_of(Dwarf_Die *unit, Dwarf_Die *function, int *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, number;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr(function, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(function, DW_AT_call_line, &attribute), &number) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return NULL;
    *line = (int)number;
    return dwarf_filesrc(files, file, NULL, NULL);
}

/* ---- the list ---- */

static void inline_frames_append_function(struct inline_frames *list,
                                          struct inline_function function)
{
    list->count += list->count < INLINE_FRAMES_MAX;
    list->items[list->count - 1] = function;
}

/* Appends functions from the innermost one outwards: the name is from a function's own entry, the
 * line from the inlined call in it. */
static void inline_frames_append_functions(Dwarf_Die *unit, Dwarf_Die *chain, int length,
                                           struct inline_function next, struct inline_frames *list)
{
    for (int i = 0; i < length; i++) {
        int tag = dwarf_tag(&chain[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        next.function = name_of(&chain[i]);
        if (next.path)
            inline_frames_append_function(list, next);
        if (tag == DW_TAG_subprogram)
            return;
        next.path = call_of(unit, &chain[i], &next.line);
    }
    next.function = NULL;
    if (next.path)
        inline_frames_append_function(list, next);
}

void inline_frames_collect(Dwarf_Die *unit, Dwarf_Addr address, struct inline_frames *list)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    struct inline_function first = {.path = line ? dwarf_linesrc(line, NULL, NULL) : NULL};
    list->count = 0;
    if (!first.path)
        return;
    dwarf_lineno(line, &first.line);
    Dwarf_Die split, *described = unit_of_functions(unit, &split), *scopes = NULL, *chain = NULL;
    int count = dwarf_getscopes(described, address, &scopes), innermost = 0;
    while (innermost < count && dwarf_tag(&scopes[innermost]) != DW_TAG_inlined_subroutine &&
           dwarf_tag(&scopes[innermost]) != DW_TAG_subprogram)
        innermost++; /* scopes around it are lexical; the chain of callers is needed */
    int length = innermost < count ? dwarf_getscopes_die(&scopes[innermost], &chain) : 0;
    inline_frames_append_functions(described, chain, length > 0 ? length : 0, first, list);
    free(scopes);
    free(chain);
}

/* Returns whether it is beside the main header of uC++. */
static bool is_of_ucpp(const char *path)
{
    char main[PATH_MAX];
    const char *inc = strstr(path, "/inc/u");
    int n = inc ? snprintf(main, sizeof main, "%.*s/inc/uC++.h", (int)(inc - path), path) : 0;
    return n > 0 && (size_t)n < sizeof main && !strchr(inc + 5, '/') && access(main, F_OK) == 0;
}

static bool is_system(const char *path)
{
    return strncmp(path, "/usr/include/", 13) == 0 || strncmp(path, "/usr/lib/", 9) == 0 ||
           strstr(path, "/include/c++/") || is_of_ucpp(path);
}

uint32_t inline_frames_own(const struct inline_frames *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!is_system(list->items[i].path))
            return i;
    return 0;
}

uint32_t inline_frames_outermost(const struct inline_frames *list)
{
    for (uint32_t i = list->count; i > 0; i--)
        if (!is_system(list->items[i - 1].path))
            return i - 1;
    return 0;
}
