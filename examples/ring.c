/* A token circulates in a ring of machines by datagrams.  poet.h records sends and receives with a
 * key that both sides know, so they are ordered across machines.  `make demo-cluster` runs three.
 *
 *     poetcc -trace -g ring.c -o ring && ./ring RANK SIZE ROUNDS PORT NEXT-ADDRESS */
#include <arpa/inet.h>
#include <poet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define RING 0x72696e67u

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    long me = atol(argv[1]), all = atol(argv[2]), rounds = atol(argv[3]), got = 0;
    unsigned short port = (unsigned short)atoi(argv[4]);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)}, next = here;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval timeout = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (bind(fd, (struct sockaddr *)&here, sizeof here) < 0 ||
        inet_pton(AF_INET, argv[5], &next.sin_addr) != 1)
        return 1;
    printf("ready\n");
    fflush(stdout);
    if (getchar() == EOF) /* all are there */
        return 1;
    char name[16];
    snprintf(name, sizeof name, "host%ld", me + 1);
    poet_environment("actors");
    poet_line_t line = poet_line("actor", name, NULL, 0);
    poet_type_t sends = poet_type("send", NULL), receives = poet_type("receive", NULL);
    poet_event(line, poet_type("created", NULL), 0, 0);
    for (long step = me; step < all * rounds + (me == 0); step += all) {
        if (step > 0) {
            if (recv(fd, &got, sizeof got, 0) != sizeof got)
                return 1;
            poet_receive_key(line, receives, RING, (uint64_t)got);
        }
        if (step == all * rounds)
            break;
        got = step + 1;
        poet_send_key(line, sends, RING, (uint64_t)got);
        sendto(fd, &got, sizeof got, 0, (struct sockaddr *)&next, sizeof next);
    }
    poet_event(line, poet_type("destroyed", NULL), 0, POET_CLOSES);
    return 0;
}
