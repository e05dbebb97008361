// Two clusters, each with a processor of its own; a task that migrates, and named tasks.
_Monitor counter {
    int n;

  public:
    counter() : n(0) {}
    int add() { return ++n; }
};

_Task traveller {
    counter &c;
    uCluster &there;
    void main()
    {
        for (int i = 0; i < 3; i++) {
            c.add();
            uCluster &here = migrate(there);
            c.add();
            migrate(here);
        }
    }

  public:
    traveller(counter & c, uCluster & there, const char *name) : c(c), there(there) { setName(name); }
};

int main()
{
    counter c;
    uCluster far("far");
    {
        uProcessor processor(far);
        traveller a(c, far, "anna"), b(c, far, "bert");
    }
    return c.add() != 13;
}
