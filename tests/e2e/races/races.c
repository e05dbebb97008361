/* Programs with a data race each, and the same programs without it: races CASE bad|good.  A
 * thread waits for another one, without any order, by relaxed atomic operations (await, pass). */
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int bad;
static atomic_int turn;
static pthread_t threads[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void await(int wanted)
{
    while (atomic_load_explicit(&turn, memory_order_relaxed) < wanted)
        sched_yield();
}
static void pass(void) { atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed); }
static void start(int i, void *(*function)(void *), void *argument)
{
    pthread_create(&threads[i], NULL, function, argument);
}
static void join(int i) { pthread_join(threads[i], NULL); }
static void two(void *(*function)(void *))
{
    start(0, function, NULL);
    start(1, function, NULL);
    join(0);
    join(1);
}
static void lock(void) { bad ? (void)0 : (void)pthread_mutex_lock(&mutex); }
static void unlock(void) { bad ? (void)0 : (void)pthread_mutex_unlock(&mutex); }

/* ---- a counter ---- */
static int count;
static void *counting(void *p)
{
    lock();
    count++; /* COUNTER */
    unlock();
    return p;
}
static void counter(void) { two(counting); }

/* ---- a block of the heap ---- */
struct node {
    long key, value;
};
static struct node *node;
static void *setting(void *p)
{
    lock();
    node->value = 7; /* HEAP */
    unlock();
    return p;
}
static void heap(void)
{
    node = malloc(sizeof *node); /* ALLOCATED */
    two(setting);
    free(node);
}

/* ---- a variable of a function, passed to a thread ---- */
static void *storing(void *p)
{
    *(int *)p = 1; /* STACK A */
    return NULL;
}
static void stack(void)
{
    int result = 0;
    start(0, storing, &result);
    if (!bad)
        join(0);
    result++; /* STACK B */
    if (bad)
        join(0);
    printf("%d\n", result > 0);
}

/* ---- a plain flag ---- */
static int ready, published;
static sem_t semaphore;
static void *publishing(void *p)
{
    published = 5; /* PLAIN A */
    if (!bad)
        sem_post(&semaphore);
    pass();
    return p;
}
static void plain(void)
{
    start(0, publishing, NULL);
    await(1);
    if (!bad)
        sem_wait(&semaphore);
    printf("%d\n", published); /* PLAIN B */
    join(0);
}

/* ---- initialization that is tested without its lock ---- */
static int initialized;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialize(void) { published = 3; }
static void *checking(void *p)
{
    if (p)
        await(1);
    if (!bad) {
        pthread_once(&once, initialize);
    } else if (!initialized) { /* CHECK A */
        pthread_mutex_lock(&mutex);
        if (!initialized)
            initialized = 1; /* CHECK B */
        pthread_mutex_unlock(&mutex);
    }
    pass();
    return p;
}
static void check(void)
{
    start(0, checking, NULL);
    start(1, checking, &turn);
    join(0);
    join(1);
}

/* ---- a reference count ---- */
static int plain_references = 2;
static atomic_int references = 2;
static void *releasing(void *p)
{
    if (bad) {
        plain_references--; /* REFERENCES A */
    } else {
        node->key++;
        if (atomic_fetch_sub_explicit(&references, 1, memory_order_acq_rel) == 1)
            free(node);
    }
    return p;
}
static void *releasing_first(void *p)
{
    if (!bad)
        node->value++;
    if (bad)
        plain_references--; /* REFERENCES B */
    else if (atomic_fetch_sub_explicit(&references, 1, memory_order_acq_rel) == 1)
        free(node);
    return p;
}
static void refcount(void)
{
    node = calloc(1, sizeof *node);
    start(0, releasing, NULL);
    start(1, releasing_first, NULL);
    join(0);
    join(1);
}

/* ---- a lock in one of two threads; another lock in each ---- */
static void *locking(void *p)
{
    pthread_mutex_lock(&mutex);
    count++; /* LOCKED */
    pthread_mutex_unlock(&mutex);
    return p;
}
static void *not_locking(void *p)
{
    lock();
    count++; /* ONE LOCK */
    unlock();
    return p;
}
static void one_lock(void)
{
    start(0, locking, NULL);
    start(1, not_locking, NULL);
    join(0);
    join(1);
}
static void *locking_other(void *p)
{
    pthread_mutex_lock(bad ? &other : &mutex);
    count++; /* OTHER LOCK */
    pthread_mutex_unlock(bad ? &other : &mutex);
    return p;
}
static void two_locks(void)
{
    start(0, locking, NULL);
    start(1, locking_other, NULL);
    join(0);
    join(1);
}
static void *nesting(void *p)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&other);
    if (!bad)
        count++;
    pthread_mutex_unlock(&mutex);
    if (bad)
        count++; /* NESTED */
    pass();
    pthread_mutex_unlock(&other);
    return p;
}
static void nested(void)
{
    start(0, nesting, NULL);
    await(1);
    start(1, locking, NULL);
    join(0);
    join(1);
}

/* ---- publication by an atomic variable ---- */
static atomic_int flag;
static int data;
static void *storing_flag(void *p)
{
    data = 1; /* ATOMIC A */
    atomic_store_explicit(&flag, 1, bad ? memory_order_relaxed : memory_order_release);
    return p;
}
static void atomic(void)
{
    start(0, storing_flag, NULL);
    while (!atomic_load_explicit(&flag, bad ? memory_order_relaxed : memory_order_acquire))
        sched_yield();
    printf("%d\n", data); /* ATOMIC B */
    join(0);
}
static void *storing_fence(void *p)
{
    data = 1; /* FENCE A */
    if (!bad)
        atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return p;
}
static void fence(void)
{
    start(0, storing_fence, NULL);
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    printf("%d\n", data); /* FENCE B */
    join(0);
}
/* a lock of the program's own; bad: it is released by a plain store */
static int word;
static void *spinning(void *p)
{
    for (int i = 0; i < 100; i++) {
        while (__sync_lock_test_and_set(&word, 1)) /* SPIN A */
            sched_yield();
        count++; /* SPIN COUNT */
        if (bad)
            *(volatile int *)&word = 0; /* SPIN B */
        else
            __sync_lock_release(&word);
    }
    return p;
}
static void spin(void) { two(spinning); }

/* ---- handing over ---- */
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int pipe_ends[2];
static void *signaling(void *p)
{
    if (!bad)
        data = 1;
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    if (bad)
        data = 1; /* CONDITION A */
    return p;
}
static void condition_variable(void)
{
    start(0, signaling, NULL);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    printf("%d\n", data >= 0); /* CONDITION B */
    join(0);
}
static void *arriving(void *p)
{
    if (!bad)
        data = 1;
    pthread_barrier_wait(&barrier);
    if (bad)
        data = 1; /* BARRIER A */
    return p;
}
static void barriers(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    start(0, arriving, NULL);
    pthread_barrier_wait(&barrier);
    printf("%d\n", data >= 0); /* BARRIER B */
    join(0);
}
static void *writing(void *p)
{
    if (!bad)
        data = 1;
    if (write(pipe_ends[1], "x", 1) != 1)
        return p;
    if (bad)
        data = 1; /* PIPE A */
    return p;
}
static void pipes(void)
{
    char byte;
    if (pipe(pipe_ends) < 0)
        return;
    start(0, writing, NULL);
    if (read(pipe_ends[0], &byte, 1) == 1)
        printf("%d\n", data >= 0); /* PIPE B */
    join(0);
}

/* ---- memory that is freed, and used again ---- */
static void *using(void *p)
{
    long value = node->value; /* FREE A */
    pass();
    printf("%d\n", value == 4);
    return p;
}
static void freed(void)
{
    node = malloc(sizeof *node);
    node->value = 4;
    start(0, using, NULL);
    if (bad)
        await(1);
    else
        join(0);
    free(node); /* FREE B */
    if (bad)
        join(0);
}
static void *allocating(void *p)
{
    char *block = malloc(40);
    memset(block, 1, 40);
    free(block);
    if (bad)
        count++; /* AGAIN */
    pass();
    return p;
}
static void again(void)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 10; i++) { /* their stacks and blocks are at the same addresses */
        pthread_t t;
        pthread_create(&t, &detached, allocating, NULL);
        await(i + 1);
    }
}

/* a mapping at the address of an earlier one */
static void *mapping(void *p)
{
    char *memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory[0]++;
    if (bad)
        count++; /* MAPPED */
    munmap(memory, 1 << 16);
    pass();
    return p;
}
static void mapped(void)
{
    for (int i = 0; i < 3; i++) {
        start(i, mapping, NULL);
        await(i + 1);
    }
    for (int i = 0; i < 3; i++)
        join(i);
}

/* ---- other accesses ---- */
static char text[64];
static void *copying(void *p)
{
    char copy[64];
    lock();
    memcpy(copy, text, sizeof copy); /* COPY A */
    unlock();
    return copy[0] ? p : NULL;
}
static void copies(void)
{
    start(0, copying, NULL);
    start(1, copying, NULL);
    lock();
    strcpy(text, "a text"); /* COPY B */
    unlock();
    join(0);
    join(1);
}
static struct {
    char a, b;
    short c;
    int d;
} parts;
static void *setting_a(void *p)
{
    parts.a = 1;
    parts.d = 1; /* PARTS A */
    return p;
}
static void *setting_b(void *p)
{
    parts.b = 1;
    parts.c = 1;
    if (bad)
        parts.d = 2; /* PARTS B */
    return p;
}
static void neighbors(void)
{
    start(0, setting_a, NULL);
    start(1, setting_b, NULL);
    join(0);
    join(1);
}
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static void *read_locking(void *p)
{
    (bad ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(&rwlock);
    data++; /* RWLOCK */
    pthread_rwlock_unlock(&rwlock);
    return p;
}
static void rwlocks(void) { two(read_locking); }

/* ---- a child has memory of its own; in it races are found, too ---- */
static void forked(void)
{
    count = 1;
    pid_t child = fork();
    if (child == 0) {
        count++;
        if (bad)
            two(counting);
        _exit(0);
    }
    count++;
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"counter", counter},
             {"heap", heap},
             {"stack", stack},
             {"plain", plain},
             {"check", check},
             {"refcount", refcount},
             {"one-lock", one_lock},
             {"two-locks", two_locks},
             {"nested", nested},
             {"atomic", atomic},
             {"fence", fence},
             {"spin", spin},
             {"condition", condition_variable},
             {"barrier", barriers},
             {"pipe", pipes},
             {"freed", freed},
             {"again", again},
             {"mapped", mapped},
             {"copies", copies},
             {"neighbors", neighbors},
             {"rwlock", rwlocks},
             {"fork", forked}};

int main(int argc, char **argv)
{
    sem_init(&semaphore, 0, 0);
    bad = argc == 3 && strcmp(argv[2], "bad") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 0;
}
