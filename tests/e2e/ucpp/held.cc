// A coroutine that is deleted while it waits inside of a monitor, with a lock: both are left then.
_Coroutine generator;

_Monitor box {
  public:
    void give(generator &g);
};

_Coroutine generator {
    box &b;
    uOwnerLock lock;
    struct holder {
        uOwnerLock &lock;
        holder(uOwnerLock & lock) : lock(lock) { lock.acquire(); }
        ~holder() { lock.release(); }
    };
    void main()
    {
        holder h(lock);
        b.give(*this);
    }

  public:
    generator(box & b) : b(b) {}
    void next() { resume(); }
    void pause() { suspend(); }
};

void box::give(generator &g) { g.pause(); }

int main()
{
    box b;
    {
        generator g(b);
        g.next();
    }
}
