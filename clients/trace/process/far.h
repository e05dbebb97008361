/* TCP connections to other machines of the run. */
#ifndef CLIENTS_TRACE_PROCESS_FAR_H
#define CLIENTS_TRACE_PROCESS_FAR_H

#include "clients/trace/process/ends.h"
#include "clients/trace/process/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct far {
    uint64_t *flags; /* FAR_..., writers << 8, generation << 32; NULL: it is not followed */
    uint64_t *written,
        *read; /* bytes: told, also as those that no event wrote; as far as it is known */
    uint64_t *
        ends; /* how often its end that writes was closed; << 32: the process that told of it last */
    uint64_t out, in, cookie; /* keys of its two streams */
    poet_place_t here, there;
    uint64_t began; /* a call that writes: what it gives may be read from then on */
    bool again; /* its addresses and ports were another connection's before */
};

bool far_find(int fd, const struct end *end, struct far *far); /* false: it is not followed */
void far_enter(struct far *far); /* a call that writes is under way */
void far_leave(const struct far *far); /* it moved nothing, or nobody will know what */
void far_wrote(int fd, const struct far *far, size_t bytes, size_t asked, const void *site);
void far_has_read(int fd, const struct far *far, size_t bytes, size_t asked, const void *site);
void far_looked(int fd, const struct far *far, const void *site); /* poll, MSG_PEEK */
void far_ended(const struct far *far, enum event found, const void *site); /* as stream_ended */
poet_line_t far_line(const struct far *far, bool out);

/* An end that writes is about to be closed; and it was. */
void far_shut(int fd, const struct far *far, const void *site);
void far_closed(const struct far *far);
void far_shut_down(const struct far *far); /* for all who have it */
void far_exits(const struct far *far); /* with its process */
void far_forked(void);

#pragma GCC visibility pop
#endif
