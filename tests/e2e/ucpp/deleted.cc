// Objects that are deleted while tasks wait for them: µC++ resumes these with an exception. itself: a task that goes on
// after it accepted its destructor, and waits: it is deleted, too, which kernels with -debug forbid.
#include <iostream>
#include <cstring>

static int failed;

_Monitor box {
    uCondition full;

  public:
    void get() { full.wait(); }
};

_Task server {
    uCondition never;
    void main();

  public:
    void go() {}
    void ask() {}
    void wait() { never.wait(); }
};

static bool stays;

void server::main()
{
    _Accept(go);
    if (!stays)
        _Accept(wait);
    _Accept(~server);
    if (stays)
        never.wait();
}

// Calls a member that fails.
template <typename T> _Task caller {
    T &of;
    void (*call)(T &);
    void main()
    {
        try {
            _Enable { call(of); }
        } catch (uBaseException &) {
            failed++;
        }
    }

  public:
    caller(T & of, void (*call)(T &)) : of(of), call(call) {}
};

static void get(box &b) { b.get(); }
static void ask(server &s) { s.ask(); }
static void wait(server &s) { s.wait(); }

static void delete_monitor()
{
    box *b = new box;
    caller<box> one(*b, get), two(*b, get);
    uBaseTask::yield(10);
    delete b; // of the monitor
    uBaseTask::yield(10);
}

static void delete_task()
{
    server *s = new server;
    caller<server> one(*s, wait), two(*s, ask);
    uBaseTask::yield(10);
    s->go();
    uBaseTask::yield(10);
    delete s; // of the task
    uBaseTask::yield(10);
}

static void delete_itself()
{
    stays = true;
    server *s = new server;
    caller<server> one(*s, ask);
    uBaseTask::yield(10);
    s->go();
    uBaseTask::yield(10);
    delete s; // while it waits
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "monitor") == 0)
        delete_monitor();
    else if (strcmp(argv[1], "task") == 0)
        delete_task();
    else
        delete_itself();
    return failed != 2;
}
