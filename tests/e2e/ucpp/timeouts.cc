// An accept statement that times out, one that finds a call, one with an else part, and sleep.
_Task server {
    void main();

  public:
    int calls, timeouts, others;
    server() : calls(0), timeouts(0), others(0) {}
    void call() { calls++; }
};

void server::main()
{
    for (bool done = false; !done;) {
        _Accept(call) {}
        _Else others++;
        _Accept(~server) { done = true; }
        or _Accept(call) {}
        or _Timeout(uDuration(0, 20000000)) { timeouts++; }
    }
}

_Task client {
    server &s;
    void main()
    {
        sleep(uDuration(0, 50000000));
        s.call();
    }

  public:
    client(server & s) : s(s) {}
};

int main()
{
    server s;
    {
        client c(s);
    }
    return s.calls != 1 || s.timeouts == 0 || s.others == 0;
}
