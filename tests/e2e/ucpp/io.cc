// A task that reads from a pipe that another one writes to; one that waits for a time; select.
#include <uFile.h>
#include <unistd.h>

_Task reader {
    uPipe::End &end;
    char got;
    void main() { end.read(&got, 1); }

  public:
    reader(uPipe::End & end) : end(end), got(0) {}
};

int main()
{
    uPipe pipe;
    {
        reader r(pipe.left());
        uBaseTask::sleep(uDuration(0, 20000000));
        pipe.right().write("a", 1);
    }
    struct timeval limit = {0, 1000};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe.left().fd(), &set);
    return select(pipe.left().fd() + 1, &set, nullptr, nullptr, &limit);
}
