// Programs that break a rule which only kernels with -debug check.
#include <cstdlib>

// order: a task leaves another mutex object than it entered last.
_Task caller;

_Cormonitor between {
    caller *from;
    void main();

  public:
    void go(caller *task)
    {
        from = task;
        resume();
    }
};

_Task caller {
    between &b;
    void main() { b.go(this); }

  public:
    caller(between & b) : b(b) {}
    void back() { resume(); }
};

void between::main() { from->back(); }

// stack: a task goes on with a coroutine that another one executes, and ends that one's main.
_Coroutine shared {
    void main() { uBaseTask::yield(); }

  public:
    void run() { resume(); }
};

_Task runner {
    shared &s;
    void main() { s.run(); }

  public:
    runner(shared & s) : s(s) {}
};

// deleted: a coroutine is deleted while another task is in a monitor there.
_Coroutine holder;

_Monitor gate {
  public:
    void hold(holder &h);
};

_Coroutine holder {
    gate &g;
    void main() { g.hold(*this); }

  public:
    holder(gate & g) : g(g) {}
    void begin() { resume(); }
    void stop() { suspend(); }
};

void gate::hold(holder &h) { h.stop(); }

_Task entering {
    holder &h;
    void main();

  public:
    entering(holder & h) : h(h) {}
    void meet() {}
};

void entering::main()
{
    h.begin();
    _Accept(meet);
    _Accept(meet);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == 'o') {
        between b;
        caller c(b);
    } else if (argv[1][0] == 's') {
        shared s;
        runner a(s), b(s);
    } else {
        gate g;
        holder h(g);
        (new entering(h))->meet();
    }
}
