#include "server/answer/table/hinting.h"

#include "memory/memory.h"
#include "server/run/places.h"

#include <stdlib.h>
#include <string.h>

/* In words: of one thread, of several (NULL: the same; %u: how many), and what may help (NULL: nothing in general). */
static const struct {
    const char *one, *several, *advice;
} words[HINT_KINDS] = {
    [HINT_OPEN] = {"waits at the end, and has not gone on", NULL,
                   "who waits for whom at the end, and who can go on: poet blocked"},
    [HINT_PATH] = {"decided how long it took", NULL, NULL},
    [HINT_READY] = {"was let go, and went on late", NULL,
                    "more threads than processors, or others that run on them"},
    [HINT_PROCESSOR] = {"waits for a processor", "%u threads wait for a processor",
                        "fewer threads at work at once, or more processors; or other programs have "
                        "them: measure again on a quiet machine"},
    [HINT_ENDS] = {"had ended long before anybody took note",
                   "%u threads had ended long before anybody took note",
                   "does no harm, unless what follows the join could begin sooner"},
    [HINT_LOCK] = {"waits much for a lock", "%u threads wait much for a lock",
                   "do less while it is held, or use several locks; what its holders did "
                   "meanwhile stands below, with the wait"},
    [HINT_GIVEN] = {"waits much until others give it back",
                    "%u threads wait much until others give it back",
                    "let more of them have it at once (what a semaphore begins with), or give it "
                    "back sooner"},
    [HINT_ALWAYS] = {"somebody waits for it nearly all the time", NULL,
                     "more threads would only wait there with the others"},
    [HINT_RETAKEN] = {"others take it again and again as it waits", NULL,
                      "who has just had it wins against who waits: leave it free for longer, or "
                      "use a lock that is fair (prefers writers, goes round)"},
    [HINT_KEEPER] = {"the others wait most for it to come", NULL, NULL},
    [HINT_NOTHING] = {"is woken, and waits again at once",
                      "%u threads are woken, and wait again at once",
                      "wake one rather than all (signal, not broadcast), or have a condition for "
                      "each thing that is waited for"},
    [HINT_CLOCK] = {"waits until its time is over, as nobody wakes it",
                    "%u threads wait until their time is over, as nobody wakes them",
                    "who changes what is waited for can wake who waits; else he learns of it "
                    "late"},
    [HINT_ONE] = {"makes threads one after the other, and waits for each", NULL,
                  "make all of them, then wait"},
    [HINT_TURNS] = {"two wait for each other in turns", NULL,
                    "neither is always the slower: room for more between them (a longer queue), or "
                    "more at a time"},
    [HINT_AT_A_TIME] = {"hardly more than one thread runs at a time",
                        "of %u threads hardly more than one runs at a time",
                        "see what the others wait for"},
    [HINT_UNEXPLAINED] = {"waited, and nothing recorded tells who ended it", NULL, NULL}};

void hinting_columns(struct shown_table *t)
{
    table_add_column(t, "hint", "what", TABLE_TEXT, NULL);
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "about", "for", TABLE_LINE, NULL);
    table_add_column(t, "by", "let go by", TABLE_LINE, NULL);
    table_add_column(t, "ns", "took", TABLE_NS, NULL);
    table_add_column(t, "share", "of it", TABLE_SHARE, NULL);
    table_add_column(t, "waits", "times", TABLE_COUNT, NULL);
    table_add_column(t, "where", "where", TABLE_PLACE, NULL);
    table_add_column(t, "released_by", "let go at", TABLE_PLACE, NULL);
    table_add_column(t, "event", "event", TABLE_EVENT, NULL);
}

static char *say(enum hint_kind kind, uint32_t threads)
{
    if (threads < 2 || !words[kind].several)
        return memory_copied(words[kind].one);
    const char *several = words[kind].several, *number = strstr(several, "%u");
    return memory_printed("%.*s%u%s", (int)(number - several), several, threads, number + 2);
}

struct table_cell *hinting_add(struct hinting *h, enum hint_kind kind, uint32_t threads,
                               uint32_t thread, int64_t ns, int64_t of_ns, struct ref event)
{
    struct table_cell *cells = table_add_row(h->table, 0, event);
    if (!cells)
        return NULL;
    char *said = say(kind, threads);
    cells[HINT_TEXT] = cell_text(said);
    free(said);
    cells[HINT_THREAD] = cell_line(thread);
    cells[HINT_NS] = cell_number(ns);
    cells[HINT_SHARE] = cell_real(of_ns > 0 ? (double)ns / (double)of_ns : 0);
    cells[HINT_EVENT] = cell_event(event);
    table_row_line(h->table, thread);
    h->used |= 1u << kind;
    return cells;
}

void hinting_wait(const struct hinting *h, struct table_cell *cells, const struct wait *wait,
                  uint64_t times)
{
    cells[HINT_ABOUT] = cell_line(wait->about);
    if (times)
        cells[HINT_TIMES] = cell_number((int64_t)times);
    cells[HINT_WHERE] = cell_place(table_place(h->view, wait->place));
    if (wait->about)
        table_row_line(h->table, wait->about);
}

void hinting_release(const struct hinting *h, struct table_cell *cells,
                     const struct segment *segment)
{
    const struct order *order = h->view->run->order;
    cells[HINT_BY] = cell_line(segment->thread);
    if (segment->release == NO_POSITION || segment->release < order_first(order))
        return;
    uint32_t site = order_event(order, segment->release).site;
    cells[HINT_LET_GO_AT] = cell_place(table_place(h->view, places_of(h->view->run, site)));
}

void hinting_advise(const struct hinting *h)
{
    for (unsigned kind = 0; kind < HINT_KINDS; kind++)
        if ((h->used >> kind & 1) && kind == HINT_OPEN)
            table_add_note(h->table, "%s", words[kind].advice);
        else if ((h->used >> kind & 1) && words[kind].advice)
            table_add_note(h->table, "%s: %s", words[kind].one, words[kind].advice);
}

int64_t hinting_life(const struct hinting *h, uint32_t thread)
{
    const struct course_of *c = intervals_of(h->view->measured, thread);
    struct states s = {0};
    if (c)
        states_sum(&h->view->lives, c, h->view->from_ns, table_until(h->view, c), &s);
    return s.life_ns;
}

int64_t hinting_until(const struct hinting *h, uint32_t thread)
{
    const struct course_of *c = h->view->past ? intervals_of(h->view->measured, thread) : NULL;
    return c ? table_until(h->view, c) : h->view->to_ns;
}

static int64_t within(const struct hinting *h, uint32_t thread, int64_t from_ns, int64_t to_ns)
{
    int64_t until = hinting_until(h, thread);
    int64_t from = from_ns > h->view->from_ns ? from_ns : h->view->from_ns,
            to = to_ns < until ? to_ns : until;
    return to > from ? to - from : 0;
}

int64_t hinting_wait_ns(const struct hinting *h, const struct wait *wait)
{
    return within(h, wait->thread, wait->from_ns, wait->to_ns);
}

int64_t hinting_segment_ns(const struct hinting *h, uint32_t segment)
{
    const struct intervals *all = h->view->measured;
    const struct segment *s = &all->segments[segment];
    return within(h, all->waits[s->wait].thread, segment_begin(all, segment), s->to_ns);
}
