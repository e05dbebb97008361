// A dating service, scheduled from outside: a task that accepts calls, and inside each member the
// caller whose partner is not there yet accepts that partner.
_Task DatingService {
    int girls, boys;
    void main();

  public:
    DatingService() : girls(0), boys(0) {}
    int Girl(int number);
    int Boy(int number);
};

int DatingService::Girl(int number)
{
    int partner = boys;
    girls = number;
    if (!partner) {
        _Accept(Boy);
        partner = boys;
        girls = boys = 0;
    }
    return partner;
}

int DatingService::Boy(int number)
{
    int partner = girls;
    boys = number;
    if (!partner) {
        _Accept(Girl);
        partner = girls;
        girls = boys = 0;
    }
    return partner;
}

void DatingService::main()
{
    for (;;)
        _Accept(~DatingService) { break; }
        or _Accept(Girl, Boy);
}

_Task Girl {
    DatingService &service;
    int number;
    void main() { partner = service.Girl(number); }

  public:
    int partner;
    Girl(DatingService & service, int number) : service(service), number(number), partner(0) {}
};

_Task Boy {
    DatingService &service;
    int number;
    void main() { partner = service.Boy(number); }

  public:
    int partner;
    Boy(DatingService & service, int number) : service(service), number(number), partner(0) {}
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
