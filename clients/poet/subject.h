/* What a command is about: a source, with names for its lines and sites. */
#ifndef CLIENTS_POET_SUBJECT_H
#define CLIENTS_POET_SUBJECT_H

#include "clients/poet/command.h"
#include "clients/site/site.h"
#include "clients/source/label.h"
#include "clients/source/source.h"

/* An opened source with names for its lines and sites. */
struct subject {
    struct source source;
    struct sites *sites;
    uint32_t known;
    enum labels labels;
    uint64_t labelled; /* generation of the book then */
    const struct command *command; /* for what is said at its end */
};

/* The SOURCE of a command that only looks: the word at *first, which is passed over; or NULL, which opens the latest
 * run, where there is none, or where the word is an event or "-". */
const char *subject_named(int argc, char **argv, int *first);
/* For commands with `[SOURCE] [--json]`, whose parser is command_parse_json(): reads the arguments and opens the
 * source.  words: how lines are called in words; JSON has addresses; --labels says otherwise.  False: *status says
 * how to exit. */
bool subject_begin(const struct command *command, int argc, char **argv, enum source_lines lines,
                   enum labels words, struct subject *subject, bool *json, int *status);
/* what NULL: `latest`; on a terminal it is said which run that is. */
bool subject_open(const struct command *command, struct subject *subject, const char *what,
                  enum source_lines lines, enum labels labels);
/* When its run began, as local time, and how long ago that is where age is set; the caller frees it. */
char *subject_begun(const struct source *source, bool age);
/* Labels for lines that became known since. */
void subject_label(struct subject *subject);
void subject_close(struct subject *subject);
/* Says on standard error that it is drawn as a newer description says, if it is. */
void subject_renewed(const struct command *command, const struct subject *subject);
/* Asks, frees body, and waits for the whole answer, whose parts go to take (NULL: nobody wants them);
 * complains and returns false if there is none. */
bool subject_ask(const struct command *command, struct subject *subject, enum ask what,
                 struct out *body, source_take *take, void *user);
/* The same in two steps, for who has something to do meanwhile.  The question stays where it is until it is answered. */
struct subject_question {
    struct subject *subject;
    source_take *take;
    void *user;
    uint32_t id;
};
void subject_send(struct subject *subject, enum ask what, struct out *body, source_take *take,
                  void *user, struct subject_question *question);
bool subject_answered(const struct command *command, const struct subject_question *question);
/* "file:line", or "" without a site. */
const char *subject_site(struct subject *subject, const struct shown_event *event);
/* Of any place.  Either is good until the next one is asked for. */
const char *subject_place(struct subject *subject, uint32_t process, uint64_t site);
/* Some of what was asked about could not be read: said when it was closed. */
bool subject_damaged(void);

#endif
