/* Recorded input: what calls of a thread returned that bring something from outside, in the thread's order (INPUT).
 *
 * A call that returned many bytes is told in pieces: all but the last one say that more follows.  For a run that is
 * repeated they lie in a file (`poet replay`): its head, a place for each line of the run, and the pieces of one line after
 * those of the other, each behind its size. */
#ifndef WIRE_INPUT_H
#define WIRE_INPUT_H

#include "wire/limits.h"
#include "wire/message.h"

#define INPUT_PIECE_BYTES 4096u /* that a call returned */

/* One line a call: number, name. */
#define INPUT_CALLS(C)                                                                             \
    C(1, READ, "read")                                                                             \
    C(2, RECV, "recv")                                                                             \
    C(3, GETRANDOM, "getrandom")                                                                   \
    C(4, TIME, "time")                                                                             \
    C(5, GETTIMEOFDAY, "gettimeofday")                                                             \
    C(6, CLOCK, "clock_gettime")                                                                   \
    C(7, RAND, "rand")

enum input_call {
    INPUT_NONE,
#define C(number, name, word) INPUT_##name = number,
    INPUT_CALLS(C)
#undef C
        INPUT_CALL_COUNT
};

const char *input_name(unsigned call); /* "read"; of what is none "another call" */

#define INPUT_MORE 1u /* another piece of the same call follows */
#define INPUT_CUT 2u /* no call: what the thread called from here on was not recorded */
#define INPUT_PASSED 4u /* no call: `result` of its calls, in signal handlers, were not recorded */

struct input {
    uint8_t call; /* an enum input_call */
    uint8_t flags;
    uint32_t error; /* errno, where result is -1 */
    int64_t result;
    uint64_t asked; /* what the call was asked for: a length, a clock */
    const uint8_t *bytes; /* of put_ the caller's, of get_ among those that are read */
    uint32_t size;
};
#define INPUT_HEAD_BYTES 26u

void put_input(struct out *out, const struct input *input); /* the body of an INPUT */
/* False, with in->error: it cannot be one. */
bool get_input(struct in *in, struct input *input);

/* ---- the file ---- */

#define INPUT_MAGIC 0x7475706e69636f70u

struct input_line {
    uint64_t first, bytes; /* of its pieces, from data_at */
};

struct input_head {
    uint64_t magic;
    uint32_t line_count; /* as many places follow, and one for line 0 */
    uint32_t spare;
    uint64_t data_at, bytes; /* of the whole file */
};

/* Whether a file is one, from an address that is a multiple of 8: NULL, or what is wrong. */
const char *input_look(const struct input_head *head, uint64_t bytes);
/* The piece at `at` of those of a line, which moves behind it; false: there is none, or it cannot be. */
bool input_next(const struct input_head *head, uint32_t line, uint64_t *at, struct input *input);

#endif
