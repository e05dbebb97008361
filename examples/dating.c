/* A dating service: girls and boys come one by one and leave in pairs, each with the
 * phone number of the other. */
#include <poet.h>
#include <pthread.h>
#include <stdio.h>

#define PAIRS 3

struct person {
    int phone, partner; /* partner's phone, 0: none yet */
    pthread_cond_t came;
    struct person *next;
};

static pthread_mutex_t service = PTHREAD_MUTEX_INITIALIZER;
static struct person *waiting[2]; /* girls, boys */
static int sum;

/* A person that finds a partner waiting takes the first one along; else waits to be taken. */
static int date(int sex, int phone)
{
    struct person self = {.phone = phone, .came = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&service);
    struct person *other = waiting[!sex];
    if (other) {
        waiting[!sex] = other->next;
        other->partner = phone;
        self.partner = other->phone;
        pthread_cond_signal(&other->came);
    } else {
        self.next = waiting[sex];
        waiting[sex] = &self;
        while (!self.partner)
            pthread_cond_wait(&self.came, &service);
    }
    sum += self.partner;
    pthread_mutex_unlock(&service);
    pthread_cond_destroy(&self.came);
    return self.partner;
}

static void *girl(void *argument)
{
    int mine = 100 + (int)(long)argument;
    poet_text("%d dates %d", mine, date(0, mine));
    return NULL;
}

static void *boy(void *argument)
{
    int mine = 200 + (int)(long)argument;
    poet_text("%d dates %d", mine, date(1, mine));
    return NULL;
}

int main(void)
{
    pthread_t threads[2 * PAIRS];
    for (long i = 0; i < 2 * PAIRS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? boy : girl, (void *)(i / 2));
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    printf("sum of phone numbers: %d\n", sum);
    return 0;
}
