#include "server/run/clock_bounds.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

#define LOOSE 512u /* minimum number of messages beyond the hull before it is computed again */

/* ---- hulls ---- */

static int by_sent(const void *a, const void *b)
{
    const struct clock_message *x = a, *y = b;
    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    return x->got < y->got ? -1 : x->got > y->got;
}

__extension__ typedef __int128 wide;

/* Returns whether the middle one of three messages, by send time, is not below the line from the
 * first to the last. */
static bool is_above(const struct clock_message *a, const struct clock_message *b,
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
    qsort(items, ways->count, sizeof *items, by_sent);
    for (size_t i = 0; i < ways->count; i++) {
        if (kept && items[kept - 1].sent == items[i].sent)
            continue; /* the one before was sent at the same time and arrived earlier */
        while (kept > 1 && is_above(&items[kept - 2], &items[kept - 1], &items[i]))
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
