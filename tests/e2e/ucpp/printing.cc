// A member that prints: a stream has a lock and a file, of which only the lock is followed.
#include <iostream>
_Monitor printer {
    int n;

  public:
    printer() : n(0) {}
    void print()
    {
        std::osacquire(std::cout) << "x" << std::endl;
        if (n++ == 0)
            _Accept(print);
    }
};
_Task user {
    printer &p;
    void main() { p.print(); }

  public:
    user(printer & p) : p(p) {}
};
int main()
{
    printer p;
    user a(p), b(p);
}
