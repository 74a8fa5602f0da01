/* The recorder's plan: which operations read the clock and where their clocks go. */
#include "trace/recorder.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"

typedef struct {
    const WsOp *op;
    gboolean maybe; /* under a run-time branch of the strip's body */
} Leaf;

/* What a strip covers. */
typedef struct {
    GArray *leaves;    /* Leaf */
    gboolean products; /* a round of a counted loop that issues products */
    gboolean computes; /* … and computes */
    gboolean chained;  /* what precedes its first recorded operation has a clock: of the round
                          before, or of the steps in front of the loop */
} Shape;

typedef struct {
    GArray *strips; /* WsRecordStrip */
    const WsRecordChoice *choice;
    guint agent;
    const WsTree *root; /* its body */
} Plan;

/* The commit behind what was issued is of its unit, but for gathers: their time is that of their
 * own instructions. */
static gboolean closes(WsOpKind issue, WsOpKind kind)
{
    const WsEngine engine = ws_op_row(issue)->engine;
    return ws_op_flies(issue) && ws_op_closes(kind) && ws_op_row(kind)->engine == engine &&
           engine != WS_ENGINE_GATHER;
}

static gboolean holds_loop(const WsTree *t)
{
    if (!t)
        return FALSE;
    if (t->kind == WS_TREE_LOOP)
        return TRUE;
    for (guint i = 0; i < t->n_kids; i++)
        if (holds_loop(t->kid[i]))
            return TRUE;
    return FALSE;
}

static void collect(const WsTree *t, gboolean maybe, GArray *leaves)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_OP) {
        Leaf leaf = { t->op, maybe };
        g_array_append_val(leaves, leaf);
        return;
    }
    for (guint i = 0; i < t->n_kids; i++)
        collect(t->kid[i], maybe || t->kind == WS_TREE_BRANCH, leaves);
}

static const WsTree *home(const WsOp *op)
{
    return op->tree ? op->tree->parent : NULL;
}

/* Further boxes of one load, fragments of one write: same step, same kind, same list. */
static gboolean same_unit(const WsOp *a, const WsOp *b)
{
    return a->kind == b->kind && !ws_op_waits_at_barrier(a->kind) && home(a) == home(b) &&
           g_strcmp0(a->step, b->step) == 0;
}

/* Last leaf of the unit that begins at leaf i: same kind and step, then the unit's commit. Only
 * derived bookkeeping may lie between. */
static guint unit_end(const GArray *leaves, guint i)
{
    const WsOp *op = g_array_index(leaves, Leaf, i).op;
    guint end = i;
    for (guint j = i + 1; j < leaves->len; j++) {
        const WsOp *next = g_array_index(leaves, Leaf, j).op;
        if (same_unit(op, next)) {
            end = j;
        } else if (closes(op->kind, next->kind) && home(op) == home(next) &&
                   g_strcmp0(op->step, next->step) == 0) {
            return j;
        } else if (ws_op_measured(next->kind)) {
            break;
        }
    }
    return end;
}

static gboolean is_load(WsOpKind kind)
{
    return ws_op_brings(kind);
}

static gboolean is_arithmetic(WsOpKind kind)
{
    return ws_op_moves(kind, WS_DATA_AT_REGISTERS, WS_DATA_AT_REGISTERS);
}

/* One by one, not as matrices. */
static gboolean reads_values(WsOpKind kind)
{
    return kind == WS_OP_LD_SHARED;
}

/* In a round with products reads of shared memory beside a wait have no clock: it would stand
 * between the wait and the product, and they take a few cycles of issue. In front of the wait they
 * count to it, behind it to the product. */
static gboolean is_beside(const Leaf *read, const Leaf *beside)
{
    return reads_values(read->op->kind) && !read->maybe && !beside->maybe &&
           ws_op_waits_phase(beside->op->kind) && home(read->op) == home(beside->op);
}

/* The leaf of that wait in front of (by -1) or behind (1) a read; -1: none. */
static gint wait_beside(const GArray *leaves, guint i, gint by)
{
    const Leaf *read = &g_array_index(leaves, Leaf, i);
    for (gint j = (gint)i + by; j >= 0 && j < (gint)leaves->len; j += by) {
        const Leaf *leaf = &g_array_index(leaves, Leaf, j);
        if (is_beside(read, leaf))
            return j;
        if (!reads_values(leaf->op->kind) && ws_op_measured(leaf->op->kind))
            return -1;
    }
    return -1;
}

/* First recorded leaf from i on, or leaves->len. */
static guint next_recorded(const Shape *shape, guint i)
{
    const GArray *leaves = shape->leaves;
    while (i < leaves->len && (!ws_op_measured(g_array_index(leaves, Leaf, i).op->kind) ||
                               (shape->products && (wait_beside(leaves, i, -1) >= 0 ||
                                                    wait_beside(leaves, i, 1) >= 0))))
        i++;
    return i;
}

/* Two loads, one right behind the other in one list: a clock between them would only keep them
 * apart. */
static gboolean shares_clock(const Leaf *a, const Leaf *b)
{
    return is_load(a->op->kind) && is_load(b->op->kind) && home(a->op) == home(b->op);
}

/* Four words are written at once. A clock is not held over arithmetic that the tensor pipe waits
 * for: it has no register to spare. */
static guint new_group(guint words)
{
    return (words + 3) / 4 * 4;
}

static guint fill_points(const Shape *shape, gboolean apart, GArray *points)
{
    const GArray *leaves = shape->leaves;
    guint words = 0, run = 0;           /* points before this one have their clock */
    gboolean anchored = shape->chained; /* an unconditional clock precedes */
    for (guint i = next_recorded(shape, 0); i < leaves->len;) {
        const Leaf *leaf = &g_array_index(leaves, Leaf, i);
        guint end = unit_end(leaves, i);
        if (apart && is_arithmetic(leaf->op->kind))
            words = new_group(words);
        WsRecordPoint point = { .op = leaf->op->index, .before = -1, .maybe = leaf->maybe };
        if (!anchored && run == points->len)
            point.before = (gint)words++;
        g_array_append_val(points, point);
        i = next_recorded(shape, end + 1);
        if (i < leaves->len && shares_clock(leaf, &g_array_index(leaves, Leaf, i)))
            continue;
        for (; run < points->len; run++) {
            WsRecordPoint *p = &g_array_index(points, WsRecordPoint, run);
            p->at = g_array_index(leaves, Leaf, end).op->index;
            p->after = (gint)words;
        }
        words++;
        if (!leaf->maybe)
            anchored = TRUE;
    }
    return words;
}

static guint loops_with_total(const WsTree *t, gint total)
{
    guint n = t && t->kind == WS_TREE_LOOP && t->total_var == total;
    for (guint i = 0; t && i < t->n_kids; i++)
        n += loops_with_total(t->kid[i], total);
    return n;
}

static gboolean in_counted_loop(const WsTree *loop)
{
    return loop && loop->over != WS_OVER_TILES;
}

/* Holding clocks over a round costs registers, which a round that computes lacks. */
enum { FLUSH_WORDS = 8, FLUSH_WORDS_COMPUTING = 4 };

static gboolean flushes(const Shape *shape, const WsRecordChoice *choice, guint words)
{
    return shape->products && choice->every <= 1 && /* else late words: `every` rounds later */
           words <= (shape->computes ? FLUSH_WORDS_COMPUTING : FLUSH_WORDS);
}

static const WsOp *flush_of(const WsRecordStrip *strip, const GArray *leaves)
{
    for (guint i = 0; i < leaves->len; i++) {
        const Leaf *leaf = &g_array_index(leaves, Leaf, i);
        if (ws_op_is_product(leaf->op->kind) && !leaf->maybe)
            return leaf->op;
    }
    return NULL;
}

/* Words read before the flush are written there, the others a round later. */
static void choose_flush(WsRecordStrip *strip, const GArray *leaves, gboolean flushed)
{
    const WsOp *op = flushed ? flush_of(strip, leaves) : NULL;
    strip->flush = G_MAXUINT;
    strip->late = strip->words;
    for (guint k = 0; op && k < strip->n_points; k++) {
        if (strip->point[k].op == op->index) {
            strip->flush = op->index;
            strip->late = (guint)strip->point[k].after;
        }
    }
}

/* An operation that is recorded stands in `t`, under no condition and in no loop. */
static gboolean surely_measures(const WsTree *t)
{
    if (t->kind == WS_TREE_OP)
        return ws_op_measured(t->op->kind);
    for (guint i = 0; t->kind == WS_TREE_SEQ && i < t->n_kids; i++)
        if (surely_measures(t->kid[i]))
            return TRUE;
    return FALSE;
}

static gboolean measures_before(const WsTree *loop)
{
    const WsTree *seq = loop->parent;
    for (guint i = 0; seq && seq->kind == WS_TREE_SEQ && i < seq->n_kids && seq->kid[i] != loop;
         i++)
        if (surely_measures(seq->kid[i]))
            return TRUE;
    return FALSE;
}

/* The last step that the author drew in the round is recorded. */
static gboolean ends_measured(const GArray *leaves)
{
    for (guint i = leaves->len; i-- > 0;) {
        const Leaf *leaf = &g_array_index(leaves, Leaf, i);
        if (ws_op_measured(leaf->op->kind))
            return !leaf->maybe;
        if (!leaf->op->derived)
            return FALSE;
    }
    return FALSE;
}

/* Between a wait and its product every clock delays the product, so rounds with products have none
 * that another one says. */
static void find_shape(Shape *shape, const WsRecordChoice *choice, const WsTree *body,
                       const WsTree *loop, guint kid0, guint kid1)
{
    for (guint i = kid0; i < kid1; i++)
        collect(body->kid[i], FALSE, shape->leaves);
    for (guint i = 0; in_counted_loop(loop) && i < shape->leaves->len; i++) {
        const WsOpKind kind = g_array_index(shape->leaves, Leaf, i).op->kind;
        shape->products |= ws_op_is_product(kind);
        shape->computes |= is_arithmetic(kind);
    }
    const gboolean whole = loop && body == loop->kid[0] && kid0 == 0 && kid1 == body->n_kids;
    shape->chained = shape->products && whole && choice->every <= 1 && choice->first_round <= 0 &&
                     ends_measured(shape->leaves) && measures_before(loop);
}

static void add_strip(Plan *plan, const WsTree *body, const WsTree *loop, guint kid0, guint kid1)
{
    const WsRecordChoice *c = plan->choice;
    if (in_counted_loop(loop) && c->rounds <= 0)
        return;
    g_autoptr(GArray) leaves = g_array_new(FALSE, FALSE, sizeof(Leaf));
    Shape shape = { .leaves = leaves };
    find_shape(&shape, c, body, loop, kid0, kid1);
    GArray *points = g_array_new(FALSE, FALSE, sizeof(WsRecordPoint));
    guint words = fill_points(&shape, FALSE, points);
    /* Where other loops count on with its total, the last round's late words would find no line. */
    const gboolean flushed =
        flushes(&shape, c, words) && loops_with_total(plan->root, loop->total_var) == 1;
    if (shape.products && !flushed) {
        g_array_set_size(points, 0);
        words = fill_points(&shape, TRUE, points);
    }
    guint n_points = points->len;
    if (n_points == 0) {
        g_array_free(points, TRUE);
        return;
    }
    WsRecordStrip strip = { .agent = plan->agent,
                            .body = body,
                            .loop = loop,
                            .kid0 = kid0,
                            .kid1 = kid1,
                            .n_points = n_points,
                            .point = (WsRecordPoint *)g_array_free(points, FALSE) };
    strip.words = new_group(words);
    strip.round_bytes = 4 * strip.words;
    strip.every = in_counted_loop(loop) && loop->total_var >= 0 ? MAX(c->every, 1) : 1;
    strip.phase = strip.every > 1 ? ws_record_phase(strip.every, c->launch) : 0;
    choose_flush(&strip, leaves, flushed);
    if (!loop) {
        strip.rounds = 1;
    } else {
        gboolean inner = in_counted_loop(loop);
        strip.first_round = MAX(inner ? c->first_round : c->first_tile, 0);
        strip.rounds = CLAMP(inner ? c->rounds : c->tiles, 0, WS_RECORD_MAX_ROUNDS);
    }
    g_array_append_val(plan->strips, strip);
}

static void plan_body(Plan *plan, const WsTree *body, const WsTree *loop);

/* A kid that holds a loop: its own bodies become strips of their own. */
static void plan_nested(Plan *plan, const WsTree *t, const WsTree *loop)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_LOOP)
        plan_body(plan, t->kid[0], t);
    else if (t->kind == WS_TREE_BRANCH)
        for (guint i = 0; i < t->n_kids; i++)
            plan_nested(plan, t->kid[i], loop);
    else if (t->kind == WS_TREE_SEQ)
        plan_body(plan, t, loop);
}

static void plan_body(Plan *plan, const WsTree *body, const WsTree *loop)
{
    if (!body)
        return;
    guint from = 0;
    for (guint i = 0; i < body->n_kids; i++) {
        if (!holds_loop(body->kid[i]))
            continue;
        if (i > from)
            add_strip(plan, body, loop, from, i);
        plan_nested(plan, body->kid[i], loop);
        from = i + 1;
    }
    if (body->n_kids > from)
        add_strip(plan, body, loop, from, body->n_kids);
}

/* The first loop over tiles under `t`, NULL: none. */
static const WsTree *tile_loop(const WsTree *t)
{
    if (!t || (t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES))
        return t;
    for (guint i = 0; i < t->n_kids; i++) {
        const WsTree *found = tile_loop(t->kid[i]);
        if (found)
            return found;
    }
    return NULL;
}

/* All positions from 0 on: how many rounds precede a window depends on the tiles before it. */
static void plan_claimed(WsRecorder *r, const WsProgram *p, const WsRecordChoice *choice)
{
    if (p->tiles->launch != WS_LAUNCH_DYNAMIC)
        return;
    for (guint a = 0; a < p->n_agents; a++) {
        const WsTree *loop = tile_loop(p->agent[a].body);
        /* Rather not a producer: what it does for each tile delays its loads. */
        if (!loop || (r->claimed && p->agent[a].role == WS_ROLE_PRODUCER) ||
            (r->claimed && p->agent[r->claimed_agent].role != WS_ROLE_PRODUCER))
            continue;
        r->claimed = loop;
        r->claimed_agent = a;
    }
    const gint64 first = CLAMP(choice->first_tile, 0, WS_RECORD_MAX_ROUNDS);
    const gint64 tiles = CLAMP(choice->tiles, 0, WS_RECORD_MAX_ROUNDS);
    r->claimed_lines = r->claimed ? first + tiles + 1 : 0;
}

static void index_points(WsRecorder *r)
{
    r->by_op = g_new(gint, MAX(2 * r->n_ops, 1));
    r->by_at = g_new(gint, MAX(2 * r->n_ops, 1));
    for (guint i = 0; i < 2 * r->n_ops; i++)
        r->by_op[i] = r->by_at[i] = -1;
    for (guint s = 0; s < r->n_strips; s++) {
        for (guint k = 0; k < r->strip[s].n_points; k++) {
            const WsRecordPoint *p = &r->strip[s].point[k];
            r->by_op[2 * p->op] = r->by_at[2 * p->at] = (gint)s;
            r->by_op[2 * p->op + 1] = r->by_at[2 * p->at + 1] = (gint)k;
        }
    }
}

gboolean ws_record_every_possible(gint64 every)
{
    return every >= 0 && every <= WS_RECORD_MAX_EVERY && (every & (every - 1)) == 0;
}

gint64 ws_recorder_at(const WsRecordStrip *strip, gint64 total, guint word)
{
    gint64 line = total - strip->first_round;
    if (line < 0 || line >= strip->rounds || total % strip->every != strip->phase)
        return -1;
    line = line / strip->every + (word >= strip->late);
    return (gint64)strip->offset + line * strip->round_bytes + 4 * (gint64)word;
}

guint64 ws_recorder_lines(const WsRecordStrip *strip)
{
    const guint64 recorded = (guint64)((strip->rounds + strip->every - 1) / strip->every);
    return recorded + (strip->flush != G_MAXUINT) + (strip->loop != NULL);
}

WsRecorder *ws_recorder_new(const WsProgram *p, const WsRecordChoice *choice)
{
    Plan plan = { .strips = g_array_new(FALSE, FALSE, sizeof(WsRecordStrip)), .choice = choice };
    for (guint a = 0; a < p->n_agents; a++) {
        plan.agent = a;
        plan.root = p->agent[a].body;
        plan_body(&plan, p->agent[a].body, NULL);
    }
    WsRecorder *r = g_new0(WsRecorder, 1);
    r->n_strips = plan.strips->len;
    r->strip = (WsRecordStrip *)g_array_free(plan.strips, FALSE);
    /* Agents' strips follow each other, each on a 128-byte line of its own. */
    guint64 offset = WS_RECORD_HEADER_BYTES;
    for (guint s = 0; s < r->n_strips; s++) {
        offset = (offset + 127) / 128 * 128;
        r->strip[s].offset = offset;
        offset += ws_recorder_lines(&r->strip[s]) * r->strip[s].round_bytes;
    }
    plan_claimed(r, p, choice);
    r->claimed_offset = (offset + 127) / 128 * 128;
    offset = r->claimed_lines ? r->claimed_offset + 8 * (guint64)r->claimed_lines : offset;
    r->cta_bytes = (offset + 127) / 128 * 128;
    r->rounds = choice->rounds > 0;
    r->launches = MAX(choice->launches, 1);
    r->n_ctas = choice->n_ctas;
    r->cta = g_memdup2(choice->cta, choice->n_ctas * sizeof *choice->cta);
    r->n_ops = p->n_ops;
    index_points(r);
    return r;
}

guint ws_recorder_cta(const WsRecorder *r, guint i, gint64 grid, guint cluster)
{
    const gint64 last = grid - MAX(cluster, 1);
    return r->cta[i] == WS_RECORD_LAST_CTA ? (guint)MAX(last, 0) : r->cta[i];
}

void ws_recorder_free(WsRecorder *r)
{
    if (!r)
        return;
    for (guint s = 0; s < r->n_strips; s++)
        g_free(r->strip[s].point);
    g_free(r->strip);
    g_free(r->cta);
    g_free(r->by_op);
    g_free(r->by_at);
    g_free(r);
}

static const WsRecordPoint *look_up(const WsRecorder *r, const gint *table, const WsOp *op,
                                    const WsRecordStrip **strip)
{
    if (op->index >= r->n_ops || table[2 * op->index] < 0)
        return NULL;
    const WsRecordStrip *s = &r->strip[table[2 * op->index]];
    if (strip)
        *strip = s;
    return &s->point[table[2 * op->index + 1]];
}

const WsRecordPoint *ws_recorder_point(const WsRecorder *r, const WsOp *op,
                                       const WsRecordStrip **strip)
{
    return look_up(r, r->by_op, op, strip);
}

const WsRecordPoint *ws_recorder_after(const WsRecorder *r, const WsOp *op,
                                       const WsRecordStrip **strip)
{
    return look_up(r, r->by_at, op, strip);
}
