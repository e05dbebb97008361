#define _GNU_SOURCE
#include "clients/snapshot/socket_peer.h"

#include "base/alloc.h"
#include "clients/snapshot/proc_file.h"

#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMER_PROBE 4u /* of a line of /proc/net/tcp: the window is zero */
#define REFUSED 3u     /* times that bytes were sent again, in vain: the buffer is full */
#define MAPPED "0000000000000000FFFF0000" /* begins an address of IPv4 in tcp6 */

/* ---- TCP ---- */

static void tcp_end_put(char to[48], const char *address)
{
    size_t skip = strlen(MAPPED);
    snprintf(to, 48, "%s", strncmp(address, MAPPED, skip) == 0 ? address + skip : address);
}

bool tcp_end_parse(const char *line, struct tcp_end *end)
{
    char local[48], remote[48];
    unsigned timer = 0, again = 0;
    *end = (struct tcp_end){0};
    if (sscanf(line, " %*u: %47s %47s %*x %" SCNx64 ":%*x %x:%*x %x %*u %*u %" SCNu64, local,
               remote, &end->unsent, &timer, &again, &end->inode) != 6)
        return false;
    tcp_end_put(end->local, local);
    tcp_end_put(end->remote, remote);
    end->full = timer == TIMER_PROBE || again >= REFUSED;
    return end->inode != 0;
}

struct tcp_ends {
    struct tcp_end *ends;
    size_t count;
};

static void tcp_ends_read(struct tcp_ends *t, uint32_t pid, const char *name)
{
    char path[64], *line = NULL;
    size_t room = 0;
    struct tcp_end end;
    snprintf(path, sizeof path, "/proc/%u/net/%s", pid, name);
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &room, f) > 0)
        if (tcp_end_parse(line, &end))
            ARRAY_PUSH(t->ends, t->count, end);
    free(line);
    if (f)
        fclose(f);
}

/* A reader gets what is on its way; a writer resumes when it is acknowledged, unless the reader's
 * buffer is full. */
static struct socket_peer tcp_ends_peer(const struct tcp_ends *t, uint64_t inode, bool reads)
{
    struct socket_peer peer = {0};
    const struct tcp_end *own = NULL;
    for (size_t i = 0; i < t->count && !own; i++)
        own = t->ends[i].inode == inode ? &t->ends[i] : NULL;
    for (size_t i = 0; own && i < t->count; i++) {
        const struct tcp_end *other = &t->ends[i];
        if (other == own || strcmp(other->local, own->remote) != 0 ||
            strcmp(other->remote, own->local) != 0)
            continue;
        peer.inode = other->inode;
        peer.open = reads ? other->unsent != 0 : !own->full;
    }
    return peer;
}

/* ---- local sockets ---- */

static bool socket_peer_shares_network(uint32_t pid)
{
    char own[64], its[64];
    return proc_file_link(own, sizeof own, "self/ns/net") &&
           proc_file_link(its, sizeof its, "%u/ns/net", pid) && strcmp(own, its) == 0;
}

/* Returns the inode of the peer in the kernel's answer. Messages of a datagram socket may come from
 * others. */
static uint64_t socket_peer_of_answer(const void *bytes, size_t size)
{
    const struct nlmsghdr *head = bytes;
    if (!NLMSG_OK(head, size) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        head->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
        return 0;
    const struct unix_diag_msg *is = NLMSG_DATA(head);
    size_t left = head->nlmsg_len - NLMSG_LENGTH(sizeof *is);
    if (is->udiag_type == SOCK_DGRAM)
        return 0;
    for (const struct rtattr *a = (const struct rtattr *)(is + 1); RTA_OK(a, left);
         a = RTA_NEXT(a, left))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(uint32_t))
            return *(const uint32_t *)RTA_DATA(a);
    return 0;
}

static uint64_t socket_peer_ask(uint64_t inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req is;
    } request = {{sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0},
                 {.sdiag_family = AF_UNIX,
                  .udiag_states = UINT32_MAX,
                  .udiag_ino = (uint32_t)inode,
                  .udiag_show = UDIAG_SHOW_PEER,
                  .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
    _Alignas(struct nlmsghdr) unsigned char answer[4096];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    ssize_t got = fd >= 0 && send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request
                      ? recv(fd, answer, sizeof answer, 0)
                      : -1;
    if (fd >= 0)
        close(fd);
    return got > 0 ? socket_peer_of_answer(answer, (size_t)got) : 0;
}

/* ---- timeouts ---- */

/* Reads the timeout of a socket by a copy of the descriptor, which is closed at once. */
static void socket_peer_read_timeout(struct socket_peer *peer, uint32_t pid, uint64_t descriptor,
                                     bool reads)
{
    struct timeval timeout = {0};
    socklen_t size = sizeof timeout;
    int process = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    int fd = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, (int)descriptor, 0) : -1;
    bool known = fd >= 0 && getsockopt(fd, SOL_SOCKET, reads ? SO_RCVTIMEO : SO_SNDTIMEO, &timeout,
                                       &size) == 0;
    peer->timed = known && (timeout.tv_sec || timeout.tv_usec);
    peer->open |= !known;
    if (fd >= 0)
        close(fd);
    if (process >= 0)
        close(process);
}

struct socket_peer socket_peer_find(uint32_t pid, uint64_t descriptor, uint64_t inode, bool reads)
{
    struct tcp_ends t = {0};
    tcp_ends_read(&t, pid, "tcp");
    tcp_ends_read(&t, pid, "tcp6");
    struct socket_peer peer = tcp_ends_peer(&t, inode, reads);
    free(t.ends);
    if (!peer.inode && socket_peer_shares_network(pid))
        peer.inode = socket_peer_ask(inode);
    socket_peer_read_timeout(&peer, pid, descriptor, reads);
    return peer;
}
