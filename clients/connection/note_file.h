/* Notes that people write at events of a run, one at each: kept in a file beside the trace, or,
 * where that cannot be, in the state directory.
 *
 * FILE.poet-notes is JSON, a line at a time: first {"poet_notes":1,"run":NAME,"began_ns":N}, which
 * run they are of, then {"event":"2:17","text":TEXT} for each, in the order in which they were
 * written.  The file is read anew before each change, under a lock on its directory, and replaced
 * as a whole; one that cannot be read is never written over. */
#ifndef CLIENTS_CONNECTION_NOTE_FILE_H
#define CLIENTS_CONNECTION_NOTE_FILE_H

#include "clients/connection/session.h"
#include "wire/event_id.h"

struct event_note {
    struct event_id at;
    char *text; /* fit to be shown; may have several lines */
};

struct note_file {
    struct event_note *items;
    uint32_t count;
    /* private */
    char *run;
    uint64_t began_ns;
    /* the file next to the trace; NULL: there is no trace here, or it has notes of another run */
    char *beside;
    char *elsewhere; /* the file in the state directory; NULL: there is no such directory */
    bool kept; /* they came from a file, or were written to one */
    char *why; /* a file of notes cannot be read, and stays as it is; NULL: all is well */
};

enum notes_kept {
    NOTES_BESIDE, /* the trace */
    NOTES_ELSEWHERE, /* in the state directory: note_file_file() says where */
    NOTES_NOWHERE, /* only here: the error says why */
    NOTES_REFUSED, /* too long, or too many: nothing has changed, and the error says why */
};

/* Of the run that the source is about.  False with one line in `error`: the file is damaged; there
 * are no notes then, and what is written is kept nowhere.  Either way note_file_free() ends it. */
bool note_file_open(struct note_file *notes, const struct session *source, struct error *error);
void note_file_free(struct note_file *notes); /* NULL or zeroed: nothing */
const char *note_file_text(const struct note_file *notes,
                           struct event_id at); /* NULL: there is none */
/* text: replaces what there was; NULL: the note goes. */
enum notes_kept note_file_set(struct note_file *notes, struct event_id at, const char *text,
                              struct error *error);
const char *
note_file_file(const struct note_file *notes); /* where they are kept; NULL: nowhere yet */
void note_file_forget(const char *trace); /* the file beside it goes, which is removed */
/* They go with a copy of the trace.  False: see error. */
bool note_file_copy(const struct note_file *notes, const char *trace, struct error *error);

#endif
