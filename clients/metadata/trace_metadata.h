/* What codes and numbers stand for in one run: lines, types, descriptions, programs.
 * Filled from a server's messages; lives as long as the connection. */
#ifndef CLIENTS_METADATA_TRACE_METADATA_H
#define CLIENTS_METADATA_TRACE_METADATA_H

#include "config/target.h"
#include "wire/trace_view.h"

struct line_metadata {
    struct line_info is;
    char *label; /* "T:producer", once someone who can look it up has set it */
    uint32_t twin; /* of those with one name the how manieth it is; 0: they are not numbered */
    uint32_t own; /* bytes of the label before its program and number, where it has such */
};

struct trace_metadata {
    struct run_info run;
    struct line_metadata_table {
        struct line_metadata *
            *pages; /* of METADATA_PAGE_LINES lines; NULL: none of them is known */
        size_t room;
    } lines, hidden;
    uint32_t line_count,
        hidden_count; /* no number is greater; not all of them may be known: see metadata_line */
    /* it was asked that of many lines only those are told that answers name; set by who asks */
    bool named;
    bool some; /* and so it is: not every line up to line_count is known */
    bool unlabelled; /* a line was told after line_labels_assign last set labels */
    char **types; /* by code - 1 */
    uint32_t type_count;
    struct target *
        *targets; /* as the user's own layers, and metadata_override_description, want them drawn */
    size_t target_count;
    struct process_info *processes;
    uint32_t process_count;
    /* of two runs (merged_metadata.h): so many lines are of the first; 0: it is one run */
    uint32_t first_lines;
    uint64_t generation; /* grows with every change */
    char *damage; /* what of the trace could not be read so far, one line; NULL nothing */
    uint64_t unreadable; /* events of it */
    char *renewed; /* that a newer description than that of the trace is drawn by; NULL none is */
};

#define METADATA_PAGE_LINES 1024u

void metadata_free(struct trace_metadata *book); /* empties it */

/* From here on, all books of this process draw what the named description (target_load) is about as
 * it says; its mistakes are written to standard error.  Call it once, before there is a book.
 * False: it cannot be read. */
bool metadata_override_description(const char *description);

/* Takes a table message; false if it is none of its own, or broken (in->error). */
bool metadata_update(struct trace_metadata *book, unsigned type, struct decoder *in);

struct line_metadata *metadata_line(const struct trace_metadata *book,
                                    uint32_t line); /* or NULL: it is not known */
const char *metadata_type_name(const struct trace_metadata *book,
                               uint32_t type); /* "?" if unknown */
const struct target_line_type *metadata_line_type(const struct trace_metadata *book,
                                                  uint32_t line); /* or NULL */
/* Of a name that descriptions give to what is no line; the first description that has it, or
 * NULL. */
const struct target_line_type *metadata_line_type_named(const struct trace_metadata *book,
                                                        const char *kind);
const struct target_event *metadata_target_event(const struct trace_metadata *book,
                                                 const char *kind, const char *type);
const char *metadata_line_letter(const struct trace_metadata *book, uint32_t line);
bool metadata_line_is_visible(const struct trace_metadata *book, uint32_t line);
/* The first cluster of a description that a line belongs to, by its kind or by this name of it;
 * NULL. */
const struct target_line_group *metadata_line_group(const struct trace_metadata *book,
                                                    uint32_t line, const char *name);
/* Puts lines of kinds that are sorted into the order of their names (target_sort). */
void metadata_sort_lines(const struct trace_metadata *book, uint32_t *lines, size_t count);
/* How an event looks; NULL if no description has it. */
const struct target_event *event_style(const struct trace_metadata *book,
                                       const struct event_info *event);
/* The label, or one made from kind letter, name and object as they are. */
const char *metadata_label(const struct trace_metadata *book, uint32_t line);
/* What a text is about: the label of that line.  Where no line is known (0), "something" if the
 * text needs an object ("waits for"), else "" ("waits for the end of a child process"). */
const char *metadata_expand_text(const struct trace_metadata *book, const char *text,
                                 uint32_t about);

/* LINE:NUMBER, "h1:5" for hidden lines.  Parsing: false if s is none. */
void event_id_print(char *s, size_t size, struct event_id ref);
bool event_id_parse(const char *s, struct event_id *ref);
/* The same, of two runs with the number that it has in its own: "again 3:7" of the second. */
void metadata_print_event_id(const struct trace_metadata *book, char *s, size_t size,
                             struct event_id ref);

#endif
