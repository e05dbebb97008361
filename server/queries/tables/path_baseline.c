#include "server/queries/tables/path_baseline.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"

#include <stdlib.h>

#define KEPT_MOST ((size_t)512 << 20) /* maximum bytes of a kept graph */

static void path_baseline_free(void *state)
{
    struct path_baseline *basis = state;
    if (!basis)
        return;
    activity_graph_free(basis->graph);
    critical_path_free(&basis->path);
    step_totals_free(&basis->sums);
    free(basis);
}

static bool path_baseline_is_same(const struct basis_of *a, const struct basis_of *b)
{
    return a->again == b->again && a->known == b->known && a->from_ns == b->from_ns &&
           a->to_ns == b->to_ns && a->at.line == b->at.line && a->at.number == b->at.number;
}

static void forget_changes(struct step_totals *sums)
{
    for (uint32_t i = 0; i < sums->count; i++)
        sums->items[i].has_zero = false;
}

struct path_baseline *path_baseline_acquire(const struct table_view *view, struct event_id at)
{
    /* the run's contents do not change, only its cache */
    struct run *cache = (struct run *)(uintptr_t)view->run;
    struct path_baseline *basis = run_addon_detach(&cache->addons, RUN_ADDON_PATH_BASELINE);
    struct basis_of of = {interval_cache_generation(view->run), interval_cache_position(view->run),
                          view->from_ns, view->to_ns, at};
    if (basis && path_baseline_is_same(&basis->of, &of)) {
        forget_changes(&basis->sums);
        return basis;
    }
    path_baseline_free(basis);
    basis = xcalloc(1, sizeof *basis);
    basis->of = of;
    return basis;
}

void path_baseline_release(const struct run *run, struct path_baseline *basis)
{
    struct run *cache = (struct run *)(uintptr_t)run;
    size_t bytes = basis->path.count * sizeof *basis->path.pieces;
    bytes += basis->graph ? activity_graph_bytes(basis->graph) : 0;
    if (!(basis->whole || basis->followed) || basis->of.again != interval_cache_generation(run) ||
        bytes > KEPT_MOST) {
        path_baseline_free(basis);
        return;
    }
    run_addon_attach(&cache->addons, RUN_ADDON_PATH_BASELINE,
                     (struct run_addon){basis, path_baseline_free});
}

int64_t path_baseline_length(const struct path_baseline *basis)
{
    const struct critical_path *path = &basis->path;
    int64_t length = critical_path_length(path), from_ns = basis->of.from_ns;
    if (from_ns == INT64_MIN || !path->count || from_ns <= path->pieces[0].from_ns)
        return length;
    int64_t before = from_ns - path->pieces[0].from_ns;
    return before < length ? length - before : 0;
}
