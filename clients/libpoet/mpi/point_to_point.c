/* Point-to-point messages: in all modes, blocking, nonblocking, persistent, probed. */
#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/message_match.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/mpi_request.h"
#include "clients/libpoet/mpi/request_wait.h"
#include "clients/libpoet/mpi/tracing_state.h"

#include <sched.h>
#include <stdatomic.h>

/* ---- sends ---- */

/* Records the send, before the call. If several threads may send at the same time, the lock is held
 * until the real call, which never blocks, has been made. */
static void p2p_record_send(struct communicator *c, enum mpi_event type, int to, int tag,
                            const void *site)
{
    uint64_t key[2];
    message_match_send_key(c, to, tag, message_match_send_sequence(c, to, tag), key);
    poet_line_t about = rank_line(communicator_world_rank(c, to));
    event_record_send(type, about, key[0], key[1], 0, site);
}

static struct communicator *p2p_sends_to(MPI_Comm handle, int to)
{
    return mpi_tracing && to != MPI_PROC_NULL ? communicator_find(handle) : NULL;
}

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int begin_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int init_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static atomic_flag p2p_sending = ATOMIC_FLAG_INIT; /* the order of sends is that of their events */

static void p2p_send_lock(void)
{
    while (mpi_is_threaded && atomic_flag_test_and_set_explicit(&p2p_sending, memory_order_acquire))
        sched_yield();
}

static void p2p_send_unlock(void)
{
    if (mpi_is_threaded)
        atomic_flag_clear_explicit(&p2p_sending, memory_order_release);
}

/* event: EVENT_bsend does not wait. */
static int p2p_send_now(send_call *call, begin_call *begin, enum mpi_event event, const void *data,
                        int n, MPI_Datatype type, int to, int tag, MPI_Comm handle,
                        const void *site)
{
    struct communicator *c = p2p_sends_to(handle, to);
    if (!c)
        return call(data, n, type, to, tag, handle);
    int e;
    p2p_send_lock();
    p2p_record_send(c, event, to, tag, site);
    if (mpi_is_threaded) {
        MPI_Request request;
        e = begin(data, n, type, to, tag, handle, &request);
        p2p_send_unlock();
        e = e == MPI_SUCCESS ? WAITING(EVENT_send, PMPI_Wait(&request, MPI_STATUS_IGNORE)) : e;
    } else if (event == EVENT_bsend) {
        e = call(data, n, type, to, tag, handle);
    } else {
        e = WAITING(EVENT_send, call(data, n, type, to, tag, handle));
    }
    event_record(EVENT_sent, 0, site);
    return e;
}

static int p2p_send_begun(begin_call *begin, const void *data, int n, MPI_Datatype type, int to,
                          int tag, MPI_Comm handle, MPI_Request *request, const void *site)
{
    struct communicator *c = p2p_sends_to(handle, to);
    if (!c)
        return begin(data, n, type, to, tag, handle, request);
    p2p_send_lock();
    p2p_record_send(c, EVENT_isend, to, tag, site);
    int e = begin(data, n, type, to, tag, handle, request);
    p2p_send_unlock();
    if (e == MPI_SUCCESS) {
        struct mpi_request *r = mpi_request_new(c, to, tag);
        r->kind = REQUEST_SEND;
        r->active = true;
        tracing_state_lock();
        mpi_request_keep(r, *request);
        tracing_state_unlock();
    }
    return e;
}

static int p2p_send_prepared(init_call *init, const void *data, int n, MPI_Datatype type, int to,
                             int tag, MPI_Comm handle, MPI_Request *request)
{
    struct communicator *c = p2p_sends_to(handle, to);
    int e = init(data, n, type, to, tag, handle, request);
    if (c && e == MPI_SUCCESS) {
        struct mpi_request *r = mpi_request_new(c, to, tag);
        r->kind = REQUEST_SEND;
        r->persistent = true;
        tracing_state_lock();
        mpi_request_keep(r, *request);
        tracing_state_unlock();
    }
    return e;
}

#define SENDS(mode, begun, event)                                                                  \
    API int MPI_##mode(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c)    \
    {                                                                                              \
        return p2p_send_now(PMPI_##mode, PMPI_##begun, event, data, n, type, to, tag, c, SITE);    \
    }                                                                                              \
    API int MPI_##begun(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c,   \
                        MPI_Request *request)                                                      \
    {                                                                                              \
        return p2p_send_begun(PMPI_##begun, data, n, type, to, tag, c, request, SITE);             \
    }                                                                                              \
    API int MPI_##mode##_init(const void *data, int n, MPI_Datatype type, int to, int tag,         \
                              MPI_Comm c, MPI_Request *request)                                    \
    {                                                                                              \
        return p2p_send_prepared(PMPI_##mode##_init, data, n, type, to, tag, c, request);          \
    }
SENDS(Send, Isend, EVENT_send)
SENDS(Ssend, Issend, EVENT_send)
SENDS(Bsend, Ibsend, EVENT_bsend)
SENDS(Rsend, Irsend, EVENT_send)

/* ---- receives ---- */

static struct communicator *p2p_receives_from(MPI_Comm handle, int from)
{
    return mpi_tracing && from != MPI_PROC_NULL ? communicator_find(handle) : NULL;
}

/* Posts a receive. In a replayed run one from MPI_ANY_SOURCE receives from the recorded source, set
 * in *from. */
static struct mpi_request *p2p_post_receive(struct communicator *c, int *from, int tag)
{
    struct mpi_request *r = mpi_request_new(c, *from, tag);
    r->kind = REQUEST_RECEIVE;
    r->any = *from == MPI_ANY_SOURCE;
    r->peer = *from = mpi_event_request_source(EVENT_receive, *from, &r->asked);
    return r;
}

API int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                 MPI_Status *status)
{
    struct communicator *c = p2p_receives_from(handle, from);
    MPI_Status own;
    if (!c)
        return PMPI_Recv(data, n, type, from, tag, handle, status);
    poet_line_t about = communicator_line(c, from);
    struct mpi_request *r = p2p_post_receive(c, &from, tag);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    event_record(EVENT_recv, about, SITE);
    int e;
    tracing_state_lock();
    message_match_post(r);
    r->awaited = true;
    if (mpi_is_threaded) {
        MPI_Request request;
        e = PMPI_Irecv(data, n, type, from, tag, handle, &request);
        tracing_state_unlock();
        e = e == MPI_SUCCESS ? WAITING(EVENT_recv, PMPI_Wait(&request, status)) : e;
    } else {
        tracing_state_unlock();
        e = WAITING(EVENT_recv, PMPI_Recv(data, n, type, from, tag, handle, status));
    }
    request_complete(r, status, SITE);
    return e;
}

API int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                  MPI_Request *request)
{
    struct communicator *c = p2p_receives_from(handle, from);
    if (!c)
        return PMPI_Irecv(data, n, type, from, tag, handle, request);
    poet_line_t about = communicator_line(c, from);
    struct mpi_request *r = p2p_post_receive(c, &from, tag);
    event_record(EVENT_irecv, about, SITE);
    tracing_state_lock();
    int e = PMPI_Irecv(data, n, type, from, tag, handle, request);
    if (e == MPI_SUCCESS) {
        message_match_post(r);
        mpi_request_keep(r, *request);
    } else {
        mpi_request_forget(r);
    }
    tracing_state_unlock();
    return e;
}

API int MPI_Recv_init(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                      MPI_Request *request)
{
    struct communicator *c = p2p_receives_from(handle, from);
    int e = PMPI_Recv_init(data, n, type, from, tag, handle, request);
    if (c && e == MPI_SUCCESS) {
        struct mpi_request *r = mpi_request_new(c, from, tag);
        r->kind = REQUEST_RECEIVE;
        r->any = from == MPI_ANY_SOURCE;
        r->persistent = true;
        r->prepared = r->any ? persistent_recv_create(*request, data, n, type, tag, handle) : NULL;
        tracing_state_lock();
        mpi_request_keep(r, *request);
        tracing_state_unlock();
    }
    return e;
}

/* Starts a receive from any source: in a replayed run, from the recorded one. */
static void p2p_start_any(struct mpi_request *r, MPI_Request *request)
{
    int from = mpi_event_request_source(EVENT_receive, MPI_ANY_SOURCE, &r->asked);
    *request = persistent_recv_start(r->prepared, from);
    r->peer = from;
    tracing_state_lock();
    mpi_request_rename(r, *request);
    tracing_state_unlock();
}

static int p2p_start(MPI_Request *request, const void *site)
{
    tracing_state_lock();
    persistent_recv_find(1, request);
    struct mpi_request *r = mpi_tracing ? mpi_request_find(*request) : NULL;
    tracing_state_unlock();
    if (!r)
        return PMPI_Start(request);
    if (r->kind == REQUEST_SEND) {
        p2p_send_lock();
        p2p_record_send(r->comm, EVENT_isend, r->peer, r->tag, site);
        r->active = true;
        int e = PMPI_Start(request);
        p2p_send_unlock();
        return e;
    }
    event_record(EVENT_irecv, r->prepared ? 0 : communicator_line(r->comm, r->peer), site);
    if (r->prepared) /* the request names the sender from which the replacement receives */
        p2p_start_any(r, request);
    else
        mpi_event_request_source(EVENT_receive, 0, &r->asked);
    tracing_state_lock();
    int e = PMPI_Start(request);
    message_match_post(r);
    tracing_state_unlock();
    return e;
}

API int MPI_Start(MPI_Request *request) { return p2p_start(request, SITE); }

API int MPI_Startall(int count, MPI_Request *requests)
{
    int e = MPI_SUCCESS;
    if (!mpi_tracing)
        return PMPI_Startall(count, requests);
    for (int i = 0; i < count && e == MPI_SUCCESS; i++)
        e = p2p_start(&requests[i], SITE);
    return e;
}

/* ---- sendrecv ---- */

struct p2p_exchange {
    const void *out;
    void *in;
    int out_n, in_n, to, out_tag, from, in_tag;
    MPI_Datatype out_type, in_type;
    MPI_Comm comm;
    poet_line_t about; /* source or destination */
    bool replaces; /* the received data replace the sent data */
};

static int p2p_exchange_untraced(const struct p2p_exchange *x, MPI_Status *status)
{
    return x->replaces ? PMPI_Sendrecv_replace(x->in, x->in_n, x->in_type, x->to, x->out_tag,
                                               x->from, x->in_tag, x->comm, status)
                       : PMPI_Sendrecv(x->out, x->out_n, x->out_type, x->to, x->out_tag, x->in,
                                       x->in_n, x->in_type, x->from, x->in_tag, x->comm, status);
}

/* Returns a packed copy of the data to be replaced: any receive accepts it (MPI 3.1, 4.2). */
static void *p2p_pack(struct p2p_exchange *x)
{
    int size = 0, at = 0;
    PMPI_Pack_size(x->out_n, x->out_type, x->comm, &size);
    void *copy = tracing_state_alloc(1, (size_t)size + 1);
    if (!copy)
        return NULL;
    PMPI_Pack(x->out, x->out_n, x->out_type, copy, size, &at, x->comm);
    x->out = copy;
    x->out_n = at;
    x->out_type = MPI_PACKED;
    return copy;
}

static int p2p_exchange_single(const struct p2p_exchange *x, struct communicator *c,
                               struct mpi_request *r, MPI_Status *status, const void *site)
{
    if (x->to != MPI_PROC_NULL)
        p2p_record_send(c, EVENT_isend, x->to, x->out_tag, site);
    event_record(EVENT_recv, x->about, site);
    tracing_state_lock();
    if (r)
        message_match_post(r);
    tracing_state_unlock();
    return p2p_exchange_untraced(x, status);
}

/* Sends and posts the receive, each at its event; then waits for both. */
static int p2p_exchange_threaded(struct p2p_exchange *x, struct communicator *c,
                                 struct mpi_request *r, MPI_Status *status, const void *site)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    void *copy = x->replaces ? p2p_pack(x) : NULL;
    int e = MPI_SUCCESS;
    if (x->replaces && !copy) /* no memory: MPI may have some */
        return p2p_exchange_single(x, c, r, status, site);
    if (x->to != MPI_PROC_NULL) {
        p2p_send_lock();
        p2p_record_send(c, EVENT_isend, x->to, x->out_tag, site);
        e = PMPI_Isend(x->out, x->out_n, x->out_type, x->to, x->out_tag, x->comm, &requests[0]);
        p2p_send_unlock();
    }
    tracing_state_lock();
    if (r)
        message_match_post(r);
    if (e == MPI_SUCCESS)
        e = PMPI_Irecv(x->in, x->in_n, x->in_type, x->from, x->in_tag, x->comm, &requests[1]);
    tracing_state_unlock();
    event_record(EVENT_recv, x->about, site);
    e = e == MPI_SUCCESS ? PMPI_Waitall(2, requests, statuses) : e;
    *status = statuses[1];
    tracing_state_free(copy);
    return e;
}

static int p2p_exchange(struct p2p_exchange *x, MPI_Status *status, const void *site)
{
    bool any = x->to != MPI_PROC_NULL || x->from != MPI_PROC_NULL;
    struct communicator *c = mpi_tracing && any ? communicator_find(x->comm) : NULL;
    MPI_Status own;
    if (!c)
        return p2p_exchange_untraced(x, status);
    bool receives = x->from != MPI_PROC_NULL;
    x->about =
        receives ? communicator_line(c, x->from) : rank_line(communicator_world_rank(c, x->to));
    struct mpi_request *r = receives ? p2p_post_receive(c, &x->from, x->in_tag) : NULL;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    if (r)
        r->awaited = true;
    int e = mpi_is_threaded ? p2p_exchange_threaded(x, c, r, status, site)
                            : p2p_exchange_single(x, c, r, status, site);
    if (!r || !request_complete(r, status, site))
        event_record(EVENT_completed, 0, site);
    return e;
}

API int MPI_Sendrecv(const void *out, int out_n, MPI_Datatype out_type, int to, int out_tag,
                     void *in, int in_n, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                     MPI_Status *status)
{
    return p2p_exchange(&(struct p2p_exchange){out, in, out_n, in_n, to, out_tag, from, in_tag,
                                               out_type, in_type, comm, 0, false},
                        status, SITE);
}

API int MPI_Sendrecv_replace(void *data, int n, MPI_Datatype type, int to, int out_tag, int from,
                             int in_tag, MPI_Comm comm, MPI_Status *status)
{
    return p2p_exchange(&(struct p2p_exchange){data, data, n, n, to, out_tag, from, in_tag, type,
                                               type, comm, 0, true},
                        status, SITE);
}

/* ---- probes ---- */

/* Records a probe, after the send of its message; `key` is that of the message. sequence: the
 * message is consumed, and this is its number; NULL: it is not consumed. */
static bool p2p_record_probed(struct communicator *c, const MPI_Status *status, uint32_t asked,
                              uint64_t *sequence, uint64_t key[2], const void *site)
{
    tracing_state_lock();
    bool known = message_match_next(c, status->MPI_SOURCE, status->MPI_TAG, sequence, key);
    tracing_state_unlock();
    bool traced = known && rank_traced(communicator_world_rank(c, status->MPI_SOURCE));
    mpi_event_record_received(EVENT_probed, communicator_line(c, status->MPI_SOURCE),
                              traced ? key : NULL, asked, status->MPI_SOURCE, false, site);
    return known;
}

API int MPI_Probe(int from, int tag, MPI_Comm handle, MPI_Status *status)
{
    struct communicator *c = p2p_receives_from(handle, from);
    MPI_Status own;
    uint64_t key[2];
    if (!c)
        return PMPI_Probe(from, tag, handle, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    event_record(EVENT_probe, communicator_line(c, from), SITE);
    uint32_t asked;
    bool any = from == MPI_ANY_SOURCE;
    from = mpi_event_request_source(EVENT_probed, from, &asked);
    int e = WAITING(EVENT_probe, PMPI_Probe(from, tag, handle, status));
    p2p_record_probed(c, status, any ? asked : 0, NULL, key, SITE);
    return e;
}

API int MPI_Iprobe(int from, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
    struct communicator *c = p2p_receives_from(handle, from);
    MPI_Status own;
    uint64_t key[2];
    if (!c)
        return PMPI_Iprobe(from, tag, handle, flag, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t asked;
    bool any = from == MPI_ANY_SOURCE, together;
    int found = mpi_event_replay_next(EVENT_probed); /* or there was nothing */
    if (found == 1)
        mpi_event_replay_choice(EVENT_probed, &from, &together);
    int e = PMPI_Iprobe(from, tag, handle, flag, status);
    for (int i = 0; i < LOOKS_MOST && found == 1 && e == MPI_SUCCESS && !*flag; i++)
        e = PMPI_Iprobe(from, tag, handle, flag, status);
    *flag = e == MPI_SUCCESS && *flag && found != 0;
    if (*flag) { /* (how often a test found nothing is not counted) */
        mpi_event_request_source(EVENT_probed, 0, &asked);
        p2p_record_probed(c, status, any ? asked : 0, NULL, key, SITE);
    }
    return e;
}

/* ---- matched probes: the message is consumed, and received later ---- */

static struct p2p_matched {
    struct p2p_matched *next;
    MPI_Message handle;
    struct communicator *comm;
    int source, tag;
    uint64_t key[2], sequence;
    bool known;
} *matched;

static void p2p_push_matched(struct communicator *c, MPI_Message handle, const MPI_Status *status,
                             const void *site)
{
    if (handle == MPI_MESSAGE_NULL || handle == MPI_MESSAGE_NO_PROC)
        return;
    struct p2p_matched *m = tracing_state_alloc(1, sizeof *m);
    *m = (struct p2p_matched){
        .handle = handle, .comm = c, .source = status->MPI_SOURCE, .tag = status->MPI_TAG};
    m->known = p2p_record_probed(c, status, 0, &m->sequence, m->key, site);
    tracing_state_lock();
    m->next = matched;
    matched = m;
    tracing_state_unlock();
}

static struct p2p_matched *p2p_pop_matched(MPI_Message handle)
{
    tracing_state_lock();
    struct p2p_matched **at = &matched;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct p2p_matched *m = *at;
    if (m)
        *at = m->next;
    tracing_state_unlock();
    return m;
}

API int MPI_Mprobe(int from, int tag, MPI_Comm handle, MPI_Message *message, MPI_Status *status)
{
    struct communicator *c = p2p_receives_from(handle, from);
    MPI_Status own;
    if (!c)
        return PMPI_Mprobe(from, tag, handle, message, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    event_record(EVENT_probe, communicator_line(c, from), SITE);
    int e = PMPI_Mprobe(from, tag, handle, message, status);
    if (e == MPI_SUCCESS)
        p2p_push_matched(c, *message, status, SITE);
    return e;
}

API int MPI_Improbe(int from, int tag, MPI_Comm handle, int *flag, MPI_Message *message,
                    MPI_Status *status)
{
    struct communicator *c = p2p_receives_from(handle, from);
    MPI_Status own;
    if (!c)
        return PMPI_Improbe(from, tag, handle, flag, message, status);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int e = PMPI_Improbe(from, tag, handle, flag, message, status);
    if (e == MPI_SUCCESS && *flag)
        p2p_push_matched(c, *message, status, SITE);
    return e;
}

/* Posts the receive of a matched message, which is known beforehand. */
static struct mpi_request *p2p_post_matched(struct p2p_matched *m)
{
    struct mpi_request *r = p2p_post_receive(m->comm, &m->source, m->tag);
    tracing_state_lock();
    message_match_post(r);
    r->assigned = m->known;
    tracing_state_unlock();
    return r;
}

API int MPI_Mrecv(void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    struct p2p_matched *m = mpi_tracing ? p2p_pop_matched(*message) : NULL;
    if (!m)
        return PMPI_Mrecv(data, n, type, message, status);
    event_record(EVENT_recv, communicator_line(m->comm, m->source), SITE);
    int e = PMPI_Mrecv(data, n, type, message, status);
    if (m->known && rank_traced(communicator_world_rank(m->comm, m->source)))
        event_record_receive(EVENT_receive, m->key[0], &m->key[1], 1, true, SITE);
    else
        event_record(EVENT_receive, communicator_line(m->comm, m->source), SITE);
    tracing_state_free(m);
    return e;
}

API int MPI_Imrecv(void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    struct p2p_matched *m = mpi_tracing ? p2p_pop_matched(*message) : NULL;
    int e = PMPI_Imrecv(data, n, type, message, request);
    if (m && e == MPI_SUCCESS) {
        struct mpi_request *r = p2p_post_matched(m);
        event_record(EVENT_irecv, communicator_line(m->comm, m->source), SITE);
        tracing_state_lock();
        r->sequence = m->sequence;
        mpi_request_keep(r, *request);
        tracing_state_unlock();
    }
    tracing_state_free(m);
    return e;
}
