#include "server/queries/tables/finding_rows.h"

#include "base/alloc.h"
#include "server/run/call_sites.h"

#include <stdlib.h>
#include <string.h>

/* The text of a finding about one thread and about several (%u: their number; NULL: as for one),
 * and the advice for the kind (NULL: none). */
static const struct {
    const char *one, *several, *advice;
} finding_rows_texts[FINDING_ROW_KINDS] = {
    [FINDING_ROW_OPEN] = {"blocked at end of trace", NULL,
                          "see poet blocked for holders and deadlocks"},
    [FINDING_ROW_PATH] = {"dominates the critical path", NULL, NULL},
    [FINDING_ROW_WAKEUP_LATENCY] =
        {"high wake-up latency", "high wake-up latency (%u threads)",
         "more runnable threads than CPUs, or CPUs busy with other work"},
    [FINDING_ROW_CPU_CONTENTION] =
        {"CPU contention", "CPU contention (%u threads runnable without a CPU)",
         "run fewer threads at a time or use more CPUs; if other programs use the CPUs, "
         "measure again on an idle machine"},
    [FINDING_ROW_WORKERS] = {"too few worker threads",
                             "too few worker threads (%u tasks runnable on none)",
                             "give the runtime more worker threads (processors), if there are CPUs "
                             "for them, or run fewer tasks at a time"},
    [FINDING_ROW_LATE_JOIN] =
        {"exited long before it was joined", "%u threads exited long before they were joined",
         "harmless unless the code after the join could have started earlier"},
    [FINDING_ROW_LOCK] = {"lock contention", "lock contention (%u threads)",
                          "shorten the critical section or split the lock; \"Longest waits\" "
                          "below shows what the holders executed"},
    [FINDING_ROW_SEMAPHORE] = {"semaphore contention (waits for units to be released)",
                               "semaphore contention (%u threads wait for units to be released)",
                               "raise the initial count or release units earlier"},
    [FINDING_ROW_SATURATED] = {"saturated object: at least one thread waits for it most of the run",
                               NULL, "adding threads will not help; they would queue here"},
    [FINDING_ROW_OVERTAKEN] =
        {"overtaken waiter: other threads reacquired the lock while the thread waited", NULL,
         "the releasing thread reacquires before the waiter runs; leave the lock free "
         "longer or use a fair lock (FIFO, writer-preferring)"},
    [FINDING_ROW_PREEMPTED] =
        {"preempted lock holder: it was runnable while another thread ran on its CPU", NULL,
         "shorten the critical section; if the waiter has a higher priority, this is priority "
         "inversion: let the holder run with it (PTHREAD_PRIO_INHERIT)"},
    [FINDING_ROW_BOTTLENECK] = {"bottleneck thread: other threads wait mostly for it", NULL, NULL},
    [FINDING_ROW_LATE_ARRIVAL] =
        {"late at barriers: other threads wait for it there, likely load imbalance", NULL,
         "distribute the work more evenly (OpenMP: schedule(dynamic)), unless it had no CPU"},
    [FINDING_ROW_LATE_SENDER] =
        {"late sender: receivers wait for its messages", NULL,
         "send earlier, or let the receivers work until the message is there"},
    [FINDING_ROW_USELESS_WAKEUPS] =
        {"useless wake-ups (waits again immediately)",
         "useless wake-ups (%u threads wait again immediately)",
         "use signal instead of broadcast, or one condition variable per condition"},
    [FINDING_ROW_TIMEOUTS] =
        {"timeouts: waits end by timeout, not by a wake-up",
         "timeouts: waits of %u threads end by timeout, not by a wake-up",
         "signal the waiter when the state changes; otherwise it notices only after the "
         "timeout (polling)"},
    [FINDING_ROW_SERIALIZED] = {"serialized thread creation (waits for each before the next)", NULL,
                                "create all threads first, then wait for them"},
    [FINDING_ROW_PING_PONG] = {"ping-pong: two threads alternately wait for each other", NULL,
                               "use a longer queue between them or larger batches"},
    [FINDING_ROW_LITTLE_PARALLELISM] =
        {"little parallelism", "little parallelism (%u threads, about one running at a time)",
         "see what the other threads wait for"},
    [FINDING_ROW_UNATTRIBUTED] = {"unattributed wait (no traced event ended it)", NULL, NULL}};

void finding_rows_columns(struct result_table *t)
{
    static const struct column_definition columns[] = {
        [FINDING_ROW_TEXT] = {"finding", .kind = TABLE_TEXT},
        [FINDING_ROW_THREAD] = {"thread", .kind = TABLE_LINE},
        [FINDING_ROW_OBJECT] = {"object", .kind = TABLE_LINE},
        [FINDING_ROW_UNBLOCKED_BY] = {"unblocked_by", .kind = TABLE_LINE},
        [FINDING_ROW_DURATION] = {"duration_ns", "time", .kind = TABLE_NS},
        [FINDING_ROW_SHARE] = {"share", .kind = TABLE_SHARE},
        [FINDING_ROW_COUNT] = {"count", .kind = TABLE_COUNT},
        [FINDING_ROW_LOCATION] = {"location", .kind = TABLE_PLACE},
        [FINDING_ROW_UNBLOCKED_AT] = {"unblocked_at", .kind = TABLE_PLACE},
        [FINDING_ROW_EVENT] = {"event", .kind = TABLE_EVENT},
        [FINDING_ROW_GAIN] = {"gain_ns", "estimated gain", .kind = TABLE_NS, .detail = true},
        [FINDING_ROW_ON_CPU] = {"on_cpu", "ran on its CPU", .kind = TABLE_LINE, .detail = true},
        [FINDING_ROW_WAITED] = {"wait_ns", "of a wait of", .kind = TABLE_NS, .detail = true},
    };
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

static char *finding_rows_kind_text(enum finding_row_kind kind, uint32_t threads)
{
    if (threads < 2 || !finding_rows_texts[kind].several)
        return xstrdup(finding_rows_texts[kind].one);
    const char *several = finding_rows_texts[kind].several, *number = strstr(several, "%u");
    return xasprintf("%.*s%u%s", (int)(number - several), several, threads, number + 2);
}

/* Kinds of which nothing says that the run would be shorter without them. */
#define NO_GAIN                                                                                    \
    (1u << FINDING_ROW_OPEN | 1u << FINDING_ROW_PATH | 1u << FINDING_ROW_LATE_JOIN |               \
     1u << FINDING_ROW_UNATTRIBUTED)

/* Returns by how much the run could be shorter without it: the share that it takes of the lifetimes
 * of its threads, or of the run, and no more than it takes itself: threads may live for a small
 * part of the run.  An estimate: they need not be on the critical path. */
static int64_t finding_rows_gain_ns(const struct finding_rows *h, int64_t ns, int64_t of_ns)
{
    double share = of_ns > 0 ? (double)ns / (double)of_ns : 0;
    int64_t gain_ns = (int64_t)((share < 1 ? share : 1) * (double)h->run_ns);
    return gain_ns < ns ? gain_ns : ns;
}

struct table_cell *finding_rows_add(struct finding_rows *h, enum finding_row_kind kind,
                                    uint32_t threads, uint32_t thread, int64_t ns, int64_t of_ns,
                                    struct event_id event)
{
    struct table_cell *cells = table_add_row(h->table, 0, event);
    if (!cells)
        return NULL;
    char *sentence = finding_rows_kind_text(kind, threads);
    cells[FINDING_ROW_TEXT] = table_cell_text(sentence);
    free(sentence);
    cells[FINDING_ROW_THREAD] = table_cell_line(thread);
    cells[FINDING_ROW_DURATION] = table_cell_number(ns);
    cells[FINDING_ROW_SHARE] = table_cell_real(of_ns > 0 ? (double)ns / (double)of_ns : 0);
    cells[FINDING_ROW_EVENT] = table_cell_event(event);
    if (!(NO_GAIN >> kind & 1))
        cells[FINDING_ROW_GAIN] = table_cell_number(finding_rows_gain_ns(h, ns, of_ns));
    table_row_line(h->table, thread);
    h->used |= 1u << kind;
    return cells;
}

void finding_rows_wait(const struct finding_rows *h, struct table_cell *cells,
                       const struct wait_record *wait, uint64_t times)
{
    cells[FINDING_ROW_OBJECT] = table_cell_line(wait->about);
    if (times)
        cells[FINDING_ROW_COUNT] = table_cell_number((int64_t)times);
    cells[FINDING_ROW_LOCATION] = table_cell_place(table_place(h->view, wait->place));
    if (wait->about)
        table_row_line(h->table, wait->about);
}

void finding_rows_release(const struct finding_rows *h, struct table_cell *cells,
                          const struct wait_interval *segment)
{
    const struct order *order = h->view->run->order;
    cells[FINDING_ROW_UNBLOCKED_BY] = table_cell_line(segment->thread);
    if (segment->release == NO_POSITION || segment->release < order_first(order))
        return;
    uint32_t site = order_event(order, segment->release).site;
    cells[FINDING_ROW_UNBLOCKED_AT] =
        table_cell_place(table_place(h->view, call_sites_for_line(h->view->run, site)));
}

/* Returns the length of the finding's name, with which its text begins: of "overtaken waiter" in
 * "overtaken waiter: other threads". */
static int finding_rows_name_length(const char *text)
{
    size_t length = strcspn(text, ":(");
    return (int)(text[length] == '(' ? length - 1 : length);
}

void finding_rows_advise(const struct finding_rows *h)
{
    for (unsigned kind = 0; kind < FINDING_ROW_KINDS; kind++)
        if ((h->used >> kind & 1) && kind == FINDING_ROW_OPEN)
            table_add_note(h->table, "%s", finding_rows_texts[kind].advice);
        else if ((h->used >> kind & 1) && finding_rows_texts[kind].advice)
            table_add_note(h->table, "%.*s: %s",
                           finding_rows_name_length(finding_rows_texts[kind].one),
                           finding_rows_texts[kind].one, finding_rows_texts[kind].advice);
}

const struct thread_states *finding_rows_states(struct finding_rows *h,
                                                const struct thread_timeline *c)
{
    if (!h->states)
        h->states = xcalloc(h->view->measured->thread_count, sizeof *h->states);
    struct finding_states *states = &h->states[c - h->view->measured->threads];
    if (!states->known)
        thread_states_sum(&h->view->lives, c, h->view->from_ns, table_until(h->view, c),
                          &states->sums);
    states->known = true;
    return &states->sums;
}

int64_t finding_rows_life(struct finding_rows *h, uint32_t thread)
{
    const struct thread_timeline *c = intervals_for_thread(h->view->measured, thread);
    return c ? finding_rows_states(h, c)->life_ns : 0;
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
