#include "clients/poet/subject.h"

#include "clients/poet/labels.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *subject_named(int argc, char **argv, int *first)
{
    struct ref ignored;
    if (*first >= argc || strcmp(argv[*first], "-") == 0 || ref_parse(argv[*first], &ignored))
        return NULL;
    return argv[(*first)++];
}

bool subject_begin(const struct command *command, int argc, char **argv, enum source_lines lines,
                   enum labels words, struct subject *subject, bool *json, int *status)
{
    int first;
    *json = false;
    *status = command_read(command, argc, argv, json, &first);
    if (*status != OPTIONS_READ)
        return false;
    const char *what = subject_named(argc, argv, &first);
    if (argc != first) {
        *status = command_usage(command, "%s: one SOURCE is enough", argv[first]);
        return false;
    }
    *status = EXIT_FAILED;
    return subject_open(command, subject, what, lines,
                        labels_wanted(*json ? LABELS_ADDRESS : words));
}

void subject_label(struct subject *subject)
{
    struct book *book = &subject->source.book;
    if (book->generation != subject->labelled)
        label_lines(book, subject->sites, &subject->known, subject->labels);
    subject->labelled = book->generation;
}

/* "3 min ago". */
static void age_text(char *s, size_t size, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *word;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    size_t i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    snprintf(s, size, ", %lld %s ago", (long long)(seconds / units[i].seconds), units[i].word);
}

char *subject_begun(const struct source *source, bool age)
{
    char when[32], ago[40] = "";
    time_t begin = (time_t)(source->book.run.wall_ns / 1000000000u), now = time(NULL);
    struct tm tm;
    if (!source->book.run.wall_ns)
        return memory_copied("an unknown time");
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&begin, &tm));
    if (age && now >= begin)
        age_text(ago, sizeof ago, (int64_t)(now - begin));
    return memory_printed("%s%s", when, ago);
}

/* Who did not name it wants to know which it is; who pipes it on has chosen. */
static void tell_which(const struct command *command, const struct source *source)
{
    if (!isatty(STDOUT_FILENO))
        return;
    char *when = subject_begun(source, true);
    fprintf(stderr, "poet %s: latest: %s of %s, %s\n", command->name, source->book.run.name, when,
            source->name);
    free(when);
}

bool subject_open(const struct command *command, struct subject *subject, const char *what,
                  enum source_lines lines, enum labels labels)
{
    struct error error;
    *subject = (struct subject){.sites = sites_new(), .labels = labels};
    if (!subject->sites || !source_open(&subject->source, what ? what : "latest", lines, &error)) {
        command_fail(command, "%s", subject->sites ? error.text : "out of memory");
        sites_free(subject->sites);
        return false;
    }
    /* One round trip brings the tables. */
    if (!subject_ask(command, subject, ASK_RUNS, NULL, NULL, NULL)) {
        subject_close(subject);
        return false;
    }
    if (!what)
        tell_which(command, &subject->source);
    if (source_warning(&subject->source))
        fprintf(stderr, "poet %s: %s: %s\n", command->name, subject->source.name,
                source_warning(&subject->source));
    subject_label(subject);
    subject->command = command;
    return true;
}

void subject_renewed(const struct command *command, const struct subject *subject)
{
    if (subject->source.book.renewed)
        fprintf(stderr, "poet %s: %s: %s\n", command->name, subject->source.name,
                subject->source.book.renewed);
}

static bool damaged;

bool subject_damaged(void) { return damaged; }

/* Whatever the command was about: what could not be read of it is said. */
static void tell_damage(const struct command *command, struct subject *subject)
{
    struct error ignored;
    source_wait(&subject->source, source_ask(&subject->source, ASK_RUNS, NULL, NULL, NULL),
                &ignored); /* brings what was found out since */
    const struct book *book = &subject->source.book;
    if (!book->damage)
        return;
    fflush(stdout);
    command_fail(command, "%s: %s", subject->source.name, book->damage);
    damaged = true;
}

void subject_close(struct subject *subject)
{
    if (subject->command)
        tell_damage(subject->command, subject);
    source_close(&subject->source);
    sites_free(subject->sites);
}

/* Lines that were told with this part have their labels when it is looked at. */
static void take_labelled(void *user, const struct answer *answer)
{
    const struct subject_question *l = user;
    if (l->subject->source.book.some)
        subject_label(l->subject);
    if (l->take)
        l->take(l->user, answer);
}

void subject_send(struct subject *subject, enum ask what, struct out *body, source_take *take,
                  void *user, struct subject_question *question)
{
    *question = (struct subject_question){.subject = subject, .take = take, .user = user};
    question->id = source_ask(&subject->source, what, body, take_labelled, question);
}

bool subject_answered(const struct command *command, const struct subject_question *question)
{
    struct error error;
    if (source_wait(&question->subject->source, question->id, &error))
        return true;
    command_fail(command, "%s", error.text);
    return false;
}

bool subject_ask(const struct command *command, struct subject *subject, enum ask what,
                 struct out *body, source_take *take, void *user)
{
    struct subject_question question;
    subject_send(subject, what, body, take, user, &question);
    return subject_answered(command, &question);
}

const char *subject_place(struct subject *subject, uint32_t process, uint64_t site)
{
    return site ? sites_call(subject->sites, process, site).place : "";
}

const char *subject_site(struct subject *subject, const struct shown_event *event)
{
    return subject_place(subject, event->process, event->site);
}
