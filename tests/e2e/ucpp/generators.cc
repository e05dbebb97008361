// A coroutine that a coroutine-monitor resumes, for two tasks; a task that is cancelled before it starts.
#include <cstdio>

_Coroutine gen {
    int n;
    void main()
    {
        for (n = 0;; n++)
            suspend();
    }

  public:
    int next()
    {
        resume();
        return n;
    }
};

_Cormonitor counter {
    gen &numbers;
    int sum;
    void main()
    {
        for (sum = 0;;) {
            sum += numbers.next() + numbers.next();
            suspend();
        }
    }

  public:
    counter(gen &numbers) : numbers(numbers) {}
    int count()
    {
        resume();
        return sum;
    }
};

_Task worker {
    counter &c;
    void main() { c.count(); }

  public:
    worker(counter & c) : c(c) {}
};

int main()
{
    gen numbers;
    counter c(numbers);
    {
        worker a(c), b(c);
    }
    {
        worker never(c);
        never.cancel();
    }
    printf("%d\n", c.count());
}
