#define _GNU_SOURCE
#include "clients/poet/apart.h"

#include "clients/book/say.h"
#include "clients/poet/deadlock.h"
#include "clients/poet/suffix.h"
#include "clients/poet/halves.h"
#include "memory/memory.h"
#include "render/lettering.h"
#include "render/page.h"
#include "render/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MOST 2000000u /* of each run: about 200 bytes of memory are needed for one */

struct coming {
    const struct apart *apart;
    struct subject subjects[2];
    unsigned opened; /* of them */
    struct beside *beside;
    struct ref at[2];
    uint64_t left_out; /* events that are not compared, of both */
    bool before; /* the place that was named is behind the first one */
    char *said[2], *headings[2]; /* of the halves */
    struct halves halves;
    unsigned run; /* that is read now */
    bool says; /* where it is, on standard output */
};

/* ---- where ---- */

static void take_aligned(void *user, const struct answer *answer)
{
    struct coming *c = user;
    struct shown_event e;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &e);
    const char *type = book_type(&c->subjects[c->run].source.book, e.type);
    if (!answer->in->error && !beside_event(c->beside, c->run, &e, type))
        c->left_out += !(e.at.line & HIDDEN_LINE);
    shown_event_free(&e);
}

static bool too_many(const struct coming *c)
{
    for (unsigned run = 0; run < 2; run++) {
        const struct source *source = &c->subjects[run].source;
        if (source->book.run.events <= EVENTS_MOST)
            continue;
        command_fail(c->apart->command,
                     "no picture: %s has %llu events, of which no more than %u are compared",
                     source->name, (unsigned long long)source->book.run.events, EVENTS_MOST);
        return true;
    }
    return false;
}

static void name_lines(const struct coming *c, const struct book *book)
{
    for (uint32_t i = 1; i <= book->line_count; i++) {
        if (!book_line(book, i))
            continue;
        beside_name(c->beside, c->run, i, book_line(book, i)->is.name);
        beside_call(c->beside, c->run, i, book_label(book, i));
    }
}

static bool align(struct coming *c)
{
    c->beside = beside_new();
    subject_label(&c->subjects[0]);
    subject_label(&c->subjects[1]);
    for (c->run = 0; c->run < 2; c->run++) {
        struct subject *subject = &c->subjects[c->run];
        if (!subject_ask(c->apart->command, subject, ASK_DUMP, NULL, take_aligned, c))
            return false;
        name_lines(c, &subject->source.book);
    }
    beside_align(c->beside);
    return true;
}

/* What the recorded run has there, if all before it is equal, else what it has first that the other one has not; and what
 * the same thread did in the other one instead, or what that one has first. */
static bool find(struct coming *c)
{
    const struct ref named = c->apart->named;
    bool begins = beside_begins(c->beside, 0, named);
    c->before =
        !begins && beside_column(c->beside, 0, named) >= 0 && !beside_equal(c->beside, 0, named);
    c->at[0] = begins ? named : beside_first(c->beside, 0);
    c->at[1] = beside_instead(c->beside, 0, c->at[0]);
    if (!beside_begins(c->beside, 1, c->at[1]))
        c->at[1] = beside_first(c->beside, 1);
    return c->at[0].line || c->at[1].line;
}

/* ---- what is drawn ---- */

/* "M:a", or "M:a to M:b" where a thread goes from the one to the other and neither is its own; new memory. */
static char *about(const struct book *book, const struct shown_event *e)
{
    bool pair = e->relation == RELATION_SYNC && e->partner_count && !e->about;
    uint32_t other = pair ? e->partners[0].line : 0;
    const struct target_event *look = pair ? book_look(book, e) : NULL;
    if (pair && e->at.line == e->thread)
        return memory_copied(book_label(book, other));
    if (pair && other != e->thread && look)
        return memory_printed("%s %s %s", book_label(book, e->at.line),
                              look->arrow == ARROW_TO_PARTNER ? "to" : "from",
                              book_label(book, other));
    return memory_copied(book_label(book, e->about ? e->about : e->at.line));
}

/* "T:work#2 did petition of M:a, racy.c:8" */
static char *say(struct coming *c, const struct shown_event *e)
{
    struct subject *subject = &c->subjects[c->run];
    const struct book *book = &subject->source.book;
    const char *site = subject_site(subject, e);
    char *of = about(book, e);
    char *said =
        memory_printed("%s did %s of %s%s%s", book_label(book, e->thread ? e->thread : e->at.line),
                       book_type(book, e->type), of, *site ? ", " : "", site);
    free(of);
    return said;
}

static void take_drawn(void *user, const struct answer *answer)
{
    struct coming *c = user;
    struct shown_event e;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &e);
    if (!answer->in->error && ref_equal(e.at, c->at[c->run]) && !c->said[c->run])
        c->said[c->run] = say(c, &e);
    if (!answer->in->error)
        halves_take(&c->halves, c->run, &e);
    shown_event_free(&e);
}

/* Who waits in a deadlock, in either run. */
static bool take_stuck(struct coming *c)
{
    struct halves *h = &c->halves;
    for (unsigned run = 0; run < 2; run++) {
        struct ref *pairs = NULL;
        uint32_t count = 0;
        if (!deadlock_get(c->apart->command, &c->subjects[run], &pairs, &count))
            return false;
        for (uint32_t i = 0; i < count; i++)
            PUSH(h->stuck, h->stuck_count, both_ref(&h->both, run, pairs[i]));
        free(pairs);
    }
    return true;
}

static const char *word(const struct coming *c, unsigned run)
{
    const char *said = c->apart->words[run];
    return said ? said : run ? "again" : "recorded";
}

static char *heading(const char *word, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    return strlen(name) > 40 ? memory_printed("%s: %.24s…%s", word, name, name + strlen(name) - 12)
                             : memory_printed("%s: %s", word, name);
}

/* In words. */
static void say_place(const struct coming *c)
{
    char at[48];
    printf("they part after %llu equal event%s\n", (unsigned long long)beside_equals(c->beside),
           plural(beside_equals(c->beside)));
    for (unsigned run = 0; run < 2; run++) {
        ref_print(at, sizeof at, c->at[run]);
        printf("%s: %s%s%s\n", c->subjects[run].source.name, c->at[run].line ? at : "",
               c->at[run].line ? " " : "", c->said[run] ? c->said[run] : "nothing more");
    }
}

static bool draw(struct coming *c)
{
    halves_begin(&c->halves, &c->subjects[0].source.book, &c->subjects[1].source.book, c->beside,
                 c->at);
    for (c->run = 0; c->run < 2; c->run++)
        if (!subject_ask(c->apart->command, &c->subjects[c->run], ASK_DUMP, NULL, take_drawn, c))
            return false;
    for (unsigned run = 0; run < 2; run++)
        c->headings[run] = heading(word(c, run), c->subjects[run].source.name);
    if (c->says)
        say_place(c);
    halves_finish(&c->halves, (const char *const *)c->headings, c->said);
    c->said[0] = c->said[1] = NULL;
    return take_stuck(c);
}

/* ---- where it goes ---- */

static char *title_of(void *context, const struct scene_mark *mark)
{
    struct coming *c = context;
    unsigned run = both_run(&c->halves.both, mark->event->at.line);
    char *said = say_event(&c->halves.both.book, mark->event);
    const char *site = subject_site(&c->subjects[run], mark->event);
    char *title = memory_printed("%s%s%s", said, *site ? ", " : "", site);
    free(said);
    return title;
}

static const char *write_text(const struct halves *h, const struct scene *scene,
                              const char *caption, const char *file)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return strerror(errno);
    text_write(scene, &h->both.book, &(struct text_options){0}, f);
    fprintf(f, "%s\n", caption);
    bool bad = ferror(f);
    return fclose(f) != 0 || bad ? strerror(errno) : NULL;
}

/* What came of it, and what is to be known of the picture.  A replay knows objects by who uses them, not by what they are
 * called. */
static char *caption_of(const struct coming *c)
{
    char *caption = NULL;
    size_t size = 0;
    FILE *f = memory_given(open_memstream(&caption, &size), 1);
    if (c->apart->caption)
        fputs(c->apart->caption, f);
    else
        fprintf(f, "%llu events are equal", (unsigned long long)beside_equals(c->beside));
    if (c->before)
        fputs("; by what lines are called, the runs differ before that", f);
    if (!c->at[0].line || !c->at[1].line)
        fprintf(f, "; all of the %s run that is compared is equal",
                c->at[1].line ? "recorded" : "new");
    if (c->left_out)
        fprintf(f, "; %llu event%s not in order, or behind a gap, and not compared",
                (unsigned long long)c->left_out, c->left_out == 1 ? " is" : "s are");
    if (c->halves.left_lines)
        fprintf(f, "; %u more line%s part and %s not drawn", c->halves.left_lines,
                c->halves.left_lines == 1 ? " takes" : "s take",
                c->halves.left_lines == 1 ? "is" : "are");
    fclose(f);
    return caption;
}

static int write_file(struct coming *c, const char *file)
{
    const struct book *book = &c->subjects[0].source.book;
    enum suffix suffix = suffix_of(file);
    char *title = memory_printed("%s, %s and %s", book->run.name, word(c, 0), word(c, 1));
    char *caption = caption_of(c);
    struct scene_options options = {.title = title,
                                    .caption = caption,
                                    .measure = suffix == SUFFIX_TXT ? NULL : lettering_width};
    struct page_options page = {.format = suffix == SUFFIX_SVG   ? PAGE_SVG
                                          : suffix == SUFFIX_PNG ? PAGE_PNG
                                                                 : PAGE_PDF,
                                .title_of = title_of,
                                .context = c,
                                .title = title,
                                .date = (time_t)(book->run.wall_ns / 1000000000u),
                                .selection = halves_selection(&c->halves)};
    halves_options(&c->halves, &options);
    struct scene *scene = scene_build(&c->halves.window, &c->halves.both.book, &options);
    const char *why = suffix == SUFFIX_TXT ? write_text(&c->halves, scene, caption, file)
                                           : page_write(scene, &page, file);
    if (why)
        command_fail(c->apart->command, "%s: %s", file, why);
    scene_free(scene);
    lettering_forget();
    free(title);
    free(caption);
    return why ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the whole ---- */

bool apart_can(const struct command *command, const char *file)
{
    enum suffix suffix = suffix_of(file);
    if (suffix != SUFFIX_NONE && suffix != SUFFIX_HTML)
        return true;
    command_usage(command, "--picture %s: the name must end in .pdf, .svg, .png or .txt", file);
    return false;
}

static int picture(struct coming *c, const char *file)
{
    if (too_many(c) || !align(c))
        return EXIT_FAILED;
    if (!find(c)) {
        command_fail(c->apart->command,
                     "no picture: all that can be compared of both traces is equal");
        return EXIT_DONE;
    }
    return draw(c) ? write_file(c, file) : EXIT_FAILED;
}

/* False: one of them cannot be read. */
static bool open_both(struct coming *c)
{
    const char *const traces[] = {c->apart->recorded, c->apart->again};
    while (c->opened < 2 && subject_open(c->apart->command, &c->subjects[c->opened],
                                         traces[c->opened], SOURCE_ALL_LINES, LABELS_NAME))
        c->opened++;
    return c->opened == 2;
}

static void close_both(struct coming *c)
{
    free(c->halves.stuck);
    halves_free(&c->halves);
    for (unsigned run = 0; run < 2; run++) {
        free(c->headings[run]);
        free(c->said[run]);
    }
    beside_free(c->beside);
    while (c->opened > 0)
        subject_close(&c->subjects[--c->opened]);
}

int apart_picture(const struct apart *apart, const char *file)
{
    struct coming c = {.apart = apart};
    int status = open_both(&c) ? picture(&c, file) : EXIT_FAILED;
    close_both(&c);
    return status;
}

#define EXIT_TROUBLE 2 /* as cmp and diff have it */

static int compare(struct coming *c, const char *file)
{
    if (too_many(c) || !align(c))
        return EXIT_TROUBLE;
    if (find(c))
        return draw(c) && (!file || write_file(c, file) == EXIT_DONE) ? EXIT_FAILED : EXIT_TROUBLE;
    if (c->says)
        printf("the same: %llu events\n", (unsigned long long)beside_equals(c->beside));
    if (file)
        command_fail(c->apart->command, "%s is not written: all is equal", file);
    return EXIT_DONE;
}

int apart_compare(const struct apart *apart, const char *file, bool quiet)
{
    struct coming c = {.apart = apart, .says = !quiet};
    int status = open_both(&c) ? compare(&c, file) : EXIT_TROUBLE;
    close_both(&c);
    return status;
}
