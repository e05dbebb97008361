/* Messages between two ranks: in all modes, at once and begun, persistent, probed. */
#include "clients/trace/mpi/comms.h"
#include "clients/trace/mpi/complete.h"
#include "clients/trace/mpi/events.h"
#include "clients/trace/mpi/following.h"
#include "clients/trace/mpi/match.h"
#include "clients/trace/mpi/prepare.h"
#include "clients/trace/mpi/ranks.h"
#include "clients/trace/mpi/request.h"

#include <sched.h>
#include <stdatomic.h>

/* ---- sends ---- */

/* The send as an event, before the call.  Under the lock where several threads may send at once: then the
 * real one, which never blocks, follows before it is given up. */
static void tell_send(struct comm *c, enum event type, int to, int tag, const void *site)
{
    uint64_t key[2];
    send_key(c, to, tag, send_sequence(c, to, tag), key);
    poet_line_t about = rank_line(peer_of(c, to));
    note_send(type, about, key[0], key[1], 0, site);
}

static struct comm *sends_to(MPI_Comm handle, int to)
{
    return following && to != MPI_PROC_NULL ? comm_of(handle) : NULL;
}

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int begin_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int init_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static atomic_flag sending = ATOMIC_FLAG_INIT; /* the order of sends is that of their events */

static void send_lock(void)
{
    while (concurrent && atomic_flag_test_and_set_explicit(&sending, memory_order_acquire))
        sched_yield();
}

static void send_unlock(void)
{
    if (concurrent)
        atomic_flag_clear_explicit(&sending, memory_order_release);
}

static int send_now(send_call *call, begin_call *begin, const void *data, int n, MPI_Datatype type,
                    int to, int tag, MPI_Comm handle, const void *site)
{
    struct comm *c = sends_to(handle, to);
    if (!c)
        return call(data, n, type, to, tag, handle);
    int e;
    send_lock();
    tell_send(c, EVENT_send, to, tag, site);
    if (concurrent) {
        MPI_Request request;
        e = begin(data, n, type, to, tag, handle, &request);
        send_unlock();
        e = e == MPI_SUCCESS ? WAITING(EVENT_send, PMPI_Wait(&request, MPI_STATUS_IGNORE)) : e;
    } else {
        e = WAITING(EVENT_send, call(data, n, type, to, tag, handle));
    }
    note(EVENT_sent, 0, site);
    return e;
}

static int send_begun(begin_call *begin, const void *data, int n, MPI_Datatype type, int to,
                      int tag, MPI_Comm handle, MPI_Request *request, const void *site)
{
    struct comm *c = sends_to(handle, to);
    if (!c)
        return begin(data, n, type, to, tag, handle, request);
    send_lock();
    tell_send(c, EVENT_isend, to, tag, site);
    int e = begin(data, n, type, to, tag, handle, request);
    send_unlock();
    if (e == MPI_SUCCESS) {
        struct request *r = request_new(c, to, tag);
        r->kind = REQUEST_SEND;
        r->active = true;
        lock();
        request_keep(r, *request);
        unlock();
    }
    return e;
}

static int send_prepared(init_call *init, const void *data, int n, MPI_Datatype type, int to,
                         int tag, MPI_Comm handle, MPI_Request *request)
{
    struct comm *c = sends_to(handle, to);
    int e = init(data, n, type, to, tag, handle, request);
    if (c && e == MPI_SUCCESS) {
        struct request *r = request_new(c, to, tag);
        r->kind = REQUEST_SEND;
        r->persistent = true;
        lock();
        request_keep(r, *request);
        unlock();
    }
    return e;
}

#define SENDS(mode, begun)                                                                         \
    API int MPI_##mode(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c)    \
    {                                                                                              \
        return send_now(PMPI_##mode, PMPI_##begun, data, n, type, to, tag, c, SITE);               \
    }                                                                                              \
    API int MPI_##begun(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c,   \
                        MPI_Request *request)                                                      \
    {                                                                                              \
        return send_begun(PMPI_##begun, data, n, type, to, tag, c, request, SITE);                 \
    }                                                                                              \
    API int MPI_##mode##_init(const void *data, int n, MPI_Datatype type, int to, int tag,         \
                              MPI_Comm c, MPI_Request *request)                                    \
    {                                                                                              \
        return send_prepared(PMPI_##mode##_init, data, n, type, to, tag, c, request);              \
    }
SENDS(Send, Isend)
SENDS(Ssend, Issend)
SENDS(Bsend, Ibsend)
SENDS(Rsend, Irsend)

/* ---- receives ---- */

static struct comm *receives_from(MPI_Comm handle, int from)
{
    return following && from != MPI_PROC_NULL ? comm_of(handle) : NULL;
}

/* In a run that is repeated one that takes anybody's message takes the one that it got: *from says whose. */
static struct request *post(struct comm *c, int *from, int tag)
{
    struct request *r = request_new(c, *from, tag);
    r->kind = REQUEST_RECEIVE;
    r->any = *from == MPI_ANY_SOURCE;
    r->peer = *from = ask(EVENT_receive, *from, &r->asked);
    return r;
}

API int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                 MPI_Status *status)
{
    struct comm *c = receives_from(handle, from);
    MPI_Status own;
    if (!c)
        return PMPI_Recv(data, n, type, from, tag, handle, status);
    poet_line_t about = peer_line(c, from);
    struct request *r = post(c, &from, tag);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    note(EVENT_recv, about, SITE);
    int e;
    lock();
    posted(r);
    r->awaited = true;
    if (concurrent) {
        MPI_Request request;
        e = PMPI_Irecv(data, n, type, from, tag, handle, &request);
        unlock();
        e = e == MPI_SUCCESS ? WAITING(EVENT_recv, PMPI_Wait(&request, status)) : e;
    } else {
        unlock();
        e = WAITING(EVENT_recv, PMPI_Recv(data, n, type, from, tag, handle, status));
    }
    completed(r, status, SITE);
    return e;
}

API int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                  MPI_Request *request)
{
    struct comm *c = receives_from(handle, from);
    if (!c)
        return PMPI_Irecv(data, n, type, from, tag, handle, request);
    poet_line_t about = peer_line(c, from);
    struct request *r = post(c, &from, tag);
    note(EVENT_irecv, about, SITE);
    lock();
    int e = PMPI_Irecv(data, n, type, from, tag, handle, request);
    if (e == MPI_SUCCESS) {
        posted(r);
        request_keep(r, *request);
    } else {
        request_forget(r);
    }
    unlock();
    return e;
}

API int MPI_Recv_init(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                      MPI_Request *request)
{
    struct comm *c = receives_from(handle, from);
    int e = PMPI_Recv_init(data, n, type, from, tag, handle, request);
    if (c && e == MPI_SUCCESS) {
        struct request *r = request_new(c, from, tag);
        r->kind = REQUEST_RECEIVE;
        r->any = from == MPI_ANY_SOURCE;
        r->persistent = true;
        r->prepared = r->any ? prepare(*request, data, n, type, tag, handle) : NULL;
        lock();
        request_keep(r, *request);
        unlock();
    }
    return e;
}

/* Anybody's: in a run that is repeated that of whom it got. */
static void start_any(struct request *r, MPI_Request *request)
{
    int from = ask(EVENT_receive, MPI_ANY_SOURCE, &r->asked);
    *request = prepare_start(r->prepared, from);
    r->peer = from;
    lock();
    request_rename(r, *request);
    unlock();
}

static int start(MPI_Request *request, const void *site)
{
    lock();
    prepare_find(1, request);
    struct request *r = following ? request_of(*request) : NULL;
    unlock();
    if (!r)
        return PMPI_Start(request);
    if (r->kind == REQUEST_SEND) {
        send_lock();
        tell_send(r->comm, EVENT_isend, r->peer, r->tag, site);
        r->active = true;
        int e = PMPI_Start(request);
        send_unlock();
        return e;
    }
    note(EVENT_irecv, r->prepared ? 0 : peer_line(r->comm, r->peer), site);
    if (r->prepared) /* whose message another one takes stands in the request */
        start_any(r, request);
    else
        ask(EVENT_receive, 0, &r->asked);
    lock();
    int e = PMPI_Start(request);
    posted(r);
    unlock();
    return e;
}

API int MPI_Start(MPI_Request *request) { return start(request, SITE); }

API int MPI_Startall(int count, MPI_Request *requests)
{
    int e = MPI_SUCCESS;
    if (!following)
        return PMPI_Startall(count, requests);
    for (int i = 0; i < count && e == MPI_SUCCESS; i++)
        e = start(&requests[i], SITE);
    return e;
}

/* ---- both at once ---- */

struct exchange {
    const void *out;
    void *in;
    int out_n, in_n, to, out_tag, from, in_tag;
    MPI_Datatype out_type, in_type;
    MPI_Comm comm;
    poet_line_t about; /* from whom, or to whom */
    bool replaces; /* what comes in takes the place of what went out */
};

static int exchange_plainly(const struct exchange *x, MPI_Status *status)
{
    return x->replaces ? PMPI_Sendrecv_replace(x->in, x->in_n, x->in_type, x->to, x->out_tag,
                                               x->from, x->in_tag, x->comm, status)
                       : PMPI_Sendrecv(x->out, x->out_n, x->out_type, x->to, x->out_tag, x->in,
                                       x->in_n, x->in_type, x->from, x->in_tag, x->comm, status);
}

/* A copy of what is to be replaced, packed: any receive takes it (MPI 3.1, 4.2). */
static void *pack(struct exchange *x)
{
    int size = 0, at = 0;
    PMPI_Pack_size(x->out_n, x->out_type, x->comm, &size);
    void *copy = take(1, (size_t)size + 1);
    if (!copy)
        return NULL;
    PMPI_Pack(x->out, x->out_n, x->out_type, copy, size, &at, x->comm);
    x->out = copy;
    x->out_n = at;
    x->out_type = MPI_PACKED;
    return copy;
}

static int exchange_alone(const struct exchange *x, struct comm *c, struct request *r,
                          MPI_Status *status, const void *site)
{
    if (x->to != MPI_PROC_NULL)
        tell_send(c, EVENT_isend, x->to, x->out_tag, site);
    note(EVENT_recv, x->about, site);
    lock();
    if (r)
        posted(r);
    unlock();
    return exchange_plainly(x, status);
}

/* The message goes out and the receive is posted, each where its event says; then both are awaited. */
static int exchange_among_threads(struct exchange *x, struct comm *c, struct request *r,
                                  MPI_Status *status, const void *site)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    void *copy = x->replaces ? pack(x) : NULL;
    int e = MPI_SUCCESS;
    if (x->replaces && !copy) /* no memory: MPI may have some */
        return exchange_alone(x, c, r, status, site);
    if (x->to != MPI_PROC_NULL) {
        send_lock();
        tell_send(c, EVENT_isend, x->to, x->out_tag, site);
        e = PMPI_Isend(x->out, x->out_n, x->out_type, x->to, x->out_tag, x->comm, &requests[0]);
        send_unlock();
    }
    lock();
    if (r)
        posted(r);
    if (e == MPI_SUCCESS)
        e = PMPI_Irecv(x->in, x->in_n, x->in_type, x->from, x->in_tag, x->comm, &requests[1]);
    unlock();
    note(EVENT_recv, x->about, site);
    e = e == MPI_SUCCESS ? PMPI_Waitall(2, requests, statuses) : e;
    *status = statuses[1];
    give(copy);
    return e;
}

static int exchange(struct exchange *x, MPI_Status *status, const void *site)
{
    bool any = x->to != MPI_PROC_NULL || x->from != MPI_PROC_NULL;
    struct comm *c = following && any ? comm_of(x->comm) : NULL;
    MPI_Status own;
    if (!c)
        return exchange_plainly(x, status);
    bool receives = x->from != MPI_PROC_NULL;
    x->about = receives ? peer_line(c, x->from) : rank_line(peer_of(c, x->to));
    struct request *r = receives ? post(c, &x->from, x->in_tag) : NULL;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    if (r)
        r->awaited = true;
    int e = concurrent ? exchange_among_threads(x, c, r, status, site)
                       : exchange_alone(x, c, r, status, site);
    if (!r || !completed(r, status, site))
        note(EVENT_completed, 0, site);
    return e;
}

API int MPI_Sendrecv(const void *out, int out_n, MPI_Datatype out_type, int to, int out_tag,
                     void *in, int in_n, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                     MPI_Status *status)
{
    return exchange(&(struct exchange){out, in, out_n, in_n, to, out_tag, from, in_tag, out_type,
                                       in_type, comm, 0, false},
                    status, SITE);
}

API int MPI_Sendrecv_replace(void *data, int n, MPI_Datatype type, int to, int out_tag, int from,
                             int in_tag, MPI_Comm comm, MPI_Status *status)
{
    return exchange(
        &(struct exchange){data, data, n, n, to, out_tag, from, in_tag, type, type, comm, 0, true},
        status, SITE);
}

/* ---- probes ---- */

/* Its message was sent before; `key` is that of the message.  sequence: it is taken out, and this its
 * number; NULL: it stays. */
static bool tell_probed(struct comm *c, const MPI_Status *status, uint32_t asked,
                        uint64_t *sequence, uint64_t key[2], const void *site)
{
    lock();
    bool known = next_message(c, status->MPI_SOURCE, status->MPI_TAG, sequence, key);
    unlock();
    bool traced = known && rank_traced(peer_of(c, status->MPI_SOURCE));
    note_got(EVENT_probed, peer_line(c, status->MPI_SOURCE), traced ? key : NULL, asked,
             status->MPI_SOURCE, false, site);
    return known;
}

API int MPI_Probe(int from, int tag, MPI_Comm handle, MPI_Status *status)
{
    struct comm *c = receives_from(handle, from);
    MPI_Status own;
    uint64_t key[2];
    if (!c)
        return PMPI_Probe(from, tag, handle, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    note(EVENT_probe, peer_line(c, from), SITE);
    uint32_t asked;
    bool any = from == MPI_ANY_SOURCE;
    from = ask(EVENT_probed, from, &asked);
    int e = WAITING(EVENT_probe, PMPI_Probe(from, tag, handle, status));
    tell_probed(c, status, any ? asked : 0, NULL, key, SITE);
    return e;
}

API int MPI_Iprobe(int from, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
    struct comm *c = receives_from(handle, from);
    MPI_Status own;
    uint64_t key[2];
    if (!c)
        return PMPI_Iprobe(from, tag, handle, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t asked;
    bool any = from == MPI_ANY_SOURCE, together;
    int found = again(EVENT_probed); /* or there was nothing */
    if (found == 1)
        asked_next(EVENT_probed, &from, &together);
    int e = PMPI_Iprobe(from, tag, handle, flag, status);
    for (int i = 0; i < LOOKS_MOST && found == 1 && e == MPI_SUCCESS && !*flag; i++)
        e = PMPI_Iprobe(from, tag, handle, flag, status);
    *flag = e == MPI_SUCCESS && *flag && found != 0;
    if (*flag) { /* (how often it was not there nobody counts) */
        ask(EVENT_probed, 0, &asked);
        tell_probed(c, status, any ? asked : 0, NULL, key, SITE);
    }
    return e;
}

/* ---- matched probes: the message is taken out, and received later ---- */

static struct matched {
    struct matched *next;
    MPI_Message handle;
    struct comm *comm;
    int source, tag;
    uint64_t key[2], sequence;
    bool known;
} *matched;

static void keep_matched(struct comm *c, MPI_Message handle, const MPI_Status *status,
                         const void *site)
{
    if (handle == MPI_MESSAGE_NULL || handle == MPI_MESSAGE_NO_PROC)
        return;
    struct matched *m = take(1, sizeof *m);
    *m = (struct matched){
        .handle = handle, .comm = c, .source = status->MPI_SOURCE, .tag = status->MPI_TAG};
    m->known = tell_probed(c, status, 0, &m->sequence, m->key, site);
    lock();
    m->next = matched;
    matched = m;
    unlock();
}

static struct matched *take_matched(MPI_Message handle)
{
    lock();
    struct matched **at = &matched;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct matched *m = *at;
    if (m)
        *at = m->next;
    unlock();
    return m;
}

API int MPI_Mprobe(int from, int tag, MPI_Comm handle, MPI_Message *message, MPI_Status *status)
{
    struct comm *c = receives_from(handle, from);
    MPI_Status own;
    if (!c)
        return PMPI_Mprobe(from, tag, handle, message, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    note(EVENT_probe, peer_line(c, from), SITE);
    int e = PMPI_Mprobe(from, tag, handle, message, status);
    if (e == MPI_SUCCESS)
        keep_matched(c, *message, status, SITE);
    return e;
}

API int MPI_Improbe(int from, int tag, MPI_Comm handle, int *flag, MPI_Message *message,
                    MPI_Status *status)
{
    struct comm *c = receives_from(handle, from);
    MPI_Status own;
    if (!c)
        return PMPI_Improbe(from, tag, handle, flag, message, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int e = PMPI_Improbe(from, tag, handle, flag, message, status);
    if (e == MPI_SUCCESS && *flag)
        keep_matched(c, *message, status, SITE);
    return e;
}

/* A receive of what was matched: its message is known beforehand. */
static struct request *post_matched(struct matched *m)
{
    struct request *r = post(m->comm, &m->source, m->tag);
    lock();
    posted(r);
    r->assigned = m->known;
    unlock();
    return r;
}

API int MPI_Mrecv(void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    struct matched *m = following ? take_matched(*message) : NULL;
    if (!m)
        return PMPI_Mrecv(data, n, type, message, status);
    note(EVENT_recv, peer_line(m->comm, m->source), SITE);
    int e = PMPI_Mrecv(data, n, type, message, status);
    if (m->known && rank_traced(peer_of(m->comm, m->source)))
        note_receive(EVENT_receive, m->key[0], &m->key[1], 1, true, SITE);
    else
        note(EVENT_receive, peer_line(m->comm, m->source), SITE);
    give(m);
    return e;
}

API int MPI_Imrecv(void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    struct matched *m = following ? take_matched(*message) : NULL;
    int e = PMPI_Imrecv(data, n, type, message, request);
    if (m && e == MPI_SUCCESS) {
        struct request *r = post_matched(m);
        note(EVENT_irecv, peer_line(m->comm, m->source), SITE);
        lock();
        r->sequence = m->sequence;
        request_keep(r, *request);
        unlock();
    }
    give(m);
    return e;
}
