/* Recorded input: the results of calls by which a thread received data from outside, in the
 * thread's order (INPUT).
 *
 * A call that returned many bytes is recorded in pieces: all but the last one are marked
 * INPUT_MORE. For replay they are in a file (`poet replay`): its head, an entry for each line of
 * the run, and the pieces, line by line, each preceded by its size. */
#ifndef WIRE_RECORDED_INPUT_H
#define WIRE_RECORDED_INPUT_H

#include "wire/limits.h"
#include "wire/message.h"

#define INPUT_PIECE_BYTES 4096u /* maximum bytes of a piece */

/* One line for each call: number, name. */
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

/* Data that precedes received bytes: the sender's address and the control messages follow it. */
struct input_front {
    uint32_t name_size; /* as the call returned it */
    uint32_t name_bytes, control_bytes; /* present here */
    uint32_t flags;
};
#define INPUT_FRONT_BYTES 16u

const char *recorded_input_name(unsigned call); /* "read"; "another call" for an invalid one */

#define INPUT_MORE 1u /* another piece of the same call follows */
#define INPUT_CUT 2u /* no call: the thread's calls from here on were not recorded */
#define INPUT_PASSED 4u /* no call: `result` calls of its signal handlers were not recorded */
#define INPUT_OWN 8u /* the call returned data that was sent on this host: it is executed again */
/* no call: the program also reads through stdio, which was not recorded */
#define INPUT_STREAMS 16u

struct input {
    uint8_t call; /* an enum input_call */
    uint8_t flags;
    uint32_t error; /* errno, if result is -1 */
    int64_t result;
    /* the argument of the call: a length, a clock; for pread recorded_input_asked_at() */
    uint64_t asked;
    const uint8_t *bytes; /* for encode_ the caller's; for decode_ part of the decoded bytes */
    uint32_t size;
};
#define INPUT_HEAD_BYTES 26u

/* Packs a length in the lower half, and the lower half of a file offset in the upper half. */
uint64_t recorded_input_asked_at(uint64_t length, uint64_t at);
uint64_t recorded_input_length(const struct input *input); /* of a call with a length argument */

void encode_input_front(struct encoder *out, const struct input_front *front);
bool decode_input_front(struct decoder *in, struct input_front *front);

void encode_input(struct encoder *out, const struct input *input); /* the body of an INPUT */
/* Returns false with in->error if it is invalid. */
bool decode_input(struct decoder *in, struct input *input);

/* ---- the file ---- */

#define INPUT_MAGIC 0x7475706e69636f70u

struct input_line {
    uint64_t first, bytes; /* of its pieces, from data_at */
};

struct input_head {
    uint64_t magic;
    uint32_t line_count; /* that many entries follow, and one for line 0 */
    uint32_t spare;
    uint64_t data_at, bytes; /* of the whole file */
};

/* Validates a file, at an address that is a multiple of 8. Returns NULL, or what is wrong. */
const char *recorded_input_check(const struct input_head *head, uint64_t bytes);
/* Gets the piece of a line at `at`, and advances `at` past it. Returns false if there is none, or
 * it is invalid. */
bool recorded_input_next(const struct input_head *head, uint32_t line, uint64_t *at,
                         struct input *input);

#endif
