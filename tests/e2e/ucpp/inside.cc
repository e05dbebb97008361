// A task that calls its own mutex member from inside, and a coroutine that resumes itself, which
// changes nothing and records no event.
_Task fred {
    void main();

  public:
    int calls;
    fred() : calls(0) {}
    void mem() { calls++; }
};

void fred::main()
{
    mem();
    mem();
    _Accept(mem);
}

_Coroutine mary {
    void main() { resume(); }

  public:
    void mem() { resume(); }
};

int main()
{
    fred f;
    mary m;
    m.mem();
    f.mem();
}
