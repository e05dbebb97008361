/* Notes at places that OpenMP orders, or leaves unordered: tests/e2e/omp.py knows which. */
#include <omp.h>
#include <poet.h>
#include <stdio.h>

static omp_lock_t lock;
static int a;

static void tasks(void)
{
    poet_text("maker");
#pragma omp task depend(out : a)
    poet_text("first");
#pragma omp task depend(in : a)
    poet_text("second");
#pragma omp task
    poet_text("other");
#pragma omp taskwait
    poet_text("waited");
#pragma omp taskgroup
    {
#pragma omp task
        {
            poet_text("child");
#pragma omp task
            poet_text("grandchild");
        }
    }
    poet_text("grouped");
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; i++)
        poet_text("loop %d", i);
    poet_text("looped");
}

static void orphaned(int me)
{
    poet_text("in %d", me);
#pragma omp barrier
    poet_text("out %d", me);
}

int main(void)
{
    int sum = 0;
    omp_init_lock(&lock);
    omp_set_max_active_levels(2);
    poet_text("before");
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
        int me = omp_get_thread_num();
        orphaned(me);
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 3; i++)
            poet_text("free %d", i);
#pragma omp barrier
#pragma omp single
        tasks();
        poet_text("late %d", me);
#pragma omp critical(section)
        poet_text("critical %d", me);
        omp_set_lock(&lock);
        poet_text("locked %d", me);
        omp_unset_lock(&lock);
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 7; i++) {
#pragma omp ordered
            poet_text("ordered %d", i);
        }
#pragma omp parallel num_threads(2)
        poet_text("nested %d %d", me, omp_get_thread_num());
        sum += me;
    }
    poet_text("after");
    printf("%d\n", sum);
    return 0;
}
