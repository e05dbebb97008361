#define _GNU_SOURCE
#include "server/cuts/cut_info.h"

#include "base/alloc.h"
#include "server/run/run.h"

#include <inttypes.h>
#include <stdlib.h>

static void cut_info_free(void *state)
{
    struct cut_info *cut = state;
    free(cut->source);
    free(cut->selection);
    free(cut->keeps);
    free(cut->types);
    map_free(&cut->continuing);
    free(cut);
}

const struct cut_info *cut_info_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CUT);
}

struct cut_info *cut_info_make(struct run *run)
{
    return run_addon_make(&run->addons, RUN_ADDON_CUT, sizeof(struct cut_info), cut_info_free);
}

bool cut_info_continues(const struct run *run, uint32_t thread)
{
    const struct cut_info *cut = cut_info_of(run);
    return cut && map_get(&cut->continuing, thread, 0);
}

char *cut_info_text(const struct run *run)
{
    const struct cut_info *cut = cut_info_of(run);
    if (!cut)
        return NULL;
    return xasprintf("a cut of run %s: %s; %" PRIu64 " of its %" PRIu64
                     " events; %zu thread%s continued, %" PRIu32 " left out%s",
                     cut->source ? cut->source : "", cut->selection ? cut->selection : "",
                     cut->kept, cut->kept + cut->left_out, cut->continuing.count,
                     cut->continuing.count == 1 ? "" : "s", cut->threads_left_out,
                     cut->whole ? "" : "; its end is missing");
}
