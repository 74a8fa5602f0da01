#include "draw.h"

#define N    3   /* the size of the launch: loops make N, N - 1 or 2 rounds */
#define MOST 400 /* of any count: results stay exact enough */

typedef struct {
    GRand *rand;
    const DrawOptions *options;
    GString *out;
    guint loops, depth, left;
    /* what the launch does: multiples of A·Bᵀ in x and y, of A in p and Z */
    gint64 x, y, p, z;
} Draw;

/* Steps are drawn once and executed once per round: a list of effects, replayed. */
typedef enum { ADD_X, ADD_Y, ADD_XP, ADD_YP, TWICE_X, TWICE_Y, TWICE_P, STORE } Effect;

typedef struct Part Part;
struct Part {
    enum { EFFECT, IF, LOOP } kind;
    Effect effect;
    guint loop;              /* LOOP: its number; IF: the loop whose index is asked, 0 the size */
    guint count;             /* LOOP */
    GPtrArray *body, *other; /* Part* */
};

static void part_free(gpointer data)
{
    Part *p = data;
    g_clear_pointer(&p->body, g_ptr_array_unref);
    g_clear_pointer(&p->other, g_ptr_array_unref);
    g_free(p);
}

static GPtrArray *list_new(void)
{
    return g_ptr_array_new_with_free_func(part_free);
}

static guint pick(Draw *d, guint n)
{
    return (guint)g_rand_int_range(d->rand, 0, (gint32)n);
}

static void put(Draw *d, const char *step)
{
    gboolean first = d->out->len == 0 || d->out->str[d->out->len - 1] == '[';
    g_string_append_printf(d->out, "%s\n%*s%s", first ? "" : ",", (int)(8 + 2 * d->depth), "",
                           step);
}

static void open_if(Draw *d, GPtrArray *loops, Part *part)
{
    guint of = loops->len ? pick(d, loops->len + 1) : 0;
    part->loop = of ? GPOINTER_TO_UINT(loops->pdata[of - 1]) : 0;
    g_autofree char *step =
        part->loop ? g_strdup_printf("{ \"if\": \"j%u %% 2 == 0\", \"then\": [", part->loop)
                   : g_strdup("{ \"if\": \"N > 2\", \"then\": [");
    put(d, step);
    d->depth++;
}

static Part *open_loop(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    static const char *const count[] = { "N", "N - 1", "2" };
    static const guint rounds[] = { N, N - 1, 2 };
    guint how = pick(d, 3);
    Part *part = g_new0(Part, 1);
    *part = (Part){ .kind = LOOP, .loop = ++d->loops, .count = rounds[how], .body = list_new() };
    g_ptr_array_add(into, part);
    g_ptr_array_add(loops, GUINT_TO_POINTER(part->loop));
    g_autofree char *step =
        g_strdup_printf("{ \"for\": \"j%u\", \"count\": \"%s\"%s, \"do\": [", part->loop,
                        count[how], how == 2 && pick(d, 2) ? ", \"unroll\": \"full\"" : "");
    put(d, step);
    d->depth++;
    return part;
}

static void close_list(Draw *d, const char *end)
{
    d->depth--;
    g_string_append(d->out, end);
}

/* A wait for everything, by whatever way: behind it nothing of the queue is in flight. */
static void retire(Draw *d, const char *wait, GPtrArray *loops, guint deep)
{
    guint how = deep ? pick(d, 7) : 0;
    g_autofree char *all = g_strdup_printf("{ \"%s\": 0 }", wait),
                    *some = g_strdup_printf("{ \"%s\": 1 }", wait);
    Part asked = { .kind = IF };
    if (how == 1 || how == 2) { /* in both branches */
        open_if(d, loops, &asked);
        retire(d, wait, loops, deep - 1);
        g_string_append(d->out, " ], \"else\": [");
        retire(d, wait, loops, deep - 1);
        close_list(d, " ] }");
    } else if (how == 3) { /* a part of it before, the rest behind */
        put(d, some);
        retire(d, wait, loops, deep - 1);
    } else if (how == 4) { /* early on some paths */
        open_if(d, loops, &asked);
        retire(d, wait, loops, deep - 1);
        close_list(d, " ] }");
        retire(d, wait, loops, deep - 1);
    } else if (how == 5) { /* in a loop that makes a round */
        GPtrArray *ignored = list_new();
        g_autoptr(GPtrArray) inner = g_ptr_array_copy(loops, NULL, NULL);
        open_loop(d, inner, ignored);
        retire(d, wait, inner, deep - 1);
        close_list(d, " ] }");
        put(d, all); /* N - 1 may be no round */
        g_ptr_array_unref(ignored);
    } else {
        put(d, all);
    }
}

static void effect(GPtrArray *into, Effect e)
{
    Part *part = g_new0(Part, 1);
    *part = (Part){ .kind = EFFECT, .effect = e };
    g_ptr_array_add(into, part);
}

static void product(Draw *d, GPtrArray *into)
{
    static const char *const steps[] = { "{ \"mma\": \"x\", \"a\": \"a\", \"b\": \"b\" }",
                                         "{ \"mma\": \"y\", \"a\": \"a\", \"b\": \"b\" }",
                                         "{ \"mma\": \"x\", \"a\": \"p\", \"b\": \"b\" }",
                                         "{ \"mma\": \"y\", \"a\": \"p\", \"b\": \"b\" }" };
    guint n = pick(d, 2) + (d->options->operands && !pick(d, 3) ? 2 : 0);
    put(d, steps[n]);
    effect(into, (Effect)(ADD_X + n));
}

static void use(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    static const char *const steps[] = { "{ \"compute\": \"x = x*2\" }",
                                         "{ \"compute\": \"y = y*2\" }",
                                         "{ \"compute\": \"p = bf16(p*2)\" }" };
    guint n = pick(d, d->options->operands ? 3 : 2);
    retire(d, "mma_wait", loops, 2);
    put(d, steps[n]);
    effect(into, (Effect)(TWICE_X + n));
}

static void store(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    retire(d, "store_wait", loops, 2);
    put(d, "{ \"sync\": \"group\" }");
    put(d, "{ \"write\": \"q\", \"to\": \"s\" }");
    put(d, "{ \"sync\": \"group\" }");
    put(d, "{ \"store\": \"Z\", \"at\": [0, 0], \"from\": \"s\", \"reduce\": \"add\" }");
    effect(into, STORE);
}

static void list(Draw *d, GPtrArray *loops, GPtrArray *into, guint deep)
{
    guint n = 1 + pick(d, 4);
    for (guint i = 0; i < n && d->left; i++) {
        guint how = pick(d, d->options->stores ? 9 : 8);
        d->left--;
        if (how == 8) {
            store(d, loops, into);
        } else if (how >= 6 && deep) {
            g_autoptr(GPtrArray) inner = g_ptr_array_copy(loops, NULL, NULL);
            Part *part = open_loop(d, inner, into);
            list(d, inner, part->body, deep - 1);
            if (part->body->len == 0)
                product(d, part->body);
            close_list(d, " ] }");
        } else if (how >= 4 && deep) {
            Part *part = g_new0(Part, 1);
            *part = (Part){ .kind = IF, .body = list_new(), .other = list_new() };
            g_ptr_array_add(into, part);
            open_if(d, loops, part);
            product(d, part->body);
            list(d, loops, part->body, deep - 1);
            if (pick(d, 2)) {
                g_string_append(d->out, " ], \"else\": [");
                product(d, part->other);
                list(d, loops, part->other, deep - 1);
            }
            close_list(d, " ] }");
        } else if (how == 3) {
            use(d, loops, into);
        } else {
            product(d, into);
            if (!pick(d, 3))
                put(d, "{ \"mma_wait\": 1 }");
        }
    }
}

/* --- what it gives ---------------------------------------------------------------------------- */

static void run(Draw *d, const GPtrArray *parts, guint *index)
{
    for (guint i = 0; i < parts->len; i++) {
        const Part *p = parts->pdata[i];
        if (p->kind == LOOP) {
            for (guint k = 0; k < p->count; k++) {
                index[p->loop] = k;
                run(d, p->body, index);
            }
        } else if (p->kind == IF) {
            gboolean yes = p->loop ? index[p->loop] % 2 == 0 : N > 2;
            run(d, yes ? p->body : p->other, index);
        } else {
            switch (p->effect) {
            case ADD_X:
                d->x++;
                break;
            case ADD_Y:
                d->y++;
                break;
            case ADD_XP:
                d->x += d->p;
                break;
            case ADD_YP:
                d->y += d->p;
                break;
            case TWICE_X:
                d->x *= 2;
                break;
            case TWICE_Y:
                d->y *= 2;
                break;
            case TWICE_P:
                d->p *= 2;
                break;
            case STORE:
                d->z++;
                break;
            }
        }
        d->x = MIN(d->x, G_MAXINT32);
        d->y = MIN(d->y, G_MAXINT32);
        d->p = MIN(d->p, G_MAXINT32);
    }
}

static const char head[] =
    "{\n  \"warpstave\": 1,\n  \"name\": \"waits %u\",\n  \"target\": \"sm_90a\",\n"
    "  \"sizes\": { \"N\": %d },\n  \"assume\": [\"N >= 1\"],\n  \"tensors\": [\n"
    "    { \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [64, 64] },\n"
    "    { \"name\": \"B\", \"dtype\": \"bf16\", \"shape\": [64, 64] },\n"
    "    { \"name\": \"X\", \"dtype\": \"f32\", \"shape\": [64, 64], \"access\": \"write\" },\n"
    "    { \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [64, 64], \"access\": \"write\" }%s\n  "
    "],\n"
    "  \"reference\": [\"X[m,n] = %" G_GINT64_FORMAT "*sum(k < 64, A[m,k]*B[n,k])\",\n"
    "    \"Y[m,n] = %" G_GINT64_FORMAT "*sum(k < 64, A[m,k]*B[n,k])\"%s],\n"
    "  \"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": \"single\" },\n"
    "  \"buffers\": [\n    { \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [64, 64] },\n"
    "    { \"name\": \"b\", \"dtype\": \"bf16\", \"tile\": [64, 64] }%s\n  ],\n"
    "  \"barriers\": [ { \"name\": \"full\" } ],\n"
    "  \"groups\": [\n    { \"name\": \"math\", \"role\": \"worker\", \"warps\": 4,\n"
    "      \"values\": [\n        { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 64] },\n"
    "        { \"name\": \"y\", \"dtype\": \"f32\", \"tile\": [64, 64] },\n%s"
    "        { \"name\": \"p\", \"dtype\": \"bf16\", \"tile\": [64, 64] }\n      ],\n"
    "      \"body\": [\n"
    "        { \"load\": \"A\", \"at\": [0, 0], \"into\": \"a\", \"signal\": \"full\", \"use\": 0 "
    "},\n"
    "        { \"load\": \"B\", \"at\": [0, 0], \"into\": \"b\", \"signal\": \"full\", \"use\": 0 "
    "},\n"
    "        { \"wait\": \"full\", \"use\": 0 },\n"
    "        { \"read\": \"p\", \"from\": \"a\" },\n"
    "        { \"compute\": [\"x = 0\", \"y = 0\"%s] },";

static const char tail[] =
    ",\n        { \"write\": \"x\", \"to\": \"X\", \"at\": [0, 0] },\n"
    "        { \"write\": \"y\", \"to\": \"Y\", \"at\": [0, 0] }\n      ] }\n  ]\n}\n";

static char *attempt(guint32 seed, const DrawOptions *options)
{
    Draw d = { .rand = g_rand_new_with_seed(seed),
               .options = options,
               .out = g_string_new("["),
               .left = options->items,
               .p = 1 };
    g_autoptr(GPtrArray) loops = g_ptr_array_new();
    GPtrArray *parts = list_new();
    guint index[256] = { 0 };
    while (d.left && d.loops < 200)
        list(&d, loops, parts, 3);
    retire(&d, "mma_wait", loops, 2);
    if (options->stores)
        retire(&d, "store_wait", loops, 2);
    run(&d, parts, index);
    char *text = NULL;
    if (d.x <= MOST && d.y <= MOST && d.p <= MOST) {
        const gboolean s = options->stores;
        g_autofree char *z =
            g_strdup_printf(",\n    \"Z[m,n] = %" G_GINT64_FORMAT "*A[m,n]\"", d.z);
        g_autofree char *first = g_strdup_printf(
            head, seed, N,
            s ? ",\n    { \"name\": \"Z\", \"dtype\": \"f32\", \"shape\": [64, 64], \"access\": "
                "\"reduce\" }"
              : "",
            d.x, d.y, s ? z : "",
            s ? ",\n    { \"name\": \"s\", \"dtype\": \"f32\", \"tile\": [64, 64] }" : "",
            s ? "        { \"name\": \"q\", \"dtype\": \"f32\", \"tile\": [64, 64] },\n" : "",
            s ? ", \"q = p\"" : "");
        text = g_strconcat(first, d.out->str + 1, tail, NULL);
    }
    g_ptr_array_unref(parts);
    g_string_free(d.out, TRUE);
    g_rand_free(d.rand);
    return text;
}

char *draw_design(guint32 seed, const DrawOptions *options)
{
    char *text = NULL;
    for (guint32 i = 0; !text; i++) /* counts that are too large: another one */
        text = attempt(seed + i * 1000003u, options);
    return text;
}
