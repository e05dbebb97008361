#include "server/run/site_table.h"

#include "base/alloc.h"

#include <stdlib.h>

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
    if (!site.thread)
        return number;
    /* never the key of a plain site: those begin with the number of a process, below 2^32 */
    return site_table_number(sites, (uint64_t)number << 32 | site.thread, site.context, site);
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
