#include "server/run/clock_bounds.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

#define LOOSE 512u /* minimum number of messages beyond the hull before it is computed again */

/* ---- hulls ---- */

static int clock_messages_by_sent(const void *a, const void *b)
{
    const struct clock_message *x = a, *y = b;
    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    return x->got < y->got ? -1 : x->got > y->got;
}

__extension__ typedef __int128 wide;

/* Returns whether the middle one of three messages, by send time, is not below the line from the
 * first to the last. */
static bool clock_messages_is_above(const struct clock_message *a, const struct clock_message *b,
                                    const struct clock_message *c)
{
    wide ab = (wide)(b->got - a->got) * (c->sent - a->sent),
         ac = (wide)(c->got - a->got) * (b->sent - a->sent);
    return ab >= ac;
}

void clock_messages_close(struct clock_messages *ways)
{
    if (ways->hull == ways->count)
        return;
    struct clock_message *items = ways->items;
    size_t kept = 0;
    qsort(items, ways->count, sizeof *items, clock_messages_by_sent);
    for (size_t i = 0; i < ways->count; i++) {
        if (kept && items[kept - 1].sent == items[i].sent)
            continue; /* the one before was sent at the same time and arrived earlier */
        while (kept > 1 && clock_messages_is_above(&items[kept - 2], &items[kept - 1], &items[i]))
            kept--;
        items[kept++] = items[i];
    }
    ways->count = ways->hull = kept;
}

void clock_messages_add(struct clock_messages *ways, int64_t sent, int64_t got)
{
    const int64_t most = INT64_MAX / 4;
    if (sent > most || sent < -most || got > most || got < -most)
        return; /* no clock shows such a time */
    ways->items = array_reserve(ways->items, &ways->room, ways->count + 1, sizeof *ways->items);
    ways->items[ways->count++] = (struct clock_message){sent, got};
    if (ways->count >= 2 * ways->hull + LOOSE)
        clock_messages_close(ways);
}

void clock_messages_free(struct clock_messages *ways)
{
    free(ways->items);
    *ways = (struct clock_messages){0};
}

/* ---- regions ---- */

static double clock_region_distance_beyond(const struct clock_half_plane *cut,
                                           struct clock_corner c, double slack_ns)
{
    double over = c.at + c.drift * cut->x - cut->y;
    return (cut->is_upper ? over : -over) - slack_ns;
}

/* Clips the region by one half-plane (Sutherland and Hodgman).  A region that would get too many
 * corners remains as it is: larger than necessary, but correct. */
static void clock_region_clip(struct clock_region *r, const struct clock_half_plane *cut)
{
    struct clock_corner kept[CLOCK_REGION_CORNERS + 2];
    unsigned count = 0;
    for (unsigned i = 0; i < r->count; i++) {
        struct clock_corner a = r->corners[i], b = r->corners[(i + 1) % r->count];
        double out_a = clock_region_distance_beyond(cut, a, r->slack_ns),
               out_b = clock_region_distance_beyond(cut, b, r->slack_ns);
        if (out_a <= 0)
            kept[count++] = a;
        if ((out_a < 0 && out_b > 0) || (out_a > 0 && out_b < 0)) {
            double share = out_a / (out_a - out_b);
            kept[count++] = (struct clock_corner){a.drift + share * (b.drift - a.drift),
                                                  a.at + share * (b.at - a.at)};
        }
        if (count > CLOCK_REGION_CORNERS)
            return;
    }
    for (unsigned i = 0; i < count; i++)
        r->corners[i] = kept[i];
    r->count = count;
}

/* Sets the region to a rectangle that contains everything possible, from the least and the
 * greatest y of all cuts; returns false if all cuts are from one side. */
static bool clock_region_bounding_box(struct clock_region *r, const struct clock_half_plane *cuts,
                                      size_t count)
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
    low -= CLOCK_REGION_DRIFT * far + r->slack_ns + 1;
    high += CLOCK_REGION_DRIFT * far + r->slack_ns + 1;
    r->corners[0] = (struct clock_corner){-CLOCK_REGION_DRIFT, low};
    r->corners[1] = (struct clock_corner){CLOCK_REGION_DRIFT, low};
    r->corners[2] = (struct clock_corner){CLOCK_REGION_DRIFT, high};
    r->corners[3] = (struct clock_corner){-CLOCK_REGION_DRIFT, high};
    r->count = 4;
    return true;
}

void clock_region_from(struct clock_region *r, const struct clock_half_plane *cuts, size_t count)
{
    for (r->slack_ns = CLOCK_REGION_LEAST_NS; r->slack_ns <= CLOCK_REGION_MOST_NS;
         r->slack_ns *= 2) {
        if (!clock_region_bounding_box(r, cuts, count))
            return;
        for (size_t i = 0; i < count && r->count; i++)
            clock_region_clip(r, &cuts[i]);
        if (r->count)
            return;
    }
}

size_t clock_region_cuts(struct clock_half_plane *cuts, const struct clock_messages *forth,
                         const struct clock_messages *back, double middle)
{
    size_t n = 0;
    for (size_t i = 0; i < forth->count; i++) {
        const struct clock_message *w = &forth->items[i];
        cuts[n++] =
            (struct clock_half_plane){(double)w->sent - middle, (double)(w->got - w->sent), true};
    }
    for (size_t i = 0; i < back->count; i++) {
        const struct clock_message *w = &back->items[i];
        cuts[n++] =
            (struct clock_half_plane){(double)w->got - middle, (double)(w->sent - w->got), false};
    }
    return n;
}

/* Returns by how much a clock may deviate from its line, ns. */
static double clock_region_tolerance(const struct clock_region *r)
{
    return r->slack_ns > CLOCK_REGION_LEAST_NS ? r->slack_ns : 1;
}

struct clock_interval clock_region_map(const struct clock_region *r, struct clock_interval shown)
{
    struct clock_interval all = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < r->count; i++) {
        const struct clock_corner *c = &r->corners[i];
        all.low = fmin(all.low, shown.low + c->at + c->drift * shown.low);
        all.high = fmax(all.high, shown.high + c->at + c->drift * shown.high);
    }
    return (struct clock_interval){all.low - clock_region_tolerance(r),
                                   all.high + clock_region_tolerance(r)};
}

struct clock_interval clock_region_map_back(const struct clock_region *r,
                                            struct clock_interval shown)
{
    struct clock_interval all = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < r->count; i++) {
        const struct clock_corner *c = &r->corners[i];
        all.low = fmin(all.low, (shown.low - c->at) / (1 + c->drift));
        all.high = fmax(all.high, (shown.high - c->at) / (1 + c->drift));
    }
    return (struct clock_interval){all.low - clock_region_tolerance(r) * (1 + CLOCK_REGION_DRIFT),
                                   all.high + clock_region_tolerance(r) * (1 + CLOCK_REGION_DRIFT)};
}

struct clock_interval clock_region_drift(const struct clock_region *r)
{
    struct clock_interval all = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < r->count; i++) {
        all.low = fmin(all.low, r->corners[i].drift);
        all.high = fmax(all.high, r->corners[i].drift);
    }
    return all;
}

/* Returns the mean of the corners, as the region may have no area. */
struct clock_corner clock_region_center(const struct clock_region *r)
{
    struct clock_corner sum = {0, 0};
    for (unsigned i = 0; i < r->count; i++) {
        sum.drift += r->corners[i].drift / r->count;
        sum.at += r->corners[i].at / r->count;
    }
    return sum;
}

/* ---- ties ---- */

struct clock_ties *clock_ties_new(uint32_t clocks, double middle)
{
    struct clock_ties *t = xcalloc(1, sizeof *t);
    t->clocks = clocks;
    t->middle = middle;
    return t;
}

void clock_ties_free(struct clock_ties *t)
{
    for (size_t i = 0; t && i < t->count; i++) {
        clock_messages_free(&t->bonds[i].forth);
        clock_messages_free(&t->bonds[i].back);
    }
    if (t) {
        free(t->bonds);
        free(t->begin);
        free(t->of);
        map_free(&t->places);
    }
    free(t);
}

static size_t clock_ties_place(struct clock_ties *t, uint32_t a, uint32_t b)
{
    size_t place = (size_t)(uintptr_t)map_get(&t->places, a, b);
    if (place)
        return place - 1;
    t->bonds = array_reserve_zeroed(t->bonds, &t->room, t->count + 1, sizeof *t->bonds);
    t->bonds[t->count].a = a;
    t->bonds[t->count].b = b;
    map_put(&t->places, a, b, (void *)(uintptr_t)(t->count + 1));
    return t->count++;
}

size_t clock_ties_note(struct clock_ties *t, uint32_t from, uint32_t to, int64_t sent, int64_t got)
{
    bool forth = from < to;
    size_t place = forth ? clock_ties_place(t, from, to) : clock_ties_place(t, to, from);
    clock_messages_add(forth ? &t->bonds[place].forth : &t->bonds[place].back, sent, got);
    return place;
}

void clock_ties_close(struct clock_ties *t)
{
    t->begin = xcalloc((size_t)t->clocks + 2, sizeof *t->begin);
    t->of = xcalloc(2 * t->count + 1, sizeof *t->of);
    /* begin[c + 1] is first the number of clock c's pairs, then where the next of them is put */
    size_t *next = t->begin + 1;
    for (size_t i = 0; i < t->count; i++) {
        clock_messages_close(&t->bonds[i].forth);
        clock_messages_close(&t->bonds[i].back);
        t->begin[t->bonds[i].a + 1]++;
        t->begin[t->bonds[i].b + 1]++;
    }
    size_t sum = 0;
    for (uint32_t c = 0; c < t->clocks; c++) {
        size_t count = next[c];
        next[c] = sum;
        sum += count;
    }
    for (size_t i = 0; i < t->count; i++) {
        t->of[next[t->bonds[i].a]++] = i;
        t->of[next[t->bonds[i].b]++] = i;
    }
}

size_t clock_pair_messages(const struct clock_pair *bond)
{
    return bond->forth.count + bond->back.count;
}

uint32_t clock_pair_other(const struct clock_pair *bond, uint32_t clock)
{
    return bond->a == clock ? bond->b : bond->a;
}

/* ---- bounds by ties ---- */

struct clock_tie_known {
    bool is_known, uneven;
    struct clock_interval shown, rate; /* relative to the first clock; rate: 1 + drift */
};

static struct clock_interval clock_ties_intersect(struct clock_interval a, struct clock_interval b)
{
    return (struct clock_interval){fmax(a.low, b.low), fmin(a.high, b.high)};
}

/* Propagates the bounds of one clock to another; returns whether those of the other got
 * narrower. */
static bool clock_ties_propagate(struct clock_tie_known *to, const struct clock_tie_known *from,
                                 const struct clock_region *region, bool forth)
{
    struct clock_interval drift = clock_region_drift(region);
    struct clock_interval rate =
        forth ? (struct clock_interval){1 + drift.low, 1 + drift.high}
              : (struct clock_interval){1 / (1 + drift.high), 1 / (1 + drift.low)};
    struct clock_tie_known next = {true,
                                   from->uneven || region->slack_ns > CLOCK_REGION_LEAST_NS,
                                   forth ? clock_region_map(region, from->shown)
                                         : clock_region_map_back(region, from->shown),
                                   {from->rate.low * rate.low, from->rate.high * rate.high}};
    if (!to->is_known) {
        *to = next;
        return true;
    }
    struct clock_interval shown = clock_ties_intersect(to->shown, next.shown),
                          drifts = clock_ties_intersect(to->rate, next.rate);
    bool narrower = shown.high - shown.low < to->shown.high - to->shown.low - 1;
    if (!narrower || shown.low > shown.high)
        return false; /* (uneven clocks may contradict each other) */
    to->shown = shown;
    to->rate = drifts.low <= drifts.high ? drifts : to->rate;
    to->uneven |= next.uneven;
    return true;
}

struct clock_tie_pair { /* a pair of clocks with messages in both directions */
    uint32_t a, b;
    struct clock_region region;
};

static bool clock_ties_follow_all(const struct clock_tie_pair *pairs, size_t count,
                                  struct clock_tie_known *known)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct clock_tie_pair *p = &pairs[i];
        if (known[p->a].is_known)
            any |= clock_ties_propagate(&known[p->b], &known[p->a], &p->region, true);
        if (known[p->b].is_known && p->a > 0)
            any |= clock_ties_propagate(&known[p->a], &known[p->b], &p->region, false);
    }
    return any;
}

static struct clock_tie_pair *clock_ties_pairs(const struct clock_ties *t, size_t *count)
{
    struct clock_tie_pair *pairs = xcalloc(t->count + 1, sizeof *pairs);
    for (size_t i = 0; i < t->count; i++) {
        const struct clock_pair *bond = &t->bonds[i];
        if (!bond->forth.count || !bond->back.count)
            continue;
        struct clock_half_plane *cuts = xcalloc(clock_pair_messages(bond), sizeof *cuts);
        size_t n = clock_region_cuts(cuts, &bond->forth, &bond->back, t->middle);
        pairs[*count] = (struct clock_tie_pair){.a = bond->a, .b = bond->b};
        clock_region_from(&pairs[*count].region, cuts, n);
        *count += pairs[*count].region.count != 0;
        free(cuts);
    }
    return pairs;
}

void clock_ties_bound(const struct clock_ties *t, double shown, struct clock_tied *bounds)
{
    double at = shown - t->middle;
    size_t count = 0;
    struct clock_tie_pair *pairs = clock_ties_pairs(t, &count);
    struct clock_tie_known *known = xcalloc(t->clocks + 1, sizeof *known);
    known[0] = (struct clock_tie_known){true, false, {at, at}, {1, 1}};
    for (uint32_t i = 0; i < t->clocks && clock_ties_follow_all(pairs, count, known); i++)
        ;
    for (uint32_t i = 0; i < t->clocks; i++)
        bounds[i] = (struct clock_tied){known[i].is_known,
                                        known[i].uneven,
                                        {known[i].shown.low - at, known[i].shown.high - at},
                                        {known[i].rate.low - 1, known[i].rate.high - 1}};
    free(known);
    free(pairs);
}
