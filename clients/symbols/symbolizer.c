#define _GNU_SOURCE
#include "clients/symbols/symbolizer.h"
#include "clients/symbols/inline_frames.h"
#include "clients/symbols/demangle.h"
#include "clients/symbols/safe_open.h"
#include "clients/symbols/symbol_cache.h"
#include "base/alloc.h"
#include "wire/text.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct symbolizer_program {
    Dwfl *dwfl; /* NULL until the first lookup */
    struct module_info *modules; /* copied from the metadata */
    uint32_t module_count;
};

struct symbolizer {
    struct symbolizer_program *programs;
    uint32_t count;
    char text[512], symbol[2048]; /* symbol: C++ names are long */
    struct demangle_last last;
    struct symbol_cache *known;
};

static char *debug_path; /* default search for separate debug files */
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &debug_path};

struct symbolizer *symbolizer_new(void)
{
    setenv("DEBUGINFOD_URLS", "", 0); /* no network access while drawing */
    struct symbolizer *sites = xcalloc(1, sizeof *sites);
    sites->known = symbol_cache_new();
    return sites;
}

static void program_free(struct symbolizer_program *program)
{
    if (program->dwfl)
        dwfl_end(program->dwfl);
    for (uint32_t i = 0; i < program->module_count; i++)
        free(program->modules[i].path);
    free(program->modules);
    *program = (struct symbolizer_program){0};
}

void symbolizer_free(struct symbolizer *sites)
{
    for (uint32_t i = 0; sites && i < sites->count; i++)
        program_free(&sites->programs[i]);
    if (sites) {
        free(sites->programs);
        symbol_cache_free(sites->known);
    }
    free(sites);
}

static bool same_build(Dwfl_Module *module, const char *build_id)
{
    const unsigned char *bits;
    GElf_Addr address;
    int n = dwfl_module_build_id(module, &bits, &address);
    if (n <= 0 || !*build_id)
        return n <= 0 && !*build_id;
    char text[65] = "";
    for (int i = 0; i < n && i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    return strcmp(text, build_id) == 0;
}

static void symbolizer_report_module(Dwfl *dwfl, const struct module_info *m)
{
    int fd = m->path[0] == '/' ? safe_open_file(m->path) : -1;
    /* An offline Dwfl places ET_DYN files at the given load address. */
    if (fd >= 0 && !dwfl_report_elf(dwfl, m->path, m->path, fd, m->bias, false))
        close(fd); /* on success the Dwfl owns it */
}

static int check_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start,
                        void *context)
{
    const struct symbolizer_program *program = context;
    (void)start;
    for (uint32_t i = 0; i < program->module_count; i++)
        if (strcmp(program->modules[i].path, name) == 0 &&
            !same_build(module, program->modules[i].build_id))
            *user = module; /* mark it as unusable: the file is of another build */
    return DWARF_CB_OK;
}

void symbolizer_process(struct symbolizer *sites, uint32_t index,
                        const struct process_info *process)
{
    if (index > sites->count)
        return;
    if (index == sites->count) {
        sites->programs = xreallocarray(sites->programs, index + 1, sizeof *sites->programs);
        sites->programs[sites->count++] = (struct symbolizer_program){0};
    }
    struct symbolizer_program *program = &sites->programs[index];
    program_free(program);
    sites->last = (struct demangle_last){0};
    symbol_cache_clear(sites->known);
    program->modules = xcalloc(process->module_count + 1, sizeof *program->modules);
    for (uint32_t i = 0; i < process->module_count; i++) {
        program->modules[program->module_count] = process->modules[i];
        program->modules[program->module_count++].path = xstrdup(process->modules[i].path);
    }
}

/* Opens the files of a program, at its first lookup: most commands look nothing up. */
static void program_open(struct symbolizer_program *program)
{
    program->dwfl = dwfl_begin(&callbacks);
    if (!program->dwfl)
        return;
    dwfl_report_begin(program->dwfl);
    for (uint32_t i = 0; i < program->module_count; i++)
        symbolizer_report_module(program->dwfl, &program->modules[i]);
    dwfl_report_end(program->dwfl, NULL, NULL);
    dwfl_getmodules(program->dwfl, check_module, program, 0);
}

Dwfl *symbolizer_modules(struct symbolizer *sites, uint32_t process)
{
    if (process >= sites->count)
        return NULL;
    if (!sites->programs[process].dwfl)
        program_open(&sites->programs[process]);
    return sites->programs[process].dwfl;
}

const struct module_info *symbolizer_module_list(const struct symbolizer *sites, uint32_t process,
                                                 uint32_t *count)
{
    *count = process < sites->count ? sites->programs[process].module_count : 0;
    return *count ? sites->programs[process].modules : NULL;
}

static Dwfl_Module *module_at(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    Dwfl *dwfl = symbolizer_modules(sites, process);
    Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, address) : NULL;
    void **user = NULL;
    if (!module || !dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    return user && *user ? NULL : module;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- call sites ---- */

/* Returns the unit that contains an address; searches all units if the compiler wrote no
 * .debug_aranges. */
static Dwarf_Die *unit_at(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) == 1)
            return unit;
    return NULL;
}

/* Which function at an address: its index from the innermost one, or one of these. WHICH_SYMBOL:
 * only the symbol. */
enum { WHICH_OUTERMOST = UINT8_MAX, WHICH_SYMBOL = UINT8_MAX - 1 };

/* Lists the functions at an address; only the outermost one if it is a function's entry, whatever
 * was inlined there. */
static void find_functions(Dwfl_Module *module, uint64_t address, bool entry,
                           struct inline_frames *list)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_at(module, address, &bias);
    list->count = 0;
    if (unit)
        inline_frames_collect(unit, address - bias, list);
    if (entry && list->count) {
        list->items[0] = list->items[inline_frames_outermost(list)];
        list->items[0].function = NULL;
        list->count = 1;
    }
}

/* Formats one of the functions; the outermost one is named by the symbol. */
static void symbolizer_format_function(struct symbolizer *sites, const struct inline_frames *list,
                                       uint8_t which, const char *symbol,
                                       struct symbol_location *site)
{
    uint32_t own = inline_frames_own(list), i = own + which;
    const char *name = symbol;
    if (which == WHICH_OUTERMOST || i >= list->count)
        i = which == WHICH_OUTERMOST ? inline_frames_outermost(list) : list->count - 1;
    else if (i + 1 < list->count || !symbol)
        name = list->items[i].function;
    site->function = name ? demangle_shorten(name, sites->symbol, sizeof sites->symbol) : "";
    site->path = list->items[i].path;
    site->line = list->items[i].line;
    snprintf(sites->text, sizeof sites->text, "%s:%d", base_name(site->path), site->line);
}

static const char *symbol_at(Dwfl_Module *module, uint64_t address, GElf_Off *offset)
{
    GElf_Sym symbol;
    return dwfl_module_addrinfo(module, address, offset, &symbol, NULL, NULL, NULL);
}

static struct symbol_location find_call(struct symbolizer *sites, uint32_t process,
                                        uint64_t address, uint8_t which)
{
    struct symbol_location site = {"", sites->text, "", 0};
    Dwfl_Module *module = module_at(sites, process, address);
    if (module) {
        GElf_Off offset = 0;
        struct inline_frames list;
        const char *symbol = symbol_at(module, address, &offset);
        find_functions(module, address, symbol && !offset, &list);
        if (list.count) {
            symbolizer_format_function(sites, &list, which, symbol, &site);
            return site;
        }
        site.function = symbol ? demangle_shorten(symbol, sites->symbol, sizeof sites->symbol) : "";
    }
    uint32_t count;
    const struct module_info *m = symbolizer_module_list(sites, process, &count);
    for (uint32_t i = 0; i < count; i++, m++) {
        if (address >= m->start && address < m->end) {
            snprintf(sites->text, sizeof sites->text, "%s+0x%llx", base_name(m->path),
                     (unsigned long long)(address - m->bias));
            return site;
        }
    }
    snprintf(sites->text, sizeof sites->text, "0x%llx", (unsigned long long)address);
    return site;
}

/* Looks up a site in the cache or the files; masks its texts, since files are untrusted. */
static struct symbol_location symbolizer_find_site(struct symbolizer *sites, uint32_t process,
                                                   uint64_t address, uint8_t which)
{
    struct symbol_cache_key key = {process, which, address};
    struct symbol_location site;
    if (symbol_cache_get(sites->known, key, &site))
        return site;
    site = find_call(sites, process, address, which);
    text_mask(sites->text);
    text_mask(sites->symbol);
    return symbol_cache_put(sites->known, key, &site);
}

struct symbol_location symbolize(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    return symbolizer_find_site(sites, process, address, 0);
}

struct symbol_location symbolize_outer(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    return symbolizer_find_site(sites, process, address, WHICH_OUTERMOST);
}

uint32_t symbolizer_frames(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    Dwfl_Module *module = module_at(sites, process, address);
    GElf_Off offset = 0;
    struct inline_frames list = {0};
    const char *symbol = module ? symbol_at(module, address, &offset) : NULL;
    if (module)
        find_functions(module, address, symbol && !offset, &list);
    return list.count ? list.count - inline_frames_own(&list) : 1;
}

struct symbol_location symbolizer_frame(struct symbolizer *sites, uint32_t process,
                                        uint64_t address, uint32_t frame)
{
    return symbolizer_find_site(sites, process, address, (uint8_t)frame);
}

static const char *find_symbol(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    Dwfl_Module *module = module_at(sites, process, address);
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name =
        module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL) : NULL;
    if (!name || (symbol.st_size && offset >= symbol.st_size))
        return NULL;
    demangle_shorten(name, sites->symbol, sizeof sites->symbol);
    size_t used = strlen(sites->symbol), left = sizeof sites->symbol - used;
    if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
        demangle_part(&sites->last, module, address - offset, offset, sites->symbol + used, left))
        return sites->symbol;
    if (offset)
        snprintf(sites->symbol + used, left, "+%llu", (unsigned long long)offset);
    return sites->symbol;
}

const char *symbolizer_symbol(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    struct symbol_cache_key key = {process, WHICH_SYMBOL, address};
    struct symbol_location symbol;
    if (!symbol_cache_get(sites->known, key, &symbol)) {
        const char *name = find_symbol(sites, process, address);
        text_mask(sites->symbol);
        symbol = (struct symbol_location){.function = name ? name : "", .place = ""};
        symbol = symbol_cache_put(sites->known, key, &symbol);
    }
    return *symbol.function ? symbol.function : NULL;
}

/* ---- texts ---- */

const char *symbolizer_location_text(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    Dwfl_Module *module = module_at(sites, process, address);
    GElf_Addr at = address;
    Dwarf_Addr bias;
    Elf_Scn *section = module ? dwfl_module_address_section(module, &at, &bias) : NULL;
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || at >= data->d_size)
        return NULL;
    const char *text = (const char *)data->d_buf + at;
    size_t size = strnlen(text, data->d_size - at);
    if (!size || size == data->d_size - at)
        return NULL;
    snprintf(sites->text, sizeof sites->text, "%.*s", (int)(size < 256 ? size : 256), text);
    text_mask(sites->text);
    return sites->text;
}
