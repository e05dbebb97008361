// The order in which a cluster runs its ready tasks, by TEST_SCHEDULE: fifo, lifo or random; and the
// number of its processors. (It is compiled with -fno-access-control.)
#include <cstdlib>
#include <cstring>

#ifndef PROCESSORS
#define PROCESSORS 1
#endif
unsigned int uDefaultProcessors() { return PROCESSORS; }

class chosen_order : public uDefaultScheduler
{
    unsigned state;
    char order;

  public:
    chosen_order(const char *order, unsigned seed) : state(seed), order(order[0]) {}
    uBaseTaskDL *drop()
    {
        if (order == 'f')
            return list.dropHead();
        if (order == 'l')
            return list.dropTail();
        unsigned count = 0, number = 0;
        for (uBaseTaskDL *t = list.head(); t; t = list.succ(t))
            count++;
        state = state * 1103515245 + 12345;
        uBaseTaskDL *task = list.head();
        for (number = count ? (state >> 16) % count : 0; number; number--)
            task = list.succ(task);
        if (task)
            list.remove(task);
        return task;
    }
};

static struct installed {
    installed()
    {
        const char *order = getenv("TEST_SCHEDULE"), *seed = getenv("TEST_SEED");
        uCluster &cluster = *uKernelModule::userCluster;
        if (order && cluster.readyQueue->empty())
            cluster.readyQueue = new chosen_order(order, seed ? atoi(seed) : 1);
    }
} installed;
