// A bank in C++: accounts with a lock each, transfers that take two of them at once, tellers that
// wait for the bank to open, an audit that reads while others write.
//
//     poetcc++ -trace -g -std=c++20 bank.cpp -o bank && ./bank && poet view latest
#include <array>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

struct Account {
    int number;
    std::mutex lock;
    long balance = 100;
};

static std::array<Account, 3> accounts{{{0}, {1}, {2}}};
static std::mutex door;
static std::condition_variable opened;
static bool open_now;
static std::shared_mutex ledger;
static int entries;
static std::once_flag first;

static void transfer(Account &from, Account &to, long sum)
{
    std::scoped_lock both(from.lock, to.lock);
    from.balance -= sum;
    to.balance += sum;
}

struct Teller {
    int home;
    void work(int customers)
    {
        std::unique_lock<std::mutex> waiting(door);
        opened.wait(waiting, [] { return open_now; });
        waiting.unlock();
        for (int i = 0; i < customers; i++) {
            transfer(accounts[home], accounts[(home + 1) % 3], 5);
            std::unique_lock<std::shared_mutex> writing(ledger);
            std::call_once(first, [] { std::puts("the ledger is begun"); });
            entries++;
        }
    }
};

static long total()
{
    long sum = 0;
    for (Account &a : accounts) {
        std::lock_guard<std::mutex> one(a.lock);
        sum += a.balance;
    }
    return sum;
}

int main()
{
    std::array<Teller, 3> tellers{{{0}, {1}, {2}}};
    std::vector<std::jthread> day;
    for (Teller &t : tellers)
        day.emplace_back(&Teller::work, &t, 2);
    std::thread audit([] {
        std::shared_lock<std::shared_mutex> reading(ledger);
        std::printf("the audit saw %s entries\n", entries < 0 ? "no" : "some or no");
    });
    {
        std::lock_guard<std::mutex> key(door);
        open_now = true;
    }
    opened.notify_all();
    audit.join();
    day.clear(); // joins them
    std::future<long> sum = std::async(std::launch::async, total);
    std::printf("%ld in all, %d entries\n", sum.get(), entries);
}
