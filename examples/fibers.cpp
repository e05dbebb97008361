// Fibers of Boost.Context, traced by a dozen calls of poet.h: each fiber is a line, a message to it is
// an arrow.  config/fibers.conf says what they look like.  Two fibers play ping-pong.
//
//     poetcc++ -trace -g fibers.cpp -lboost_context -o fibers && ./fibers && poet show latest
#include <boost/context/fiber.hpp>
#include <poet.h>

#include <cstdio>
#include <deque>

POET_RUNTIME("fibers");

static poet_type_t type(const char *name) { return poet_type(name, nullptr); }

class player
{
    boost::context::fiber self, scheduler;
    std::deque<std::pair<int, poet_event_t>> messages;
    bool waits = false;

  public:
    const char *name;
    player *partner = nullptr;
    poet_line_t line;
    bool serves = false;
    int hits = 0;

    explicit player(const char *name) : name(name), line(poet_task("task", name, this))
    {
        poet_task_switch(line);
        poet_event(line, type("create"), 0, 0);
        poet_task_switch(0);
        self = boost::context::fiber([this](boost::context::fiber &&from) {
            scheduler = std::move(from);
            poet_event(0, type("start"), 0, 0);
            play();
            poet_event(0, type("end"), 0, POET_CLOSES);
            poet_task_switch(0);
            return std::move(scheduler);
        });
    }

    bool is_ready() const { return self && (!waits || !messages.empty()); }

    void run()
    {
        poet_task_switch(line);
        self = std::move(self).resume();
    }

  private:
    void send(int value) { partner->messages.emplace_back(value, poet_send(0, type("send"))); }

    int receive()
    {
        if (messages.empty()) {
            poet_event(0, type("wait"), 0, 0);
            poet_task_switch(0);
            waits = true;
            scheduler = std::move(scheduler).resume();
            waits = false;
        }
        auto [value, sent] = messages.front();
        messages.pop_front();
        poet_receive(0, type("receive"), &sent, 1);
        return value;
    }

    void play()
    {
        if (serves)
            send(5);
        for (int ball = 2; ball > 1; hits++) {
            ball = receive();
            if (ball > 0)
                send(ball - 1);
        }
    }
};

int main()
{
    player ping("ping"), pong("pong");
    ping.partner = &pong;
    pong.partner = &ping;
    ping.serves = true;
    while (ping.is_ready() || pong.is_ready())
        (ping.is_ready() ? ping : pong).run();
    printf("%d %d\n", ping.hits, pong.hits);
}
