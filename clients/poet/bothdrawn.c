/* Two runs in one window. */
#define _GNU_SOURCE
#include "clients/poet/bothdrawn.h"

#include "clients/book/joined.h"
#include "clients/poet/output.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define BEFORE 30 /* columns, where they part */
#define BEHIND 14
#define APART 60 /* where one comes to it so much later, that is seen, too */
#define EVENTS_MOST 20000u /* of a run */
#define SECOND (UINT64_C(1) << 62) /* positions of the second run come behind all of the first */

/* One of the two, as far as it is drawn; lines are its own, until it is joined. */
struct side {
    const struct both *both;
    unsigned index;
    int32_t from, until; /* columns */
    struct side_line {
        struct presences in; /* before the window */
        uint64_t left; /* events before it */
        bool right; /* there are some behind it */
        bool drawn;
        struct shown_stay last; /* of a thread, before the window; thread 0: nothing */
    } *lines; /* by line - 1 */
    uint32_t line_count;
    struct shown_event *events;
    uint32_t event_count;
    uint32_t *rows, row_count;
};

/* ---- what is in the window ---- */

static void pass(struct side *s, const struct shown_event *e)
{
    uint32_t thread = e->thread ? e->thread : e->at.line;
    struct side_line *line = &s->lines[e->at.line - 1];
    line->in = e->in;
    line->left++;
    if (thread <= s->line_count)
        s->lines[thread - 1].last = (struct shown_stay){.thread = thread,
                                                        .at = e->at,
                                                        .type = e->type,
                                                        .relation = e->relation,
                                                        .about = e->about,
                                                        .time_ns = e->time_ns};
}

static void take(void *user, const struct answer *answer)
{
    struct side *s = user;
    struct shown_event e;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &e);
    e.column = answer->in->error ? -1 : beside_column(s->both->beside, s->index, e.at);
    bool known = e.column >= 0 && e.at.line <= s->line_count;
    if (known && e.column < s->from) {
        pass(s, &e);
    } else if (known && e.column <= s->until && s->event_count < EVENTS_MOST) {
        e.position = s->index * SECOND + s->event_count;
        e.since_ns = e.waited_ns = -1;
        PUSH(s->events, s->event_count, e);
        return;
    } else if (known) {
        s->lines[e.at.line - 1].right = true;
    }
    shown_event_free(&e);
}

static void free_side(struct side *s)
{
    for (uint32_t i = 0; i < s->event_count; i++)
        shown_event_free(&s->events[i]);
    free(s->events);
    free(s->lines);
    free(s->rows);
}

/* ---- its rows ---- */

static void want(struct side *s, uint32_t line)
{
    const struct book *book = &s->both->runs[s->index].subject.source.book;
    if (line && line <= s->line_count && book_drawn(book, line))
        s->lines[line - 1].drawn = true;
}

/* Lines on which something happens there, and those of the threads that do it. */
static void want_lines(struct side *s)
{
    for (uint32_t i = 0; i < s->event_count; i++) {
        want(s, s->events[i].at.line);
        want(s, s->events[i].thread);
    }
}

/* What has a row in the one has one in the other, too. */
static void want_partners(const struct side *of, struct side *other)
{
    for (uint32_t i = 1; i <= of->line_count; i++)
        if (of->lines[i - 1].drawn)
            want(other, beside_line(of->both->beside, of->index, i));
}

static void add_row(struct side *s, uint32_t line)
{
    PUSH(s->rows, s->row_count, line);
    s->lines[line - 1].drawn = false;
}

/* In the order of the run; those of the second one as their partners in the first, then the others. */
static void choose_rows(struct side *s, const struct side *first)
{
    const struct book *book = &s->both->runs[s->index].subject.source.book;
    for (uint32_t i = 0; first && i < first->row_count; i++) {
        uint32_t line = beside_line(s->both->beside, 0, first->rows[i]);
        if (line && line <= s->line_count && s->lines[line - 1].drawn)
            add_row(s, line);
    }
    uint32_t partners = s->row_count;
    for (uint32_t line = 1; line <= s->line_count; line++)
        if (s->lines[line - 1].drawn)
            add_row(s, line);
    book_sort(book, s->rows + partners, s->row_count - partners);
}

static bool read_side(const struct command *command, struct both *both, struct side *s)
{
    struct subject *subject = &both->runs[s->index].subject;
    s->line_count = subject->source.book.line_count;
    s->lines = memory_zeroed(s->line_count, sizeof *s->lines);
    if (!subject_ask(command, subject, ASK_DUMP, NULL, take, s))
        return false;
    want_lines(s);
    return true;
}

/* ---- one window of both ---- */

static void add_heading(struct shown_window *w, struct book *book, const char *words)
{
    struct shown_row row = {.line = book_heading(book, words)};
    PUSH(w->rows, w->row_count, row);
}

/* Order without a partner, where both ends are seen. */
static void add_edges(struct shown_window *w, const struct side *s, const struct joined *joined,
                      const struct shown_event *e)
{
    for (uint32_t i = 0; i < e->after_count; i++) {
        int32_t column = beside_column(s->both->beside, s->index, e->after[i]);
        struct shown_edge edge = {joined_ref(joined, e->after[i]), joined_ref(joined, e->at)};
        if (column >= s->from && column <= s->until)
            PUSH(w->edges, w->edge_count, edge);
    }
}

static void add_row_of(struct shown_window *w, const struct side *s, const struct joined *joined,
                       uint32_t line)
{
    const struct side_line *l = &s->lines[line - 1];
    struct shown_row row = {.line = joined_line(joined, line),
                            .in = l->in,
                            .left = l->left,
                            .open = l->left && (l->right || s->both->runs[s->index].cut)};
    PUSH(w->rows, w->row_count, row);
    w->more_left |= l->left > 0;
    w->more_right |= l->right;
    if (!l->last.thread)
        return;
    struct shown_stay stay = l->last;
    stay.thread = joined_line(joined, stay.thread);
    stay.at = joined_ref(joined, stay.at);
    stay.about = joined_line(joined, stay.about);
    stay.type += joined->types;
    PUSH(w->stays, w->stay_count, stay);
}

/* Its events go over into the window. */
static void add_side(struct shown_window *w, struct side *s, const struct joined *joined)
{
    for (uint32_t i = 0; i < s->row_count; i++)
        add_row_of(w, s, joined, s->rows[i]);
    for (uint32_t i = 0; i < s->event_count; i++) {
        add_edges(w, s, joined, &s->events[i]);
        joined_event(joined, &s->events[i]);
        w->last = s->events[i].column > w->last ? s->events[i].column : w->last;
        PUSH(w->events, w->event_count, s->events[i]);
    }
    s->event_count = 0;
}

static const char *name_of(const struct both_run *run)
{
    const char *name = run->subject.source.name, *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static void note(struct picture *p, struct ref at, const char *words)
{
    if (at.line && words)
        p->noted[p->noted_count++] = (struct scene_noted){at, words, true};
}

static void fill(struct picture *p, struct both *both, struct side *sides)
{
    struct shown_window *w = &p->window;
    struct book *book = &both->runs[0].subject.source.book;
    char *second = memory_copied(name_of(&both->runs[1]));
    struct joined none = {0};
    *w =
        (struct shown_window){.from = sides[0].from, .first = sides[0].from, .last = sides[0].from};
    struct joined joined = book_join(book, &both->runs[1].subject.source.book);
    add_heading(w, book, name_of(&both->runs[0]));
    add_side(w, &sides[0], &none);
    add_heading(w, book, second);
    add_side(w, &sides[1], &joined);
    free(second);
    w->columns = (uint32_t)(w->last - w->first + 1);
    w->count = w->event_count;
    p->noted = memory_zeroed(2, sizeof *p->noted);
    note(p, both->runs[0].place, both->runs[0].said);
    note(p, joined_ref(&joined, both->runs[1].place), both->runs[1].said);
    snprintf(p->title, sizeof p->title, "%s: two runs%s", book->run.name,
             w->more_left || w->more_right ? " (part)" : "");
}

/* Around the first column in which they are not equal. */
static void choose_columns(const struct both *both, int32_t *from, int32_t *until)
{
    int32_t first = INT32_MAX, last = 0;
    for (unsigned i = 0; i < 2; i++) {
        int32_t at = beside_column(both->beside, i, both->runs[i].place);
        first = at >= 0 && at < first ? at : first;
        last = at > last ? at : last;
    }
    *from = first > BEFORE ? first - BEFORE : 0;
    *until = (last - first < APART ? last : first) + BEHIND;
}

int bothdrawn_write(const struct command *command, struct both *both, const char *file)
{
    int32_t from, until;
    choose_columns(both, &from, &until);
    struct side sides[2] = {{.both = both, .index = 0, .from = from, .until = until},
                            {.both = both, .index = 1, .from = from, .until = until}};
    struct picture picture = {
        .command = command,
        .around = {1, 1}, /* it is a part that was chosen */
        .caption = "What is equal stands in the same columns; flags: where the runs part"};
    int status = EXIT_FAILED;
    if (read_side(command, both, &sides[0]) && read_side(command, both, &sides[1])) {
        want_partners(&sides[0], &sides[1]);
        want_partners(&sides[1], &sides[0]);
        choose_rows(&sides[0], NULL);
        choose_rows(&sides[1], &sides[0]);
        fill(&picture, both, sides);
        status = output_file(command, &picture, &both->runs[0].subject, &(struct page_options){0},
                             WRAP_WHERE_SMALL, file);
    }
    picture_free(&picture);
    free_side(&sides[0]);
    free_side(&sides[1]);
    return status;
}
