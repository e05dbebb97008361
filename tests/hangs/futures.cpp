// Programs that hang for certain over futures; the argument is the kind, as in hangs.c.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>

// ---- two tasks that wait for each other ----

static std::shared_future<int> parsed, checked;
static std::atomic<int> begun{0};

static void both_begun()
{
    for (begun++; begun < 2;)
        usleep(1000);
}

static int parse()
{
    both_begun();
    return checked.get(); // task-cycle WAITS
}

static int check()
{
    both_begun();
    return parsed.get(); // task-cycle KEEPS
}

static void task_cycle()
{
    std::packaged_task<int()> a(parse), b(check);
    parsed = a.get_future(), checked = b.get_future();
    std::thread other([&b] { b(); });
    a();
    other.join();
}

// ---- a pool of one thread: its task waits for another task of the pool ----

class Pool {
    std::mutex lock;
    std::condition_variable more;
    std::deque<std::function<void()>> tasks;
    std::thread thread;
    void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> held(lock);
            more.wait(held, [this] { return !tasks.empty(); });
            auto task = std::move(tasks.front());
            tasks.pop_front();
            held.unlock();
            task(); // nested-task KEEPS
        }
    }

public:
    Pool() : thread([this] { run(); }) {}
    std::future<int> submit(std::function<int()> f)
    {
        auto task = std::make_shared<std::packaged_task<int()>>(std::move(f));
        std::lock_guard<std::mutex> held(lock);
        tasks.push_back([task] { (*task)(); });
        more.notify_one();
        return task->get_future();
    }
};

static void nested_task()
{
    static Pool pool;
    pool.submit([] {
            auto inner = pool.submit([] { return 1; });
            return inner.get(); // nested-task WAITS
        })
        .get();
}

// ---- a promise that only the waiting thread would set ----

static void own_promise()
{
    std::promise<int> promise; // own-promise KEEPS
    int value = promise.get_future().get(); // own-promise WAITS
    promise.set_value(value);
}

int main(int argc, char **argv)
{
    const char *kind = argv[argc - 1];
    if (!strcmp(kind, "task-cycle"))
        task_cycle();
    if (!strcmp(kind, "nested-task"))
        nested_task();
    if (!strcmp(kind, "own-promise"))
        own_promise();
}
