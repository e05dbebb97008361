#define _GNU_SOURCE
#include "clients/cli/sqlite_export.h"

#include "base/alloc.h"
#include "clients/cli/sql_events.h"
#include "clients/cli/sql_run.h"
#include "clients/cli/sql_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char sqlite_export_indexes[] = "create index events_event on events(event);"
                                            "create index events_line on events(line, number);"
                                            "create index events_time on events(time_ns);"
                                            "create index events_thread on events(thread_label);";

static bool sqlite_export_events(struct sql_database *d)
{
    char *columns = sql_events_declaration(), *sql = xasprintf("create table events%s", columns);
    bool good = sql_database_execute(d, sql) && sql_database_execute(d, "begin") &&
                sql_database_execute(d, "insert into events select * from poet_events") &&
                sql_database_execute(d, "commit") &&
                sql_database_execute(d, sqlite_export_indexes) &&
                sql_database_execute(d, sql_views);
    free(sql);
    free(columns);
    return good;
}

/* Adds tables that describe the others: which rows they have, and why the run does not have one;
 * notes about them. */
static bool sqlite_export_describe(struct sql_database *d, char *const *problems)
{
    bool good = sql_database_execute(d, "create table poet_tables(name, rows_of, about, missing);"
                                        "create table poet_notes(note)");
    for (size_t i = 0; good && sql_tables[i].name; i++) {
        const struct sql_table *t = &sql_tables[i];
        char *sql = sqlite3_mprintf("insert into poet_tables values(%Q, 'poet %q --json', %Q, %Q)",
                                    t->name, t->command, t->about, problems[i]);
        good = sql_database_execute(d, sql);
        sqlite3_free(sql);
    }
    for (uint32_t i = 0; good && i < d->note_count; i++) {
        char *sql = sqlite3_mprintf("insert into poet_notes values(%Q)", d->notes[i]);
        good = sql_database_execute(d, sql);
        sqlite3_free(sql);
    }
    return good;
}

static int sqlite_export_tables(struct sql_database *d)
{
    size_t count = 0;
    int status = EXIT_DONE;
    while (sql_tables[count].name)
        count++;
    char **problems = xcalloc(count, sizeof *problems);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        int loaded = sql_table_load(d, &sql_tables[i], &problems[i]);
        status = problems[i] ? EXIT_DONE : loaded;
    }
    if (status == EXIT_DONE && (!sqlite_export_events(d) || !sqlite_export_describe(d, problems)))
        status = EXIT_FAILED;
    for (size_t i = 0; i < count; i++)
        free(problems[i]);
    free(problems);
    return status;
}

/* Copies a file to standard output. Returns an exit status, after reporting errors. */
static int sqlite_export_copy(const struct command *command, const char *part)
{
    char bytes[65536];
    FILE *f = fopen(part, "re");
    size_t n;
    while (f && (n = fread(bytes, 1, sizeof bytes, f)) > 0 && fwrite(bytes, 1, n, stdout) == n)
        ;
    bool bad = !f || ferror(f);
    int status = bad ? command_fail(command, "%s: %s", part, strerror(errno)) : EXIT_DONE;
    if (f)
        fclose(f);
    return status;
}

/* Returns the name of the file that is written first, in new memory: FILE.part, which an interrupt
 * removes, or a temporary one for standard output. NULL after reporting an error. */
static char *sqlite_export_part(const struct command *command, const char *file)
{
    const char *directory = getenv("TMPDIR");
    if (strcmp(file, "-") != 0)
        return xasprintf("%s.part", file);
    char *part = xasprintf("%s/poet-XXXXXX", directory && *directory ? directory : "/tmp");
    int fd = mkstemp(part);
    if (fd >= 0) {
        close(fd);
        return part;
    }
    command_fail(command, "%s: %s", part, strerror(errno));
    free(part);
    return NULL;
}

/* Writes the tables of an opened source to `part`, and moves it to its place. */
static int sqlite_export_run(struct sql_database *d, const char *part, const char *file)
{
    const struct command *command = d->settings.command;
    bool standard = strcmp(file, "-") == 0;
    unlink(part);
    table_progress_set_file(part);
    int status = sql_run_open(d, part) ? sqlite_export_tables(d) : EXIT_FAILED;
    sql_run_close(d);
    if (status == EXIT_DONE && standard)
        status = sqlite_export_copy(command, part);
    else if (status == EXIT_DONE && rename(part, file) < 0)
        status = command_fail(command, "%s: %s", file, strerror(errno));
    if (status != EXIT_DONE || standard)
        unlink(part);
    table_progress_set_file(NULL);
    return status;
}

int sqlite_export_write(const struct command *command, const char *source, const char *file)
{
    struct command_source subject;
    char *part = sqlite_export_part(command, file);
    int status = EXIT_FAILED;
    if (!part)
        return status;
    table_progress_begin(command);
    if (command_source_open(command, &subject, source, SESSION_ALL_LINES, LABELS_NAME)) {
        struct sql_database d = {
            .subject = &subject, .source = source, .settings = {.command = command}};
        status = sqlite_export_run(&d, part, file);
        command_source_close(&subject);
    } else if (strcmp(file, "-") == 0) {
        unlink(part);
    }
    free(part);
    return status;
}
