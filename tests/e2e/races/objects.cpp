/* Objects of C++ with a data race each, and without it: objects CASE bad|good. */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <poet.h>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

static bool bad;
static std::atomic<int> turn{0};
static void await(int wanted)
{
    while (turn.load(std::memory_order_relaxed) < wanted)
        std::this_thread::yield();
}
static void pass() { turn.fetch_add(1, std::memory_order_relaxed); }

/* ---- a static variable of a function ---- */
struct Table {
    int entries[4];
    Table(int first)
    {
        for (int &entry : entries)
            entry = first++;
    }
};
static int get_first() { return 3; }
static Table &table()
{
    static Table all(get_first());
    return all;
}
static void use_table()
{
    if (bad)
        table().entries[1]++; /* STATIC */
    else
        std::printf("%d\n", table().entries[1]);
}
static void statics()
{
    std::thread a([] { use_table(); pass(); }), b([] { await(1); use_table(); });
    a.join();
    b.join();
}

/* ---- a vector ---- */
static std::vector<int> numbers;
static std::mutex mutex;
static void add(int n)
{
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!bad)
        lock.lock();
    numbers.push_back(n);
}
static void vectors()
{
    std::thread a([] { add(1); pass(); }), b([] { await(1); add(2); });
    a.join();
    b.join();
}

/* ---- shared objects ---- */
struct Value {
    int n = 0;
    ~Value() { n = -1; }
};
static void shared()
{
    auto value = std::make_shared<Value>();
    auto use = [value]() mutable {
        if (bad)
            value->n++; /* SHARED */
        pass();
        await(2);
        value.reset();
    };
    std::thread a(use), b(use);
    value.reset();
    a.join();
    b.join();
}

/* ---- futures ---- */
static int result;
static void futures()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread a([&] {
        if (!bad)
            result = 5;
        promise.set_value(7);
        if (bad)
            result = 5; /* FUTURE A */
    });
    std::printf("%d\n", future.get());
    std::printf("%d\n", result >= 0); /* FUTURE B */
    a.join();
    auto other = std::async(std::launch::async, [] { return ++result; });
    std::printf("%d\n", other.get() == result);
}

/* ---- a queue ---- */
static std::condition_variable condition;
static std::map<std::string, int> queue;
static bool filled;
static void queues()
{
    std::thread a([] {
        if (!bad)
            result = 1;
        {
            std::lock_guard<std::mutex> lock(mutex);
            queue["a long name, of more than sixteen bytes"] = 1;
            filled = true;
        }
        condition.notify_one();
        if (bad)
            result = 1; /* QUEUE A */
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [] { return filled; });
        queue.clear();
    }
    std::printf("%d\n", result >= 0); /* QUEUE B */
    a.join();
}

/* ---- a pointer to virtual functions: the object is destroyed while a thread uses it ---- */
struct Base {
    virtual ~Base() {}
    virtual int get() { return 1; }
};
struct Derived : Base {
    int get() override { return 2; }
};
static void virtuals()
{
    Base *object = new Derived;
    std::thread a([&] {
        std::printf("%d\n", object->get()); /* VIRTUAL */
        pass();
    });
    if (!bad)
        a.join();
    else
        await(1);
    delete object; /* DELETE */
    if (bad)
        a.join();
}

/* ---- thread-local variables, and what a thread does at its end ---- */
static int last;
struct Ender {
    int n = 0;
    ~Ender()
    {
        n = 1;
        last++;
    }
};
static thread_local Ender ender;
static thread_local int own;
static void locals()
{
    for (int i = 0; i < 5; i++) {
        std::thread([] { own++; pass(); }).detach();
        await(i + 1);
    }
    std::thread a([] { ender.n = 3; });
    a.join();
    last++;
    std::thread b([] { ender.n = 3; });
    if (bad)
        last++; /* LOCAL */
    b.join();
}

/* ---- other objects of the library ---- */
static std::shared_mutex readers;
static std::once_flag once;
static void others()
{
    std::latch latch{1};
    auto read = [&] {
        std::call_once(once, [] { result = 4; });
        std::shared_lock<std::shared_mutex> lock(readers);
        std::printf("%d\n", result); /* OTHER B */
    };
    std::thread a(read), b(read), c([&] {
        latch.wait();
        if (bad)
            result = 6; /* OTHER A */
        std::unique_lock<std::shared_mutex> lock(readers);
        if (!bad)
            std::call_once(once, [] { result = 4; }), result = 4;
    });
    latch.count_down();
    a.join();
    b.join();
    c.join();
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {{"static", statics}, {"vector", vectors},   {"shared", shared}, {"future", futures},
             {"queue", queues},   {"virtual", virtuals}, {"local", locals},  {"other", others}};

int main(int argc, char **argv)
{
    bad = argc == 3 && std::strcmp(argv[2], "bad") == 0;
    for (auto &one : cases)
        if (argc > 1 && std::strcmp(argv[1], one.name) == 0)
            one.run();
    return 0;
}
