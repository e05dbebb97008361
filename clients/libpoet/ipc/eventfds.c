/* Eventfds: counters that are added to and consumed, like a semaphore. The kernel identifies them
 * by an id, which it reuses: so the key is the id and the number of eventfds created with it. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_tracer.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { EVENTFD = 0x65766664, UNTOLD };

/* Gets the id from /proc. Returns false if it is not an eventfd. */
static bool eventfd_counter_id(int fd, uint64_t *id)
{
    char path[48], text[512];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = info >= 0 ? read(info, text, sizeof text - 1) : 0;
    if (info >= 0)
        close(info);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, "eventfd-id:");
    *id = at ? strtoull(at + strlen("eventfd-id:"), NULL, 10) : 0;
    return at != NULL;
}

uint64_t eventfd_counter_key(int fd)
{
    uint64_t id;
    if (!eventfd_counter_id(fd, &id))
        return 0;
    const uint64_t *made = poet_counter(key_mix(EVENTFD, id), false);
    if (!made || !LOAD(made))
        poet_untraced("an eventfd that was not traced from its creation");
    return made && LOAD(made) ? key_mix(key_mix(EVENTFD, id), LOAD(made)) : 0;
}

void eventfd_counter_created(int fd)
{
    uint64_t id;
    uint64_t *made = eventfd_counter_id(fd, &id) ? poet_counter(key_mix(EVENTFD, id), true) : NULL;
    if (made)
        __atomic_fetch_add(made, 1, __ATOMIC_SEQ_CST);
    else
        poet_untraced("eventfds");
}

/* For a thread that is not recorded: what it adds still comes before what is consumed. */
void eventfd_counter_add(uint64_t key, const void *site)
{
    if (poet_current_line())
        ipc_event_pair(ADD, ADDED, ipc_event_line(IPC_OBJECT_EVENTFD, key, ""), 0, site);
    else
        poet_counter(key_mix(key, UNTOLD), true);
}

static unsigned eventfd_counter_doubt(uint64_t key)
{
    return poet_counter(key_mix(key, UNTOLD), false) ? POET_DOUBT_THREAD : 0;
}

void eventfd_counter_taken(uint64_t key, const void *site)
{
    ipc_event_pair(TAKE, DRAINED, ipc_event_line(IPC_OBJECT_EVENTFD, key, ""),
                   eventfd_counter_doubt(key), site);
}

void eventfd_counter_seen(uint64_t key, const void *site)
{
    ipc_event_pair(SEE, SEEN, ipc_event_line(IPC_OBJECT_EVENTFD, key, ""),
                   eventfd_counter_doubt(key), site);
}
