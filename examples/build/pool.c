/* Two threads that take numbers from a shared stock; if the build found Poet, they record each. */
#include <pthread.h>
#include <stdio.h>
#ifdef HAVE_POET
#include <poet.h>
#else
#define poet_text(...) ((void)0)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 6;

static void *take(void *name)
{
    for (int mine = 1; mine;) {
        pthread_mutex_lock(&lock);
        mine = stock ? stock-- : 0;
        pthread_mutex_unlock(&lock);
        if (mine)
            poet_text("%s has number %d", (const char *)name, mine);
    }
    return NULL;
}

int main(void)
{
    static char *const names[] = {"ada", "bob"};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d left\n", stock);
    return 0;
}
