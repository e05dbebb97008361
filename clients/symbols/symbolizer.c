#define _GNU_SOURCE
#include "clients/symbols/symbolizer.h"

#include "base/alloc.h"
#include "clients/symbols/call_argument.h"
#include "clients/symbols/demangle.h"
#include "clients/symbols/library_symbols.h"
#include "clients/symbols/safe_open.h"
#include "clients/symbols/symbol_cache.h"
#include "wire/profile_region.h"
#include "wire/text.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions at a code address, from DWARF: the innermost inlined function, the function into
 * which it was inlined, and so on. */

#define INLINE_FRAMES_MAX 64u

struct inline_frames {
    uint32_t count;
    /* From the innermost outwards. function: name of its symbol, NULL: unknown; line: the source
     * line in that function; for all but the first one, the line of the call. */
    struct inline_function {
        const char *function, *path;
        int line;
    } items[INLINE_FRAMES_MAX];
    /* The call at the address is the part of a member of uC++ by which its caller constructs,
     * deletes or enters the object: that is at the caller's line. */
    bool belongs_to_caller;
};

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

/* ---- members of uC++ ---- */

/* Whether a function is one of those of its kernel by which a member begins and an object is made
 * or deleted, in each translated member, constructor and destructor. */
static bool is_for_caller(const char *function)
{
    static const char *const begins[] = {
        "_ZN3UPP13uSerialMemberC",
        "_ZN3UPP18uSerialConstructorC",
        "_ZN3UPP17uSerialDestructor",
        "_ZN9uBaseTask16uTaskConstructorC",
        "_ZN9uBaseTask15uTaskDestructorD",
        "_ZN14uBaseCoroutine21uCoroutineConstructorC",
        "_ZN14uBaseCoroutine20uCoroutineDestructorC",
    };
    for (size_t i = 0; function && i < sizeof begins / sizeof *begins; i++)
        if (strncmp(function, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Returns whether the call in a scope that returns to `behind` is of such a function. */
static bool scope_calls_for_caller(Dwarf_Die *scope, Dwarf_Addr behind)
{
    Dwarf_Die part, function;
    if (dwarf_child(scope, &part) != 0)
        return false;
    do {
        Dwarf_Attribute at, origin;
        Dwarf_Addr returns = 0;
        int tag = dwarf_tag(&part);
        if ((tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) &&
            (dwarf_formaddr(dwarf_attr(&part, DW_AT_call_return_pc, &at), &returns) == 0 ||
             dwarf_lowpc(&part, &returns) == 0) &&
            returns == behind)
            return (dwarf_attr(&part, DW_AT_call_origin, &origin) ||
                    dwarf_attr(&part, DW_AT_abstract_origin, &origin)) &&
                   dwarf_formref_die(&origin, &function) && is_for_caller(name_of(&function));
    } while (dwarf_siblingof(&part, &part) == 0);
    return false;
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

/* If there are more than fit, the innermost ones, and the outermost as the last. None if the source
 * line is unknown. */
static void inline_frames_collect(Dwarf_Die *unit, Dwarf_Addr address, struct inline_frames *list)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    struct inline_function first = {.path = line ? dwarf_linesrc(line, NULL, NULL) : NULL};
    list->count = 0;
    list->belongs_to_caller = false;
    if (!first.path)
        return;
    dwarf_lineno(line, &first.line);
    Dwarf_Die split, *described = unit_of_functions(unit, &split), *scopes = NULL, *chain = NULL;
    int count = dwarf_getscopes(described, address, &scopes), innermost = 0;
    while (innermost < count && dwarf_tag(&scopes[innermost]) != DW_TAG_inlined_subroutine &&
           dwarf_tag(&scopes[innermost]) != DW_TAG_subprogram)
        innermost++; /* scopes around it are lexical; the chain of callers is needed */
    for (int i = 0; i <= innermost && i < count && !list->belongs_to_caller; i++)
        list->belongs_to_caller = scope_calls_for_caller(&scopes[i], address + 1);
    int length = innermost < count ? dwarf_getscopes_die(&scopes[innermost], &chain) : 0;
    inline_frames_append_functions(described, chain, length > 0 ? length : 0, first, list);
    free(scopes);
    free(chain);
}

/* Returns whether it is beside the main header of uC++. */
static bool is_of_ucpp(const char *path)
{
    char main[PATH_MAX];
    const char *inc = strstr(path, "/inc/");
    int n = inc ? snprintf(main, sizeof main, "%.*s/inc/uC++.h", (int)(inc - path), path) : 0;
    return n > 0 && (size_t)n < sizeof main && !strchr(inc + 5, '/') && access(main, F_OK) == 0;
}

/* Returns whether it is a header of libpoet, as functions of that are inlined into the program's.
 */
static bool is_of_libpoet(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && strcmp(slash, "/poet_coroutine.hpp") == 0;
}

static bool is_system(const char *path)
{
    return is_of_libpoet(path) || strncmp(path, "/usr/include/", 13) == 0 ||
           strncmp(path, "/usr/lib/", 9) == 0 || strstr(path, "/include/c++/") || is_of_ucpp(path);
}

/* Returns the innermost one that is not in a system header; the innermost if all of them are. */
static uint32_t inline_frames_own(const struct inline_frames *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!is_system(list->items[i].path))
            return i;
    return 0;
}

/* Returns the one in which a call at the address stands: the innermost own one, or its caller if
 * the call belongs to that and was inlined there; not the destructor that also frees the object. */
static uint32_t inline_frames_of_call(const struct inline_frames *list)
{
    uint32_t own = inline_frames_own(list),
             at = own + (list->belongs_to_caller && own + 1 < list->count);
    const char *function = at > own ? list->items[at].function : NULL;
    size_t length = function ? strlen(function) : 0;
    const char *member = list->items[own].function ? list->items[own].function : "";
    bool frees = length > 4 && function[length - 4] == 'D' &&
                 (function[length - 3] == '0' || strcmp(function, member) == 0);
    return at + (frees && at + 1 < list->count);
}

/* Returns the outermost one that is not in a system header; the outermost if all of them are. */
static uint32_t inline_frames_outermost(const struct inline_frames *list)
{
    for (uint32_t i = list->count; i > 0; i--)
        if (!is_system(list->items[i - 1].path))
            return i - 1;
    return 0;
}

struct symbolizer_program {
    Dwfl *dwfl; /* NULL until the first lookup */
    struct library_symbols *libraries; /* likewise */
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
    library_symbols_free(program->libraries);
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
 * only the symbol; WHICH_ARGUMENT: the argument of its call; WHICH_CALLS: the one that calls. */
enum {
    WHICH_OUTERMOST = UINT8_MAX,
    WHICH_SYMBOL = UINT8_MAX - 1,
    WHICH_ARGUMENT = UINT8_MAX - 2,
    WHICH_CALLS = UINT8_MAX - 3
};

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
        list->belongs_to_caller = false;
    }
}

/* Formats one of the functions; the outermost one is named by the symbol. */
static void symbolizer_format_function(struct symbolizer *sites, const struct inline_frames *list,
                                       uint8_t which, const char *symbol,
                                       struct symbol_location *site)
{
    uint32_t i =
        which == WHICH_CALLS ? inline_frames_of_call(list) : inline_frames_own(list) + which;
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

/* Returns the name of a library's function as measured code calls it. */
static const char *library_symbol_at(struct symbolizer_program *program, Dwfl_Module *module,
                                     uint64_t address)
{
    GElf_Off offset = 0;
    if (!program->libraries)
        program->libraries = library_symbols_new(program->dwfl);
    const char *name = library_symbols_name(program->libraries, address);
    return name ? name : symbol_at(module, address, &offset);
}

static struct symbol_location find_call(struct symbolizer *sites, uint32_t process,
                                        uint64_t address, uint8_t which)
{
    struct symbol_location site = {"", sites->text, "", 0};
    bool library = address & FUNCTION_OF_LIBRARY;
    Dwfl_Module *module = module_at(sites, process, address &= ~FUNCTION_OF_LIBRARY);
    if (module) {
        GElf_Off offset = 0;
        struct inline_frames list = {0};
        const char *symbol = library ? library_symbol_at(&sites->programs[process], module, address)
                                     : symbol_at(module, address, &offset);
        if (!library)
            find_functions(module, address, symbol && !offset, &list);
        if (list.count) {
            symbolizer_format_function(sites, &list, which, symbol, &site);
            return site;
        }
        site.function = symbol ? demangle_shorten(symbol, sites->symbol, sizeof sites->symbol) : "";
    }
    uint32_t count;
    const struct module_info *m = symbolizer_module_list(sites, process, &count);
    snprintf(sites->text, sizeof sites->text, "0x%llx", (unsigned long long)address);
    for (uint32_t i = 0; i < count; i++)
        if (address >= m[i].start && address < m[i].end) {
            int n = snprintf(sites->text, sizeof sites->text, "%s", base_name(m[i].path));
            if (!library && (size_t)n < sizeof sites->text)
                snprintf(sites->text + n, sizeof sites->text - (size_t)n, "+0x%llx",
                         (unsigned long long)(address - m[i].bias));
            break;
        }
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
    return symbolizer_find_site(sites, process, address, WHICH_CALLS);
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
    address &= ~FUNCTION_OF_LIBRARY;
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

const char *symbolizer_argument(struct symbolizer *sites, uint32_t process, uint64_t address)
{
    struct symbol_cache_key key = {process, WHICH_ARGUMENT, address};
    struct symbol_location argument;
    if (!symbol_cache_get(sites->known, key, &argument)) {
        struct symbol_location site = symbolize(sites, process, address);
        Dwfl_Module *module = *site.path ? module_at(sites, process, address) : NULL;
        const char *program =
            module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
        char text[200];
        bool known =
            program && call_argument_read(site.path, site.line, program, text, sizeof text);
        argument = (struct symbol_location){.function = known ? text : "", .place = ""};
        argument = symbol_cache_put(sites->known, key, &argument);
    }
    return *argument.function ? argument.function : NULL;
}

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
