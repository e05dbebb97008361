#define _GNU_SOURCE
#include "server/osmetrics/unix_peers.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Asks the kernel for one socket. Returns the number of bytes of the answer, -1 without one. */
static ssize_t unix_peer_query(uint32_t inode, void *answer, size_t room)
{
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } query = {{.nlmsg_len = sizeof query,
                .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                .nlmsg_flags = NLM_F_REQUEST},
               {.sdiag_family = AF_UNIX,
                .udiag_states = ~0u,
                .udiag_ino = inode,
                .udiag_show = UDIAG_SHOW_PEER,
                .udiag_cookie = {~0u, ~0u}}};
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t size = -1;
    if (fd < 0)
        return -1;
    if (sendto(fd, &query, sizeof query, 0, (struct sockaddr *)&kernel, sizeof kernel) ==
        (ssize_t)sizeof query)
        size = recv(fd, answer, room, MSG_DONTWAIT);
    close(fd);
    return size;
}

uint32_t unix_peer_inode(uint32_t inode)
{
    _Alignas(struct nlmsghdr) char answer[1024];
    uint32_t peer = 0;
    ssize_t size = unix_peer_query(inode, answer, sizeof answer);
    const struct nlmsghdr *header = (const void *)answer;
    if (size < (ssize_t)sizeof *header || !NLMSG_OK(header, (size_t)size) ||
        header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    const struct unix_diag_msg *message = NLMSG_DATA(header);
    int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof *message));
    if (left < 0 || message->udiag_type != SOCK_STREAM)
        return 0;
    for (const struct rtattr *a = (const void *)(message + 1); RTA_OK(a, left);
         a = RTA_NEXT(a, left))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof peer)
            memcpy(&peer, RTA_DATA(a), sizeof peer);
    return peer;
}
