#include "server/order/causality/consistent_cut.h"

#include "base/alloc.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order_state.h"

#include <stdlib.h>

struct consistent_cut {
    const struct order *order;
    uint64_t first;     /* the first position that the bits stand for */
    uint64_t low, high; /* all before low are in the cut, none from high on is */
    uint64_t at;        /* the pass: of a past backwards, the first position that is examined */
    uint64_t *bits;
    uint64_t *heads; /* by line - 1: 1 + the last position known to be in the cut; 0: none */
    uint32_t lines;
    bool back, done, shared; /* shared: there are events on shared lines */
    /* of a past: exclusive lines examined so far, for `missing`; those with an event before `at`
     * that is not known to be in the cut; those with an event in the cut that the pass has not
     * reached */
    uint32_t counted;
    uint64_t missing, open;
    struct consistent_cut_choice choice; /* of a largest cut */
};

static bool consistent_cut_bit(const struct consistent_cut *cut, uint64_t position)
{
    uint64_t i = position - cut->first;
    return cut->bits[i / 64] >> i % 64 & 1;
}

static uint32_t consistent_cut_line(const struct consistent_cut *cut, uint64_t position)
{
    return block_line_of(log_get(cut->order, position, FIELD_LINE));
}

/* Returns the index of an exclusive, visible line; UINT32_MAX: it is another one. */
static uint32_t consistent_cut_index(const struct consistent_cut *cut, uint32_t line)
{
    bool visible = line && !(line & HIDDEN_LINE) && line <= cut->lines;
    return visible && !line_is_shared(cut->order, line) ? line - 1 : UINT32_MAX;
}

static void consistent_cut_set(struct consistent_cut *cut, uint64_t position)
{
    uint64_t i = position - cut->first;
    cut->bits[i / 64] |= UINT64_C(1) << i % 64;
    uint32_t line = consistent_cut_index(cut, consistent_cut_line(cut, position));
    if (line == UINT32_MAX)
        return;
    if (!cut->heads[line] && cut->back) {
        cut->missing -= line < cut->counted && cut->missing;
        cut->open++;
    }
    if (cut->heads[line] < position + 1)
        cut->heads[line] = position + 1;
}

static struct consistent_cut *consistent_cut_new(const struct order *order, uint64_t first,
                                                 uint64_t high)
{
    struct consistent_cut *cut = xmalloc(sizeof *cut);
    *cut = (struct consistent_cut){.order = order, .first = first, .low = first, .high = high};
    cut->lines = order_line_count(order);
    cut->bits = xcalloc((high - first) / 64 + 1, sizeof *cut->bits);
    cut->heads = xcalloc(cut->lines + 1u, sizeof *cut->heads);
    return cut;
}

void consistent_cut_free(struct consistent_cut *cut)
{
    if (!cut)
        return;
    if (cut->choice.free)
        cut->choice.free(cut->choice.context);
    free(cut->bits);
    free(cut->heads);
    free(cut);
}

/* ---- the past: backwards through the log ---- */

/* Adds the point of an event, which all of the pass is behind. */
static void consistent_cut_add(struct consistent_cut *cut, uint64_t position)
{
    if (position < cut->first || position >= cut->high || consistent_cut_bit(cut, position))
        return;
    uint64_t point = position - log_get(cut->order, position, FIELD_POINT);
    uint64_t end = order_point_end(cut->order, position);
    for (uint64_t p = point < cut->first ? cut->first : point; p <= end && p < cut->high; p++)
        if (!consistent_cut_bit(cut, p))
            consistent_cut_set(cut, p);
}

/* Adds what directly precedes one event. */
static void consistent_cut_add_causes(struct consistent_cut *cut, uint64_t position)
{
    const struct order *order = cut->order;
    uint32_t line = consistent_cut_line(cut, position);
    uint64_t previous = order_previous(order, position);
    if (previous != NO_POSITION && !line_is_shared(order, line))
        consistent_cut_add(cut, previous);
    uint32_t count = block_edges(log_block(order, position), position % BLOCK_EVENTS).count;
    for (uint32_t i = 0; i < count; i++)
        consistent_cut_add(cut, order_edge(order, position, i));
}

struct consistent_cut *consistent_cut_past(const struct order *order, const uint64_t *positions,
                                           size_t count, bool with)
{
    uint64_t first = order_first(order), high = first;
    for (size_t i = 0; i < count; i++) {
        uint64_t end = order_point_end(order, positions[i]) + 1;
        high = end > high ? end : high;
    }
    struct consistent_cut *cut = consistent_cut_new(order, first, high);
    cut->back = true;
    cut->at = high;
    for (size_t i = 0; i < count; i++) {
        uint64_t p = positions[i] - log_get(order, positions[i], FIELD_POINT);
        uint64_t end = order_point_end(order, positions[i]);
        for (; p <= end; p++)
            if (with && p >= first && !consistent_cut_bit(cut, p))
                consistent_cut_set(cut, p);
            else if (!with && p >= first)
                consistent_cut_add_causes(cut, p);
    }
    return cut;
}

/* Counts exclusive lines with events that the pass has not reached. */
static bool consistent_cut_count_lines(struct consistent_cut *cut, uint64_t *budget)
{
    const struct order *order = cut->order;
    for (; cut->counted < cut->lines && *budget; cut->counted++, --*budget) {
        uint32_t i = consistent_cut_index(cut, cut->counted + 1);
        cut->shared |= i == UINT32_MAX && order_line_events(order, cut->counted + 1);
        if (i == UINT32_MAX || cut->heads[i] || line_is_evicted(order, i))
            continue;
        uint64_t ordinal = order_line_first(order, i + 1);
        uint64_t p = ordinal < order_line_events(order, i + 1)
                         ? order_line_at(order, i + 1, ordinal)
                         : NO_POSITION;
        cut->missing += p != NO_POSITION && p < cut->at;
    }
    return cut->counted == cut->lines;
}

static void consistent_cut_examine(struct consistent_cut *cut, uint64_t position)
{
    uint32_t line = consistent_cut_index(cut, consistent_cut_line(cut, position));
    bool in = consistent_cut_bit(cut, position);
    if (in)
        consistent_cut_add_causes(cut, position);
    if (line == UINT32_MAX)
        return;
    cut->open -= in && cut->heads[line] == position + 1;
    if (!cut->heads[line] && order_previous(cut->order, position) == NO_POSITION)
        cut->missing -= cut->missing > 0;
}

/* Returns whether all that is before the pass is in the cut: if each line with earlier events has
 * later ones in the cut.  Of a shared line that says nothing. */
static bool consistent_cut_is_complete(const struct consistent_cut *cut)
{
    return !cut->missing && !cut->open && !cut->shared;
}

static bool consistent_cut_step_back(struct consistent_cut *cut, uint64_t budget)
{
    if (!consistent_cut_count_lines(cut, &budget))
        return false;
    for (; budget && cut->at > cut->first && !consistent_cut_is_complete(cut); budget--)
        consistent_cut_examine(cut, --cut->at);
    cut->done = cut->at == cut->first || consistent_cut_is_complete(cut);
    cut->low = cut->at;
    return cut->done;
}

/* ---- the largest cut: forwards ---- */

struct consistent_cut *consistent_cut_largest(const struct order *order, uint64_t low,
                                              uint64_t high, struct consistent_cut_choice choice)
{
    uint64_t first = order_first(order);
    low = low < first ? first : low;
    if (low < order_count(order))
        low -= log_get(order, low, FIELD_POINT); /* members of a point stay together */
    high = high < low ? low : high;
    struct consistent_cut *cut = consistent_cut_new(order, low, high);
    cut->at = low;
    cut->choice = choice;
    return cut;
}

/* Returns whether all that directly precedes an event is in the cut. */
static bool consistent_cut_has_causes(const struct consistent_cut *cut, uint64_t position)
{
    const struct order *order = cut->order;
    uint64_t previous = order_previous(order, position);
    if (previous != NO_POSITION && !line_is_shared(order, consistent_cut_line(cut, position)) &&
        !consistent_cut_contains(cut, previous))
        return false;
    uint32_t count = block_edges(log_block(order, position), position % BLOCK_EVENTS).count;
    for (uint32_t i = 0; i < count; i++)
        if (!consistent_cut_contains(cut, order_edge(order, position, i)))
            return false;
    return true;
}

static bool consistent_cut_wants(const struct consistent_cut *cut, uint64_t position)
{
    return log_get(cut->order, position, FIELD_FLAGS) & FIELD_INCONSISTENT ||
           consistent_cut_line(cut, position) & HIDDEN_LINE ||
           cut->choice.wants(cut->choice.context, position);
}

static bool consistent_cut_step_on(struct consistent_cut *cut, uint64_t budget)
{
    while (budget && cut->at < cut->high) {
        uint64_t end = order_point_end(cut->order, cut->at);
        bool in = end < cut->high;
        for (uint64_t p = cut->at; in && p <= end; p++)
            in = consistent_cut_wants(cut, p) && consistent_cut_has_causes(cut, p);
        for (uint64_t p = cut->at; in && p <= end; p++)
            consistent_cut_set(cut, p);
        budget -= end - cut->at < budget ? end - cut->at + 1 : budget;
        cut->at = end + 1;
    }
    return cut->done = cut->at >= cut->high;
}

/* ---- results ---- */

bool consistent_cut_step(struct consistent_cut *cut, uint64_t budget)
{
    if (cut->done)
        return true;
    return cut->back ? consistent_cut_step_back(cut, budget) : consistent_cut_step_on(cut, budget);
}

bool consistent_cut_contains(const struct consistent_cut *cut, uint64_t position)
{
    return position < cut->low || (position < cut->high && consistent_cut_bit(cut, position));
}

uint64_t consistent_cut_low(const struct consistent_cut *cut) { return cut->low; }
uint64_t consistent_cut_high(const struct consistent_cut *cut) { return cut->high; }

uint64_t consistent_cut_last(const struct consistent_cut *cut, uint32_t line)
{
    if (!line || line > cut->lines)
        return NO_POSITION;
    if (cut->heads[line - 1])
        return cut->heads[line - 1] - 1;
    uint64_t ordinal = order_line_from(cut->order, line, cut->low);
    return ordinal > order_line_first(cut->order, line)
               ? order_line_at(cut->order, line, ordinal - 1)
               : NO_POSITION;
}
