/* Eventfds: a number that is added to and taken from, like a semaphore.  The kernel tells them apart by an id,
 * which it gives to another one later: the n-th that was seen to be made with it. */
#define _GNU_SOURCE
#include "clients/trace/process/counts.h"

#include "clients/trace/mix.h"
#include "clients/trace/poet.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/events.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { EVENTFD = 0x65766664, UNTOLD };

/* The id as /proc says it; false: it is none. */
static bool id_of(int fd, uint64_t *id)
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

uint64_t count_key(int fd)
{
    uint64_t id;
    if (!id_of(fd, &id))
        return 0;
    const uint64_t *made = poet_counter(mix(EVENTFD, id), false);
    if (!made || !LOAD(made))
        poet_unseen("an eventfd that was not seen from its beginning");
    return made && LOAD(made) ? mix(mix(EVENTFD, id), LOAD(made)) : 0;
}

void count_made(int fd)
{
    uint64_t id;
    uint64_t *made = id_of(fd, &id) ? poet_counter(mix(EVENTFD, id), true) : NULL;
    if (made)
        __atomic_fetch_add(made, 1, __ATOMIC_SEQ_CST);
    else
        poet_unseen("eventfds");
}

/* A thread that is not recorded: what it gives is before what is taken all the same. */
void count_add(uint64_t key, const void *site)
{
    if (poet_here())
        event_pair(ADD, ADDED, event_line(LINE_EVENTFD, key, ""), 0, site);
    else
        poet_counter(mix(key, UNTOLD), true);
}

static unsigned doubt(uint64_t key)
{
    return poet_counter(mix(key, UNTOLD), false) ? POET_DOUBT_THREAD : 0;
}

void count_took(uint64_t key, const void *site)
{
    event_pair(TAKE, DRAINED, event_line(LINE_EVENTFD, key, ""), doubt(key), site);
}

void count_seen(uint64_t key, const void *site)
{
    event_pair(SEE, SEEN, event_line(LINE_EVENTFD, key, ""), doubt(key), site);
}
