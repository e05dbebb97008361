/* Where two runs of a program part. */
#define _GNU_SOURCE
#include "clients/poet/both.h"

#include "clients/poet/bothdrawn.h"
#include "memory/memory.h"

#include <stdlib.h>

/* ---- both are read ---- */

struct reading {
    struct both *both;
    unsigned run;
    uint64_t count;
};

static void take(void *user, const struct answer *answer)
{
    struct reading *reading = user;
    struct both_run *run = &reading->both->runs[reading->run];
    struct shown_event event;
    if (answer->part != PART_EVENT)
        return;
    if (reading->count >= BOTH_MOST) {
        run->cut = true;
        return;
    }
    get_event(answer->in, &event);
    if (!answer->in->error)
        reading->count += beside_event(reading->both->beside, reading->run, &event,
                                       book_type(&run->subject.source.book, event.type));
    shown_event_free(&event);
}

static bool read_run(const struct command *command, struct both *both, unsigned i, const char *file)
{
    struct both_run *run = &both->runs[i];
    struct reading reading = {both, i, 0};
    if (!subject_open(command, &run->subject, file, SOURCE_ALL_LINES, LABELS_NAME))
        return false;
    run->open = true;
    if (!subject_ask(command, &run->subject, ASK_DUMP, NULL, take, &reading))
        return false;
    subject_label(&run->subject);
    const struct book *book = &run->subject.source.book;
    for (uint32_t line = 1; line <= book->line_count; line++)
        if (book_line(book, line))
            beside_name(both->beside, i, line, book_line(book, line)->is.name);
    return true;
}

/* The first event that differs, and what the same thread of the other run did in its place. */
static void find_place(struct both *both)
{
    struct ref first[2] = {beside_first(both->beside, 0), beside_first(both->beside, 1)};
    unsigned by = first[0].line ? 0 : 1;
    if (!first[by].line)
        return;
    if (first[!by].line &&
        beside_column(both->beside, !by, first[!by]) < beside_column(both->beside, by, first[by]))
        by = !by;
    both->runs[by].place = first[by];
    both->runs[!by].place = beside_instead(both->beside, by, first[by]);
}

/* ---- in words ---- */

/* "T:work did enter of M:a (2:22, two.c:9), the 14th event of M:a".  Of the halves of a point that of the object counts:
 * whose turn it is there is what differs between runs. */
static char *say_place(struct both_run *run, const struct shown_event *e)
{
    const struct book *book = &run->subject.source.book;
    uint32_t thread = e->thread ? e->thread : e->at.line;
    struct ref on = e->relation == RELATION_SYNC && e->at.line == thread && e->partner_count
                        ? e->partners[0]
                        : e->at;
    const char *site = subject_site(&run->subject, e);
    char at[48], turn[300] = "";
    ref_print(at, sizeof at, e->at);
    if (on.line != thread && !(on.line & HIDDEN_LINE))
        snprintf(turn, sizeof turn, ", event %llu of %s", (unsigned long long)on.number,
                 book_label(book, on.line));
    else
        on.line = e->about ? e->about : e->at.line;
    return memory_printed("%s did %s%s%s (%s%s%s)%s", book_label(book, thread),
                          book_type(book, e->type), on.line == thread ? "" : " of ",
                          on.line == thread ? "" : book_label(book, on.line), at, *site ? ", " : "",
                          site, turn);
}

static void take_place(void *user, const struct answer *answer)
{
    struct both_run *run = user;
    struct shown_event e;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &e);
    if (!answer->in->error && ref_equal(e.at, run->place) && !run->said)
        run->said = say_place(run, &e);
    shown_event_free(&e);
}

static bool name_place(const struct command *command, struct both_run *run)
{
    return !run->place.line || subject_ask(command, &run->subject, ASK_DUMP, NULL, take_place, run);
}

bool both_read(const struct command *command, struct both *both, const char *first,
               const char *second)
{
    both->beside = beside_new();
    if (!read_run(command, both, 0, first) || !read_run(command, both, 1, second))
        return false;
    beside_align(both->beside);
    both->equal = beside_equals(both->beside);
    find_place(both);
    return name_place(command, &both->runs[0]) && name_place(command, &both->runs[1]);
}

bool both_differ(const struct both *both)
{
    return both->runs[0].place.line || both->runs[1].place.line;
}

void both_say(const struct both *both, FILE *f)
{
    bool cut = both->runs[0].cut || both->runs[1].cut;
    fprintf(f, "%s: %llu event%s%s", both_differ(both) ? "they part; equal" : "the same",
            (unsigned long long)both->equal, plural(both->equal), both_differ(both) ? " are" : "");
    if (cut)
        fprintf(f, "; of each run the first %u events were looked at", BOTH_MOST);
    fputc('\n', f);
    for (int i = 0; i < 2 && both_differ(both); i++)
        fprintf(f, "%s: %s\n", both->runs[i].subject.source.name,
                both->runs[i].said ? both->runs[i].said : "nothing more of that thread");
}

int both_draw(const struct command *command, struct both *both, const char *file)
{
    if (!both_differ(both)) {
        fprintf(stderr, "poet %s: %s is not written: the runs do not part\n", command->name, file);
        return EXIT_DONE;
    }
    return bothdrawn_write(command, both, file);
}

void both_free(struct both *both)
{
    for (int i = 0; i < 2; i++) {
        if (both->runs[i].open)
            subject_close(&both->runs[i].subject);
        free(both->runs[i].said);
    }
    beside_free(both->beside);
    *both = (struct both){0};
}
