/* State of a socket that only the kernel knows. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/socket_info.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

bool socket_cookie(int fd, uint64_t *cookie)
{
    socklen_t size = sizeof *cookie;
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, cookie, &size) == 0;
}

bool socket_has_timeout(int fd, bool writes)
{
    struct timeval limit = {0};
    socklen_t size = sizeof limit;
    return getsockopt(fd, SOL_SOCKET, writes ? SO_SNDTIMEO : SO_RCVTIMEO, &limit, &size) == 0 &&
           (limit.tv_sec || limit.tv_usec);
}

int socket_unix_room(int fd)
{
    int domain = 0, room = -1;
    socklen_t size = sizeof domain, room_size = sizeof room;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
                   getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &room_size) == 0
               ? room
               : -1;
}

/* ---- the peer (sock_diag(7)) ---- */

static uint64_t socket_peer_in_table(const struct nlmsghdr *h)
{
    const struct unix_diag_msg *m = NLMSG_DATA(h);
    int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *m));
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || left < 0)
        return 0;
    for (const struct rtattr *a = (const void *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(uint32_t)) {
            uint32_t inode;
            memcpy(&inode, RTA_DATA(a), sizeof inode);
            return inode;
        }
    return 0;
}

static ssize_t socket_query_kernel(const void *ask, size_t size, void *answer, size_t room)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t n = -1;
    if (fd >= 0 &&
        sendto(fd, ask, size, 0, (struct sockaddr *)&kernel, sizeof kernel) == (ssize_t)size)
        n = recv(fd, answer, room, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    return n;
}

uint64_t socket_peer(uint64_t inode)
{
    struct {
        struct nlmsghdr h;
        struct unix_diag_req r;
    } ask = {
        {.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        {.sdiag_family = AF_UNIX,
         .udiag_states = ~0u,
         .udiag_ino = (uint32_t)inode,
         .udiag_show = UDIAG_SHOW_PEER,
         .udiag_cookie = {~0u, ~0u}}};
    _Alignas(struct nlmsghdr) char answer[1024];
    ssize_t n = socket_query_kernel(&ask, sizeof ask, answer, sizeof answer);
    const struct nlmsghdr *h = (const void *)answer;
    return n >= (ssize_t)sizeof *h && NLMSG_OK(h, (size_t)n) ? socket_peer_in_table(h) : 0;
}

/* ---- how far a TCP connection is (tcp(7)) ---- */

enum { /* of linux/tcp.h's machine, which the headers for programs do not name */
       STATE_OPEN = 1,
       STATE_FIN_WAIT1 = 4,
       STATE_FIN_WAIT2 = 5,
       STATE_TIME_WAIT = 6,
       STATE_CLOSE = 7,
       STATE_CLOSE_WAIT = 8,
       STATE_LAST_ACK = 9,
       STATE_CLOSING = 11
};

/* Returns false if the kernel is older than 4.19. */
static bool socket_read_tcp_info(int fd, struct tcp_info *info)
{
    socklen_t size = sizeof *info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) == 0 &&
           size >= offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof info->tcpi_bytes_retrans;
}

/* The sum of acknowledged and unacknowledged bytes is all that was written; the FIN counts one once
 * it is written, too. */
static uint64_t end_written(const struct tcp_info *info)
{
    return info->tcpi_state == STATE_FIN_WAIT1 || info->tcpi_state == STATE_FIN_WAIT2 ||
           info->tcpi_state == STATE_TIME_WAIT || info->tcpi_state == STATE_LAST_ACK ||
           info->tcpi_state == STATE_CLOSING;
}

static uint64_t end_read(const struct tcp_info *info)
{
    return info->tcpi_state == STATE_CLOSE_WAIT || info->tcpi_state == STATE_LAST_ACK ||
           info->tcpi_state == STATE_TIME_WAIT || info->tcpi_state == STATE_CLOSING;
}

#define TRIES 32u /* if the numbers change between two calls */

/* Subtracts numbers that were read at another time. Returns false if those were greater. */
static bool socket_subtract(uint64_t from, uint64_t less, uint64_t *bytes)
{
    *bytes = from - less;
    return from >= less;
}

/* (Bytes sent minus bytes retransmitted would be the same in one call; but packets that a full or
 * detached device has dropped count there each time.) */
bool socket_written(int fd, bool syn, uint64_t least, uint64_t *bytes)
{
    struct tcp_info info;
    uint64_t before = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        int waits = 0;
        if (ioctl(fd, SIOCOUTQ, &waits) != 0 || !socket_read_tcp_info(fd, &info) ||
            info.tcpi_state == STATE_CLOSE)
            return false;
        bool whole = socket_subtract(info.tcpi_bytes_acked + (uint64_t)waits,
                                     syn + end_written(&info), bytes);
        if (whole && (*bytes == least || info.tcpi_bytes_acked == before))
            return true;
        before = info.tcpi_bytes_acked;
    }
    return false;
}

int socket_counts_syn(int fd)
{
    struct tcp_info info;
    uint64_t bytes;
    if (!socket_read_tcp_info(fd, &info) || !socket_written(fd, false, 0, &bytes) ||
        !socket_read_tcp_info(fd, &info))
        return -1;
    uint64_t sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes,
             fin = info.tcpi_notsent_bytes ? end_written(&info) : 0;
    return bytes - (sent - fin) <= 1 ? (int)(bytes - (sent - fin)) : -1;
}

bool socket_read(int fd, uint64_t least, uint64_t *bytes)
{
    struct tcp_info info;
    uint64_t before = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        int there = 0;
        if (ioctl(fd, FIONREAD, &there) != 0 || !socket_read_tcp_info(fd, &info))
            return false;
        bool whole =
            socket_subtract(info.tcpi_bytes_received, (uint64_t)there + end_read(&info), bytes);
        /* the FIN came before, or was truncated */
        if (info.tcpi_state == STATE_CLOSE && *bytes == least + 1)
            *bytes = least;
        if (whole && (*bytes == least || info.tcpi_bytes_received == before))
            return true;
        before = info.tcpi_bytes_received;
    }
    return false;
}

bool socket_has_ended(int fd)
{
    struct tcp_info info;
    int there = 0;
    return socket_read_tcp_info(fd, &info) && end_read(&info) && ioctl(fd, FIONREAD, &there) == 0 &&
           there == 0;
}

/* ---- whether other processes have it (sock_diag(7)) ---- */

static void encode_place(const poet_place_t *p, bool four, __be32 address[4])
{
    uint64_t both[2] = {htobe64(p->high), htobe64(p->low)};
    memcpy(address, both, sizeof both);
    if (four)
        address[0] = address[3];
}

static bool is_four(const poet_place_t *p) { return p->high == 0 && p->low >> 32 == 0xffff; }

int socket_is_open(uint64_t cookie, const poet_place_t *here, const poet_place_t *there)
{
    struct {
        struct nlmsghdr h;
        struct inet_diag_req_v2 r;
    } ask = {
        {.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        {.sdiag_family = is_four(here) ? AF_INET : AF_INET6,
         .sdiag_protocol = IPPROTO_TCP,
         .idiag_states = ~0u,
         .id = {.idiag_sport = htons(here->port),
                .idiag_dport = htons(there->port),
                .idiag_cookie = {(uint32_t)cookie, (uint32_t)(cookie >> 32)}}}};
    _Alignas(struct nlmsghdr) char answer[1024];
    encode_place(here, is_four(here), ask.r.id.idiag_src);
    encode_place(there, is_four(here), ask.r.id.idiag_dst);
    ssize_t n = socket_query_kernel(&ask, sizeof ask, answer, sizeof answer);
    const struct nlmsghdr *h = (const void *)answer;
    if (n < (ssize_t)sizeof *h || !NLMSG_OK(h, (size_t)n))
        return -1;
    if (h->nlmsg_type == NLMSG_ERROR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        int e = ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
        return e == -ENOENT || e == -ESTALE ? 0 : -1;
    }
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        h->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return -1;
    unsigned state = ((const struct inet_diag_msg *)NLMSG_DATA(h))->idiag_state;
    return state == STATE_OPEN || state == STATE_CLOSE_WAIT;
}
