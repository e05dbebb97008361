/* Locks held over waits, compared with all interleavings: random small programs of threads that
 * acquire locks and post to each other, of which one schedule is analyzed. A finding is right if
 * and only if some schedule comes to a state in which the waiter holds the lock that the other
 * thread requests. */
#include "server/analysis/bug_prediction.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define STEPS 16
#define LOCKS 2
#define TOKENS 3
#define PROGRAMS 30000

enum step_kind { STEP_ACQUIRE, STEP_RELEASE, STEP_POST, STEP_WAIT };

struct program {
    int count[THREADS];
    struct step {
        enum step_kind is;
        int of; /* lock or token */
    } step[THREADS][STEPS];
};

static unsigned seed;

static unsigned some(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static void insert(struct program *p, int t, int at, enum step_kind is, int of)
{
    memmove(&p->step[t][at + 1], &p->step[t][at], (size_t)(p->count[t] - at) * sizeof(struct step));
    p->step[t][at] = (struct step){is, of};
    p->count[t]++;
}

/* Makes critical sections that follow each other, and posts and waits anywhere between or within
 * them: each token is posted once and awaited once. */
static void make_program(struct program *p)
{
    *p = (struct program){0};
    for (int t = 0; t < THREADS; t++)
        for (unsigned n = some(3); n-- > 0;) {
            int lock = (int)some(LOCKS);
            insert(p, t, p->count[t], STEP_ACQUIRE, lock);
            insert(p, t, p->count[t], STEP_RELEASE, lock);
        }
    for (int k = 0; k < TOKENS; k++) {
        int poster = (int)some(THREADS), waiter = (poster + 1 + (int)some(THREADS - 1)) % THREADS;
        insert(p, poster, (int)some((unsigned)p->count[poster] + 1), STEP_POST, k);
        insert(p, waiter, (int)some((unsigned)p->count[waiter] + 1), STEP_WAIT, k);
    }
}

struct state {
    int at[THREADS];
    int owner[LOCKS]; /* 1 + thread; 0: free */
    bool posted[TOKENS];
};

static const struct step *next_of(const struct program *p, const struct state *s, int t)
{
    return s->at[t] < p->count[t] ? &p->step[t][s->at[t]] : NULL;
}

static bool can_step(const struct program *p, const struct state *s, int t)
{
    const struct step *n = next_of(p, s, t);
    return n && (n->is != STEP_ACQUIRE || !s->owner[n->of]) &&
           (n->is != STEP_WAIT || s->posted[n->of]);
}

static void do_step(const struct program *p, struct state *s, int t)
{
    const struct step *n = next_of(p, s, t);
    if (n->is == STEP_ACQUIRE || n->is == STEP_RELEASE)
        s->owner[n->of] = n->is == STEP_ACQUIRE ? t + 1 : 0;
    if (n->is == STEP_POST)
        s->posted[n->of] = true;
    s->at[t]++;
}

/* ---- all schedules ---- */

static bool seen[STEPS][STEPS][STEPS];
/* [waiter][its wait][other][its request]: a state was reached in which both are blocked so */
static bool blocked[THREADS][STEPS][THREADS][STEPS];

static void note_blocked(const struct program *p, const struct state *s)
{
    for (int a = 0; a < THREADS; a++)
        for (int b = 0; b < THREADS; b++) {
            const struct step *wait = next_of(p, s, a), *request = next_of(p, s, b);
            if (a != b && wait && request && wait->is == STEP_WAIT && !s->posted[wait->of] &&
                request->is == STEP_ACQUIRE && s->owner[request->of] == a + 1)
                blocked[a][s->at[a]][b][s->at[b]] = true;
        }
}

static void explore(const struct program *p, struct state s)
{
    bool *known = &seen[s.at[0]][s.at[1]][s.at[2]];
    if (*known)
        return;
    *known = true;
    note_blocked(p, &s);
    for (int t = 0; t < THREADS; t++)
        if (can_step(p, &s, t)) {
            struct state next = s;
            do_step(p, &next, t);
            explore(p, next);
        }
}

/* ---- analysis of one schedule ---- */

struct clock_of {
    struct mhb_vector *last;
    struct mhb_vector *made[THREADS * STEPS];
    size_t count;
};

static struct clock_of clocks[THREADS];

static struct mhb_clock_mark mark(int t, uint32_t position)
{
    return (struct mhb_clock_mark){(uint32_t)t, position, clocks[t].last};
}

static void join_clock(int t, struct mhb_clock_mark post)
{
    struct mhb_vector *v = xcalloc(1, sizeof *v + THREADS * sizeof(uint32_t));
    v->count = THREADS;
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t mine = clocks[t].last ? clocks[t].last->at[i] : 0,
                 other = post.after ? post.after->at[i] : 0;
        v->at[i] = mine > other ? mine : other;
    }
    if (v->at[post.strand] < post.at)
        v->at[post.strand] = post.at;
    clocks[t].last = clocks[t].made[clocks[t].count++] = v;
}

static struct sync_op sync_op(enum sync_op_kind is, int t, int index, uint32_t position)
{
    return (struct sync_op){.is = is,
                            .thread = (uint32_t)t + 1,
                            .place = (uint32_t)(t * STEPS + index + 1),
                            .position = position,
                            .mark = mark(t, position)};
}

/* index_at: by position, the step of its thread. Returns false if the schedule hangs. */
static bool tell(const struct program *p, struct bug_prediction *m, int *index_at)
{
    struct state s = {0};
    struct mhb_clock_mark posts[TOKENS];
    for (uint32_t position = 1;; position++) {
        int t = (int)some(THREADS), tries = 0;
        while (!can_step(p, &s, t) && tries++ < THREADS)
            t = (t + 1) % THREADS;
        if (tries > THREADS)
            break;
        const struct step *n = next_of(p, &s, t);
        index_at[position] = s.at[t];
        struct mhb_clock_mark before = mark(t, position);
        if (n->is == STEP_WAIT)
            join_clock(t, posts[n->of]);
        if (n->is == STEP_POST)
            posts[n->of] = mark(t, position);
        struct sync_op op = sync_op(SYNC_OP_REQUEST, t, s.at[t], position);
        op.lock = n->is <= STEP_RELEASE ? (uint32_t)n->of + 10 : 0;
        op.about = n->is <= STEP_RELEASE ? 0 : (uint32_t)n->of + 20;
        op.began = position;
        op.sent_mark = before;
        if (n->is == STEP_ACQUIRE)
            predict_feed(m, &op);
        op.is = n->is == STEP_ACQUIRE   ? SYNC_OP_ACQUIRE
                : n->is == STEP_RELEASE ? SYNC_OP_RELEASE
                : n->is == STEP_POST    ? SYNC_OP_POST
                                        : SYNC_OP_UNBLOCK;
        predict_feed(m, &op);
        do_step(p, &s, t);
    }
    for (int t = 0; t < THREADS; t++)
        if (s.at[t] < p->count[t])
            return false;
    return true;
}

static bool acquires_twice(const struct program *p, int t, int lock)
{
    int times = 0;
    for (int i = 0; i < p->count[t]; i++)
        times += p->step[t][i].is == STEP_ACQUIRE && p->step[t][i].of == lock;
    return times > 1;
}

/* Returns whether a thread posts the token itself, after the step. */
static bool posts_after(const struct program *p, int t, int step, int token)
{
    for (int i = step; i < p->count[t]; i++)
        if (p->step[t][i].is == STEP_POST && p->step[t][i].of == token)
            return true;
    return false;
}

/* Prints a program, and where it fails. */
static void print_program(const struct program *p, unsigned number, int waiter, int waits,
                          int other, int requests)
{
    print_message("# program %u: thread %d at step %d, thread %d at step %d\n", number, waiter,
                  waits, other, requests);
    for (int t = 0; t < THREADS; t++, print_message("\n"))
        for (int i = 0; i < p->count[t]; i++)
            print_message("%s%c%d", i ? " " : "# ", "+-!?"[p->step[t][i].is], p -> step[t][i].of);
}

static void clear(void)
{
    for (int t = 0; t < THREADS; t++) {
        while (clocks[t].count)
            free(clocks[t].made[--clocks[t].count]);
        clocks[t].last = NULL;
    }
    memset(seen, 0, sizeof seen);
    memset(blocked, 0, sizeof blocked);
}

/* Checks the findings of a program, and notes their waits and threads. All must be right, unless
 * the program hangs by another one that is found, too: locks may exclude what no post orders. */
static unsigned check_findings(const struct program *p, unsigned number, const struct findings *f,
                               const int *index_at, bool (*told)[STEPS][THREADS])
{
    unsigned right = 0, wrong = 0;
    const struct finding_participant *first = NULL;
    for (size_t k = 0; k < f->count; k++) {
        const struct finding_participant *a = f->items[k].parts, *b = a + 1;
        if (f->items[k].kind != FINDING_WAIT_WITH_LOCK)
            continue;
        int waits = index_at[a->then], requests = index_at[b->position];
        told[a->thread - 1][waits][b->thread - 1] = true;
        bool is = blocked[a->thread - 1][waits][b->thread - 1][requests];
        right += is;
        if (!is && !wrong++)
            first = a;
    }
    if (wrong && !right) {
        print_program(p, number, (int)first->thread - 1, index_at[first->then],
                      (int)first[1].thread - 1, index_at[first[1].position]);
        fail_msg("a hang is found that no schedule comes to");
    }
    return right;
}

static void check_all_found(const struct program *p, unsigned number, bool (*told)[STEPS][THREADS])
{
    for (int a = 0; a < THREADS; a++)
        for (int b = 0; b < THREADS; b++)
            for (int w = 0; w < p->count[a]; w++)
                for (int r = 0; r < p->count[b]; r++)
                    if (blocked[a][w][b][r] && posts_after(p, b, r, p->step[a][w].of) &&
                        !acquires_twice(p, a, p->step[b][r].of) && !told[a][w][b]) {
                        print_program(p, number, a, w, b, r);
                        fail_msg("a hang is not found");
                    }
}

static void a_lock_is_held_over_a_wait_where_some_order_hangs(void **state)
{
    unsigned passed = 0, right = 0;
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct program p;
        int index_at[THREADS * STEPS + 1];
        bool told[THREADS][STEPS][THREADS] = {0};
        uint64_t budget = UINT64_MAX;
        seed = i;
        make_program(&p);
        struct bug_prediction *m = predict_new();
        bool passes = tell(&p, m, index_at);
        if (passes) {
            explore(&p, (struct state){0});
            while (!predict_step(m, &budget))
                ;
            right += check_findings(&p, i, predict_results(m), index_at, told);
            check_all_found(&p, i, told);
        }
        passed += passes;
        predict_free(m);
        clear();
    }
    assert_true(passed > PROGRAMS / 10 && right > PROGRAMS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_held_over_a_wait_where_some_order_hangs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
