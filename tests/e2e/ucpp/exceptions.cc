// Exceptions raised at another task: one is handled there, one is thrown; and a call of a member that
// ends with an exception at its caller.
_Exception question {};
_Exception end {};

_Monitor gate {
    uCondition never;

  public:
    void refuse() { throw 1; }
};

_Task worker {
    gate &g;
    void main()
    {
        int refused = 0;
        try {
            g.refuse();
        } catch (int) {
            refused++;
        }
        try {
            _Enable {
                for (;;)
                    yield();
            }
        } _CatchResume(question &) {
            answers++;
        } catch (end &) {
            answers += 10 * refused;
        }
    }

  public:
    int answers;
    worker(gate & g) : g(g), answers(0) {}
};

int main()
{
    gate g;
    int answers;
    {
        worker w(g);
        _Resume question() _At w;
        while (w.answers == 0)
            uBaseTask::yield();
        _Resume end() _At w;
        while (w.answers == 1)
            uBaseTask::yield();
        answers = w.answers;
    }
    return answers != 11;
}
