/* poet note: writes, lists and deletes notes at events, which stay with the trace. */
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

#include "clients/cli/output_format.h"
#include "clients/connection/note_file.h"
#include "config/options.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

struct note_options {
    const struct command *command;
    bool list, removes, json;
};

static void print_one(const struct note_options *o, const struct event_note *note)
{
    char at[48];
    event_id_print(at, sizeof at, note->at);
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

static int note_print_notes(const struct note_options *o, const struct note_file *notes)
{
    for (uint32_t i = 0; i < notes->count; i++)
        print_one(o, &notes->items[i]);
    return EXIT_DONE;
}

/* text: NULL deletes the note. */
static int note_set_note(const struct note_options *o, struct note_file *notes, struct event_id at,
                         const char *text)
{
    struct error error;
    char s[48];
    event_id_print(s, sizeof s, at);
    if (!text && !note_file_text(notes, at))
        return command_fail(o->command, "no note at %s", s);
    enum notes_kept kept = note_file_set(notes, at, text, &error);
    if (kept == NOTES_NOWHERE || kept == NOTES_REFUSED)
        return command_fail(o->command, "cannot save the note: %s", error.text);
    if (kept == NOTES_ELSEWHERE && note_file_file(notes))
        fprintf(stderr, "poet note: cannot write beside the trace; saved in %s\n",
                note_file_file(notes));
    return EXIT_DONE;
}

/* words: the arguments after SOURCE. */
static int note_run_action(const struct note_options *o, struct command_source *subject, int count,
                           char **words)
{
    struct note_file notes;
    struct error error;
    struct event_id at = {0, 0};
    if (count && (!event_id_parse(words[0], &at) || !at.line || at.line & HIDDEN_LINE))
        return command_usage(o->command, "%s: not an event (LINE:NUMBER, as in 2:17)", words[0]);
    int status = note_file_open(&notes, &subject->source, &error)
                     ? EXIT_DONE
                     : command_fail(o->command, "%s", error.text);
    if (status == EXIT_DONE && o->list)
        status = note_print_notes(o, &notes);
    else if (status == EXIT_DONE && !o->removes && !command_source_has_event(subject, at, &error))
        status = command_fail(o->command, "%s", error.text);
    else if (status == EXIT_DONE)
        status = note_set_note(o, &notes, at, o->removes ? NULL : words[1]);
    note_file_free(&notes);
    return status;
}

static int note_run(const struct command *command, int argc, char **argv)
{
    struct note_options o = {.command = command};
    struct command_source subject;
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    int count = argc - first;
    o.list |= count == 1 && !o.removes;
    if (count != (o.list ? 1 : o.removes ? 2 : 3) || (o.list && o.removes))
        return command_usage(command, "missing operand: SOURCE EVENT TEXT");
    if (count == 3 && (!*argv[first + 2] || strlen(argv[first + 2]) > LIMIT_TEXT_BYTES))
        return command_usage(command, "TEXT must have 1 to %u bytes", LIMIT_TEXT_BYTES);
    if (!command_source_open(command, &subject, argv[first], SESSION_NAMED_LINES, LABELS_NAME))
        return EXIT_FAILED;
    status = note_run_action(&o, &subject, count - 1, argv + first + 1);
    command_source_close(&subject);
    return status;
}

static const struct option_row note_rows[] = {OPTION_SETS('l', struct note_options, list),
                                              OPTION_SETS('d', struct note_options, removes),
                                              OPTION_SETS('j', struct note_options, json),
                                              {0}};

static error_t note_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(note_rows, key, value, state);
}

static const struct argp_option options[] = {
    {"list", 'l', NULL, 0, "list the notes (default with SOURCE alone)", 0},
    {"delete", 'd', NULL, 0, "delete the note at EVENT", 0},
    {"json", 'j', NULL, 0, "print one JSON object per note: \"event\", \"text\"", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = note_parse_option,
    .args_doc = "SOURCE EVENT TEXT\n--delete SOURCE EVENT\n--list SOURCE",
    .doc =
        "Add a note to an event (LINE:NUMBER), replacing an existing one.\vNotes are saved beside "
        "the trace, in FILE.poet-notes, and are drawn in diagrams; if that file cannot be written, "
        "in $XDG_STATE_HOME/poet/notes/.",
    .children = options_children};

const struct command command_note = {.name = "note",
                                     .summary = "add, list or delete notes on events",
                                     .run = note_run,
                                     .argp = &argp};
