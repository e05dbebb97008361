#define _GNU_SOURCE
#include "clients/poet/picture.h"

#include "clients/poet/carried.h"
#include "clients/poet/deadlock.h"
#include "clients/poet/exists.h"
#include "clients/source/stands.h"
#include "clients/source/viewfile.h"
#include "memory/memory.h"
#include "render/timed.h"
#include "wire/asked.h"
#include "wire/found.h"
#include "wire/limits.h"
#include "wire/placed.h"
#include "wire/ref.h"

#include <stdlib.h>
#include <string.h>

#define AROUND 60
#define FOLD_ABOVE 400
#define TIME_COLUMNS 300
#define COLUMNS_UNASKED 4000 /* far more than fit the pages that are written unasked */

static uint32_t row_of(const struct picture *p, uint32_t line)
{
    uint32_t i = 0;
    while (i < p->row_count && p->rows[i] != line)
        i++;
    return i;
}

/* Takes a line out; if lines joined it, the next of them stands in its place. */
static void remove_row(struct picture *p, uint32_t i)
{
    if (!p->joined[i] && i + 1 < p->row_count)
        p->joined[i + 1] = false;
    memmove(p->rows + i, p->rows + i + 1, (p->row_count - i - 1) * sizeof *p->rows);
    memmove(p->joined + i, p->joined + i + 1, (p->row_count - i - 1) * sizeof *p->joined);
    p->row_count--;
}

static void insert_row(struct picture *p, uint32_t i, uint32_t line, bool joins)
{
    p->rows = memory_resized(p->rows, p->row_count + 1, sizeof *p->rows);
    p->joined = memory_resized(p->joined, p->row_count + 1, sizeof *p->joined);
    memmove(p->rows + i + 1, p->rows + i, (p->row_count - i) * sizeof *p->rows);
    memmove(p->joined + i + 1, p->joined + i, (p->row_count - i) * sizeof *p->joined);
    p->rows[i] = line;
    p->joined[i] = joins;
    p->row_count++;
}

/* Adds a line in a row of its own, if it has none. */
static void add_row(struct picture *p, uint32_t line)
{
    if (row_of(p, line) == p->row_count)
        insert_row(p, p->row_count, line, false);
}

/* Puts a line behind the last one that joined a cluster's first line, wherever it was. */
static void join_row(struct picture *p, uint32_t line, uint32_t first)
{
    uint32_t at = row_of(p, line);
    if (line == first)
        return;
    if (at < p->row_count)
        remove_row(p, at);
    at = row_of(p, first) + 1;
    while (at < p->row_count && p->joined[at])
        at++;
    insert_row(p, at, line, true);
}

/* One word of a list of lines: a number, or a pattern on names.  first: of a cluster, its first
 * line, 0 before that is known; NULL: there is no cluster. */
static bool add_rows(struct picture *p, struct subject *subject, const char *word, uint32_t *first)
{
    const struct book *book = &subject->source.book;
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    bool any = false, exact = *word && !*end;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        if (exact ? i != number
                  : !book_drawn(book, i) || !label_is_called(book, subject->sites, i, word))
            continue;
        if (first && *first)
            join_row(p, i, *first);
        else
            add_row(p, i);
        if (first && !*first)
            *first = i;
        any = true;
    }
    return any;
}

static bool add_list(const struct command *command, struct picture *p, struct subject *subject,
                     const char *option, const char *list, bool cluster)
{
    char *copy = memory_copied(list), *rest = copy;
    uint32_t first = 0;
    bool ok = true;
    for (char *word; ok && (word = strsep(&rest, ",")) != NULL;) {
        ok = add_rows(p, subject, word, cluster ? &first : NULL);
        if (!ok)
            command_fail(command, "%s: there is no line \"%s\": see poet dump", option, word);
    }
    free(copy);
    return ok;
}

/* Rows in the order of --lines, else of the run; a cluster stands where its first line stands. */
static bool choose_rows(const struct command *command, struct picture *p, struct subject *subject)
{
    if (p->lines && !add_list(command, p, subject, "--lines", p->lines, false))
        return false;
    if (!p->cluster_count)
        return true;
    for (unsigned i = 0; i < p->cluster_count; i++)
        if (!add_list(command, p, subject, "--cluster", p->clusters[i], true))
            return false;
    const struct book *book = &subject->source.book;
    for (uint32_t i = 1; !p->lines && i <= book->line_count; i++)
        if (book_drawn(book, i) && book_line(book, i)->is.events)
            add_row(p, i);
    return true;
}

#define ROWS_MOST 1000u /* of more lines only those with events in the window are drawn */

enum source_lines picture_lines(const struct picture *p)
{
    return p->lines || p->cluster_count || p->view ? SOURCE_ALL_LINES : SOURCE_NAMED_LINES;
}

/* 4 999 940 */
static const char *grouped(char *s, size_t size, uint64_t n)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t at = 0;
    for (int i = 0; i < count && at + 2 < size; i++) {
        if (i && (count - i) % 3 == 0)
            s[at++] = ' ';
        s[at++] = digits[i];
    }
    s[at] = 0;
    return s;
}

/* Which lines have no row. */
static void note_lines(const struct picture *p, char *text, size_t size)
{
    uint64_t idle = p->window.idle_lines, left = p->window.left_lines;
    char a[40], b[40];
    int n = 0;
    *text = 0;
    if (idle)
        n = snprintf(text, size, "%s lines have no event here and are not drawn",
                     grouped(a, sizeof a, idle));
    if (left && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 "%s%s lines that have some are not drawn, either: there would be too many",
                 idle ? "; " : "", grouped(b, sizeof b, left));
}

void picture_note(const struct picture *p, char *text, size_t size)
{
    uint64_t discarded = p->window.discarded;
    char lines[PICTURE_NOTE_BYTES], a[40];
    note_lines(p, lines, sizeof lines);
    if (discarded)
        snprintf(text, size, "%s event%s discarded, the oldest: only a part of the run is kept%s%s",
                 grouped(a, sizeof a, discarded), discarded == 1 ? " was" : "s were",
                 *lines ? "; " : "", lines);
    else
        snprintf(text, size, "%s", lines);
}

bool picture_has_range(const struct picture *p)
{
    return p->view || p->from.line || p->to.line || p->around.line || p->last || p->text;
}

static void take_window(void *user, const struct answer *answer)
{
    struct shown_window *window = user;
    if (answer->part != PART_WINDOW)
        return;
    shown_window_free(window);
    get_window(answer->in, window);
    in_done(answer->in);
}

static void send(struct picture *p, struct subject *subject, struct window_request *request,
                 struct subject_question *question)
{
    struct out body = {0};
    request->rows = p->rows;
    request->joined = p->joined;
    request->row_count = p->row_count;
    request->most_rows = ROWS_MOST;
    p->request = *request;
    put_window_request(&body, request);
    subject_send(subject, ASK_WINDOW, &body, take_window, &p->window, question);
}

static bool ask(const struct command *command, struct picture *p, struct subject *subject,
                struct window_request *request)
{
    struct subject_question question;
    send(p, subject, request, &question);
    return subject_answered(command, &question);
}

void picture_send(struct picture *p, struct subject *subject, int32_t from, uint32_t columns,
                  struct subject_question *question)
{
    struct window_request request = p->request;
    request.from = request.middle = from;
    request.columns = columns;
    send(p, subject, &request, question);
}

/* The part with the hit, if there is one. */
static void take_found(void *user, const struct answer *answer)
{
    struct shown_found *found = user;
    if (answer->part != PART_FOUND || found->hit_count)
        return;
    shown_found_free(found);
    get_found(answer->in, found);
    in_done(answer->in);
}

/* The first event with that text, or of that type. */
static bool find_text(const struct command *command, struct picture *p, struct subject *subject)
{
    const struct book *book = &subject->source.book;
    uint32_t *types = memory_zeroed(book->type_count, sizeof *types);
    struct search_request request = {
        .any = true, .limit = 1, .types = types, .text = (char *)(uintptr_t)p->text};
    struct shown_found found = {0};
    struct out body = {0};
    for (uint32_t i = 1; i <= book->type_count; i++)
        if (strcasecmp(book_type(book, i), p->text) == 0)
            types[request.type_count++] = i;
    put_search_request(&body, &request);
    free(types);
    bool ok = subject_ask(command, subject, ASK_SEARCH, &body, take_found, &found);
    if (ok && !found.hit_count) {
        command_fail(command, "no event bears the text \"%s\"", p->text);
        ok = false;
    }
    if (ok)
        p->around = found.hits[0].at;
    shown_found_free(&found);
    return ok;
}

static const struct shown_event *find_event(const struct picture *p, struct ref at)
{
    for (uint32_t i = 0; i < p->window.event_count; i++)
        if (ref_equal(p->window.events[i].at, at))
            return &p->window.events[i];
    return NULL;
}

/* Leaves out what is right of a column. */
static void trim(struct picture *p, int32_t column)
{
    struct shown_window *w = &p->window;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        if (w->events[i].column <= column)
            w->events[kept++] = w->events[i];
        else
            shown_event_free(&w->events[i]);
    w->more_right |= kept < w->event_count;
    w->event_count = kept;
    w->last = w->last > column ? column : w->last;
}

/* Cuts the window to the columns up to that of `to`. */
static bool cut_at(const struct command *command, struct picture *p, struct window_request *request,
                   struct subject *subject)
{
    const struct shown_event *e = find_event(p, p->to);
    if (!e) {
        char s[48];
        ref_print(s, sizeof s, p->to);
        command_fail(command, "--to %s: is not there, or not after the begin of the range", s);
        return false;
    }
    if (p->by_time) {
        trim(p, e->column);
        return true;
    }
    int32_t columns = e->column - request->from + 1;
    request->columns = columns > 0 ? (uint32_t)columns : 1;
    return ask(command, p, subject, request);
}

static void take_duration(void *user, const struct answer *answer)
{
    uint64_t *duration = user;
    struct shown_stat stat;
    if (answer->part != PART_STAT)
        return;
    get_stat(answer->in, &stat);
    *duration = stat.duration_ns > 0 ? (uint64_t)stat.duration_ns : 1;
    shown_stat_free(&stat);
}

/* So many columns to either side of the event, or from it on, or up to the end; else the whole run. */
static bool by_time(const struct command *command, struct picture *p, struct subject *subject,
                    struct window_request *request)
{
    uint64_t duration = 1;
    if (!p->column_ns && !subject_ask(command, subject, ASK_STAT, NULL, take_duration, &duration))
        return false;
    if (!p->column_ns)
        p->column_ns = (uint64_t)timed_round((int64_t)(duration / TIME_COLUMNS) + 1);
    request->column_ns = p->column_ns;
    if (request->anchor == ANCHOR_START) {
        request->anchor = ANCHOR_TIME;
        request->time_ns = INT64_MIN;
    }
    p->fold = 0;
    request->fold = false;
    return true;
}

static bool get_range(const struct command *command, struct picture *p, struct subject *subject)
{
    struct window_request request = {.anchor = ANCHOR_START,
                                     .columns = p->to.line ? LIMIT_COLUMNS : COLUMNS_UNASKED,
                                     .fold = p->fold == 1};
    if (p->around.line) {
        request = (struct window_request){
            .anchor = ANCHOR_EVENT, .event = p->around, .from = -AROUND / 2, .columns = AROUND};
    } else if (p->last) {
        request = (struct window_request){
            .anchor = ANCHOR_END, .from = -(int32_t)p->last, .columns = p->last};
    } else if (p->from.line) {
        request.anchor = ANCHOR_EVENT;
        request.event = p->from;
    }
    if (p->by_time && !by_time(command, p, subject, &request))
        return false;
    if (!ask(command, p, subject, &request))
        return false;
    if (p->to.line && !cut_at(command, p, &request, subject))
        return false;
    bool whole = !p->around.line && !p->last && p->fold < 0;
    if (whole && p->window.event_count && p->window.last - p->window.first >= FOLD_ABOVE) {
        p->fold = 1;
        request.fold = true;
        return ask(command, p, subject, &request);
    }
    return true;
}

static bool check_exists(const struct command *command, struct subject *subject, struct ref at)
{
    struct error error;
    if (!at.line || exists_event(subject, at, &error))
        return true;
    command_fail(command, "%s", error.text);
    return false;
}

static void take_chain(void *user, const struct answer *answer)
{
    struct picture *p = user;
    if (answer->part != PART_CHAIN)
        return;
    get_u8(answer->in);
    uint32_t n = get_count(answer->in, 12);
    p->chain = memory_resized(p->chain, n, sizeof *p->chain);
    for (p->chain_count = 0; p->chain_count < n; p->chain_count++)
        p->chain[p->chain_count] = get_ref(answer->in);
}

/* What ties the two selected events of a view together, whichever is first. */
static bool get_chain(const struct command *command, struct picture *p, struct subject *subject)
{
    struct ref ends[2] = {p->place.selected, p->place.second};
    for (int way = 0; way < 2 && ends[0].line && ends[1].line && !p->chain_count; way++) {
        struct out body = {0};
        put_ref(&body, ends[way]);
        put_ref(&body, ends[!way]);
        if (!subject_ask(command, subject, ASK_WHY, &body, take_chain, p))
            return false;
    }
    return true;
}

static void take_stands(void *user, const struct answer *answer) { stands_take(user, answer); }

/* How all that is seen stands to the selected event. */
static bool get_stands(const struct command *command, struct picture *p, struct subject *subject)
{
    struct stands stands = {&p->window, 0};
    struct out body = {0};
    while (p->place.stands && p->place.selected.line &&
           stands_ask(&stands, p->place.selected, &body))
        if (!subject_ask(command, subject, ASK_STANDS, &body, take_stands, &stands))
            return false;
    return true;
}

bool picture_columns(const struct command *command, struct picture *p, struct subject *subject,
                     int32_t from, uint32_t columns)
{
    struct subject_question question;
    picture_send(p, subject, from, columns, &question);
    return subject_answered(command, &question) && get_stands(command, p, subject);
}

/* Another part of the run was asked for than what the view shows, with its rows and its look. */
static bool has_part(const struct picture *p)
{
    return p->all || p->from.line || p->to.line || p->around.line || p->last || p->text;
}

static bool get_part(const struct command *command, struct picture *p, struct subject *subject)
{
    p->fold = p->fold < 0 ? p->place.fold : p->fold;
    p->by_time = p->scaled = p->column_ns > 0;
    return check_exists(command, subject, p->from) && check_exists(command, subject, p->to) &&
           check_exists(command, subject, p->around) &&
           (!p->text || find_text(command, p, subject)) && get_range(command, p, subject);
}

/* The window of a view.  One in another run has rows only, and the whole run is shown with them. */
static bool get_view(const struct command *command, struct picture *p, struct subject *subject)
{
    struct error error;
    struct window_request request;
    if (!place_read(&p->place, &p->look, &subject->source.book, subject->sites, p->view, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    bool elsewhere = !p->place.columns;
    if (elsewhere)
        p->place.columns = COLUMNS_UNASKED;
    label_again(&subject->source.book, subject->sites, &subject->known, p->look.labels);
    p->no_legend |= !p->look.legend;
    p->no_order_arrows |= p->look.no_order;
    p->column_ns = p->place.column_ns;
    place_request(&p->place, &request);
    p->rows = request.rows;
    p->joined = request.joined;
    p->row_count = request.row_count;
    bool got = has_part(p) ? get_part(command, p, subject) : ask(command, p, subject, &request);
    return got && get_stands(command, p, subject) && get_chain(command, p, subject);
}

/* What cannot be read is said, and the picture drawn without. */
static void get_notes(const struct command *command, struct picture *p,
                      const struct subject *subject)
{
    struct error error;
    if (p->no_notes)
        return;
    if (!notes_open(&p->notes, &subject->source, &error))
        fprintf(stderr, "poet %s: %s\n", command->name, error.text);
    p->noted = memory_zeroed(p->notes.count, sizeof *p->noted);
    for (uint32_t i = 0; i < p->notes.count; i++)
        p->noted[i] = (struct scene_noted){p->notes.items[i].at, p->notes.items[i].text};
}

bool picture_get(const struct command *command, struct picture *p, struct subject *subject)
{
    subject_renewed(command, subject);
    if (p->view && !get_view(command, p, subject))
        return false;
    if (!p->view &&
        (!choose_rows(command, p, subject) || !check_exists(command, subject, p->from) ||
         !check_exists(command, subject, p->to) || !check_exists(command, subject, p->around) ||
         (p->text && !find_text(command, p, subject)) || !get_range(command, p, subject)))
        return false;
    if (p->processors && !carried_get(command, p, subject))
        return false;
    get_notes(command, p, subject);
    if (!deadlock_get(command, subject, &p->stuck, &p->stuck_count))
        return false;
    const struct book *book = &subject->source.book;
    bool folded = false;
    for (uint32_t i = 0; i < p->window.event_count; i++)
        folded |= p->window.events[i].fold > 0;
    snprintf(p->title, sizeof p->title, "%s%s%s", book->run.name,
             p->window.more_left || (p->window.more_right && !p->all) ? " (part)" : "",
             folded ? ", repeats folded (×N)" : "");
    return true;
}

void picture_free(struct picture *p)
{
    shown_window_free(&p->window);
    free(p->rows);
    free(p->joined);
    place_free(&p->place);
    notes_free(&p->notes);
    free(p->noted);
    free(p->chain);
    free(p->stuck);
    carriers_free(&p->carriers);
}
