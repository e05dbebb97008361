/* Metadata of a run: what its codes and numbers stand for: lines, types, descriptions, programs.
 * Filled from a server's messages; lives as long as the connection. */
#ifndef CLIENTS_METADATA_TRACE_METADATA_H
#define CLIENTS_METADATA_TRACE_METADATA_H

#include "config/target.h"
#include "wire/trace_view.h"

struct line_metadata {
    struct line_info is;
    char *label; /* "T:producer", once it was looked up */
    uint32_t twin; /* index among lines of the same name; 0: they are not numbered */
    uint32_t own; /* length in bytes of the label before its program and number, if it has these */
};

struct trace_metadata {
    struct run_info run;
    struct line_metadata_table {
        /* of METADATA_PAGE_LINES lines; NULL: none of them is known */
        struct line_metadata **pages;
        size_t room;
    } lines, hidden;
    /* greatest numbers; not all lines up to them need be known: see metadata_line */
    uint32_t line_count, hidden_count;
    /* the client requested SESSION_NAMED_LINES; set by the client */
    bool named;
    bool some; /* not every line up to line_count is known */
    bool unlabelled; /* lines arrived after line_labels_assign last set labels */
    char **types; /* by code - 1 */
    uint32_t type_count;
    struct target **targets; /* with the user's layers and metadata_override_description applied */
    size_t target_count;
    struct process_info *processes;
    uint32_t process_count;
    /* of two runs (struct merged_metadata): number of lines of the first; 0: one run */
    uint32_t first_lines;
    uint64_t generation; /* grows with every change */
    char *damage; /* the part of the trace that could not be read so far, one line; NULL: none */
    uint64_t unreadable; /* events in that part */
    char *renewed; /* a newer description than that of the trace is in use; NULL: none */
};

#define METADATA_PAGE_LINES 1024u

void metadata_free(struct trace_metadata *book); /* leaves it empty */

/* From here on, the named description (target_load) replaces those that it concerns in all metadata
 * of this process; its errors are written to standard error. Call it once, before any metadata
 * exists. Returns false if it cannot be read. */
bool metadata_override_description(const char *description);

/* Processes a metadata message; returns false if it is not one, or invalid (in->error). */
bool metadata_update(struct trace_metadata *book, unsigned type, struct decoder *in);

struct line_metadata *metadata_line(const struct trace_metadata *book,
                                    uint32_t line); /* returns NULL if it is not known */
const char *metadata_type_name(const struct trace_metadata *book,
                               uint32_t type); /* returns "?" if unknown */
const struct target_line_type *metadata_line_type(const struct trace_metadata *book,
                                                  uint32_t line); /* or NULL */
/* Returns whether the line is that of a thread, a task or a process, which acts by itself: its
 * description shows where it is, or has events of its own thread. */
bool metadata_line_is_thread(const struct trace_metadata *book, uint32_t line);
/* Returns the description of a kind that is not of a line, by name, from the first description that
 * has it, or NULL. */
const struct target_line_type *metadata_line_type_named(const struct trace_metadata *book,
                                                        const char *kind);
const struct target_event *metadata_target_event(const struct trace_metadata *book,
                                                 const char *kind, const char *type);
const char *metadata_line_letter(const struct trace_metadata *book, uint32_t line);
bool metadata_line_is_visible(const struct trace_metadata *book, uint32_t line);
/* Returns the first line group of a description that a line belongs to, by its kind or by this name
 * of it, or NULL. */
const struct target_line_group *metadata_line_group(const struct trace_metadata *book,
                                                    uint32_t line, const char *name);
/* Sorts lines of `sorted` kinds by name (target_sort). */
void metadata_sort_lines(const struct trace_metadata *book, uint32_t *lines, size_t count);
/* Returns whether an event of a sync pair of two lines is that of the object which the thread
 * enters or leaves, not that of the line where the thread is outside of it: of "lock" on the line
 * of a thread, or of an outer lock, and "acquired" on that of the lock, the second one. */
bool event_is_of_entered_object(const struct trace_metadata *book, const struct event_info *event);
/* Returns the description that a style is of. */
const struct target *metadata_description(const struct trace_metadata *book,
                                          const struct target_event *style);
/* Returns the style of an event; NULL if no description has it. */
const struct target_event *event_style(const struct trace_metadata *book,
                                       const struct event_info *event);
/* Returns the label, or one made of kind letter, name and object. */
const char *metadata_label(const struct trace_metadata *book, uint32_t line);
/* Returns the line with that name, with or without its letter ("M:m", "m"); 0: none. *several:
 * there is more than one. */
uint32_t metadata_find_line(const struct trace_metadata *book, const char *name, bool *several);
/* Expands a text about an object with the label of that line. If the line is unknown (0), the
 * object is "something" if the text needs one ("waits for"), else "" ("waits for the end of a child
 * process"). */
const char *metadata_expand_text(const struct trace_metadata *book, const char *text,
                                 uint32_t about);

/* Format LINE:NUMBER, or "h1:5" for hidden lines; and parse it: false if s is not an event id. */
void event_id_print(char *s, size_t size, struct event_id ref);
bool event_id_parse(const char *s, struct event_id *ref);
/* Formats an event id of one or two runs, with the number in its own run: "again 3:7" in the
 * second. */
void metadata_print_event_id(const struct trace_metadata *book, char *s, size_t size,
                             struct event_id ref);

/* Merged metadata of two runs, for one diagram of both: the lines of the second run are numbered
 * after those of the first.
 *
 * Event types are those of the first run, matched by name, followed by those that only the second
 * run has. The descriptions belong to the original metadata, which must outlive this. */

struct merged_metadata {
    struct trace_metadata book;
    const struct trace_metadata *of[2];
    uint32_t *types; /* of the second run, by code - 1 */
};

/* Both must have all their lines, with labels. */
void merged_metadata_make(struct merged_metadata *both, const struct trace_metadata *first,
                          const struct trace_metadata *second);
void merged_metadata_free(struct merged_metadata *both); /* leaves it empty */

uint32_t merged_metadata_line(const struct merged_metadata *both, unsigned run,
                              uint32_t line); /* 0 stays 0 */
struct event_id merged_metadata_event_id(const struct merged_metadata *both, unsigned run,
                                         struct event_id at);
/* Return the run of a line of `both`, and the line in that run; and the same for an event. */
unsigned merged_metadata_run(const struct merged_metadata *both, uint32_t line);
struct event_id merged_metadata_own_line(const struct merged_metadata *both, struct event_id at);
/* Converts an event of a run to its form in `both`. Hidden lines are not changed. */
void merged_metadata_event(const struct merged_metadata *both, unsigned run,
                           struct event_info *event);

#endif
