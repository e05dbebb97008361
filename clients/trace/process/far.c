/* TCP connections to other machines of the run: the other side sees none of our numbers, so both ends call a stream by its
 * addresses and ports, and count its bytes from the connection's begin as the kernel does.
 *
 * How far bytes are written and read the kernel says (TCP_INFO) after each call.  Is that where this host's numbers are,
 * plus what the call moved, then nobody else has moved any, seen or not, and the call's bytes are known.  Else whose they
 * are is not known: what was written is told as a hole, in which reads bear a doubt, and what was read bears one itself; the
 * next call is exact again. */
#define _GNU_SOURCE
#include "clients/trace/process/far.h"

#include "clients/trace/mix.h"
#include "clients/trace/poet.h"
#include "clients/trace/process/again.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/events.h"
#include "clients/trace/process/socket.h"
#include "clients/trace/process/streams.h"

#include <arpa/inet.h>
#include <endian.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { FAR_FLAGS = 40, FAR_WRITTEN, FAR_READ, FAR_ENDS, FAR_OUT, FAR_IN, FAR_NAMES, FAR_WAY };

#define FAR_BORN 1u
#define FAR_MAKING 2u
#define FAR_NOT 4u /* the kernel does not say how far it is */
#define FAR_MIXED 8u /* two wrote at once, and not all of them are done */
#define FAR_TOLD_IN 16u
#define FAR_SYN 32u /* of what is acknowledged one is no byte */
#define FAR_WRITER (1u << 8)
#define FAR_WRITERS 0xff00u
#define FAR_GENERATION (1ull << 32)

#define PATIENCE_NS 2000000u

static bool has_forked;

void far_forked(void) { STORE(&has_forked, true); }

/* ---- a connection ---- */

static uint64_t name_of(const poet_place_t *from, const poet_place_t *to)
{
    uint64_t key = mix(mix(FAR_WAY, from->high), mix(from->low, from->port));
    return mix(key, mix(mix(to->high, to->low), to->port));
}

/* Whoever meets it first on this host says what it is to all. */
static void make(int fd, const struct far *f)
{
    uint64_t none = 0, name = mix(FAR_NAMES, name_of(&f->here, &f->there));
    if (!__atomic_compare_exchange_n(f->flags, &none, FAR_MAKING, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        for (uint64_t begin = now_ns();
             LOAD(f->flags) & FAR_MAKING && now_ns() - begin < PATIENCE_NS;)
            sched_yield();
        none = FAR_MAKING; /* it was killed meanwhile */
        __atomic_compare_exchange_n(f->flags, &none, FAR_BORN | FAR_NOT, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
        return;
    }
    uint64_t *names = poet_counter(name, true);
    uint64_t generation = names ? __atomic_add_fetch(names, 1, __ATOMIC_SEQ_CST) : 0;
    int syn = socket_counts_syn(fd);
    uint64_t *out = poet_counter(mix(FAR_OUT, f->cookie), true),
             *in = poet_counter(mix(FAR_IN, f->cookie), true);
    bool known = out && in && generation && syn >= 0;
    if (known) {
        STORE(out, mix(name_of(&f->here, &f->there), generation));
        STORE(in, mix(name_of(&f->there, &f->here), generation));
    }
    uint64_t how = !known ? FAR_NOT : syn ? FAR_SYN : 0;
    STORE(f->flags, generation * FAR_GENERATION | FAR_BORN | how);
}

/* Its numbers; false: it is not known, or there is no room. */
static bool numbers(struct far *f, bool may_make)
{
    f->flags = poet_counter(mix(FAR_FLAGS, f->cookie), may_make);
    if (!f->flags && !may_make)
        return false;
    f->written = poet_counter(mix(FAR_WRITTEN, f->cookie), true);
    f->read = poet_counter(mix(FAR_READ, f->cookie), true);
    f->ends = poet_counter(mix(FAR_ENDS, f->cookie), true);
    bool room = f->flags && f->written && f->read && f->ends;
    if (!room)
        poet_unseen("connections to other machines for which there is no room in memory that "
                    "processes share");
    return room;
}

bool far_find(int fd, const struct end *end, struct far *f)
{
    *f = (struct far){.here = end->here, .there = end->there};
    bool named = end->there.port != 0;
    if (!cookie_of(fd, &f->cookie) || !numbers(f, named))
        return false;
    if (named && !(LOAD(f->flags) & FAR_BORN))
        make(fd, f);
    uint64_t flags = LOAD(f->flags);
    const uint64_t *out = poet_counter(mix(FAR_OUT, f->cookie), false),
                   *in = poet_counter(mix(FAR_IN, f->cookie), false);
    if (flags & FAR_NOT)
        poet_unseen("connections to other machines, of which this kernel does not say how far "
                    "they are");
    if (!(flags & FAR_BORN) || flags & FAR_NOT || !out || !in)
        return false;
    f->again = flags / FAR_GENERATION > 1;
    f->out = LOAD(out);
    f->in = LOAD(in);
    return true;
}

#define NAME_BYTES 128u

static void name_place(const poet_place_t *p, char name[NAME_BYTES / 2])
{
    uint64_t both[2] = {htobe64(p->high), htobe64(p->low)};
    char address[INET6_ADDRSTRLEN] = "";
    bool four = p->high == 0 && p->low >> 32 == 0xffff;
    inet_ntop(four ? AF_INET : AF_INET6, four ? (const char *)both + 12 : (const char *)both,
              address, sizeof address);
    snprintf(name, NAME_BYTES / 2, four ? "%s:%u" : "[%s]:%u", address, p->port);
}

/* Called by its addresses: by the same ones on both sides. */
static poet_line_t announce_line(const struct far *f, bool out)
{
    char name[NAME_BYTES + sizeof " to "] = "", from[NAME_BYTES / 2], to[NAME_BYTES / 2];
    name_place(out ? &f->here : &f->there, from);
    name_place(out ? &f->there : &f->here, to);
    if (f->there.port)
        snprintf(name, sizeof name, "%s to %s", from, to);
    return event_line(LINE_FARSTREAM, out ? f->out : f->in, name);
}

poet_line_t far_line(const struct far *f, bool out)
{
    poet_line_t line = event_line_known(out ? f->out : f->in);
    return line ? line : announce_line(f, out);
}

/* ---- whose ends they are ---- */

static bool tell_out(const struct far *f)
{
    uint64_t ends = LOAD(f->ends), process = (uint32_t)getpid();
    if (ends >> 32 == process)
        return true;
    if (!f->there.port || !poet_stream_end(f->out, POET_STREAM_WRITES, &f->here, &f->there))
        return false;
    while (ends >> 32 != process &&
           !__atomic_compare_exchange_n(f->ends, &ends, process << 32 | (uint32_t)ends, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return true;
}

static bool tell_in(const struct far *f)
{
    if (LOAD(f->flags) & FAR_TOLD_IN)
        return true;
    bool told = f->there.port && poet_stream_end(f->in, POET_STREAM_READS, &f->here, &f->there);
    if (told)
        __atomic_fetch_or(f->flags, FAR_TOLD_IN, __ATOMIC_SEQ_CST);
    return told;
}

/* ---- events ---- */

static unsigned doubt_of(const struct far *f) { return f->again ? POET_DOUBT_STREAM : 0; }

static void tell_bytes(const struct far *f, enum event event, uint64_t from, size_t bytes,
                       size_t asked, const void *site)
{
    bool out = event == WRITE;
    again_takes(event, &(struct stream){.key = out ? f->out : f->in});
    poet_record(
        &(poet_record_t){.type = event_type(event),
                         .about = far_line(f, out),
                         .site = site,
                         .flags = (out ? POET_SEND : POET_RECEIVE | doubt_of(f)) | POET_STREAM,
                         .high = out ? f->out : f->in,
                         .low = &from,
                         .keys = 1,
                         .count = (uint32_t)bytes,
                         .asked = bytes < asked ? (uint32_t)asked : 0,
                         .got = (uint32_t)bytes,
                         .began = out ? f->began : 0});
}

/* Of what bytes is not known. */
static void tell_plain(const struct far *f, enum event event, unsigned doubt, const void *site)
{
    bool out = event == WRITE;
    again_takes(event, &(struct stream){.key = out ? f->out : f->in});
    event_about(event, far_line(f, out), doubt, site);
}

/* ---- writes ---- */

void far_enter(struct far *f)
{
    f->began = poet_time();
    if (__atomic_fetch_add(f->flags, FAR_WRITER, __ATOMIC_SEQ_CST) & FAR_WRITERS)
        __atomic_fetch_or(f->flags, FAR_MIXED, __ATOMIC_SEQ_CST);
}

void far_leave(const struct far *f) { __atomic_fetch_sub(f->flags, FAR_WRITER, __ATOMIC_SEQ_CST); }

/* What was written and is not told is told as a hole. */
static void tell_hole(const struct far *f, uint64_t end)
{
    uint64_t told = LOAD(f->written);
    if (end > told && poet_stream_hole(f->out, told, end, true))
        while (told < end && !__atomic_compare_exchange_n(f->written, &told, end, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
}

/* While nobody writes: an unseen call has, perhaps.  (Where nobody told that he writes, nobody waits for that.) */
static void look_for_unseen(int fd, const struct far *f)
{
    uint64_t end, told = LOAD(f->written);
    if (LOAD(f->ends) >> 32 && !(LOAD(f->flags) & FAR_WRITERS) &&
        socket_written(fd, LOAD(f->flags) & FAR_SYN, told, &end) && end > told &&
        !(LOAD(f->flags) & FAR_WRITERS) && told == LOAD(f->written) && tell_out(f))
        tell_hole(f, end);
}

void far_wrote(int fd, const struct far *f, size_t bytes, size_t asked, const void *site)
{
    uint64_t told = LOAD(f->written), end = 0;
    bool known = socket_written(fd, LOAD(f->flags) & FAR_SYN, told + bytes, &end);
    bool mixed = LOAD(f->flags) & FAR_MIXED;
    if (poet_here() && tell_out(f)) { /* else nobody could tell who wrote: who looks next says so */
        if (known && !mixed && end == told + bytes) {
            tell_bytes(f, WRITE, told, bytes, asked, site);
            STORE(f->written, end);
        } else {
            tell_plain(f, WRITE, 0, site);
        }
    }
    bool last = (__atomic_sub_fetch(f->flags, FAR_WRITER, __ATOMIC_SEQ_CST) & FAR_WRITERS) == 0;
    if (last && mixed)
        __atomic_fetch_and(f->flags, ~(uint64_t)FAR_MIXED, __ATOMIC_SEQ_CST);
    if (last && (mixed || !known || end != told + bytes))
        look_for_unseen(fd, f);
}

/* ---- reads ---- */

void far_has_read(int fd, const struct far *f, size_t bytes, size_t asked, const void *site)
{
    uint64_t from = LOAD(f->read), end = 0;
    bool known = socket_read(fd, from + bytes, &end);
    bool exact =
        known && end == from + bytes &&
        __atomic_compare_exchange_n(f->read, &from, end, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    while (known && !exact && from < end &&
           !__atomic_compare_exchange_n(f->read, &from, end, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    look_for_unseen(fd, f);
    if (tell_in(f) && exact)
        tell_bytes(f, READ, from, bytes, asked, site);
    else
        tell_plain(f, READ, POET_DOUBT_STREAM, site);
}

void far_looked(int fd, const struct far *f, const void *site)
{
    if (socket_has_ended(fd))
        far_ended(f, HANGUP, site);
    else
        poet_unseen("what poll, select and MSG_PEEK say of a connection to another machine");
}

/* ---- the end ---- */

#define CLOSINGS_MOST (1u << 30)

void far_ended(const struct far *f, enum event found, const void *site)
{
    uint64_t from = POET_STREAM_CLOSINGS;
    if (!tell_in(f)) {
        tell_plain(f, found, POET_DOUBT_STREAM, site);
        return;
    }
    again_takes(found, &(struct stream){.key = f->in});
    poet_record(&(poet_record_t){.type = event_type(found),
                                 .about = far_line(f, false),
                                 .site = site,
                                 .flags = POET_RECEIVE | POET_STREAM | doubt_of(f),
                                 .high = f->in,
                                 .low = &from,
                                 .keys = 1,
                                 .count = CLOSINGS_MOST});
}

void far_shut(int fd, const struct far *f, const void *site)
{
    if (!poet_recorded() || !tell_out(f))
        return;
    look_for_unseen(fd, f);
    again_takes(SHUT, &(struct stream){.key = f->out});
    uint64_t ends = __atomic_fetch_add(f->ends, 1, __ATOMIC_SEQ_CST),
             at = POET_STREAM_CLOSINGS + (uint32_t)ends;
    poet_record(&(poet_record_t){.type = event_type(SHUT),
                                 .about = far_line(f, true),
                                 .site = site,
                                 .flags = POET_SEND | POET_STREAM,
                                 .high = f->out,
                                 .low = &at,
                                 .keys = 1,
                                 .count = 1});
}

/* Nobody writes any more, nor closes it in time: where bytes are that were not told, unseen calls wrote them. */
static void tell_end(const struct far *f, bool doubt)
{
    uint64_t closings = (uint32_t)LOAD(f->ends);
    poet_stream_hole(f->out, LOAD(f->written), POET_STREAM_CLOSINGS, true);
    poet_stream_hole(f->out, POET_STREAM_CLOSINGS + closings, UINT64_MAX, doubt);
}

void far_shut_down(const struct far *f)
{
    if (poet_recorded())
        tell_end(f, false);
}

void far_closed(const struct far *f)
{
    if (!poet_recorded())
        return;
    int open = f->there.port ? socket_is_open(f->cookie, &f->here, &f->there) : 0;
    if (open > 0) { /* others have it: whoever of them closes it last says so */
        poet_stream_end(f->out, POET_STREAM_LEFT, &f->here, &f->there);
        uint64_t ends = LOAD(f->ends);
        while (ends >> 32 == (uint32_t)getpid() &&
               !__atomic_compare_exchange_n(f->ends, &ends, (uint32_t)ends, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
            ;
    } else {
        tell_end(f, open < 0);
    }
}

/* Of a process that never forked nobody else can have it, unless it was handed one. */
void far_exits(const struct far *f)
{
    if (!LOAD(&has_forked) && LOAD(f->ends) >> 32 == (uint32_t)getpid())
        tell_end(f, false);
}
