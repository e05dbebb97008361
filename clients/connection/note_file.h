/* User notes at events of a run, at most one per event: kept in a file next to the trace, or, if
 * that is impossible, in the state directory.
 *
 * FILE.poet-notes is JSON, one object per line: first {"poet_notes":1,"run":NAME,"began_ns":N},
 * which identifies the run, then {"event":"2:17","text":TEXT} for each note, in the order in which
 * they were written. Before each change the file is read again, under a lock on its directory, and
 * it is replaced as a whole; a file that cannot be read is never overwritten. */
#ifndef CLIENTS_CONNECTION_NOTE_FILE_H
#define CLIENTS_CONNECTION_NOTE_FILE_H

#include "clients/connection/session.h"
#include "wire/event_types.h"

struct event_note {
    struct event_id at;
    char *text; /* sanitized for display; may have several lines */
};

struct note_file {
    struct event_note *items;
    uint32_t count;
    /* private */
    char *run;
    uint64_t began_ns;
    /* the file next to the trace; NULL: there is no trace here, or the file belongs to another
     * run */
    char *beside;
    char *elsewhere; /* the file in the state directory; NULL: there is no such directory */
    bool kept; /* they were read from a file, or written to one */
    char *why; /* why a notes file cannot be read, and is left unchanged; NULL: no error */
};

enum notes_kept {
    NOTES_BESIDE, /* next to the trace */
    NOTES_ELSEWHERE, /* in the state directory: note_file_file() returns the path */
    NOTES_NOWHERE, /* in memory only: the error says why */
    NOTES_REFUSED, /* too long, or too many: nothing was changed, and the error says why */
};

/* Opens the notes of the source's run. Returns false with the reason in *error if the file
 * is damaged; then there are no notes, and new ones are kept in memory only. In either case release
 * with note_file_free(). */
bool note_file_open(struct note_file *notes, const struct session *source, struct error *error);
void note_file_free(struct note_file *notes); /* NULL or zeroed: no effect */
const char *note_file_text(const struct note_file *notes,
                           struct event_id at); /* returns NULL if there is none */
/* Replaces the note of an event; text NULL: deletes it. */
enum notes_kept note_file_set(struct note_file *notes, struct event_id at, const char *text,
                              struct error *error);
/* returns the path of the notes; NULL: not saved yet */
const char *note_file_file(const struct note_file *notes);
void note_file_forget(const char *trace); /* removes the file next to a trace that is removed */
/* Copies the notes to a copy of the trace. Returns false with the reason in *error. */
bool note_file_copy(const struct note_file *notes, const char *trace, struct error *error);

#endif
