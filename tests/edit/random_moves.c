#include "random_moves.h"

#include <string.h>

enum { ROWS = 24, MOST = 24, STAGES = 4 };

/* What a value is: a number and so much of each tile of X. */
typedef struct {
    double one, of[ROWS];
} Sum;

typedef enum { LOAD, WAIT, READ, ADD, SCALE, LESS, SYNC, KEEP, TAKE, MIX, ADV, ADV_IF, GIVE } What;

typedef struct {
    What what;
    guint buffer;  /* 0, 1: rings; KEEP, TAKE: scratch */
    gboolean over; /* by the name that lies over it */
    guint counter; /* ADV, ADV_IF: which; LESS: whose value */
    gint by;       /* -1: the other counter */
} Step;

typedef struct {
    GRand *rand;
    Step step[MOST];
    guint n, rounds, from, every, stages, slots;
    gboolean fed;     /* by a group of its own */
    gboolean two;     /* rings, with one pair of barriers */
    gboolean early;   /* what is read is given back at the top of the next round */
    gboolean counted; /* loads go by a counter */
} Plan;

static guint pick(Plan *p, guint n)
{
    return (guint)g_rand_int_range(p->rand, 0, (gint32)n);
}

static void add(Plan *p, Step s)
{
    p->step[p->n++] = s;
}

static void add_at(Plan *p, guint at, Step s)
{
    memmove(&p->step[at + 1], &p->step[at], (p->n - at) * sizeof(Step));
    p->step[at] = s;
    p->n++;
}

static void make(Plan *p)
{
    p->rounds = 1 + pick(p, 5);
    p->from = pick(p, 3);
    p->every = 1 + pick(p, 2);
    p->stages = 1 + pick(p, 3);
    p->slots = pick(p, 2) ? p->stages : 2 + pick(p, 2);
    p->fed = pick(p, 2);
    p->two = p->fed && pick(p, 2);
    p->early = p->fed && pick(p, 3) == 0;
    p->counted = !p->fed && pick(p, 2);
    if (p->early)
        add(p, (Step){ .what = GIVE });
    if (!p->fed)
        add(p, (Step){ .what = LOAD });
    add(p, (Step){ .what = WAIT });
    add(p, (Step){ .what = READ, .over = pick(p, 2) });
    add(p, (Step){ .what = ADD });
    if (p->two) {
        add(p, (Step){ .what = READ, .buffer = 1, .over = pick(p, 2) });
        add(p, (Step){ .what = ADD });
    }
    if (pick(p, 2))
        add(p, (Step){ .what = SCALE });
    if (pick(p, 2)) {
        add(p, (Step){ .what = KEEP, .over = pick(p, 2) });
        add(p, (Step){ .what = SYNC });
        add(p, (Step){ .what = TAKE, .over = pick(p, 2) });
        add(p, (Step){ .what = MIX });
    }
    add(p, (Step){ .what = SYNC });
    if (p->fed && !p->early)
        add(p, (Step){ .what = GIVE });
    add_at(p, 1 + pick(p, p->n), (Step){ .what = ADV, .counter = 0, .by = 1 + (gint)pick(p, 2) });
    add_at(p, 1 + pick(p, p->n), (Step){ .what = LESS, .counter = pick(p, 2) });
    if (pick(p, 2))
        add_at(
            p, 1 + pick(p, p->n),
            (Step){ .what = pick(p, 3) ? ADV : ADV_IF, .counter = 1, .by = pick(p, 2) ? -1 : 1 });
}

/* --- what it computes ------------------------------------------------------------------------- */

typedef struct {
    Sum ring[2][STAGES], scratch, x, y, o;
    gint64 counter[2];
} State;

static Sum weigh(Sum a, double f, Sum b, double g)
{
    Sum s = { .one = a.one * f + b.one * g };
    for (guint i = 0; i < ROWS; i++)
        s.of[i] = a.of[i] * f + b.of[i] * g;
    return s;
}

static guint row_of(const Plan *p, const State *s, guint buffer, guint round)
{
    return ((p->counted ? (guint)s->counter[0] : round) + buffer * 5) % ROWS;
}

static void fill(const Plan *p, State *s, guint buffer, guint round)
{
    Sum tile = { 0 };
    tile.of[row_of(p, s, buffer, round)] = 1;
    s->ring[buffer][round % p->stages] = tile;
}

static void run_step(const Plan *p, const Step *t, State *s, guint round)
{
    const gint64 k = p->from + (gint64)p->every * round;
    const gint64 by = t->by < 0 ? s->counter[1 - t->counter] : t->by;
    switch (t->what) {
    case LOAD:
        fill(p, s, t->buffer, round);
        break;
    case READ:
        s->x = s->ring[t->buffer][round % p->stages];
        break;
    case ADD:
        s->o = weigh(s->o, 1, s->x, (double)(k + 1));
        break;
    case SCALE:
        s->o = weigh(s->o, 0.5, s->x, 2);
        break;
    case LESS:
        s->o = weigh(s->o, 1, s->x, -(double)s->counter[t->counter]);
        break;
    case KEEP:
        s->scratch = s->o;
        break;
    case TAKE:
        s->y = s->scratch;
        break;
    case MIX:
        s->o = weigh(s->o, 1, s->y, 0.25);
        break;
    case ADV:
        s->counter[t->counter] += by;
        break;
    case ADV_IF:
        s->counter[t->counter] += k % 2 == 0 ? by : 0;
        break;
    case WAIT:
    case SYNC:
    case GIVE:
        break;
    }
}

static void add_reference(const Plan *p, GString *out)
{
    State s = { .o = { .one = 1 } };
    for (guint round = 0; round < p->rounds; round++) {
        for (guint b = 0; p->fed && b < 2; b++)
            fill(p, &s, b, round);
        for (guint i = 0; i < p->n; i++)
            run_step(p, &p->step[i], &s, round);
    }
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(out, "O[m,n] = %s",
                           g_ascii_formatd(number, sizeof number, "%.8f", s.o.one));
    for (guint i = 0; i < ROWS; i++)
        if (s.o.of[i] < 0 || s.o.of[i] > 0)
            g_string_append_printf(out, " %c %s*X[%u + m,n]", s.o.of[i] < 0 ? '-' : '+',
                                   g_ascii_formatd(number, sizeof number, "%.8f", ABS(s.o.of[i])),
                                   64 * i);
}

/* --- as text ---------------------------------------------------------------------------------- */

static const char *const ring_name[2][2] = { { "bx", "over_bx" }, { "bz", "over_bz" } };

static void add_load(const Plan *p, GString *out, guint buffer)
{
    g_string_append_printf(out,
                           "{ \"load\": \"X\", \"at\": [\"(%s + %u) %% %d*64\", 0], \"into\": "
                           "\"%s\", \"signal\": \"full\", \"use\": \"k.total\" }",
                           p->counted ? "c" : "k.total", buffer * 5, ROWS, ring_name[buffer][0]);
}

static void add_step(const Plan *p, const Step *t, GString *out)
{
    static const char *const counter[] = { "c", "d" };
    g_autofree char *by =
        t->by < 0 ? g_strdup(counter[1 - t->counter]) : g_strdup_printf("%d", t->by);
    g_autofree char *advance =
        g_strdup_printf("{ \"advance\": \"%s\", \"by\": \"%s\" }", counter[t->counter], by);
    switch (t->what) {
    case LOAD:
        add_load(p, out, t->buffer);
        break;
    case WAIT:
        g_string_append(out, "{ \"wait\": \"full\", \"use\": \"k.total\" }");
        break;
    case READ:
        g_string_append_printf(out, "{ \"read\": \"x\", \"from\": \"%s\", \"use\": \"k.total\" }",
                               ring_name[t->buffer][t->over]);
        break;
    case ADD:
        g_string_append(out, "{ \"compute\": \"o = o + x*(k + 1)\" }");
        break;
    case SCALE:
        g_string_append(out, "{ \"compute\": \"o = o*0.5 + x*2.0\" }");
        break;
    case LESS:
        g_string_append_printf(out, "{ \"compute\": \"o = o - x*%s\" }", counter[t->counter]);
        break;
    case SYNC:
        g_string_append(out, "{ \"sync\": \"group\" }");
        break;
    case KEEP:
        g_string_append_printf(out, "{ \"write\": \"o\", \"to\": \"%s\" }",
                               t->over ? "over_w" : "w");
        break;
    case TAKE:
        g_string_append_printf(out, "{ \"read\": \"y\", \"from\": \"%s\" }",
                               t->over ? "over_w" : "w");
        break;
    case MIX:
        g_string_append(out, "{ \"compute\": \"o = o + y*0.25\" }");
        break;
    case ADV:
        g_string_append(out, advance);
        break;
    case ADV_IF:
        g_string_append_printf(out, "{ \"if\": \"k %% 2 == 0\", \"then\": [ %s ] }", advance);
        break;
    case GIVE:
        g_string_append_printf(out, "{ \"arrive\": \"empty\", \"by\": \"all\", \"use\": %s }",
                               p->early ? "\"k.total - 1\", \"when\": \"k.total > 0\""
                                        : "\"k.total\"");
        break;
    }
}

static void add_loop(const Plan *p, GString *out)
{
    g_string_append_printf(out,
                           "{ \"for\": \"k\", \"count\": \"R\", \"from\": %u, \"step\": %u, "
                           "\"do\": [ ",
                           p->from, p->every);
}

static void add_feeder(const Plan *p, GString *out)
{
    g_string_append(out, "{ \"name\": \"get\", \"role\": \"producer\", \"warps\": 4, \"body\": [ ");
    add_loop(p, out);
    /* A stage is free where all who read it have given it back so many rounds before. */
    if (p->early)
        g_string_append_printf(out,
                               "{ \"wait\": \"empty\", \"use\": \"k.total - %u\", \"when\": "
                               "\"k.total >= %u\" }, ",
                               p->stages, p->stages);
    else
        g_string_append(out, "{ \"wait\": \"empty\", \"use\": \"k.total\" }, ");
    add_load(p, out, 0);
    if (p->two) {
        g_string_append(out, ", ");
        add_load(p, out, 1);
    }
    g_string_append(out, " ] } ] }, ");
}

static void add_objects(const Plan *p, GString *out)
{
    g_string_append(out, "\"buffers\": [ ");
    for (guint b = 0; b < 2; b++)
        g_string_append_printf(out,
                               "{ \"name\": \"%s\", \"dtype\": \"f32\", \"tile\": [64, 8], "
                               "\"stages\": %u }, { \"name\": \"%s\", \"dtype\": \"f32\", "
                               "\"tile\": [64, 8], \"stages\": %u, \"over\": \"%s\" }, ",
                               ring_name[b][0], p->stages, ring_name[b][1], p->stages,
                               ring_name[b][0]);
    g_string_append(out, "{ \"name\": \"w\", \"dtype\": \"f32\", \"tile\": [64, 8] }, "
                         "{ \"name\": \"over_w\", \"dtype\": \"f32\", \"tile\": [64, 8], \"over\": "
                         "\"w\" } ], ");
    const guint empty = p->early ? MAX(p->slots, p->stages) : p->stages;
    g_string_append_printf(out, "\"barriers\": [ { \"name\": \"full\", \"slots\": %u }%s", p->slots,
                           p->fed ? ", " : " ], ");
    if (p->fed)
        g_string_append_printf(out, "{ \"name\": \"empty\", \"slots\": %u%s } ], ", empty,
                               p->early ? "" : ", \"init\": \"ready\"");
}

char *random_moves(guint32 seed)
{
    Plan p = { .rand = g_rand_new_with_seed(seed) };
    make(&p);
    GString *out = g_string_new(NULL);
    g_string_append_printf(
        out,
        "{ \"warpstave\": 1, \"name\": \"moves\", \"target\": \"sm_90a\", \"sizes\": { \"R\": %u "
        "}, "
        "\"assume\": [\"R >= 0\"], \"tensors\": [ { \"name\": \"X\", \"dtype\": \"f32\", "
        "\"shape\": "
        "[%d, 8] }, { \"name\": \"O\", \"dtype\": \"f32\", \"shape\": [64, 8], \"access\": "
        "\"write\" } ], \"reference\": \"",
        p.rounds, 64 * ROWS);
    add_reference(&p, out);
    g_string_append(out, "\", \"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": \"single\" }, ");
    add_objects(&p, out);
    g_string_append(out, "\"groups\": [ ");
    if (p.fed)
        add_feeder(&p, out);
    g_string_append(out,
                    "{ \"name\": \"main\", \"role\": \"worker\", \"warps\": 4, \"values\": [ ");
    for (guint i = 0; i < 3; i++)
        g_string_append_printf(out, "{ \"name\": \"%c\", \"dtype\": \"f32\", \"tile\": [64, 8] }%s",
                               "xyo"[i], i < 2 ? ", " : " ], ");
    g_string_append(out, "\"counters\": [ { \"name\": \"c\" }, { \"name\": \"d\" } ], \"body\": [ "
                         "{ \"compute\": [\"o = 1.0\", \"x = 0.0\", \"y = 0.0\"] }, ");
    add_loop(&p, out);
    for (guint i = 0; i < p.n; i++) {
        add_step(&p, &p.step[i], out);
        g_string_append(out, i + 1 < p.n ? ", " : " ] }, ");
    }
    g_string_append(out, "{ \"write\": \"o\", \"to\": \"O\", \"at\": [0, 0] } ] } ] }");
    g_rand_free(p.rand);
    return g_string_free(out, FALSE);
}
