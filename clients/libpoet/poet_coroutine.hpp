/* poet_coroutine.hpp - C++20 coroutines as trace lines: their creation, each suspension, each resumption
 * and the thread that it is on, and their end. The promise of a coroutine derives from
 * poet::traced_promise; nothing else changes, unless it defines these three itself:
 *
 *     struct promise_type : poet::traced_promise {
 *         auto initial_suspend() { return traced(std::suspend_always()); }
 *         auto final_suspend() noexcept { return traced_end(std::suspend_always()); }
 *         auto await_transform(request r) { return traced(awaiter(r)); }   // of each co_await
 *         ...
 *     };
 *
 * Compile with `poetcc++ -std=c++20 -trace`. Where nothing is traced, this header costs a few
 * instructions per suspension. A promise that is not derived so is not traced, nor are waits of one
 * coroutine for another that resumes it in a way of its own: only that it was suspended is. */
#ifndef POET_COROUTINE_HPP
#define POET_COROUTINE_HPP

#include <poet.h>

#include <coroutine>
#include <type_traits>
#include <utility>

/* Inlined, so that an event's place is that of the co_await. (gcc only: it separates a coroutine from
 * its frame before that.) */
#if defined(__GNUC__) && !defined(__clang__)
#define POET_COROUTINE_INLINE __attribute__((always_inline))
#else
#define POET_COROUTINE_INLINE
#endif

namespace poet
{

class traced_promise
{
    poet_line_t line = 0;
    bool opened = false;

    /* The first word of a coroutine's frame is the address of the function that runs it. */
    POET_COROUTINE_INLINE void open(void *frame)
    {
        if (opened)
            return;
        opened = true;
        line = poet_line_at("coroutine", nullptr, frame, 0, *static_cast<void **>(frame));
        poet_event(line, poet_type("create", nullptr), 0, 0);
    }

    POET_COROUTINE_INLINE void enter()
    {
        if (line)
            poet_enter(line, poet_type("resume", nullptr), poet_type("resumed", nullptr));
    }

    POET_COROUTINE_INLINE void leave(const char *how)
    {
        if (line)
            poet_leave(line, poet_type(how, nullptr), poet_type("suspended", nullptr));
    }

    template <typename Awaiter> class traced_awaiter
    {
        traced_promise *promise;
        Awaiter awaiter;
        bool first, suspended = false; /* first: that of initial_suspend */

      public:
        template <typename A>
        traced_awaiter(traced_promise *promise, A &&awaiter, bool first)
            : promise(promise), awaiter(std::forward<A>(awaiter)), first(first)
        {
        }

        bool await_ready() { return awaiter.await_ready(); }

        /* Another thread may resume the coroutine as soon as the awaiter has it. */
        template <typename Promise>
        POET_COROUTINE_INLINE auto await_suspend(std::coroutine_handle<Promise> handle)
        {
            bool created = promise->opened;
            promise->open(handle.address());
            suspended = true;
            if (created)
                promise->leave("suspend");
            if constexpr (std::is_same_v<decltype(awaiter.await_suspend(handle)), bool>) {
                if (awaiter.await_suspend(handle))
                    return true;
                suspended = false;
                if (created)
                    promise->enter();
                return false;
            } else {
                return awaiter.await_suspend(handle);
            }
        }

        POET_COROUTINE_INLINE decltype(auto) await_resume()
        {
            if (suspended || first)
                promise->enter();
            return awaiter.await_resume();
        }
    };

    template <typename Awaiter> class traced_end_awaiter
    {
        traced_promise *promise;
        Awaiter awaiter;

      public:
        template <typename A>
        traced_end_awaiter(traced_promise *promise, A &&awaiter) noexcept
            : promise(promise), awaiter(std::forward<A>(awaiter))
        {
        }

        POET_COROUTINE_INLINE bool await_ready() noexcept
        {
            promise->leave("exit");
            return awaiter.await_ready();
        }
        template <typename Promise>
        auto await_suspend(std::coroutine_handle<Promise> handle) noexcept
        {
            return awaiter.await_suspend(handle);
        }
        void await_resume() noexcept { awaiter.await_resume(); }
    };

    template <typename A> static decltype(auto) awaiter_of(A &&awaitable)
    {
        if constexpr (requires { std::forward<A>(awaitable).operator co_await(); })
            return std::forward<A>(awaitable).operator co_await();
        else if constexpr (requires { operator co_await(std::forward<A>(awaitable)); })
            return operator co_await(std::forward<A>(awaitable));
        else
            return std::forward<A>(awaitable);
    }

  public:
    /* An awaiter that does what that one does, and reports it. */
    template <typename A> auto traced(A &&awaitable)
    {
        using awaiter = std::remove_cvref_t<decltype(awaiter_of(std::forward<A>(awaitable)))>;
        return traced_awaiter<awaiter>(this, awaiter_of(std::forward<A>(awaitable)), !opened);
    }
    /* The same for final_suspend: the coroutine has ended. */
    template <typename A> auto traced_end(A &&awaiter) noexcept
    {
        return traced_end_awaiter<std::remove_cvref_t<A>>(this, std::forward<A>(awaiter));
    }

    auto initial_suspend() { return traced(std::suspend_always()); }
    auto final_suspend() noexcept { return traced_end(std::suspend_always()); }
    template <typename A> auto await_transform(A &&awaitable)
    {
        return traced(std::forward<A>(awaitable));
    }
};

} // namespace poet

#undef POET_COROUTINE_INLINE
#endif
