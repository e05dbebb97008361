/* Recorded input: what calls of a thread returned that bring something from outside, in the
 * thread's order (INPUT).
 *
 * A call that returned many bytes is told in pieces: all but the last one say that more follows.
 * For a run that is repeated they lie in a file (`poet replay`): its head, a place for each line of
 * the run, and the pieces of one line after those of the other, each behind its size. */
#ifndef WIRE_RECORDED_INPUT_H
#define WIRE_RECORDED_INPUT_H

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
    C(7, RAND, "rand")                                                                             \
    C(8, READV, "readv")                                                                           \
    C(9, PREAD, "pread")                                                                           \
    C(10, RECVFROM, "recvfrom")                                                                    \
    C(11, RECVMSG, "recvmsg")                                                                      \
    C(12, RANDOM, "random")                                                                        \
    C(13, LRAND48, "lrand48")                                                                      \
    C(14, MRAND48, "mrand48")                                                                      \
    C(15, DRAND48, "drand48")                                                                      \
    C(16, GETENTROPY, "getentropy")                                                                \
    C(17, ARC4RANDOM, "arc4random")                                                                \
    C(18, ARC4RANDOM_BUF, "arc4random_buf")                                                        \
    C(19, ARC4RANDOM_UNIFORM, "arc4random_uniform")                                                \
    C(20, PROCESSOR, "clock")                                                                      \
    C(21, TIMES, "times")                                                                          \
    C(22, GETRUSAGE, "getrusage")                                                                  \
    C(23, TIMESPEC_GET, "timespec_get")

enum input_call {
    INPUT_NONE,
#define C(number, name, word) INPUT_##name = number,
    INPUT_CALLS(C)
#undef C
        INPUT_CALL_COUNT
};

/* What came with bytes that were received, in front of them: its name (an address) and its control
 * messages follow. */
struct input_front {
    uint32_t name_size; /* as the call told it */
    uint32_t name_bytes, control_bytes; /* that are here */
    uint32_t flags;
};
#define INPUT_FRONT_BYTES 16u

const char *recorded_input_name(unsigned call); /* "read"; of what is none "another call" */

#define INPUT_MORE 1u /* another piece of the same call follows */
#define INPUT_CUT 2u /* no call: what the thread called from here on was not recorded */
#define INPUT_PASSED 4u /* no call: `result` of its calls, in signal handlers, were not recorded */
#define INPUT_OWN 8u /* the call brought what was sent on this machine: it is made again */
#define INPUT_STREAMS                                                                              \
    16u /* no call: the program reads through C's stdio, too, which was not recorded */

struct input {
    uint8_t call; /* an enum input_call */
    uint8_t flags;
    uint32_t error; /* errno, where result is -1 */
    int64_t result;
    /* what the call was asked for: a length, a clock; of pread recorded_input_asked_at() */
    uint64_t asked;
    const uint8_t *bytes; /* of put_ the caller's, of get_ among those that are read */
    uint32_t size;
};
#define INPUT_HEAD_BYTES 26u

/* A length in the lower half, the lower half of a place in a file in the upper one. */
uint64_t recorded_input_asked_at(uint64_t length, uint64_t at);
uint64_t recorded_input_length(const struct input *input); /* of one that is asked for a length */

void encode_input_front(struct encoder *out, const struct input_front *front);
bool decode_input_front(struct decoder *in, struct input_front *front);

void encode_input(struct encoder *out, const struct input *input); /* the body of an INPUT */
/* False, with in->error: it cannot be one. */
bool decode_input(struct decoder *in, struct input *input);

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
const char *recorded_input_check(const struct input_head *head, uint64_t bytes);
/* The piece at `at` of those of a line, which moves behind it; false: there is none, or it cannot
 * be. */
bool recorded_input_next(const struct input_head *head, uint32_t line, uint64_t *at,
                         struct input *input);

#endif
