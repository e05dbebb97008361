// The dating service once more, scheduled from inside: a monitor with two condition queues.
_Monitor DatingService {
    uCondition girls, boys;
    int girl, boy;

  public:
    int Girl(int number)
    {
        girl = number;
        if (boys.empty())
            girls.wait(); // the partner leaves a number, and signals
        else
            boys.signal();
        return boy;
    }

    int Boy(int number)
    {
        boy = number;
        if (girls.empty())
            boys.wait();
        else
            girls.signal();
        return girl;
    }
};

_Task Girl {
    DatingService &service;
    int number;
    void main() { service.Girl(number); }

  public:
    Girl(DatingService & service, int number) : service(service), number(number) {}
};

_Task Boy {
    DatingService &service;
    int number;
    void main() { service.Boy(number); }

  public:
    Boy(DatingService & service, int number) : service(service), number(number) {}
};

int main()
{
    DatingService service;
    {
        Girl g1(service, 101);
        Boy b1(service, 201);
        Girl g2(service, 102);
        Boy b2(service, 202);
        Girl g3(service, 103);
        Boy b3(service, 203);
    }
}
