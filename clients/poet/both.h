/* Two runs of a program: where they part, and the picture of that place, the rows of the first above those of the second
 * and what is equal in the same columns (clients/plan/beside.h says what that is). */
#ifndef CLIENTS_POET_BOTH_H
#define CLIENTS_POET_BOTH_H

#include "clients/plan/beside.h"
#include "clients/poet/picture.h"

#define BOTH_MOST 1000000u /* events of each, from its begin on; more are not looked at */

struct both {
    struct both_run {
        struct subject subject;
        bool open, cut; /* cut: there are more */
        struct ref place; /* where they part; line 0: it does nothing there */
        char *said; /* what it did there, or NULL */
        struct both_line *lines; /* by line - 1 */
        uint32_t line_count;
    } runs[2];
    struct beside *beside;
    uint64_t equal; /* events */
};

/* Reads both.  False, with a complaint: one of them cannot be read. */
bool both_read(const struct command *command, struct both *both, const char *first,
               const char *second);
bool both_differ(const struct both *both);
/* "they part after 16 equal events: ..." */
void both_say(const struct both *both, FILE *f);
/* Writes the picture of the place where they part, as the ending of the file says; an exit status.  Once, and last. */
int both_draw(const struct command *command, struct both *both, const char *file);
void both_free(struct both *both);

#endif
