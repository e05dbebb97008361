#include "clients/cli/sql_database.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

int sql_database_fail(const struct sql_database *d)
{
    return command_fail(d->settings.command, "%s", d->problem ? d->problem : sqlite3_errmsg(d->db));
}

bool sql_database_execute(struct sql_database *d, const char *sql)
{
    if (sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    sql_database_fail(d);
    return false;
}

void sql_database_set_problem(struct sql_database *d, const char *text)
{
    free(d->problem);
    d->problem = xstrdup(text);
}

void sql_database_add_note(struct sql_database *d, char *note)
{
    for (uint32_t i = 0; i < d->note_count; i++)
        if (strcmp(d->notes[i], note) == 0) {
            free(note);
            return;
        }
    ARRAY_PUSH(d->notes, d->note_count, note);
}

void sql_database_close(struct sql_database *d)
{
    sqlite3_close(d->db);
    for (uint32_t i = 0; i < d->note_count; i++)
        free(d->notes[i]);
    free(d->notes);
    free(d->problem);
    d->db = NULL;
    d->problem = NULL;
    d->notes = NULL;
    d->note_count = 0;
}
