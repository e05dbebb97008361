#include "server/run/bounds.h"

#include "memory/memory.h"

#include <math.h>
#include <stdlib.h>

#define LOOSE 512u /* messages beyond the hull before it is made anew */

/* ---- hulls ---- */

static int by_sent(const void *a, const void *b)
{
    const struct way *x = a, *y = b;
    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    return x->got < y->got ? -1 : x->got > y->got;
}

__extension__ typedef __int128 wide;

/* Whether the middle one of three, by time, is not below the line from the first to the last. */
static bool is_above(const struct way *a, const struct way *b, const struct way *c)
{
    wide ab = (wide)(b->got - a->got) * (c->sent - a->sent),
         ac = (wide)(c->got - a->got) * (b->sent - a->sent);
    return ab >= ac;
}

void ways_close(struct ways *ways)
{
    if (ways->hull == ways->count)
        return;
    struct way *items = ways->items;
    size_t kept = 0;
    qsort(items, ways->count, sizeof *items, by_sent);
    for (size_t i = 0; i < ways->count; i++) {
        if (kept && items[kept - 1].sent == items[i].sent)
            continue; /* the one before it came sooner */
        while (kept > 1 && is_above(&items[kept - 2], &items[kept - 1], &items[i]))
            kept--;
        items[kept++] = items[i];
    }
    ways->count = ways->hull = kept;
}

void ways_add(struct ways *ways, int64_t sent, int64_t got)
{
    const int64_t most = INT64_MAX / 4;
    if (sent > most || sent < -most || got > most || got < -most)
        return; /* no clock shows that */
    ways->items = grow(ways->items, &ways->room, ways->count + 1, sizeof *ways->items);
    ways->items[ways->count++] = (struct way){sent, got};
    if (ways->count >= 2 * ways->hull + LOOSE)
        ways_close(ways);
}

void ways_free(struct ways *ways)
{
    free(ways->items);
    *ways = (struct ways){0};
}

/* ---- regions ---- */

static double beyond(const struct cut *cut, struct corner c, double slack_ns)
{
    double over = c.at + c.drift * cut->x - cut->y;
    return (cut->is_upper ? over : -over) - slack_ns;
}

/* Sutherland and Hodgman's clipping, of one edge.  What has too many corners stays as it is, which is not wrong. */
static void clip(struct possible *r, const struct cut *cut)
{
    struct corner kept[BOUNDS_CORNERS + 2];
    unsigned count = 0;
    for (unsigned i = 0; i < r->count; i++) {
        struct corner a = r->corners[i], b = r->corners[(i + 1) % r->count];
        double out_a = beyond(cut, a, r->slack_ns), out_b = beyond(cut, b, r->slack_ns);
        if (out_a <= 0)
            kept[count++] = a;
        if ((out_a < 0 && out_b > 0) || (out_a > 0 && out_b < 0)) {
            double share = out_a / (out_a - out_b);
            kept[count++] = (struct corner){a.drift + share * (b.drift - a.drift),
                                            a.at + share * (b.at - a.at)};
        }
        if (count > BOUNDS_CORNERS)
            return;
    }
    for (unsigned i = 0; i < count; i++)
        r->corners[i] = kept[i];
    r->count = count;
}

/* All that can be, from the least and the greatest that any cut says. */
static bool box(struct possible *r, const struct cut *cuts, size_t count)
{
    double low = INFINITY, high = -INFINITY, far = 0;
    bool upper = false, lower = false;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, cuts[i].y);
        high = fmax(high, cuts[i].y);
        far = fmax(far, fabs(cuts[i].x));
        upper |= cuts[i].is_upper;
        lower |= !cuts[i].is_upper;
    }
    r->count = 0;
    if (!upper || !lower)
        return false;
    low -= BOUNDS_DRIFT * far + r->slack_ns + 1;
    high += BOUNDS_DRIFT * far + r->slack_ns + 1;
    r->corners[0] = (struct corner){-BOUNDS_DRIFT, low};
    r->corners[1] = (struct corner){BOUNDS_DRIFT, low};
    r->corners[2] = (struct corner){BOUNDS_DRIFT, high};
    r->corners[3] = (struct corner){-BOUNDS_DRIFT, high};
    r->count = 4;
    return true;
}

void possible_of(struct possible *r, const struct cut *cuts, size_t count)
{
    for (r->slack_ns = BOUNDS_LEAST_NS; r->slack_ns <= BOUNDS_MOST_NS; r->slack_ns *= 2) {
        if (!box(r, cuts, count))
            return;
        for (size_t i = 0; i < count && r->count; i++)
            clip(r, &cuts[i]);
        if (r->count)
            return;
    }
}

size_t bounds_cuts(struct cut *cuts, const struct ways *forth, const struct ways *back,
                   double middle)
{
    size_t n = 0;
    for (size_t i = 0; i < forth->count; i++) {
        const struct way *w = &forth->items[i];
        cuts[n++] = (struct cut){(double)w->sent - middle, (double)(w->got - w->sent), true};
    }
    for (size_t i = 0; i < back->count; i++) {
        const struct way *w = &back->items[i];
        cuts[n++] = (struct cut){(double)w->got - middle, (double)(w->sent - w->got), false};
    }
    return n;
}

/* What a clock that is off the line by as much as the slack may show. */
static double stray(const struct possible *r)
{
    return r->slack_ns > BOUNDS_LEAST_NS ? r->slack_ns : 1;
}

struct between possible_there(const struct possible *r, struct between shown)
{
    struct between all = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < r->count; i++) {
        const struct corner *c = &r->corners[i];
        all.low = fmin(all.low, shown.low + c->at + c->drift * shown.low);
        all.high = fmax(all.high, shown.high + c->at + c->drift * shown.high);
    }
    return (struct between){all.low - stray(r), all.high + stray(r)};
}

struct between possible_back(const struct possible *r, struct between shown)
{
    struct between all = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < r->count; i++) {
        const struct corner *c = &r->corners[i];
        all.low = fmin(all.low, (shown.low - c->at) / (1 + c->drift));
        all.high = fmax(all.high, (shown.high - c->at) / (1 + c->drift));
    }
    return (struct between){all.low - stray(r) * (1 + BOUNDS_DRIFT),
                            all.high + stray(r) * (1 + BOUNDS_DRIFT)};
}

struct between possible_drift(const struct possible *r)
{
    struct between all = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < r->count; i++) {
        all.low = fmin(all.low, r->corners[i].drift);
        all.high = fmax(all.high, r->corners[i].drift);
    }
    return all;
}

/* (Of its corners: it may have no area.) */
struct corner possible_centre(const struct possible *r)
{
    struct corner sum = {0, 0};
    for (unsigned i = 0; i < r->count; i++) {
        sum.drift += r->corners[i].drift / r->count;
        sum.at += r->corners[i].at / r->count;
    }
    return sum;
}
