#include "server/run/call_sites.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/run/run.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

/* ---- sites ---- */

static uint32_t site_table_number(struct site_table *sites, uint64_t high, uint64_t low,
                                  struct site site)
{
    uint32_t known = (uint32_t)(uintptr_t)map_get(&sites->numbers, high, low);
    if (known)
        return known;
    sites->items =
        array_reserve(sites->items, &sites->room, sites->count + 1, sizeof *sites->items);
    sites->items[sites->count++] = site;
    map_put(&sites->numbers, high, low, (void *)(uintptr_t)sites->count);
    return (uint32_t)sites->count;
}

uint32_t site_table_add(struct site_table *sites, struct site site)
{
    if (!site.address)
        return 0;
    struct site plain = {.process = site.process, .address = site.address};
    uint32_t number = site_table_number(sites, site.process, site.address, plain);
    if (site_is_plain(&site))
        return number;
    /* never the key of a plain site: those begin with the number of a process, below 2^32 */
    return site_table_number(sites, (uint64_t)number << 32 | site.thread,
                             (uint64_t)site.caller << 32 | site.context, site);
}

const struct site *site_table_at(const struct site_table *sites, uint32_t number)
{
    return number && number <= sites->count ? &sites->items[number - 1] : NULL;
}

void site_table_free(struct site_table *sites)
{
    map_free(&sites->numbers);
    free(sites->items);
}

/* ---- state of a run ---- */

struct call_sites {
    uint32_t *place_of; /* by site - 1; 0: not computed yet */
    size_t place_room;
    uint32_t *sites; /* by place - 1 */
    size_t count, site_room;
    struct map codes;   /* file and offset -> place */
    struct site_file {
        uint8_t build_id[32];
        unsigned build_id_bytes;
        char *path; /* of a file without a build ID */
    } *files;
    size_t file_count, file_room;
    uint32_t **file_of; /* by process and module: 1 + index of the file; 0: not known yet */
    size_t *file_of_room, process_count, process_room, process_rooms;
};

static void call_sites_free(void *state)
{
    struct call_sites *p = state;
    for (size_t i = 0; i < p->file_count; i++)
        free(p->files[i].path);
    for (size_t i = 0; i < p->process_count; i++)
        free(p->file_of[i]);
    free(p->place_of);
    free(p->sites);
    free(p->files);
    free(p->file_of);
    free(p->file_of_room);
    map_free(&p->codes);
    free(p);
}

static const struct call_sites *call_sites_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CALL_SITES);
}

static struct call_sites *call_sites_for_run(const struct run *constant)
{
    struct run *run = (struct run *)(uintptr_t)constant; /* the cache is not observable */
    return run_addon_make(&run->addons, RUN_ADDON_CALL_SITES, sizeof(struct call_sites),
                          call_sites_free);
}

/* ---- files ---- */

static bool is_file(const struct site_file *file, const struct run_module *module)
{
    if (file->build_id_bytes != module->build_id_bytes)
        return false;
    return file->build_id_bytes
               ? memcmp(file->build_id, module->build_id, file->build_id_bytes) == 0
               : strcmp(file->path, module->path) == 0;
}

static uint32_t find_file(struct call_sites *p, const struct run_module *module)
{
    for (size_t i = 0; i < p->file_count; i++)
        if (is_file(&p->files[i], module))
            return (uint32_t)i;
    p->files = array_reserve(p->files, &p->file_room, p->file_count + 1, sizeof *p->files);
    struct site_file *file = &p->files[p->file_count];
    *file = (struct site_file){.build_id_bytes = module->build_id_bytes,
                               .path = module->build_id_bytes ? NULL : xstrdup(module->path)};
    memcpy(file->build_id, module->build_id, sizeof file->build_id);
    return (uint32_t)p->file_count++;
}

/* Returns the file of a process's module, which is searched once. */
static uint32_t file_of(struct call_sites *p, const struct run *run, uint32_t process,
                        size_t module)
{
    if (p->process_count < run->processes.count) {
        p->file_of = array_reserve_zeroed(p->file_of, &p->process_room, run->processes.count,
                                          sizeof *p->file_of);
        p->file_of_room = array_reserve_zeroed(p->file_of_room, &p->process_rooms,
                                               run->processes.count, sizeof *p->file_of_room);
        p->process_count = run->processes.count;
    }
    uint32_t **files = &p->file_of[process];
    *files = array_reserve_zeroed(*files, &p->file_of_room[process], module + 1, sizeof **files);
    if (!(*files)[module])
        (*files)[module] = 1 + find_file(p, &run->processes.items[process].modules[module]);
    return (*files)[module] - 1;
}

/* ---- places ---- */

/* Returns the newest module that contains an address, as a file may be loaded where another one
 * was before; SIZE_MAX if none does. */
static size_t module_at(const struct run_process *process, uint64_t address)
{
    for (size_t i = process->module_count; i > 0; i--)
        if (address >= process->modules[i - 1].start && address < process->modules[i - 1].end)
            return i - 1;
    return SIZE_MAX;
}

static uint32_t call_sites_number_place(struct call_sites *p, uint64_t space, uint64_t offset,
                                        uint32_t site)
{
    return 1 +
           (uint32_t)MAP_INDEX(&p->codes, space, offset, p->sites, p->count, p->site_room, site);
}

/* space of addresses in no known file: this plus the process's number */
#define OF_PROCESS (1ull << 32)

static struct call_site_key key_of(struct call_sites *p, const struct run *run, uint32_t number,
                                   uint64_t address)
{
    if (number >= run->processes.count)
        return (struct call_site_key){OF_PROCESS | number, address};
    const struct run_process *process = &run->processes.items[number];
    uint64_t library = address & FUNCTION_OF_LIBRARY;
    size_t module = module_at(process, address ^ library);
    if (module == SIZE_MAX)
        return (struct call_site_key){OF_PROCESS | number, address};
    return (struct call_site_key){file_of(p, run, number, module),
                                  ((address ^ library) - process->modules[module].bias) | library};
}

struct call_site_key call_sites_key(const struct run *run, uint32_t process, uint64_t address)
{
    return key_of(call_sites_for_run(run), run, process, address);
}

static uint32_t call_sites_resolve_site(struct call_sites *p, const struct run *run, uint32_t site)
{
    struct site s = run->sites.items[site - 1];
    struct call_site_key key = key_of(p, run, s.process, s.address);
    return call_sites_number_place(p, key.space, key.offset, site);
}

uint32_t call_sites_for_line(const struct run *run, uint32_t site)
{
    if (!site || site > run->sites.count)
        return 0;
    struct call_sites *p = call_sites_for_run(run);
    p->place_of = array_reserve_zeroed(p->place_of, &p->place_room, site, sizeof *p->place_of);
    if (!p->place_of[site - 1])
        p->place_of[site - 1] = call_sites_resolve_site(p, run, site);
    return p->place_of[site - 1];
}

uint32_t call_sites_count(const struct run *run)
{
    const struct call_sites *places = call_sites_of(run);
    return places ? (uint32_t)places->count : 0;
}

uint32_t call_sites_site(const struct run *run, uint32_t place)
{
    return place && place <= call_sites_count(run) ? call_sites_of(run)->sites[place - 1] : 0;
}
