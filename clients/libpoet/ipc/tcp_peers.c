/* TCP connections to other machines of the run: the other side cannot read this host's counters, so
 * both ends identify a stream by its addresses and ports, and count its bytes from the beginning of
 * the connection as the kernel does.
 *
 * After each call the kernel reports how far bytes are written and read (TCP_INFO). If that equals
 * this host's count plus what the call moved, no other call, traced or not, has moved any, and the
 * call's bytes are known. Otherwise their owner is not known: written bytes are reported as a gap,
 * in which reads are uncertain, and a read is itself uncertain; the next call is exact again. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/tcp_peers.h"

#include "clients/libpoet/ipc/byte_streams.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/socket_info.h"
#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"

#include <arpa/inet.h>
#include <endian.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum {
    TCP_PEER_FLAGS = 40,
    TCP_PEER_WRITTEN,
    TCP_PEER_READ,
    TCP_PEER_ENDS,
    TCP_PEER_OUT,
    TCP_PEER_IN,
    TCP_PEER_IDS,
    TCP_PEER_DIRECTION
};

#define TCP_PEER_CREATED 1u
#define TCP_PEER_CREATING 2u
#define TCP_PEER_UNTRACED 4u /* the kernel does not report how far it is */
#define TCP_PEER_MIXED 8u /* two wrote at the same time, and not all of them have finished */
#define TCP_PEER_RECORDED_IN 16u
#define TCP_PEER_SYN 32u /* the SYN counts as an acknowledged byte */
#define TCP_PEER_WRITER (1u << 8)
#define TCP_PEER_WRITERS 0xff00u
#define TCP_PEER_GENERATION (1ull << 32)

#define TIMEOUT_NS 2000000u

static bool has_forked;

void tcp_peer_forked(void) { STORE(&has_forked, true); }

/* ---- a connection ---- */

static uint64_t tcp_peer_id(const poet_place_t *from, const poet_place_t *to)
{
    uint64_t key = key_mix(key_mix(TCP_PEER_DIRECTION, from->high), key_mix(from->low, from->port));
    return key_mix(key, key_mix(key_mix(to->high, to->low), to->port));
}

/* The first process on this host that uses the connection sets its state for all. */
static void tcp_peer_create(int fd, const struct tcp_peer *f)
{
    uint64_t none = 0, name = key_mix(TCP_PEER_IDS, tcp_peer_id(&f->here, &f->there));
    if (!__atomic_compare_exchange_n(f->flags, &none, TCP_PEER_CREATING, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        for (uint64_t begin = now_ns();
             LOAD(f->flags) & TCP_PEER_CREATING && now_ns() - begin < TIMEOUT_NS;)
            sched_yield();
        none = TCP_PEER_CREATING; /* it was killed meanwhile */
        __atomic_compare_exchange_n(f->flags, &none, TCP_PEER_CREATED | TCP_PEER_UNTRACED, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return;
    }
    uint64_t *names = poet_counter(name, true);
    uint64_t generation = names ? __atomic_add_fetch(names, 1, __ATOMIC_SEQ_CST) : 0;
    int syn = socket_counts_syn(fd);
    uint64_t *out = poet_counter(key_mix(TCP_PEER_OUT, f->cookie), true),
             *in = poet_counter(key_mix(TCP_PEER_IN, f->cookie), true);
    bool known = out && in && generation && syn >= 0;
    if (known) {
        STORE(out, key_mix(tcp_peer_id(&f->here, &f->there), generation));
        STORE(in, key_mix(tcp_peer_id(&f->there, &f->here), generation));
    }
    uint64_t how = !known ? TCP_PEER_UNTRACED : syn ? TCP_PEER_SYN : 0;
    STORE(f->flags, generation * TCP_PEER_GENERATION | TCP_PEER_CREATED | how);
}

/* Maps its counters. Returns false if they do not exist, or there is no room. */
static bool tcp_peer_map_counters(struct tcp_peer *f, bool may_make)
{
    f->flags = poet_counter(key_mix(TCP_PEER_FLAGS, f->cookie), may_make);
    if (!f->flags && !may_make)
        return false;
    f->written = poet_counter(key_mix(TCP_PEER_WRITTEN, f->cookie), true);
    f->read = poet_counter(key_mix(TCP_PEER_READ, f->cookie), true);
    f->ends = poet_counter(key_mix(TCP_PEER_ENDS, f->cookie), true);
    bool room = f->flags && f->written && f->read && f->ends;
    if (!room)
        poet_untraced("connections to other hosts: shared memory is full");
    return room;
}

bool tcp_peer_find(int fd, const struct fd_end *end, struct tcp_peer *f)
{
    *f = (struct tcp_peer){.here = end->here, .there = end->there};
    bool named = end->there.port != 0;
    if (!socket_cookie(fd, &f->cookie) || !tcp_peer_map_counters(f, named))
        return false;
    if (named && !(LOAD(f->flags) & TCP_PEER_CREATED))
        tcp_peer_create(fd, f);
    uint64_t flags = LOAD(f->flags);
    const uint64_t *out = poet_counter(key_mix(TCP_PEER_OUT, f->cookie), false),
                   *in = poet_counter(key_mix(TCP_PEER_IN, f->cookie), false);
    if (flags & TCP_PEER_UNTRACED)
        poet_untraced("connections to other hosts: this kernel does not report "
                      "their byte positions");
    if (!(flags & TCP_PEER_CREATED) || flags & TCP_PEER_UNTRACED || !out || !in)
        return false;
    f->again = flags / TCP_PEER_GENERATION > 1;
    f->out = LOAD(out);
    f->in = LOAD(in);
    return true;
}

#define NAME_BYTES 128u

static void tcp_peer_name_place(const poet_place_t *p, char name[NAME_BYTES / 2])
{
    uint64_t both[2] = {htobe64(p->high), htobe64(p->low)};
    char address[INET6_ADDRSTRLEN] = "";
    bool four = p->high == 0 && p->low >> 32 == 0xffff;
    inet_ntop(four ? AF_INET : AF_INET6, four ? (const char *)both + 12 : (const char *)both,
              address, sizeof address);
    snprintf(name, NAME_BYTES / 2, four ? "%s:%u" : "[%s]:%u", address, p->port);
}

/* Named by its addresses: the same on both sides. */
static poet_line_t tcp_peer_announce_line(const struct tcp_peer *f, bool out)
{
    char name[NAME_BYTES + sizeof " to "] = "", from[NAME_BYTES / 2], to[NAME_BYTES / 2];
    tcp_peer_name_place(out ? &f->here : &f->there, from);
    tcp_peer_name_place(out ? &f->there : &f->here, to);
    if (f->there.port)
        snprintf(name, sizeof name, "%s to %s", from, to);
    return ipc_event_line(IPC_OBJECT_TCP_STREAM, out ? f->out : f->in, name);
}

poet_line_t tcp_peer_line(const struct tcp_peer *f, bool out)
{
    poet_line_t line = ipc_event_line_known(out ? f->out : f->in);
    return line ? line : tcp_peer_announce_line(f, out);
}

/* ---- processes of the ends ---- */

static bool tcp_peer_record_out(const struct tcp_peer *f)
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

static bool tcp_peer_record_in(const struct tcp_peer *f)
{
    if (LOAD(f->flags) & TCP_PEER_RECORDED_IN)
        return true;
    bool recorded = f->there.port && poet_stream_end(f->in, POET_STREAM_READS, &f->here, &f->there);
    if (recorded)
        __atomic_fetch_or(f->flags, TCP_PEER_RECORDED_IN, __ATOMIC_SEQ_CST);
    return recorded;
}

/* ---- events ---- */

static unsigned tcp_peer_doubt(const struct tcp_peer *f)
{
    return f->again ? POET_DOUBT_STREAM : 0;
}

static void tcp_peer_record_bytes(const struct tcp_peer *f, enum ipc_event event, uint64_t from,
                                  size_t bytes, size_t asked, const void *site)
{
    bool out = event == WRITE;
    ipc_replay_commit(event, &(struct ipc_stream){.key = out ? f->out : f->in});
    poet_record(&(poet_record_t){.type = event_type(event),
                                 .about = tcp_peer_line(f, out),
                                 .site = site,
                                 .flags = (out ? POET_SEND : POET_RECEIVE | tcp_peer_doubt(f)) |
                                          POET_STREAM,
                                 .high = out ? f->out : f->in,
                                 .low = &from,
                                 .keys = 1,
                                 .count = (uint32_t)bytes,
                                 .asked = bytes < asked ? (uint32_t)asked : 0,
                                 .got = (uint32_t)bytes,
                                 .began = out ? f->began : 0});
}

/* For unknown bytes. */
static void tcp_peer_record_plain(const struct tcp_peer *f, enum ipc_event event, unsigned doubt,
                                  const void *site)
{
    bool out = event == WRITE;
    ipc_replay_commit(event, &(struct ipc_stream){.key = out ? f->out : f->in});
    ipc_event_about(event, tcp_peer_line(f, out), doubt, site);
}

/* ---- writes ---- */

void tcp_peer_enter(struct tcp_peer *f)
{
    f->began = poet_time();
    if (__atomic_fetch_add(f->flags, TCP_PEER_WRITER, __ATOMIC_SEQ_CST) & TCP_PEER_WRITERS)
        __atomic_fetch_or(f->flags, TCP_PEER_MIXED, __ATOMIC_SEQ_CST);
}

void tcp_peer_leave(const struct tcp_peer *f)
{
    __atomic_fetch_sub(f->flags, TCP_PEER_WRITER, __ATOMIC_SEQ_CST);
}

/* Reports bytes that were written and not recorded as a gap. */
static void tcp_peer_report_gap(const struct tcp_peer *f, uint64_t end)
{
    uint64_t recorded = LOAD(f->written);
    if (end > recorded && poet_stream_gap(f->out, recorded, end, true))
        while (recorded < end && !__atomic_compare_exchange_n(f->written, &recorded, end, false,
                                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
}

/* Called while no traced thread writes: an untraced call may have written. (If no writer was
 * recorded, no reader waits for one.) */
static void tcp_peer_check_untraced(int fd, const struct tcp_peer *f)
{
    uint64_t end, recorded = LOAD(f->written);
    if (LOAD(f->ends) >> 32 && !(LOAD(f->flags) & TCP_PEER_WRITERS) &&
        socket_written(fd, LOAD(f->flags) & TCP_PEER_SYN, recorded, &end) && end > recorded &&
        !(LOAD(f->flags) & TCP_PEER_WRITERS) && recorded == LOAD(f->written) &&
        tcp_peer_record_out(f))
        tcp_peer_report_gap(f, end);
}

void tcp_peer_record_written(int fd, const struct tcp_peer *f, size_t bytes, size_t asked,
                             const void *site)
{
    uint64_t recorded = LOAD(f->written), end = 0;
    bool known = socket_written(fd, LOAD(f->flags) & TCP_PEER_SYN, recorded + bytes, &end);
    bool mixed = LOAD(f->flags) & TCP_PEER_MIXED;
    /* otherwise the writer would be unknown: the next check reports it */
    if (poet_current_line() && tcp_peer_record_out(f)) {
        if (known && !mixed && end == recorded + bytes) {
            tcp_peer_record_bytes(f, WRITE, recorded, bytes, asked, site);
            STORE(f->written, end);
        } else {
            tcp_peer_record_plain(f, WRITE, 0, site);
        }
    }
    bool last =
        (__atomic_sub_fetch(f->flags, TCP_PEER_WRITER, __ATOMIC_SEQ_CST) & TCP_PEER_WRITERS) == 0;
    if (last && mixed)
        __atomic_fetch_and(f->flags, ~(uint64_t)TCP_PEER_MIXED, __ATOMIC_SEQ_CST);
    if (last && (mixed || !known || end != recorded + bytes))
        tcp_peer_check_untraced(fd, f);
}

/* ---- reads ---- */

void tcp_peer_record_read(int fd, const struct tcp_peer *f, size_t bytes, size_t asked,
                          const void *site)
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
    tcp_peer_check_untraced(fd, f);
    if (tcp_peer_record_in(f) && exact)
        tcp_peer_record_bytes(f, READ, from, bytes, asked, site);
    else
        tcp_peer_record_plain(f, READ, POET_DOUBT_STREAM, site);
}

void tcp_peer_looked(int fd, const struct tcp_peer *f, const void *site)
{
    if (socket_has_ended(fd))
        tcp_peer_ended(f, HANGUP, site);
    else
        poet_untraced("results of poll, select and MSG_PEEK for connections to other hosts");
}

/* ---- the end ---- */

#define CLOSINGS_MOST (1u << 30)

void tcp_peer_ended(const struct tcp_peer *f, enum ipc_event found, const void *site)
{
    uint64_t from = POET_STREAM_CLOSINGS;
    if (!tcp_peer_record_in(f)) {
        tcp_peer_record_plain(f, found, POET_DOUBT_STREAM, site);
        return;
    }
    ipc_replay_commit(found, &(struct ipc_stream){.key = f->in});
    poet_record(&(poet_record_t){.type = event_type(found),
                                 .about = tcp_peer_line(f, false),
                                 .site = site,
                                 .flags = POET_RECEIVE | POET_STREAM | tcp_peer_doubt(f),
                                 .high = f->in,
                                 .low = &from,
                                 .keys = 1,
                                 .count = CLOSINGS_MOST});
}

void tcp_peer_shut(int fd, const struct tcp_peer *f, const void *site)
{
    if (!poet_recorded() || !tcp_peer_record_out(f))
        return;
    tcp_peer_check_untraced(fd, f);
    ipc_replay_commit(SHUT, &(struct ipc_stream){.key = f->out});
    uint64_t ends = __atomic_fetch_add(f->ends, 1, __ATOMIC_SEQ_CST),
             at = POET_STREAM_CLOSINGS + (uint32_t)ends;
    poet_record(&(poet_record_t){.type = event_type(SHUT),
                                 .about = tcp_peer_line(f, true),
                                 .site = site,
                                 .flags = POET_SEND | POET_STREAM,
                                 .high = f->out,
                                 .low = &at,
                                 .keys = 1,
                                 .count = 1});
}

/* No thread writes any more, nor closes it in time: unrecorded bytes were written by untraced
 * calls. */
static void tcp_peer_record_end(const struct tcp_peer *f, bool doubt)
{
    uint64_t closings = (uint32_t)LOAD(f->ends);
    poet_stream_gap(f->out, LOAD(f->written), POET_STREAM_CLOSINGS, true);
    poet_stream_gap(f->out, POET_STREAM_CLOSINGS + closings, UINT64_MAX, doubt);
}

void tcp_peer_shut_down(const struct tcp_peer *f)
{
    if (poet_recorded())
        tcp_peer_record_end(f, false);
}

void tcp_peer_closed(const struct tcp_peer *f)
{
    if (!poet_recorded())
        return;
    int open = f->there.port ? socket_is_open(f->cookie, &f->here, &f->there) : 0;
    if (open > 0) { /* other processes have it: the one that closes it last reports that */
        poet_stream_end(f->out, POET_STREAM_LEFT, &f->here, &f->there);
        uint64_t ends = LOAD(f->ends);
        while (ends >> 32 == (uint32_t)getpid() &&
               !__atomic_compare_exchange_n(f->ends, &ends, (uint32_t)ends, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
            ;
    } else {
        tcp_peer_record_end(f, open < 0);
    }
}

/* In a process that never forked: no other process can have it, unless it was passed to one. */
void tcp_peer_exits(const struct tcp_peer *f)
{
    if (!LOAD(&has_forked) && LOAD(f->ends) >> 32 == (uint32_t)getpid())
        tcp_peer_record_end(f, false);
}
