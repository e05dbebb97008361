#include "clients/connection/view_state.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t count, size_t bytes)
{
    return count ? memcpy(xmalloc(count * bytes), from, count * bytes) : NULL;
}

void view_state_copy(struct view_state *to, const struct view_state *from)
{
    struct view_state copy = *from;
    copy.rows = copy_of(from->rows, from->row_count, sizeof *from->rows);
    copy.moves = copy_of(from->moves, from->move_count, sizeof *from->moves);
    copy.lit = from->lit ? xstrdup(from->lit) : NULL;
    view_state_free(to);
    *to = copy;
}

void view_state_free(struct view_state *place)
{
    free(place->rows);
    free(place->moves);
    free(place->lit);
    *place = (struct view_state){0};
}

static bool same_rows(const struct view_state *a, const struct view_state *b)
{
    for (uint32_t i = 0; i < a->row_count && i < b->row_count; i++)
        if (a->rows[i].line != b->rows[i].line || a->rows[i].joins != b->rows[i].joins ||
            a->rows[i].hidden != b->rows[i].hidden || a->rows[i].pinned != b->rows[i].pinned)
            return false;
    return a->row_count == b->row_count;
}

static bool same_moves(const struct view_state *a, const struct view_state *b)
{
    for (uint32_t i = 0; i < a->move_count && i < b->move_count; i++)
        if (a->moves[i].line != b->moves[i].line || a->moves[i].to != b->moves[i].to ||
            a->moves[i].events != b->moves[i].events)
            return false;
    return a->move_count == b->move_count;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool view_state_equal(const struct view_state *a, const struct view_state *b)
{
    return a->anchor == b->anchor && event_id_equal(a->event, b->event) &&
           a->position == b->position && a->time_ns == b->time_ns && a->from == b->from &&
           a->shift_pt == b->shift_pt && a->rise_pt == b->rise_pt && a->zoom == b->zoom &&
           a->follow == b->follow && a->overview == b->overview &&
           a->overview_from == b->overview_from && a->overview_to == b->overview_to &&
           a->fold == b->fold && a->column_ns == b->column_ns &&
           event_id_equal(a->selected, b->selected) && event_id_equal(a->second, b->second) &&
           a->color_relations == b->color_relations && a->hide == b->hide &&
           same_text(a->lit, b->lit) && same_rows(a, b) && same_moves(a, b);
}

void view_state_request(const struct view_state *place, struct window_request *request)
{
    *request = (struct window_request){.anchor = place->anchor,
                                       .event = place->event,
                                       .position = place->position,
                                       .time_ns = place->time_ns,
                                       .from = place->from,
                                       .columns = place->columns ? place->columns : 1,
                                       .fold = place->fold && !place->column_ns,
                                       .column_ns = place->column_ns,
                                       .middle = place->from,
                                       .moves = place->moves,
                                       .move_count = place->move_count};
    request->rows = xcalloc(place->row_count + 1, sizeof *request->rows);
    request->joined = xcalloc(place->row_count + 1, 1);
    bool open = false; /* the current line group has a visible row */
    for (uint32_t i = 0; i < place->row_count; i++) {
        const struct view_state_row *row = &place->rows[i];
        open &= row->joins;
        if (row->hidden)
            continue;
        request->joined[request->row_count] = row->joins && open;
        request->rows[request->row_count++] = row->line;
        open = true;
    }
}

void place_leave_end(struct view_state *place)
{
    place->follow = false;
    place->anchor = place->column_ns && place->time_ns ? ANCHOR_TIME : ANCHOR_POSITION;
}

void view_state_pinned_first(struct view_state *place)
{
    struct view_state_row *rows = xcalloc(place->row_count + 1, sizeof *rows);
    uint32_t n = 0;
    for (uint32_t i = 1; i < place->row_count; i++)
        if (place->rows[i].joins)
            place->rows[i].pinned = place->rows[i - 1].pinned;
    for (int others = 0; others < 2; others++)
        for (uint32_t i = 0; i < place->row_count; i++)
            if (place->rows[i].pinned != others)
                rows[n++] = place->rows[i];
    free(place->rows);
    place->rows = rows;
}

void view_state_move(struct view_state *place, uint32_t line, int64_t events)
{
    struct layout_move *last = place->move_count ? &place->moves[place->move_count - 1] : NULL;
    if (last && last->line == line && !last->to) {
        last->events += events;
        place->move_count -= last->events == 0;
        return;
    }
    place->moves = xreallocarray(place->moves, place->move_count + 1, sizeof *place->moves);
    place->moves[place->move_count++] = (struct layout_move){line, false, events};
}
