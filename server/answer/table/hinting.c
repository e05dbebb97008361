#include "server/answer/table/hinting.h"

#include "memory/memory.h"
#include "server/run/places.h"

#include <stdlib.h>
#include <string.h>

/* In words: of one thread, of several (NULL: the same; %u: how many), and what may help (NULL:
 * nothing in general). */
static const struct {
    const char *one, *several, *advice;
} words[FINDING_ROW_KINDS] = {
    [FINDING_ROW_OPEN] = {"waits at the end, and has not gone on", NULL,
                          "who waits for whom at the end, and who can go on: poet blocked"},
    [FINDING_ROW_PATH] = {"decided how long it took", NULL, NULL},
    [FINDING_ROW_READY] = {"was let go, and went on late", NULL,
                           "more threads than processors, or others that run on them"},
    [FINDING_ROW_PROCESSOR] =
        {"waits for a processor", "%u threads wait for a processor",
         "fewer threads at work at once, or more processors; or other programs have "
         "them: measure again on a quiet machine"},
    [FINDING_ROW_ENDS] = {"had ended long before anybody took note",
                          "%u threads had ended long before anybody took note",
                          "does no harm, unless what follows the join could begin sooner"},
    [FINDING_ROW_LOCK] = {"waits much for a lock", "%u threads wait much for a lock",
                          "do less while it is held, or use several locks; what its holders did "
                          "meanwhile stands below, with the wait"},
    [FINDING_ROW_GIVEN] =
        {"waits much until others give it back", "%u threads wait much until others give it back",
         "let more of them have it at once (what a semaphore begins with), or give it "
         "back sooner"},
    [FINDING_ROW_ALWAYS] = {"somebody waits for it nearly all the time", NULL,
                            "more threads would only wait there with the others"},
    [FINDING_ROW_RETAKEN] =
        {"others take it again and again as it waits", NULL,
         "who has just had it wins against who waits: leave it free for longer, or "
         "use a lock that is fair (prefers writers, goes round)"},
    [FINDING_ROW_KEEPER] = {"the others wait most for it to come", NULL, NULL},
    [FINDING_ROW_NOTHING] =
        {"is woken, and waits again at once", "%u threads are woken, and wait again at once",
         "wake one rather than all (signal, not broadcast), or have a condition for "
         "each thing that is waited for"},
    [FINDING_ROW_CLOCK] =
        {"waits until its time is over, as nobody wakes it",
         "%u threads wait until their time is over, as nobody wakes them",
         "who changes what is waited for can wake who waits; else he learns of it "
         "late"},
    [FINDING_ROW_ONE] = {"makes threads one after the other, and waits for each", NULL,
                         "make all of them, then wait"},
    [FINDING_ROW_TURNS] =
        {"two wait for each other in turns", NULL,
         "neither is always the slower: room for more between them (a longer queue), or "
         "more at a time"},
    [FINDING_ROW_AT_A_TIME] = {"hardly more than one thread runs at a time",
                               "of %u threads hardly more than one runs at a time",
                               "see what the others wait for"},
    [FINDING_ROW_UNEXPLAINED] = {"waited, and nothing recorded tells who ended it", NULL, NULL}};

void finding_rows_columns(struct result_table *t)
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

static char *finding_rows_kind_text(enum finding_row_kind kind, uint32_t threads)
{
    if (threads < 2 || !words[kind].several)
        return xstrdup(words[kind].one);
    const char *several = words[kind].several, *number = strstr(several, "%u");
    return xasprintf("%.*s%u%s", (int)(number - several), several, threads, number + 2);
}

struct table_cell *finding_rows_add(struct finding_rows *h, enum finding_row_kind kind,
                                    uint32_t threads, uint32_t thread, int64_t ns, int64_t of_ns,
                                    struct event_id event)
{
    struct table_cell *cells = table_add_row(h->table, 0, event);
    if (!cells)
        return NULL;
    char *said = finding_rows_kind_text(kind, threads);
    cells[FINDING_ROW_TEXT] = table_cell_text(said);
    free(said);
    cells[FINDING_ROW_THREAD] = table_cell_line(thread);
    cells[FINDING_ROW_NS] = table_cell_number(ns);
    cells[FINDING_ROW_SHARE] = table_cell_real(of_ns > 0 ? (double)ns / (double)of_ns : 0);
    cells[FINDING_ROW_EVENT] = table_cell_event(event);
    table_row_line(h->table, thread);
    h->used |= 1u << kind;
    return cells;
}

void finding_rows_wait(const struct finding_rows *h, struct table_cell *cells,
                       const struct wait_record *wait, uint64_t times)
{
    cells[FINDING_ROW_ABOUT] = table_cell_line(wait->about);
    if (times)
        cells[FINDING_ROW_TIMES] = table_cell_number((int64_t)times);
    cells[FINDING_ROW_WHERE] = table_cell_place(table_place(h->view, wait->place));
    if (wait->about)
        table_row_line(h->table, wait->about);
}

void finding_rows_release(const struct finding_rows *h, struct table_cell *cells,
                          const struct wait_interval *segment)
{
    const struct order *order = h->view->run->order;
    cells[FINDING_ROW_BY] = table_cell_line(segment->thread);
    if (segment->release == NO_POSITION || segment->release < order_first(order))
        return;
    uint32_t site = order_event(order, segment->release).site;
    cells[FINDING_ROW_LET_GO_AT] =
        table_cell_place(table_place(h->view, call_sites_for_line(h->view->run, site)));
}

void finding_rows_advise(const struct finding_rows *h)
{
    for (unsigned kind = 0; kind < FINDING_ROW_KINDS; kind++)
        if ((h->used >> kind & 1) && kind == FINDING_ROW_OPEN)
            table_add_note(h->table, "%s", words[kind].advice);
        else if ((h->used >> kind & 1) && words[kind].advice)
            table_add_note(h->table, "%s: %s", words[kind].one, words[kind].advice);
}

int64_t finding_rows_life(const struct finding_rows *h, uint32_t thread)
{
    const struct thread_timeline *c = intervals_for_thread(h->view->measured, thread);
    struct thread_states s = {0};
    if (c)
        thread_states_sum(&h->view->lives, c, h->view->from_ns, table_until(h->view, c), &s);
    return s.life_ns;
}

int64_t finding_rows_until(const struct finding_rows *h, uint32_t thread)
{
    const struct thread_timeline *c =
        h->view->past ? intervals_for_thread(h->view->measured, thread) : NULL;
    return c ? table_until(h->view, c) : h->view->to_ns;
}

static int64_t finding_rows_ns_in_range(const struct finding_rows *h, uint32_t thread,
                                        int64_t from_ns, int64_t to_ns)
{
    int64_t until = finding_rows_until(h, thread);
    int64_t from = from_ns > h->view->from_ns ? from_ns : h->view->from_ns,
            to = to_ns < until ? to_ns : until;
    return to > from ? to - from : 0;
}

int64_t finding_rows_wait_ns(const struct finding_rows *h, const struct wait_record *wait)
{
    return finding_rows_ns_in_range(h, wait->thread, wait->from_ns, wait->to_ns);
}

int64_t finding_rows_segment_ns(const struct finding_rows *h, uint32_t segment)
{
    const struct intervals *all = h->view->measured;
    const struct wait_interval *s = &all->segments[segment];
    return finding_rows_ns_in_range(h, all->waits[s->wait].thread,
                                    wait_interval_begin(all, segment), s->to_ns);
}
