/* Writer of cuts: makes the trace file of a part of a run (cut_selection.h), in steps, as bytes.
 *
 * The events have the edges that they have in the run, so that each pair of them is ordered as
 * there.  If events between others are left out (lines), their order is kept by edges of its own
 * (cut_bridges.h).  An event is as uncertain as what is left out before it.  Memory: a bit or two
 * per event of the run that is examined.  Not thread-safe. */
#ifndef SERVER_CUTS_CUT_WRITER_H
#define SERVER_CUTS_CUT_WRITER_H

#include "server/cuts/cut_selection.h"
#include "wire/message.h"

struct cut_writer;

struct cut_figures {
    uint64_t events, left_out; /* of visible lines */
    uint32_t lines, threads_left_out, threads_continuing;
    bool renumbered; /* lines have other numbers than in the run */
};

/* Takes over the selection. */
struct cut_writer *cut_writer_new(const struct run *run, struct cut_selection *selection);
void cut_writer_free(struct cut_writer *writer);
/* Continues for about `budget` events; appends the next bytes of the file to `out`.  Returns true
 * when they are all there. */
bool cut_writer_step(struct cut_writer *writer, uint64_t budget, struct encoder *out);
/* Returns why the cut cannot be made, or NULL. */
const char *cut_writer_problem(const struct cut_writer *writer);
struct cut_figures cut_writer_figures(const struct cut_writer *writer);
/* Returns the line of the run that has this number in the cut; 0: there is none. */
uint32_t cut_writer_line(const struct cut_writer *writer, uint32_t number);

#endif
