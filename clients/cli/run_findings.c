#define _GNU_SOURCE
#include "clients/cli/run_findings.h"

#include "base/alloc.h"
#include "base/text_hash.h"
#include "clients/cli/rule_violations.h"
#include "clients/cli/table_options.h"
#include "clients/connection/finding_text.h"
#include "clients/connection/race_text.h"
#include "clients/connection/violation_text.h"
#include "clients/metadata/event_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *finding_certainty_name(enum finding_certainty certainty)
{
    static const char *const names[] = {[FINDING_CERTAIN] = "certain",
                                        [FINDING_LIKELY] = "likely",
                                        [FINDING_POSSIBLE] = "possible"};
    return names[certainty];
}

/* ---- identity ---- */

static int run_findings_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds a name without what differs between runs and versions of the code: addresses, and the
 * numbers after ':', '#' and '+'. */
static void run_findings_add_name(char ***names, uint32_t *count, const char *name)
{
    char *stable = xstrdup(name), *to = stable;
    for (const char *c = name; *c;) {
        bool number = strchr(":#+", *c) && isdigit((unsigned char)c[1]),
             address = strncmp(c, "0x", 2) == 0 && (c == name || !isalnum((unsigned char)c[-1]));
        if (number)
            c += 1 + strspn(c + 1, "0123456789");
        else if (address)
            c += 2 + strspn(c + 2, "0123456789abcdef");
        else
            *to++ = *c++;
    }
    *to = 0;
    ARRAY_PUSH(*names, *count, stable);
}

/* Which thread or step of a cycle comes first differs between runs, so names are a sorted set. */
static void run_findings_identify(struct run_finding *f)
{
    char **names = NULL;
    uint32_t count = 0;
    uint64_t hash = text_hash_add(TEXT_HASH_EMPTY, f->kind->name, strlen(f->kind->name) + 1);
    for (uint32_t i = 0; i < f->object_count; i++)
        run_findings_add_name(&names, &count, f->objects[i]);
    for (uint32_t i = 0; i < f->place_count; i++) {
        const char *slash = strrchr(f->places[i].path, '/');
        run_findings_add_name(&names, &count, f->places[i].function);
        run_findings_add_name(&names, &count, slash ? slash + 1 : f->places[i].path);
    }
    if (count)
        qsort(names, count, sizeof *names, run_findings_compare_names);
    for (uint32_t i = 0; i < count; i++)
        if (!i || strcmp(names[i], names[i - 1]) != 0)
            hash = text_hash_add(hash, names[i], strlen(names[i]) + 1);
    for (uint32_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    snprintf(f->identity, sizeof f->identity, "%016" PRIx64, hash);
}

/* ---- making findings ---- */

struct run_findings_builder {
    struct command_source *subject;
    struct run_findings *findings;
    struct run_finding now; /* the one that is being made */
};

static void run_findings_begin(struct run_findings_builder *b, enum finding_kind kind,
                               enum finding_certainty certainty, char *text)
{
    b->now =
        (struct run_finding){.kind = &finding_kinds[kind], .certainty = certainty, .text = text};
}

/* Adds a place; takes over its text. */
static void run_findings_add_place(struct run_findings_builder *b, uint32_t process,
                                   uint64_t address, char *text)
{
    struct finding_place place = {.text = text};
    struct symbol_location at = {.function = "", .path = ""};
    if (address)
        at = symbolize(b->subject->sites, process, address);
    place.path = xstrdup(at.path);
    place.function = xstrdup(at.function);
    place.line = *at.path ? at.line : 0;
    ARRAY_PUSH(b->now.places, b->now.place_count, place);
}

static void run_findings_add_event(struct run_findings_builder *b, struct event_id at)
{
    if (at.line && at.number)
        ARRAY_PUSH(b->now.events, b->now.event_count, at);
}

static void run_findings_add_object(struct run_findings_builder *b, uint32_t line)
{
    if (line)
        ARRAY_PUSH(b->now.objects, b->now.object_count,
                   xstrdup(metadata_label(&b->subject->source.book, line)));
}

/* Ends one: the first place with a source line comes first. */
static void run_findings_end(struct run_findings_builder *b)
{
    struct run_finding *f = &b->now;
    uint32_t first = 0;
    while (first < f->place_count && !f->places[first].line)
        first++;
    if (first && first < f->place_count) {
        struct finding_place place = f->places[first];
        memmove(f->places + 1, f->places, first * sizeof *f->places);
        f->places[0] = place;
    }
    run_findings_identify(f);
    ARRAY_PUSH(b->findings->items, b->findings->count, *f);
}

void run_findings_add(struct run_findings *findings, enum finding_kind kind,
                      enum finding_certainty certainty, const char *text, const char *path,
                      int line)
{
    struct run_findings_builder b = {.findings = findings};
    struct finding_place place = {xstrdup(path), line, xstrdup(""), xstrdup(text)};
    run_findings_begin(&b, kind, certainty, xstrdup(text));
    ARRAY_PUSH(b.now.places, b.now.place_count, place);
    run_findings_end(&b);
}

/* ---- hangs ---- */

static void run_findings_add_wait(struct run_findings_builder *b, const struct wait_info *w,
                                  char *text)
{
    run_findings_add_event(b, w->event.at);
    run_findings_add_place(b, w->event.process, w->event.site, text);
}

/* Adds the place at which a thread entered what another one waits for. */
static void run_findings_add_holder(struct run_findings_builder *b, const struct wait_info *w,
                                    struct event_id since)
{
    const struct trace_metadata *book = &b->subject->source.book;
    for (uint32_t i = 0; i < w->holder_count; i++) {
        const struct holder_info *h = &w->holders[i];
        if (!h->site || (since.line && !event_id_equal(h->since, since)))
            continue;
        run_findings_add_event(b, h->since);
        run_findings_add_place(b, h->process, h->site,
                               xasprintf("%s acquired %s", metadata_label(book, h->thread),
                                         metadata_label(book, w->about)));
    }
}

static void run_findings_add_cycle(struct run_findings_builder *b, const struct wait_list *waits,
                                   const struct cycle_info *cycle)
{
    char *names = xstrdup(""), *text = deadlock_text(cycle);
    for (uint32_t i = 0; i < cycle->count; i++) {
        char *more = xasprintf(
            "%s%s%s", names, i ? ", " : "",
            awaited_text(&b->subject->source.book, cycle->steps[i].about, cycle->steps[i].how));
        free(names);
        names = more;
    }
    run_findings_begin(b, FINDING_DEADLOCK, cycle->doubts ? FINDING_LIKELY : FINDING_CERTAIN,
                       xasprintf("%s (%s)", text, names));
    free(names);
    free(text);
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct cycle_step_info *step = &cycle->steps[i];
        const struct wait_info *w = wait_list_of_thread(waits, step->thread);
        text = deadlock_edge_text(&b->subject->source.book, cycle, i, w);
        run_findings_add_event(b, step->at);
        run_findings_add_event(b, step->since);
        run_findings_add_object(b, step->about);
        run_findings_add_place(b, w ? w->event.process : 0, w ? w->event.site : 0, text);
        if (w)
            run_findings_add_holder(b, w, step->since);
    }
    run_findings_end(b);
}

/* Splits a diagnosis into its first sentence, which is returned, and the places of the others. */
static char *run_findings_first_line(const char *text)
{
    return xstrndup(text, strcspn(text, "\n"));
}

static void run_findings_add_other_lines(struct run_findings_builder *b, const char *text)
{
    text += strcspn(text, "\n");
    while (*text == '\n' && text[1]) {
        size_t n = strcspn(text + 1, "\n");
        run_findings_add_place(b, 0, 0, xstrndup(text + 1, n));
        text += n + 1;
    }
}

static void run_findings_add_abandoned(struct run_findings_builder *b, const struct wait_info *w)
{
    char *text = abandoned_lock_text(&b->subject->source.book, w);
    run_findings_begin(b, FINDING_ABANDONED_LOCK, FINDING_CERTAIN, run_findings_first_line(text));
    run_findings_add_object(b, w->about);
    run_findings_add_wait(
        b, w, xasprintf("%s waits here", metadata_label(&b->subject->source.book, w->thread)));
    run_findings_add_holder(b, w, (struct event_id){0});
    run_findings_add_other_lines(b, text);
    free(text);
    run_findings_end(b);
}

static void run_findings_add_diagnosis(struct run_findings_builder *b,
                                       const struct wait_list *waits,
                                       const struct diagnosis_info *v)
{
    const struct trace_metadata *book = &b->subject->source.book;
    char *text = v->fate == OUTCOME_OPEN ? NULL : diagnosis_text(book, v);
    if (!text)
        return;
    run_findings_begin(b, FINDING_HANG, v->fate == OUTCOME_NEVER ? FINDING_CERTAIN : FINDING_LIKELY,
                       run_findings_first_line(text));
    run_findings_add_object(b, v->about);
    run_findings_add_event(b, v->wait);
    run_findings_add_event(b, v->waker);
    for (uint32_t i = 0; i < v->able_count; i++)
        run_findings_add_event(b, v->able[i].last);
    for (size_t i = 0; i < waits->count; i++) {
        const struct wait_info *w = &waits->items[i];
        if (event_id_equal(w->event.at, v->wait) ||
            (v->about && w->about == v->about && !w->at_exit))
            run_findings_add_wait(b, w,
                                  xasprintf("%s waits here", metadata_label(book, w->thread)));
    }
    for (size_t i = 0; i < waits->sleeper_count; i++) {
        const struct sleeper_info *s = &waits->sleepers[i];
        if (!v->about && s->fate == v->fate && !s->holder.thread)
            run_findings_add_place(b, s->event.process, s->site,
                                   xasprintf("%s waits here", metadata_label(book, s->thread)));
    }
    run_findings_add_other_lines(b, text);
    free(text);
    run_findings_end(b);
}

static int run_findings_collect_hangs(const struct command *command, struct run_findings_builder *b)
{
    struct wait_list waits;
    const struct wait_info *abandoned = NULL;
    bool ok = command_source_waits(command, b->subject, &waits);
    for (size_t i = 0; ok && i < waits.cycle_count; i++)
        run_findings_add_cycle(b, &waits, &waits.cycles[i]);
    while (ok && (abandoned = wait_list_abandoned_lock(&waits, abandoned)) != NULL)
        run_findings_add_abandoned(b, abandoned);
    for (size_t i = 0; ok && i < waits.verdict_count; i++)
        if (!wait_list_is_explained(&waits, &waits.verdicts[i]))
            run_findings_add_diagnosis(b, &waits, &waits.verdicts[i]);
    wait_list_free(&waits);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

/* ---- tables ---- */

static const struct table_cell *run_findings_cell(const struct result_table *t, uint32_t row,
                                                  const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &nothing;
}

static int run_findings_collect_violations(const struct command *command,
                                           struct run_findings_builder *b)
{
    struct result_table t = {0};
    struct table_names names = {&b->subject->source.book, b->subject->sites};
    int status = rule_violations_request(command, b->subject, &t);
    for (uint32_t i = 0; status == EXIT_DONE && i < t.row_count; i++) {
        const struct table_cell *place = run_findings_cell(&t, i, "location"),
                                *object = run_findings_cell(&t, i, "object");
        bool placed = place->is == CELL_PLACE;
        run_findings_begin(b, FINDING_RULE_VIOLATION, FINDING_CERTAIN,
                           violation_text_sentence(&names, &t, i));
        run_findings_add_object(b, object->is == CELL_LINE ? object->line : 0);
        run_findings_add_event(b, t.rows[i].event);
        run_findings_add_place(b, placed ? place->place.process : 0,
                               placed ? place->place.address : 0, xstrdup(b->now.text));
        run_findings_end(b);
    }
    result_table_free(&t);
    return status;
}

int races_request(const struct table_settings *tables, struct command_source *subject,
                  struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    int status = table_request_run(tables, &(struct table_section){.what = "races"}, subject, t);
    if (status == EXIT_DONE)
        race_text_merge(&names, t);
    return status;
}

/* The memory is an object of the finding by its name, if it has one. */
static void run_findings_add_race(struct run_findings_builder *b, const struct table_names *names,
                                  const struct result_table *t, uint32_t row)
{
    bool certain = run_findings_cell(t, row, "uncertain")->is != CELL_TEXT;
    const struct table_cell *memory = run_findings_cell(t, row, "memory"),
                            *object = run_findings_cell(t, row, "object");
    run_findings_begin(b, FINDING_DATA_RACE, certain ? FINDING_CERTAIN : FINDING_LIKELY,
                       race_text_summary(names, t, row));
    if (memory->is == CELL_TEXT && strcmp(memory->text, "global") == 0 && object->is == CELL_DATA)
        ARRAY_PUSH(b->now.objects, b->now.object_count,
                   result_table_data_text(names, object->place));
    for (uint32_t i = row + 1; i < t->row_count && t->rows[i].depth; i++) {
        const struct table_cell *place = run_findings_cell(t, i, "location");
        char *access = race_text_access(names, t, i);
        run_findings_add_place(b, place->place.process, place->place.address,
                               xasprintf("%s%s", i > row + 1 ? "previous " : "", access));
        free(access);
    }
    run_findings_end(b);
}

static int run_findings_collect_races(const struct command *command, struct run_findings_builder *b)
{
    struct table_settings plain = {.command = command};
    struct result_table t = {0};
    struct table_names names = {&b->subject->source.book, b->subject->sites};
    int status = races_request(&plain, b->subject, &t);
    for (uint32_t i = 0; status == EXIT_DONE && i < t.row_count; i++)
        if (!t.rows[i].depth)
            run_findings_add_race(b, &names, &t, i);
    b->findings->no_races = status != EXIT_DONE || !t.total;
    result_table_free(&t);
    return status;
}

static int64_t run_findings_number(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *c = run_findings_cell(t, row, name);
    return c->is == CELL_NUMBER ? c->number : 0;
}

/* What a thread did is at its second place, where it would wait, if there is one. */
static void run_findings_add_participant(struct run_findings_builder *b,
                                         const struct result_table *t, uint32_t row)
{
    struct table_names names = {&b->subject->source.book, b->subject->sites};
    const struct table_cell *second = run_findings_cell(t, row, "second_location"),
                            *first = run_findings_cell(t, row, "location"),
                            *at = second->is == CELL_PLACE ? second : first;
    static const char *const objects[] = {"object", "second_object"};
    for (uint32_t i = 0; i < t->column_count; i++)
        if (result_table_cells(t, row)[i].is == CELL_EVENT)
            run_findings_add_event(b, result_table_cells(t, row)[i].event);
    run_findings_add_event(b, t->rows[row].event);
    run_findings_add_place(
        b, at->is == CELL_PLACE ? at->place.process : 0,
        at->is == CELL_PLACE ? at->place.address : 0,
        finding_text_participant(&names, t, row, (enum finding_kind)(b->now.kind - finding_kinds)));
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (run_findings_cell(t, row, objects[i])->is == CELL_LINE)
            run_findings_add_object(b, run_findings_cell(t, row, objects[i])->line);
}

/* Returns the meaning of a predicted bug, without its kind. */
static char *run_findings_prediction_text(const struct result_table *t, uint32_t row)
{
    const char *text = finding_kinds[finding_text_kind(t, row)].explanation;
    long long times = (long long)run_findings_number(t, row, "count");
    return times > 1 ? xasprintf("%s (%lld occurrences)", text, times) : xstrdup(text);
}

static int run_findings_collect_predictions(const struct command *command,
                                            struct run_findings_builder *b, unsigned groups,
                                            const char *kinds)
{
    struct table_settings plain = {.command = command};
    char key[] = "kinds", *list;
    if (!kinds && groups & FINDINGS_OF_ORDERS)
        kinds = "all";
    list = xstrdup(kinds ? kinds : "");
    struct table_option chosen[] = {{kinds ? key : NULL, list}, {0}};
    struct table_section section = {.what = "predict", .options = chosen};
    struct result_table t = {0};
    int status = table_request_run(&plain, &section, b->subject, &t);
    for (uint32_t i = 0; status == EXIT_DONE && i < t.row_count;) {
        enum finding_kind kind = finding_text_kind(&t, i);
        if (kind != FINDING_KIND_COUNT)
            run_findings_begin(b, kind, FINDING_POSSIBLE, run_findings_prediction_text(&t, i));
        for (i++; i < t.row_count && t.rows[i].depth; i++)
            if (kind != FINDING_KIND_COUNT)
                run_findings_add_participant(b, &t, i);
        if (kind != FINDING_KIND_COUNT)
            run_findings_end(b);
    }
    result_table_free(&t);
    free(list);
    return status;
}

/* Adds the row of a call site with blocks that were not freed, or of an invalid free. */
static void run_findings_add_heap_row(struct run_findings_builder *b, const struct result_table *t,
                                      uint32_t row)
{
    const struct table_cell *fault = run_findings_cell(t, row, "error"),
                            *place = run_findings_cell(t, row, "function");
    const struct table_row *is = &t->rows[row];
    int64_t blocks = run_findings_number(t, row, "unfreed_blocks"),
            bytes = run_findings_number(t, row, "unfreed_bytes");
    enum finding_kind kind = fault->is == CELL_TEXT ? FINDING_KIND_COUNT : FINDING_LEAK;
    for (unsigned i = 0; fault->is == CELL_TEXT && i < HEAP_FAULTS; i++)
        if (heap_faults[i].text && strcmp(fault->text, heap_faults[i].text) == 0)
            kind = heap_faults[i].kind;
    if (kind == FINDING_KIND_COUNT || (fault->is != CELL_TEXT && !blocks))
        return;
    run_findings_begin(b, kind, FINDING_CERTAIN,
                       fault->is == CELL_TEXT
                           ? xstrdup(fault->text)
                           : xasprintf("%lld block%s (%lld byte%s) not freed", (long long)blocks,
                                       plural_suffix((uint64_t)blocks), (long long)bytes,
                                       plural_suffix((uint64_t)bytes)));
    if (place->is == CELL_PLACE)
        run_findings_add_place(b, place->place.process, place->place.address,
                               xstrdup(fault->is == CELL_TEXT ? "freed here" : "allocated here"));
    for (uint32_t i = 0; i < is->context_count; i++)
        if (place->is != CELL_PLACE || is->context[i].address != place->place.address)
            run_findings_add_place(b, is->context[i].process, is->context[i].address,
                                   xstrdup("called from here"));
    run_findings_end(b);
}

static int run_findings_collect_memory(const struct command *command,
                                       struct run_findings_builder *b)
{
    struct table_settings plain = {.command = command};
    struct result_table t = {0};
    int status =
        table_request_run(&plain, &(struct table_section){.what = "memory"}, b->subject, &t);
    for (uint32_t i = 0; status == EXIT_DONE && i < t.row_count; i++)
        if (!t.rows[i].depth)
            run_findings_add_heap_row(b, &t, i);
    uint32_t allocations = result_table_find_column(&t, "allocations");
    b->findings->no_memory = status != EXIT_DONE || !t.total || allocations == t.column_count ||
                             t.total[allocations].is != CELL_NUMBER;
    result_table_free(&t);
    return status;
}

/* ---- matches of patterns ---- */

static const char *run_findings_text(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *c = run_findings_cell(t, row, name);
    return c->is == CELL_TEXT ? c->text : "";
}

void run_findings_add_match(struct run_findings *findings, struct command_source *subject,
                            char *text, const struct result_table *t, uint32_t row)
{
    struct run_findings_builder b = {.subject = subject, .findings = findings};
    run_findings_begin(&b, FINDING_ASSERTION, FINDING_CERTAIN, text);
    for (uint32_t i = row; i < t->row_count && (i == row || t->rows[i].depth); i++) {
        const struct table_cell *place = run_findings_cell(t, i, "location"),
                                *object = run_findings_cell(t, i, "object"),
                                *thread = run_findings_cell(t, i, "thread");
        bool placed = place->is == CELL_PLACE;
        run_findings_add_object(&b, object->is == CELL_LINE ? object->line : 0);
        run_findings_add_place(
            &b, placed ? place->place.process : 0, placed ? place->place.address : 0,
            xasprintf("%s: %s of %s", run_findings_text(t, i, "name"),
                      run_findings_text(t, i, "type"),
                      thread->is == CELL_LINE ? metadata_label(&subject->source.book, thread->line)
                                              : "no thread"));
    }
    run_findings_end(&b);
}

int run_findings_collect(const struct command *command, struct command_source *subject,
                         unsigned groups, const char *kinds, struct run_findings *findings)
{
    struct run_findings_builder b = {.subject = subject, .findings = findings};
    int status = EXIT_DONE;
    if (groups & FINDINGS_OF_HANGS)
        status = run_findings_collect_hangs(command, &b);
    if (status == EXIT_DONE && groups & FINDINGS_OF_RULES)
        status = run_findings_collect_violations(command, &b);
    if (status == EXIT_DONE && groups & FINDINGS_OF_RACES)
        status = run_findings_collect_races(command, &b);
    if (status == EXIT_DONE && groups & (FINDINGS_OF_PREDICTION | FINDINGS_OF_ORDERS))
        status = run_findings_collect_predictions(command, &b, groups, kinds);
    if (status == EXIT_DONE && groups & FINDINGS_OF_MEMORY)
        status = run_findings_collect_memory(command, &b);
    return status;
}

void run_findings_free(struct run_findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        struct run_finding *f = &findings->items[i];
        for (uint32_t k = 0; k < f->place_count; k++) {
            free(f->places[k].path);
            free(f->places[k].function);
            free(f->places[k].text);
        }
        for (uint32_t k = 0; k < f->object_count; k++)
            free(f->objects[k]);
        free(f->places);
        free(f->objects);
        free(f->events);
        free(f->text);
        free(f->reason);
    }
    free(findings->items);
    *findings = (struct run_findings){0};
}
