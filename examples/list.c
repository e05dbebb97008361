/* A sorted list with nodes that are locked hand over hand: take the next, then release
 * the one before. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node head = {PTHREAD_MUTEX_INITIALIZER, -1, NULL};

static void insert(int value)
{
    struct node *fresh = malloc(sizeof *fresh), *before = &head;
    if (!fresh)
        abort();
    pthread_mutex_init(&fresh->lock, NULL);
    fresh->value = value;
    pthread_mutex_lock(&before->lock);
    while (before->next && before->next->value < value) {
        struct node *next = before->next;
        pthread_mutex_lock(&next->lock);
        pthread_mutex_unlock(&before->lock);
        before = next;
    }
    fresh->next = before->next;
    before->next = fresh;
    pthread_mutex_unlock(&before->lock);
}

static void *inserter(void *argument)
{
    int first = (int)(long)argument;
    for (int i = first; i < 12; i += 3)
        insert(i * 7 % 12);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int count = 0;
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, inserter, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    while (head.next) {
        struct node *node = head.next;
        head.next = node->next;
        pthread_mutex_destroy(&node->lock);
        free(node);
        count++;
    }
    printf("nodes: %d\n", count);
    return 0;
}
