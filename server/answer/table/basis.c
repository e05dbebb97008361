#include "server/answer/table/basis.h"

#include "memory/memory.h"
#include "server/answer/measured.h"

#include <stdlib.h>

#define KEPT_MOST ((size_t)512 << 20) /* bytes of a graph that is kept */

static void basis_free(struct basis *basis)
{
    if (!basis)
        return;
    graph_free(basis->graph);
    path_free(&basis->path);
    step_sums_free(&basis->sums);
    free(basis);
}

static bool same(const struct basis_of *a, const struct basis_of *b)
{
    return a->again == b->again && a->known == b->known && a->from_ns == b->from_ns &&
           a->to_ns == b->to_ns && a->at.line == b->at.line && a->at.number == b->at.number;
}

static void forget_changes(struct step_sums *sums)
{
    for (uint32_t i = 0; i < sums->count; i++)
        sums->items[i].has_zero = false;
}

struct basis *basis_take(const struct table_view *view, struct ref at)
{
    struct run *cache = (struct run *)(uintptr_t)view->run; /* nothing that is told of it changes */
    struct basis *basis = cache->basis;
    struct basis_of of = {measured_again(view->run), measured_position(view->run), view->from_ns,
                          view->to_ns, at};
    cache->basis = NULL;
    if (basis && same(&basis->of, &of)) {
        forget_changes(&basis->sums);
        return basis;
    }
    basis_free(basis);
    basis = memory_zeroed(1, sizeof *basis);
    basis->of = of;
    return basis;
}

void basis_give(const struct run *run, struct basis *basis)
{
    struct run *cache = (struct run *)(uintptr_t)run;
    size_t bytes = basis->path.count * sizeof *basis->path.pieces;
    bytes += basis->graph ? graph_bytes(basis->graph) : 0;
    if (!(basis->whole || basis->followed) || basis->of.again != measured_again(run) ||
        bytes > KEPT_MOST) {
        basis_free(basis);
        return;
    }
    basis_free(cache->basis);
    cache->basis = basis;
    cache->basis_free = basis_free;
}

int64_t basis_length(const struct basis *basis)
{
    const struct path *path = &basis->path;
    int64_t length = path_length(path), from_ns = basis->of.from_ns;
    if (from_ns == INT64_MIN || !path->count || from_ns <= path->pieces[0].from_ns)
        return length;
    int64_t before = from_ns - path->pieces[0].from_ns;
    return before < length ? length - before : 0;
}
