#include "clients/libpoet/mpi/waitsome_replay.h"

#include "clients/libpoet/mpi/mpi_events.h"

#define TIMEOUT_S 1.0

static bool waitsome_replay_is_receive(const struct request_batch *b, int i)
{
    return b->requests[i] && b->requests[i]->kind == REQUEST_RECEIVE;
}

static int waitsome_replay_next_of(const struct request_batch *b, bool *together)
{
    int source;
    uint32_t asked = mpi_event_replay_choice(EVENT_receive, &source, together);
    for (int i = 0; asked && b->requests && i < b->count; i++)
        if (waitsome_replay_is_receive(b, i) && b->requests[i]->asked == asked)
            return i;
    return -1;
}

int waitsome_replay_next_receive(const struct request_batch *b)
{
    bool together;
    return waitsome_replay_next_of(b, &together);
}

static int waitsome_replay_first_receive(const struct request_batch *b)
{
    for (int i = 0; b->requests && i < b->count; i++)
        if (waitsome_replay_is_receive(b, i))
            return i;
    return -1;
}

bool waitsome_replay_is_active(const struct request_batch *b)
{
    return waitsome_replay_first_receive(b) >= 0 && mpi_event_replay_next(EVENT_receive) >= 0;
}

int waitsome_replay_long(MPI_Request *handle, int *flag, MPI_Status *status)
{
    int e;
    for (int i = 0; (e = PMPI_Test(handle, flag, status)) == MPI_SUCCESS && !*flag; i++)
        if (i == LOOKS_MOST)
            break;
    return e;
}

/* (MPI continues with the rest, if a call of libpoet's finds nothing) */
static int waitsome_replay_continues(MPI_Request handle)
{
    int there;
    return PMPI_Request_get_status(handle, &there, MPI_STATUS_IGNORE);
}

int waitsome_replay_test(const struct request_batch *b, MPI_Request *handle, int *flag,
                         MPI_Status *status)
{
    if (waitsome_replay_next_receive(b) == 0)
        return waitsome_replay_long(handle, flag, status);
    *flag = 0;
    return waitsome_replay_continues(*handle);
}

int waitsome_replay_test_all(struct request_batch *b, MPI_Request *handles, int *flag)
{
    int e = MPI_SUCCESS;
    *flag = 0;
    if (waitsome_replay_next_receive(b) < 0)
        return waitsome_replay_continues(handles[waitsome_replay_first_receive(b)]);
    for (int i = 0; e == MPI_SUCCESS && !*flag && i < LOOKS_MOST; i++)
        e = PMPI_Testall(b->count, handles, flag, b->statuses);
    return e;
}

int waitsome_replay_others(struct request_batch *b, MPI_Request *handles, int *done, int *indices,
                           int most, const void *site)
{
    int e = MPI_SUCCESS, flag;
    for (int i = 0; e == MPI_SUCCESS && i < b->count && *done < most; i++) {
        MPI_Status *status = &b->statuses[*done];
        if (handles[i] == MPI_REQUEST_NULL)
            continue;
        if (waitsome_replay_is_receive(b, i)) {
            e = waitsome_replay_continues(handles[i]);
            continue;
        }
        e = PMPI_Test(&handles[i], &flag, status);
        bool was_under_way = b->requests[i] || handles[i] == MPI_REQUEST_NULL;
        if (e != MPI_SUCCESS || !flag || !was_under_way)
            continue;
        indices[(*done)++] = i;
        request_batch_complete_one(b, i, status, site);
    }
    return e;
}

/* A receive that was reported together with another one is not tested again: its message is on its
 * way, unless the run has diverged. */
static int waitsome_replay_await_next(MPI_Request *handle, int *flag, MPI_Status *status)
{
    double begin = PMPI_Wtime();
    int e;
    while ((e = waitsome_replay_long(handle, flag, status)) == MPI_SUCCESS && !*flag)
        if (PMPI_Wtime() - begin > TIMEOUT_S)
            break;
    return e;
}

static int waitsome_replay_receive_again(struct request_batch *b, MPI_Request *handles, int *done,
                                         int *indices, bool waits, const void *site)
{
    int e = MPI_SUCCESS, there = 1;
    bool together = true;
    while (together && *done < b->count) {
        int i = waitsome_replay_next_of(b, &together);
        MPI_Status *status = &b->statuses[*done];
        if (i < 0)
            break;
        e = waits   ? WAITING(EVENT_wait, PMPI_Wait(&handles[i], status))
            : *done ? waitsome_replay_await_next(&handles[i], &there, status)
                    : waitsome_replay_long(&handles[i], &there, status);
        if (e != MPI_SUCCESS || !there)
            break;
        indices[(*done)++] = i;
        b->requests[i]->any = true;
        b->requests[i]->together = together;
        request_batch_complete_one(b, i, status, site);
    }
    return e;
}

int waitsome_replay_some(struct request_batch *b, MPI_Request *handles, int *done, int *indices,
                         bool waits, const void *site)
{
    *done = 0;
    int e = waitsome_replay_receive_again(b, handles, done, indices, waits, site);
    if (e == MPI_SUCCESS && (*done || !waits))
        e = waitsome_replay_others(b, handles, done, indices, b->count, site);
    return e;
}
