#include "draw.h"

#include <string.h>

#define N    3   /* the size of the launch: loops make N, N - 1 or 2 rounds */
#define MOST 400 /* of any count: results stay exact enough */
#define TILE 255 /* number of the loop over tiles */

typedef struct {
    GRand *rand;
    const DrawOptions *options;
    GString *out;
    guint loops, depth, left;
    /* what the launch does: multiples of A·Bᵀ in x, y and the halves of w, of A in p, Z and r */
    gint64 x, y, w[2], p, z, r;
    gint64 all_x; /* of the tiles so far */
} Draw;

/* Steps are drawn once and executed once per round: a list of effects, replayed. */
typedef enum {
    ADD_X,
    ADD_Y,
    ADD_XP,
    ADD_YP,
    ADD_W0,
    ADD_W1,
    SET_X,
    SET_Y,
    TWICE_X,
    TWICE_Y,
    TWICE_P,
    TWICE_W,
    STORE,
    GATHER,
    NEW_TILE
} Effect;

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
    g_autofree char *name = NULL;
    guint of = loops->len ? pick(d, loops->len + 1) : 0;
    part->loop = of ? GPOINTER_TO_UINT(loops->pdata[of - 1]) : 0;
    name = part->loop == TILE ? g_strdup("t") : g_strdup_printf("j%u", part->loop);
    g_autofree char *step = part->loop
                                ? g_strdup_printf("{ \"if\": \"%s %% 2 == 0\", \"then\": [", name)
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

static void wait(Draw *d, const char *keyword, guint stay)
{
    g_autofree char *step = !strcmp(keyword, "wait")
                                ? g_strdup("{ \"wait\": \"full\", \"use\": 0 }")
                                : g_strdup_printf("{ \"%s\": %u }", keyword, stay);
    put(d, step);
}

/* A wait for all but the newest `stay` groups, by whatever way: behind it nothing older of the
 * queue is in flight. */
static void retire(Draw *d, const char *keyword, guint stay, GPtrArray *loops, guint deep)
{
    guint how = deep ? pick(d, 9) : 0;
    Part asked = { .kind = IF };
    if (how == 1 || how == 2) { /* in both branches */
        open_if(d, loops, &asked);
        retire(d, keyword, stay, loops, deep - 1);
        g_string_append(d->out, " ], \"else\": [");
        retire(d, keyword, stay, loops, deep - 1);
        close_list(d, " ] }");
    } else if (how == 3) { /* a part of it before, the rest behind */
        wait(d, keyword, stay + 1);
        retire(d, keyword, stay, loops, deep - 1);
    } else if (how == 4) { /* early on some paths, and perhaps more of it */
        open_if(d, loops, &asked);
        retire(d, keyword, pick(d, stay + 1), loops, deep - 1);
        close_list(d, " ] }");
        retire(d, keyword, stay, loops, deep - 1);
    } else if (how == 5) { /* in a loop that makes a round */
        GPtrArray *ignored = list_new();
        g_autoptr(GPtrArray) inner = g_ptr_array_copy(loops, NULL, NULL);
        open_loop(d, inner, ignored);
        retire(d, keyword, stay, inner, deep - 1);
        close_list(d, " ] }");
        wait(d, keyword, stay); /* N - 1 may be no round */
        g_ptr_array_unref(ignored);
    } else if (how == 6) { /* in each of three */
        open_if(d, loops, &asked);
        retire(d, keyword, stay, loops, deep - 1);
        g_string_append(d->out, " ], \"else\": [");
        open_if(d, loops, &asked);
        retire(d, keyword, stay, loops, deep - 1);
        g_string_append(d->out, " ], \"else\": [");
        retire(d, keyword, stay, loops, deep - 1);
        close_list(d, " ] }");
        close_list(d, " ] }");
    } else {
        wait(d, keyword, stay);
    }
}

static void effect(GPtrArray *into, Effect e)
{
    Part *part = g_new0(Part, 1);
    *part = (Part){ .kind = EFFECT, .effect = e };
    g_ptr_array_add(into, part);
}

static void issue(Draw *d, guint n, GPtrArray *into)
{
    static const char *const steps[] = { "{ \"mma\": \"x\", \"a\": \"a\", \"b\": \"b\" }",
                                         "{ \"mma\": \"y\", \"a\": \"a\", \"b\": \"b\" }",
                                         "{ \"mma\": \"x\", \"a\": \"p\", \"b\": \"b\" }",
                                         "{ \"mma\": \"y\", \"a\": \"p\", \"b\": \"b\" }",
                                         "{ \"mma\": \"w.cols(0, 32)\", \"a\": \"a\", "
                                         "\"b\": \"b.rows(0, 32)\" }",
                                         "{ \"mma\": \"w.cols(32, 32)\", \"a\": \"a\", "
                                         "\"b\": \"b.rows(32, 32)\" }" };
    put(d, steps[n]);
    effect(into, (Effect)(ADD_X + n));
}

/* A product that begins a sum: always, or where a condition holds while the kernel runs. */
static void first_product(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    const guint n = d->options->tiles ? 0 : pick(d, 2), of = loops->len ? pick(d, 3) : 0;
    const guint loop = of ? GPOINTER_TO_UINT(loops->pdata[loops->len - 1]) : 0;
    g_autofree char *index = loop == TILE ? g_strdup("t") : g_strdup_printf("j%u", loop);
    g_autofree char *step =
        loop ? g_strdup_printf("{ \"mma\": \"%c\", \"a\": \"a\", \"b\": \"b\", \"first\": "
                               "\"%s %% 2 == 0\" }",
                               "xy"[n], index)
             : g_strdup_printf("{ \"mma\": \"%c\", \"a\": \"a\", \"b\": \"b\", \"first\": true }",
                               "xy"[n]);
    put(d, step);
    if (!loop) {
        effect(into, (Effect)(SET_X + n));
        return;
    }
    Part *part = g_new0(Part, 1);
    *part = (Part){ .kind = IF, .loop = loop, .body = list_new(), .other = list_new() };
    g_ptr_array_add(into, part);
    effect(part->body, (Effect)(SET_X + n));
    effect(part->other, (Effect)(ADD_X + n));
}

static void product(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    guint n = pick(d, 2);
    if (d->options->first && !pick(d, 3)) {
        first_product(d, loops, into);
        return;
    }
    if (d->options->operands && !pick(d, 3))
        n += 2;
    else if (d->options->parts && !pick(d, 3))
        n += 4;
    issue(d, n, into);
}

/* A product for every value, in some order: from here on none is a constant, which the import of
 * Python loses where one of two ways changes it. */
static void first_products(Draw *d, GPtrArray *into)
{
    const guint n = d->options->parts ? 4 : 2, from = pick(d, n);
    static const guint which[] = { 0, 1, 4, 5 };
    for (guint i = 0; i < n; i++)
        issue(d, which[(from + i) % n], into);
}

/* What a tile carries on to the next one is only added to: which CTA has which tile is open. */
static void use(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    static const char *const steps[] = { "{ \"compute\": \"x = x*2\" }",
                                         "{ \"compute\": \"y = y*2\" }",
                                         "{ \"compute\": \"p = bf16(p*2)\" }",
                                         "{ \"compute\": \"w = w*2\" }" };
    guint n = d->options->tiles ? 0 : pick(d, 4);
    if ((n == 2 && !d->options->operands) || (n == 3 && !d->options->parts))
        n = 0;
    retire(d, "mma_wait", 0, loops, 2);
    put(d, steps[n]);
    effect(into, (Effect)(TWICE_X + n));
}

/* The older product is used while the newer one flies. */
static void use_older(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    issue(d, 0, into);
    issue(d, 1, into);
    retire(d, "mma_wait", 1, loops, 2);
    put(d, "{ \"compute\": \"x = x*2\" }");
    effect(into, TWICE_X);
}

static void store_from(Draw *d, const char *buffer, GPtrArray *into)
{
    g_autofree char *write = g_strdup_printf("{ \"write\": \"q\", \"to\": \"%s\" }", buffer),
                    *store =
                        g_strdup_printf("{ \"store\": \"Z\", \"at\": [0, 0], \"from\": \"%s\", "
                                        "\"reduce\": \"add\" }",
                                        buffer);
    put(d, "{ \"sync\": \"group\" }");
    put(d, write);
    put(d, "{ \"sync\": \"group\" }");
    put(d, store);
    effect(into, STORE);
}

static void store(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    retire(d, "store_wait", 0, loops, 2);
    store_from(d, "s", into);
    if (pick(d, 2)) /* the older one's buffer is written while the newer one flies */
        return;
    store_from(d, "s2", into);
    retire(d, "store_wait", 1, loops, 2);
    store_from(d, "s", into);
}

static void take(Draw *d, const char *buffer, GPtrArray *into)
{
    g_autofree char *read = g_strdup_printf("{ \"read\": \"v\", \"from\": \"%s\" }", buffer);
    put(d, "{ \"sync\": \"group\" }");
    put(d, read);
    put(d, "{ \"compute\": \"r = r + v\" }");
    effect(into, GATHER);
}

static void gather(Draw *d, GPtrArray *loops, GPtrArray *into)
{
    const gboolean two = pick(d, 2);
    put(d, "{ \"gather\": \"A\", \"at\": [\"row\", 0], \"into\": \"g\" }");
    if (two)
        put(d, "{ \"gather\": \"A\", \"at\": [\"row\", 0], \"into\": \"h\" }");
    if (pick(d, 2))
        product(d, loops, into);
    retire(d, "load_wait", two ? 1 : 0, loops, 2);
    take(d, "g", into);
    if (two) {
        retire(d, "load_wait", 0, loops, 2);
        take(d, "h", into);
    }
    put(d, "{ \"sync\": \"group\" }");
}

static void list(Draw *d, GPtrArray *loops, GPtrArray *into, guint deep)
{
    guint n = 1 + pick(d, 4);
    for (guint i = 0; i < n && d->left; i++) {
        guint how = pick(d, 11);
        d->left--;
        if (how == 10 && d->options->stores) {
            store(d, loops, into);
        } else if (how == 9 && d->options->gathers) {
            gather(d, loops, into);
        } else if (how == 8) {
            use_older(d, loops, into);
        } else if (how >= 6 && deep) {
            g_autoptr(GPtrArray) inner = g_ptr_array_copy(loops, NULL, NULL);
            Part *part = open_loop(d, inner, into);
            list(d, inner, part->body, deep - 1);
            if (part->body->len == 0)
                product(d, inner, part->body);
            close_list(d, " ] }");
        } else if (how >= 4 && deep) {
            Part *part = g_new0(Part, 1);
            *part = (Part){ .kind = IF, .body = list_new(), .other = list_new() };
            g_ptr_array_add(into, part);
            open_if(d, loops, part);
            product(d, loops, part->body);
            list(d, loops, part->body, deep - 1);
            if (pick(d, 2)) {
                g_string_append(d->out, " ], \"else\": [");
                product(d, loops, part->other);
                list(d, loops, part->other, deep - 1);
            }
            close_list(d, " ] }");
        } else if (how == 3) {
            use(d, loops, into);
        } else {
            product(d, loops, into);
            if (!pick(d, 3))
                put(d, "{ \"mma_wait\": 1 }");
        }
    }
}

/* Every tile begins x anew and adds it to X; a product for y flies on into the next tile. */
static void tiles(Draw *d, GPtrArray *into)
{
    Part *part = g_new0(Part, 1);
    g_autoptr(GPtrArray) loops = g_ptr_array_new();
    *part = (Part){ .kind = LOOP, .loop = TILE, .count = N, .body = list_new() };
    g_ptr_array_add(into, part);
    g_ptr_array_add(loops, GUINT_TO_POINTER(TILE));
    put(d, "{ \"for\": \"tile\", \"over\": \"tiles\", \"do\": [");
    d->depth++;
    put(d, "{ \"compute\": \"x = 0\" }");
    first_products(d, part->body);
    while (d->left && d->loops < 200)
        list(d, loops, part->body, 3);
    retire(d, "mma_wait", 0, loops, 2);
    put(d, "{ \"write\": \"x\", \"to\": \"X\", \"at\": [0, 0], \"reduce\": \"add\" }");
    effect(part->body, NEW_TILE);
    issue(d, 1, part->body);
    close_list(d, " ] }");
}

/* --- what it gives ---------------------------------------------------------------------------- */

static void happen(Draw *d, Effect e)
{
    gint64 *const sum[] = { &d->x, &d->y, &d->x, &d->y, &d->w[0], &d->w[1] };
    switch (e) {
    case ADD_X:
    case ADD_Y:
    case ADD_W0:
    case ADD_W1:
        ++*sum[e];
        break;
    case SET_X:
        d->x = 1;
        break;
    case SET_Y:
        d->y = 1;
        break;
    case ADD_XP:
    case ADD_YP:
        *sum[e] += d->p;
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
    case TWICE_W:
        d->w[0] *= 2;
        d->w[1] *= 2;
        break;
    case STORE:
        d->z++;
        break;
    case GATHER:
        d->r++;
        break;
    case NEW_TILE:
        d->all_x += d->x;
        d->x = 0;
        break;
    }
    gint64 *const all[] = { &d->x, &d->y, &d->w[0], &d->w[1], &d->p };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        *all[i] = MIN(*all[i], G_MAXINT32);
}

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
            happen(d, p->effect);
        }
    }
}

/* --- the design ------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *value, *of;
    gint64 times;
    gboolean used;
} Output;

#define PRODUCT "sum(k < 64, A[m,k]*B[n,k])"

static void declare(Draw *d, GString *s, guint32 seed, const Output *out, guint n)
{
    g_string_append_printf(s,
                           "{\n  \"warpstave\": 1,\n  \"name\": \"waits %u\",\n  \"target\": "
                           "\"sm_90a\",\n  \"sizes\": { \"N\": %d },\n  \"assume\": [\"N >= 1\"],\n"
                           "  \"tensors\": [\n"
                           "    { \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [64, 64] },\n"
                           "    { \"name\": \"B\", \"dtype\": \"bf16\", \"shape\": [64, 64] }",
                           seed, N);
    for (guint i = 0; i < n; i++)
        if (out[i].used)
            g_string_append_printf(s,
                                   ",\n    { \"name\": \"%s\", \"dtype\": \"f32\", \"shape\": [64, "
                                   "64], \"access\": \"%s\" }",
                                   out[i].name,
                                   d->options->tiles || !out[i].value ? "reduce" : "write");
    g_string_append(s, "\n  ],\n  \"reference\": [");
    for (guint i = 0, said = 0; i < n; i++) {
        if (!out[i].used)
            continue;
        g_string_append_printf(s, "%s\"%s[m,n] = ", said++ ? ",\n    " : "", out[i].name);
        if (out[i].of)
            g_string_append_printf(s, "%" G_GINT64_FORMAT "*%s\"", out[i].times, out[i].of);
        else
            g_string_append_printf(
                s, "select(n < 32, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")*" PRODUCT "\"",
                d->w[0], d->w[1]);
    }
    g_string_append_printf(s,
                           "],\n  \"tiles\": { \"axes\": { \"t\": %s }, \"launch\": \"%s\" },\n"
                           "  \"buffers\": [\n",
                           d->options->tiles ? "\"N\"" : "1",
                           d->options->tiles ? "persistent" : "single");
}

static void objects(const DrawOptions *o, GString *s)
{
    static const char buffer[] =
        "    { \"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [64, 64] }%s";
    static const char value[] =
        "        { \"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [64, 64] }%s";
    g_string_append_printf(s, buffer, "a", "bf16", ",\n");
    g_string_append_printf(s, buffer, "b", "bf16", "");
    for (guint i = 0; i < 4; i++) {
        static const char *const name[] = { "s", "s2", "g", "h" };
        if (i < 2 ? o->stores : o->gathers) {
            g_string_append(s, ",\n");
            g_string_append_printf(s, buffer, name[i], i < 2 ? "f32" : "bf16", "");
        }
    }
    g_string_append(s,
                    "\n  ],\n  \"barriers\": [ { \"name\": \"full\" } ],\n"
                    "  \"groups\": [\n    { \"name\": \"math\", \"role\": \"worker\", \"warps\": "
                    "4,\n      \"values\": [\n");
    g_string_append_printf(s, value, "x", "f32", ",\n");
    g_string_append_printf(s, value, "y", "f32", ",\n");
    if (o->parts)
        g_string_append_printf(s, value, "w", "f32", ",\n");
    if (o->stores)
        g_string_append_printf(s, value, "q", "f32", ",\n");
    if (o->gathers) {
        g_string_append_printf(s, value, "r", "f32", ",\n");
        g_string_append_printf(s, value, "v", "bf16", ",\n");
    }
    g_string_append_printf(s, value, "p", "bf16", "\n      ],\n      \"body\": ");
}

static char *attempt(guint32 seed, const DrawOptions *o)
{
    Draw d = { .rand = g_rand_new_with_seed(seed),
               .options = o,
               .out = g_string_new("["),
               .left = o->items,
               .p = 1 };
    g_autoptr(GPtrArray) loops = g_ptr_array_new();
    GPtrArray *parts = list_new();
    guint index[256] = { 0 };
    put(&d,
        "{ \"load\": \"A\", \"at\": [0, 0], \"into\": \"a\", \"signal\": \"full\", \"use\": 0 }");
    put(&d,
        "{ \"load\": \"B\", \"at\": [0, 0], \"into\": \"b\", \"signal\": \"full\", \"use\": 0 }");
    retire(&d, "wait", 0, loops, 1);
    put(&d, "{ \"read\": \"p\", \"from\": \"a\" }");
    g_autofree char *first =
        g_strdup_printf("{ \"compute\": [%s\"y = 0\"%s%s%s] }", o->tiles ? "" : "\"x = 0\", ",
                        o->parts ? ", \"w = 0\"" : "", o->stores ? ", \"q = p\"" : "",
                        o->gathers ? ", \"r = p*0\"" : "");
    put(&d, first);
    if (o->tiles)
        tiles(&d, parts);
    else
        first_products(&d, parts);
    while (d.left && d.loops < 200)
        list(&d, loops, parts, 3);
    retire(&d, "mma_wait", 0, loops, 2);
    if (o->stores)
        retire(&d, "store_wait", 0, loops, 2);
    run(&d, parts, index);
    const Output out[] = {
        { "X", "x", PRODUCT, o->tiles ? d.all_x : d.x, TRUE },
        { "Y", "y", PRODUCT, d.y, TRUE },
        { "W", "w", NULL, 0, o->parts },
        { "Z", NULL, "A[m,n]", d.z, o->stores },
        { "R", "r", "A[m,n]", d.r, o->gathers },
    };
    char *text = NULL;
    if (MAX(MAX(d.x, d.all_x), MAX(d.y, d.r)) <= MOST && MAX(MAX(d.w[0], d.w[1]), d.p) <= MOST) {
        for (guint i = 0; i < G_N_ELEMENTS(out); i++) {
            if (!out[i].used || !out[i].value || (o->tiles && i == 0))
                continue;
            g_autofree char *write =
                g_strdup_printf("{ \"write\": \"%s\", \"to\": \"%s\", \"at\": [0, 0]%s }",
                                out[i].value, out[i].name, o->tiles ? ", \"reduce\": \"add\"" : "");
            put(&d, write);
        }
        GString *s = g_string_new(NULL);
        declare(&d, s, seed, out, G_N_ELEMENTS(out));
        objects(o, s);
        g_string_append(s, d.out->str);
        g_string_append(s, "\n      ] }\n  ]\n}\n");
        text = g_string_free(s, FALSE);
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
