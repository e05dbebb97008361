/* poet locks: how long locks were held and waited for. */
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "config/options.h"

#include <stdlib.h>

#define SHOWN 20u /* rows of text without --top */

enum { OPTION_OBJECT = 3000 };

struct locks_options {
    struct table_settings tables;
    char *object; /* NULL: all */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"object", OPTION_OBJECT, "LINE", 0, "only this lock, by its name or line number", 1},
    {0}};

static const struct option_row locks_rows[] = {
    OPTION_CHILD_INPUT(struct locks_options, tables),
    OPTION_STORES(OPTION_OBJECT, struct locks_options, object),
    {0}};

static error_t locks_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(locks_rows, key, value, state);
}

static int locks_request(struct locks_options *w, struct command_source *subject)
{
    static char key[] = "object";
    const struct table_settings *t = &w->tables;
    struct table_option object[2] = {{0}};
    int status = EXIT_DONE;
    if (w->object)
        object[0] = (struct table_option){
            key, table_request_object(t, subject, "--object", w->object, &status)};
    struct table_section section = {.what = "locks", .options = w->object ? object : NULL};
    if (!t->top && !t->json && !t->csv && !t->file && !w->object)
        section.top = SHOWN;
    if (status == EXIT_DONE)
        status = table_output_run(t, subject, &section, 1);
    free(object[0].value);
    return status;
}

static int locks_run(const struct command *command, int argc, char **argv)
{
    struct locks_options w = {.tables = {.command = command}};
    struct command_source subject;
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = command_source_name(argc, argv, &first);
    enum session_lines lines =
        w.object ? SESSION_ALL_LINES : table_request_session_lines(&w.tables);
    if (argc != first)
        return command_usage(command, "extra operand: %s", argv[first]);
    table_progress_begin(command);
    if (!command_source_open(command, &subject, source, lines, label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(command, &subject);
    status = locks_request(&w, &subject);
    command_source_close(&subject);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = locks_parse_option,
    .args_doc = "[SOURCE]",
    .doc = "Show for each lock (mutex, read-write lock, monitor, semaphore used as a lock) how "
           "often it was acquired, how long it was held and waited for, and the call site of the "
           "longest hold; below it the same for each thread that used it.  The lock with the "
           "longest waits comes first.  --object LINE --by hold lists each time that one lock was "
           "held, with the number of waiters when it was released; --by convoy lists lock convoys: "
           "periods during which at least one thread was waiting for the lock at every moment.",
    .children = tables_children};

const struct command command_locks = {.name = "locks",
                                      .summary = "show how long locks were held and waited for",
                                      .run = locks_run,
                                      .argp = &argp};
