// An owner lock, acquired again by its owner, a condition lock, and a timed wait for it.
static uOwnerLock lock;
static uCondLock changed;
static int turn;

_Task player {
    int me;
    void main()
    {
        for (int i = 0; i < 5; i++) {
            lock.acquire();
            lock.acquire();
            lock.release();
            while (turn % 2 != me)
                changed.wait(lock);
            turn++;
            changed.signal();
            lock.release();
        }
    }

  public:
    player(int me) : me(me) {}
};

int main()
{
    {
        player even(0), odd(1);
    }
    lock.acquire();
    bool signalled = changed.wait(lock, uDuration(0, 1000000));
    lock.release();
    return signalled || turn != 10;
}
