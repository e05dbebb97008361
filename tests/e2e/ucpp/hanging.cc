// Programs that hang, each in a way of its own: a monitor that is called from another one, whose task waits in the inner
// one; a signal before the wait; a barrier for more tasks than there are.
#include <uBarrier.h>
#include <cstring>

_Monitor inner {
    uCondition free;
    int count;

  public:
    inner() : count(0) {}
    void take()
    {
        if (count == 0)
            free.wait();
        count--;
    }
    void give()
    {
        count++;
        free.signal();
    }
};

_Monitor outer {
    inner in;

  public:
    void take() { in.take(); } // keeps the outer one
    void give() { in.give(); }
};

template <typename T> _Task taker {
    T &of;
    int late;
    void main()
    {
        yield(late);
        of.take();
    }

  public:
    taker(T & of, int late) : of(of), late(late) {}
};

template <typename T> _Task giver {
    T &of;
    int late;
    void main()
    {
        yield(late);
        of.give(); // waits for it
    }

  public:
    giver(T & of, int late) : of(of), late(late) {}
};

_Monitor mail {
    uCondition arrived;

  public:
    void take() { arrived.wait(); } // although it may have arrived
    void give() { arrived.signal(); }
};

_Task member {
    uBarrier &all;
    void main() { all.block(); } // at the barrier

  public:
    member(uBarrier & all) : all(all) {}
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 2;
    } else if (strcmp(argv[1], "nested") == 0) {
        outer o;
        taker<outer> t(o, 0);
        giver<outer> g(o, 5);
    } else if (strcmp(argv[1], "lost") == 0) {
        mail m;
        giver<mail> g(m, 0);
        taker<mail> t(m, 5);
    } else {
        uBarrier all(3);
        member a(all), b(all);
    }
}
