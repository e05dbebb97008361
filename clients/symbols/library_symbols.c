#define _GNU_SOURCE
#include "clients/symbols/library_symbols.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct library_symbol {
    uint64_t address; /* 0: an import */
    char *name;
};

struct library_symbols {
    struct library_symbol *imports, *functions;
    size_t import_count, import_room, function_count, function_room;
};

/* (without its version, which some symbol tables append) */
static char *library_symbol_name(const char *symbol)
{
    return xasprintf("%.*s", (int)strcspn(symbol, "@"), symbol);
}

static int library_symbol_compare_names(const void *a, const void *b)
{
    const struct library_symbol *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int library_symbol_compare_addresses(const void *a, const void *b)
{
    const struct library_symbol *x = a, *y = b;
    return x->address != y->address ? x->address < y->address ? -1 : 1 : strcmp(x->name, y->name);
}

static void library_symbols_sort(struct library_symbol *items, size_t count,
                                 int (*compare)(const void *, const void *))
{
    if (count)
        qsort(items, count, sizeof *items, compare);
}

/* ---- modules ---- */

/* Returns the symbol of a number; NULL: it has no name. */
static const char *library_symbol_at(Dwfl_Module *module, int i, GElf_Sym *symbol,
                                     GElf_Addr *address)
{
    GElf_Word section = 0;
    const char *name = dwfl_module_getsym_info(module, i, symbol, address, &section, NULL, NULL);
    return name && *name ? name : NULL;
}

static bool library_symbols_is_measured(Dwfl_Module *module, int count)
{
    static const char hook[] = "__cyg_profile_func_enter";
    GElf_Sym symbol;
    GElf_Addr address;
    for (int i = 1; i < count; i++) {
        const char *name = library_symbol_at(module, i, &symbol, &address);
        if (name && symbol.st_shndx == SHN_UNDEF && strncmp(name, hook, sizeof hook - 1) == 0)
            return true;
    }
    return false;
}

static int library_symbols_add_imports(Dwfl_Module *module, void **user, const char *path,
                                       Dwarf_Addr start, void *context)
{
    struct library_symbols *all = context;
    int count = dwfl_module_getsymtab(module);
    (void)user, (void)path, (void)start;
    if (count <= 0 || !library_symbols_is_measured(module, count))
        return DWARF_CB_OK;
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = library_symbol_at(module, i, &symbol, &address);
        if (!name || symbol.st_shndx != SHN_UNDEF)
            continue;
        all->imports = array_reserve(all->imports, &all->import_room, all->import_count + 1,
                                     sizeof *all->imports);
        all->imports[all->import_count++] = (struct library_symbol){0, library_symbol_name(name)};
    }
    return DWARF_CB_OK;
}

static void library_symbols_add_function(struct library_symbols *all, GElf_Addr address,
                                         const char *symbol)
{
    struct library_symbol is = {address, library_symbol_name(symbol)};
    if (!bsearch(&is, all->imports, all->import_count, sizeof is, library_symbol_compare_names)) {
        free(is.name);
        return;
    }
    all->functions = array_reserve(all->functions, &all->function_room, all->function_count + 1,
                                   sizeof *all->functions);
    all->functions[all->function_count++] = is;
}

static int library_symbols_add_functions(Dwfl_Module *module, void **user, const char *path,
                                         Dwarf_Addr start, void *context)
{
    int count = dwfl_module_getsymtab(module);
    (void)user, (void)path, (void)start;
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = library_symbol_at(module, i, &symbol, &address);
        unsigned char type = GELF_ST_TYPE(symbol.st_info);
        if (name && symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC))
            library_symbols_add_function(context, address, name);
    }
    return DWARF_CB_OK;
}

struct library_symbols *library_symbols_new(Dwfl *modules)
{
    struct library_symbols *all = xcalloc(1, sizeof *all);
    dwfl_getmodules(modules, library_symbols_add_imports, all, 0);
    library_symbols_sort(all->imports, all->import_count, library_symbol_compare_names);
    if (all->import_count)
        dwfl_getmodules(modules, library_symbols_add_functions, all, 0);
    library_symbols_sort(all->functions, all->function_count, library_symbol_compare_addresses);
    return all;
}

const char *library_symbols_name(const struct library_symbols *all, uint64_t address)
{
    size_t from = 0, to = all->function_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (all->functions[middle].address < address)
            from = middle + 1;
        else
            to = middle;
    }
    return from < all->function_count && all->functions[from].address == address
               ? all->functions[from].name
               : NULL;
}

static void library_symbols_free_items(struct library_symbol *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(items[i].name);
    free(items);
}

void library_symbols_free(struct library_symbols *all)
{
    if (!all)
        return;
    library_symbols_free_items(all->imports, all->import_count);
    library_symbols_free_items(all->functions, all->function_count);
    free(all);
}
