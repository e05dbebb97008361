// Two generators of Fibonacci numbers, coroutines that one task at a time may enter; four workers take
// one number from each.
#define GENERATOR(name)                                                                            \
    _Cormonitor name {                                                                             \
        int number;                                                                                \
        void main()                                                                                \
        {                                                                                          \
            for (int a = 0, b = 1;;) {                                                             \
                number = a;                                                                        \
                suspend();                                                                         \
                int c = a + b;                                                                     \
                a = b;                                                                             \
                b = c;                                                                             \
            }                                                                                      \
        }                                                                                          \
                                                                                                   \
      public:                                                                                      \
        int next()                                                                                 \
        {                                                                                          \
            resume();                                                                              \
            return number;                                                                         \
        }                                                                                          \
    };
GENERATOR(f1)
GENERATOR(f2)

_Task Worker {
    f1 &a;
    f2 &b;
    void main() { sum = a.next() + b.next(); }

  public:
    int sum;
    Worker(f1 & a, f2 & b) : a(a), b(b) {}
};

int main()
{
    f1 a;
    f2 b;
    {
        Worker w1(a, b), w2(a, b), w3(a, b), w4(a, b);
    }
}
