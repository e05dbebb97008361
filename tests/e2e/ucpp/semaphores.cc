// Producer and consumer with two semaphores, each of them a monitor: a bounded buffer of five.
#define SEMAPHORE(name)                                                                            \
    _Monitor name {                                                                                \
        uCondition free;                                                                           \
        int count;                                                                                 \
                                                                                                   \
      public:                                                                                      \
        name(int count) : count(count) {}                                                          \
        void P()                                                                                   \
        {                                                                                          \
            if (count-- == 0)                                                                      \
                free.wait();                                                                       \
        }                                                                                          \
        void V()                                                                                   \
        {                                                                                          \
            count++;                                                                               \
            free.signal();                                                                         \
        }                                                                                          \
    };
SEMAPHORE(full)
SEMAPHORE(empty)

struct buffer {
    full filled;
    empty unfilled;
    int items[5], sum;
    buffer() : filled(0), unfilled(5), sum(0) {}
};

_Task prod {
    buffer &b;
    void main()
    {
        b.unfilled.P();
        b.items[0] = 7;
        b.filled.V();
    }

  public:
    prod(buffer & b) : b(b) {}
};

_Task cons {
    buffer &b;
    void main()
    {
        b.filled.P();
        b.sum += b.items[0];
        b.unfilled.V();
    }

  public:
    cons(buffer & b) : b(b) {}
};

int main()
{
    buffer b;
    {
        cons c(b);
        prod p(b);
    }
    return b.sum != 7;
}
