// Producer and consumer as coroutines of one task: the element is handed over by a resume.
_Coroutine cons {
    int item;
    void main() { sum += item; }

  public:
    int sum;
    cons() : sum(0) {}
    void deliver(int i)
    {
        item = i;
        resume();
    }
};

_Coroutine prod {
    cons &c;
    void main() { c.deliver(7); }

  public:
    prod(cons & c) : c(c) {}
    void start() { resume(); }
};

int main()
{
    cons c;
    prod p(c);
    p.start();
    return c.sum != 7;
}
