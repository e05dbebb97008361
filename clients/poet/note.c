/* poet note: writes, lists and deletes notes at events, which stay with the trace. */
#include "clients/poet/command.h"
#include "clients/poet/subject.h"

#include "clients/poet/exists.h"
#include "clients/poet/json.h"
#include "clients/source/notes.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

struct noting {
    const struct command *command;
    bool list, removes, json;
};

static void print_one(const struct noting *o, const struct note *note)
{
    char at[48];
    ref_print(at, sizeof at, note->at);
    if (o->json) {
        struct json_object *line = json_object_new_object();
        json_object_object_add(line, "event", json_object_new_string(at));
        json_object_object_add(line, "text", json_object_new_string(note->text));
        json_print(line);
        return;
    }
    printf("%-8s ", at);
    text_print(stdout, note->text);
    putchar('\n');
}

static int list(const struct noting *o, const struct notes *notes)
{
    for (uint32_t i = 0; i < notes->count; i++)
        print_one(o, &notes->items[i]);
    return EXIT_DONE;
}

/* text: NULL: it goes. */
static int set(const struct noting *o, struct notes *notes, struct ref at, const char *text)
{
    struct error error;
    char s[48];
    ref_print(s, sizeof s, at);
    if (!text && !notes_text(notes, at))
        return command_fail(o->command, "there is no note at %s", s);
    enum notes_kept kept = notes_set(notes, at, text, &error);
    if (kept == NOTES_NOWHERE || kept == NOTES_REFUSED)
        return command_fail(o->command, "it cannot be kept: %s", error.text);
    if (kept == NOTES_ELSEWHERE && notes_file(notes))
        fprintf(stderr, "poet note: nothing can be written beside the trace: kept in %s\n",
                notes_file(notes));
    return EXIT_DONE;
}

/* words: what follows SOURCE. */
static int act(const struct noting *o, struct subject *subject, int count, char **words)
{
    struct notes notes;
    struct error error;
    struct ref at = {0, 0};
    if (count && (!ref_parse(words[0], &at) || !at.line || at.line & HIDDEN_LINE))
        return command_usage(o->command, "%s: an event is written LINE:NUMBER, as in 2:17",
                             words[0]);
    int status = notes_open(&notes, &subject->source, &error)
                     ? EXIT_DONE
                     : command_fail(o->command, "%s", error.text);
    if (status == EXIT_DONE && o->list)
        status = list(o, &notes);
    else if (status == EXIT_DONE && !o->removes && !exists_event(subject, at, &error))
        status = command_fail(o->command, "%s", error.text);
    else if (status == EXIT_DONE)
        status = set(o, &notes, at, o->removes ? NULL : words[1]);
    notes_free(&notes);
    return status;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct noting o = {.command = command};
    struct subject subject;
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    int count = argc - first;
    o.list |= count == 1 && !o.removes;
    if (count != (o.list ? 1 : o.removes ? 2 : 3) || (o.list && o.removes))
        return command_usage(command, "SOURCE, an event and a text are needed");
    if (count == 3 && (!*argv[first + 2] || strlen(argv[first + 2]) > LIMIT_TEXT_BYTES))
        return command_usage(command, "a note has 1 to %u bytes", LIMIT_TEXT_BYTES);
    if (!subject_open(command, &subject, argv[first], SOURCE_NAMED_LINES, LABELS_NAME))
        return EXIT_FAILED;
    status = act(&o, &subject, count - 1, argv + first + 1);
    subject_close(&subject);
    return status;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct noting *o = state->input;
    (void)value;
    if (key == 'l')
        o->list = true;
    else if (key == 'd')
        o->removes = true;
    else if (key == 'j')
        o->json = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option options[] = {
    {"list", 'l', NULL, 0, "print the notes; so does SOURCE alone", 0},
    {"delete", 'd', NULL, 0, "delete the note at EVENT", 0},
    {"json", 'j', NULL, 0, "print them as JSON, an object a line: \"event\", \"text\"", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "SOURCE EVENT TEXT\n--delete SOURCE EVENT\n--list SOURCE",
    .doc =
        "Write a note at an event (LINE:NUMBER), in place of the one that was there.\v"
        "Notes are kept beside the trace, as FILE.poet-notes, and are drawn in pictures of it; where "
        "nothing can be written there, in $XDG_STATE_HOME/poet/notes/.",
    .children = options_children};

const struct command command_note = {.name = "note",
                                     .summary = "write a note at an event, list them, delete one",
                                     .run = run,
                                     .argp = &argp};
