// Two generators, C++20 coroutines: one resumes the other, and both continue on whichever thread asks for
// the next number.
//
//     poetcc++ -std=c++20 -trace -g generators.cpp -o generators && ./generators && poet show latest
#include <poet_coroutine.hpp>

#include <cstdio>
#include <thread>

struct generator {
    struct promise_type : poet::traced_promise {
        int value = 0;
        generator get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        auto yield_value(int v)
        {
            value = v;
            return traced(std::suspend_always());
        }
        void return_void() {}
        void unhandled_exception() { throw; }
    };

    std::coroutine_handle<promise_type> coroutine;

    bool next()
    {
        coroutine.resume();
        return !coroutine.done();
    }
    int value() const { return coroutine.promise().value; }
};

static generator numbers(int count)
{
    for (int i = 1; i <= count; i++)
        co_yield i;
}

static generator squares(int count)
{
    generator inner = numbers(count);
    while (inner.next())
        co_yield inner.value() * inner.value();
    inner.coroutine.destroy();
}

int main()
{
    generator all = squares(3);
    int sum = 0;
    if (all.next())
        sum += all.value();
    std::thread([&] {
        while (all.next())
            sum += all.value();
    }).join();
    all.coroutine.destroy();
    printf("%d\n", sum);
    return sum != 14;
}
