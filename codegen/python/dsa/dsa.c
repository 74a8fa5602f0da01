#include "codegen/python/dsa/dsa.h"

#include "base/phrase.h"
#include "codegen/generate.h"
#include "codegen/python/dsa/order.h"
#include "codegen/python/dsa/ring.h"
#include "codegen/python/dsa/scope.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "target/core.h"
#include "target/target.h"

#include <string.h>

typedef struct {
    const WsProgram *p;
    GString *out;
    guint depth;
    GHashTable *written; /* buffers that a step above has written */
    GHashTable *ring;    /* what this round has written of rings */
    GHashTable *awaited; /* "flag use": a wait above; a set behind it is refused */
    GHashTable *set;     /* flags that a step above has set */
    WsDsaScope scope;
    gboolean host;    /* what is written runs there */
    const WsOp *here; /* the operation that is being written, or NULL */
    const WsOp *op;
    char *why;
    const char *remedy;
} Dsa;

static void refuse_with(Dsa *d, const WsOp *op, const char *remedy, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
#define refuse(d, op, ...) refuse_with(d, op, NULL, __VA_ARGS__)
static void refuse_with(Dsa *d, const WsOp *op, const char *remedy, const char *format, ...)
{
    va_list args;
    if (d->why)
        return;
    d->remedy = remedy;
    va_start(args, format);
    d->why = ws_phrase_v(format, args);
    va_end(args);
    d->op = op ? op : d->here;
}

static void line(Dsa *d, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void line(Dsa *d, const char *format, ...)
{
    va_list args;
    g_string_append_printf(d->out, "%*s", 4 * (int)d->depth, "");
    va_start(args, format);
    g_string_append_vprintf(d->out, format, args);
    va_end(args);
    g_string_append_c(d->out, '\n');
}

/* --- expressions ------------------------------------------------------------------------------ */

static void put(Dsa *d, GString *s, const WsExpr *e)
{
    static const char *const sign[] = {
        [WS_EXPR_ADD] = "+", [WS_EXPR_SUB] = "-", [WS_EXPR_MUL] = "*", [WS_EXPR_DIV] = "//",
        [WS_EXPR_MOD] = "%", [WS_EXPR_LT] = "<",  [WS_EXPR_LE] = "<=", [WS_EXPR_GT] = ">",
        [WS_EXPR_GE] = ">=", [WS_EXPR_EQ] = "==", [WS_EXPR_NE] = "!=", [WS_EXPR_AND] = "and",
        [WS_EXPR_OR] = "or",
    };
    const gboolean logical = e->op == WS_EXPR_AND || e->op == WS_EXPR_OR;
    const char *call = e->op != WS_EXPR_CALL     ? NULL
                       : e->func == WS_FUNC_CDIV ? (d->host ? "triton.cdiv" : "tl.cdiv")
                       : e->func == WS_FUNC_MIN  ? (d->host ? "min" : "tl.minimum")
                       : e->func == WS_FUNC_MAX  ? (d->host ? "max" : "tl.maximum")
                                                 : NULL;
    const gboolean divides =
        e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD || (call && e->func == WS_FUNC_CDIV);
    if (e->op == WS_EXPR_INT) {
        g_string_append_printf(s, "%" G_GINT64_FORMAT, e->i);
    } else if (e->op == WS_EXPR_VAR && ws_dsa_readable(&d->scope, e)) {
        g_string_append(s, e->name);
    } else if (e->op == WS_EXPR_VAR && e->name && ws_dsa_open(&d->scope, e->name)) {
        refuse_with(d, NULL, "places by the axes of the tiles",
                    "%s, the position in a loop over tiles", e->name);
    } else if (divides && e->n_args == 2 && !d->host &&
               !ws_dsa_floors(&d->scope, e->arg[0], e->arg[1])) {
        g_autofree char *text = ws_expr_print(e);
        refuse_with(d, NULL,
                    "a multiple of the divisor added to the dividend, and a divisor that is a "
                    "constant above 0",
                    "%s, which rounds down, where the text would round towards 0: the dividend is "
                    "not shown to be 0 or more and the divisor above 0",
                    text);
    } else if (e->n_args == 2 && (d->host || !logical) &&
               ((guint)e->op < G_N_ELEMENTS(sign) && sign[e->op])) {
        g_string_append_c(s, '(');
        put(d, s, e->arg[0]);
        g_string_append_printf(s, " %s ", sign[e->op]);
        put(d, s, e->arg[1]);
        g_string_append_c(s, ')');
    } else if (call && e->n_args == 2) {
        g_string_append_printf(s, "%s(", call);
        put(d, s, e->arg[0]);
        g_string_append(s, ", ");
        put(d, s, e->arg[1]);
        g_string_append_c(s, ')');
    } else {
        g_autofree char *text = ws_expr_print(e);
        refuse(d, NULL, "the expression %s", text);
    }
}

/* Caller frees. */
static char *text_of(Dsa *d, const WsExpr *e)
{
    GString *s = g_string_new(NULL);
    put(d, s, e);
    return g_string_free(s, FALSE);
}

static const char *type_of(Dsa *d, WsDtype t)
{
    if (t != WS_DTYPE_F32 && t != WS_DTYPE_F16 && t != WS_DTYPE_BF16)
        refuse(d, NULL, "elements of type %s", ws_dtype_text(t));
    return t == WS_DTYPE_F32 ? "tl.float32" : t == WS_DTYPE_F16 ? "tl.float16" : "tl.bfloat16";
}

/* --- tiles ------------------------------------------------------------------------------------ */

static const WsBuffer *buffer(const Dsa *d, const WsAccess *a)
{
    return &d->p->buffer[a->buffer];
}

/* The whole tile, in the round's own use. */
static const char *tile(Dsa *d, const WsOp *op, const WsAccess *a)
{
    const WsBuffer *b = buffer(d, a);
    if (a->rows != b->rows || a->cols != b->cols || b->array > 1)
        refuse(d, op, "a part of %s; write it as a buffer of its own", b->name);
    if (b->over >= 0)
        refuse(d, op, "%s lies over %s", b->name, d->p->buffer[b->over].name);
    if (a->mode & WS_MODE_READ && !g_hash_table_contains(d->written, b->name))
        refuse(d, op, "%s is read in front of what writes it", b->name);
    const char *remedy = NULL;
    g_autofree char *other = b->stages > 1 ? ws_dsa_ring_touch(d->ring, b, a, &remedy) : NULL;
    if (other)
        refuse_with(d, op, remedy, "%s", other);
    if (a->mode & WS_MODE_WRITE)
        g_hash_table_add(d->written, b->name);
    return b->name;
}

/* "X_ptr + …" and the tail of the copy. */
static void pointers(Dsa *d, const WsOp *op, char **at, char **shape)
{
    const WsTensor *t = &d->p->tensor[op->tensor];
    const WsAccess *a = &op->access[0];
    GString *p = g_string_new(NULL), *n = g_string_new(NULL);
    g_string_append_printf(p, "%s_ptr", t->name);
    if (t->rank > 2)
        refuse(d, op, "%s has %u dimensions", t->name, t->rank);
    for (guint i = 0; i < t->rank && !d->why; i++) {
        const guint extent = i + 1 == t->rank ? a->cols : a->rows;
        g_autofree char *c = text_of(d, op->coord[i]), *stride = text_of(d, t->stride[i]),
                        *length = text_of(d, t->shape[i]);
        if (ws_dsa_interval(&d->scope, op->coord[i]).lo < 0) {
            g_autofree char *place = ws_expr_print(op->coord[i]);
            refuse_with(d, op, "max(…, 0), or loops that begin later",
                        "a place %s that is not shown to be 0 or more: the text would go to what "
                        "lies in front of %s",
                        place, t->name);
        }
        g_string_append_printf(p, " + (%s + tl.arange(0, %u).to(tl.int64))%s*%s", c, extent,
                               t->rank == 1 ? ""
                               : i == 0     ? "[:, None]"
                                            : "[None, :]",
                               stride);
        g_string_append_printf(n, "%stl.maximum(tl.minimum(%s - %s, %u), 0)", i ? ", " : "", length,
                               c, extent);
    }
    *at = g_string_free(p, FALSE);
    *shape = g_string_free(n, FALSE);
}

static gboolean is_sums(const Dsa *d, guint b)
{
    return d->p->buffer[b].space == (gint)d->p->hardware->core->sums;
}

static void copy_in(Dsa *d, const WsOp *op)
{
    g_autofree char *at = NULL, *shape = NULL;
    pointers(d, op, &at, &shape);
    line(d, "tle.dsa.copy(%s, %s, [%s])", at, tile(d, op, &op->access[0]), shape);
}

static void copy_out(Dsa *d, const WsOp *op)
{
    g_autofree char *at = NULL, *shape = NULL;
    const char *from = tile(d, op, &op->access[0]);
    pointers(d, op, &at, &shape);
    if (!is_sums(d, op->access[0].buffer))
        line(d, "tle.dsa.copy(%s, %s, [%s])", from, at, shape);
    else
        line(d, "tle.dsa.copy(tle.dsa.to_buffer(%s.to(%s), space=tle.dsa.ascend.L0C), %s, [%s])",
             from, type_of(d, d->p->tensor[op->tensor].dtype), at, shape);
}

static void move(Dsa *d, const WsOp *op)
{
    const char *from = tile(d, op, &op->access[0]), *into = tile(d, op, &op->access[1]);
    if (is_sums(d, op->access[0].buffer))
        refuse(d, op, "a move of sums to another space");
    line(d, "tle.dsa.copy(%s, %s, [%u, %u])", from, into, op->access[0].rows, op->access[0].cols);
}

static void vector(Dsa *d, const WsOp *op)
{
    const char *a = tile(d, op, &op->access[1]), *b = tile(d, op, &op->access[2]),
               *into = tile(d, op, &op->access[0]);
    line(d, "tle.dsa.%s(%s, %s, %s)", op->math_name, a, b, into);
}

static void cube(Dsa *d, const WsOp *op)
{
    const char *a = tile(d, op, &op->access[1]), *b = tile(d, op, &op->access[2]),
               *sums = tile(d, op, &op->access[0]);
    if (op->restart)
        line(d, "%s = tl.zeros([%u, %u], tl.float32)", sums, op->access[0].rows,
             op->access[0].cols);
    g_autofree char *right = op->access[2].transposed
                                 ? g_strdup_printf("tle.dsa.to_tensor(%s)", b)
                                 : g_strdup_printf("tl.trans(tle.dsa.to_tensor(%s))", b);
    line(d, "%s = tl.dot(tle.dsa.to_tensor(%s), %s, %s)", sums, a, right, sums);
}

/* A set after a wait of the same use: the stream in its own order would not do what the queues do.
 */
static void flag(Dsa *d, const WsOp *op, gboolean waits)
{
    g_autofree char *use = op->use ? ws_expr_print(op->use) : g_strdup(""),
                    *element = op->element ? ws_expr_print(op->element) : g_strdup("");
    char *key = g_strdup_printf("%s %s %s", d->p->barrier[op->barrier].name, element, use);
    if (!waits && g_hash_table_contains(d->awaited, key))
        refuse(d, op, "flag %s is set after its wait in the stream",
               d->p->barrier[op->barrier].name);
    if (waits && !g_hash_table_contains(d->set, d->p->barrier[op->barrier].name))
        refuse(d, op, "flag %s is set after its wait in the stream",
               d->p->barrier[op->barrier].name);
    if (waits) {
        g_hash_table_add(d->awaited, key);
    } else {
        g_hash_table_add(d->set, d->p->barrier[op->barrier].name);
        g_free(key);
    }
}

static void operation(Dsa *d, const WsOp *op)
{
    static const struct {
        WsOpKind kind;
        void (*put)(Dsa *d, const WsOp *op);
    } work[] = {
        { WS_OP_QUEUE_IN, copy_in }, { WS_OP_QUEUE_OUT, copy_out }, { WS_OP_QUEUE_MOVE, move },
        { WS_OP_VECTOR, vector },    { WS_OP_CUBE, cube },
    };
    if (ws_op_waits_phase(op->kind) || ws_op_completes(op->kind)) {
        flag(d, op, ws_op_waits_phase(op->kind));
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(work); i++)
        if (work[i].kind == op->kind) {
            d->here = op;
            work[i].put(d, op);
            d->here = NULL;
            return;
        }
    if (op->n_access || op->var >= 0)
        refuse(d, op, "operation %s", ws_op_kind_text(op->kind));
}

/* --- the stream --------------------------------------------------------------------------------
 */

static void sequences(Dsa *d, GPtrArray *seq, const char *prefix);

static void tiles_names(Dsa *d, const char *id)
{
    const WsTiles *t = d->p->tiles;
    for (guint a = 0; a < t->n_axes; a++) {
        GString *by = g_string_new(NULL);
        for (guint k = a + 1; k < t->n_axes; k++) {
            g_autofree char *extent = text_of(d, t->axis[k].extent);
            g_string_append_printf(by, "//%s", extent);
        }
        g_autofree char *extent = text_of(d, t->axis[a].extent);
        if (a)
            line(d, "%s = %s%s %% %s", t->axis[a].name, id, by->str, extent);
        else
            line(d, "%s = %s%s", t->axis[a].name, id, by->str);
        g_string_free(by, TRUE);
    }
}

static void head_of_loop(Dsa *d, const WsTree *t)
{
    const WsTiles *tiles = d->p->tiles;
    if (t->over == WS_OVER_TILES) {
        gint64 from = 0, by = 1;
        if ((t->from && (!ws_expr_is_int(t->from, &from) || from)) ||
            (t->step_by && (!ws_expr_is_int(t->step_by, &by) || by != 1)))
            refuse_with(d, NULL, "a loop over all tiles",
                        "the loop %s over tiles with from or step", t->name);
        GString *n = g_string_new(NULL);
        for (guint a = 0; a < tiles->n_axes; a++) {
            g_autofree char *extent = text_of(d, tiles->axis[a].extent);
            g_string_append_printf(n, "%s%s", a ? "*" : "", extent);
        }
        line(d, "for tile in range(tl.program_id(0), %s, tl.num_programs(0)):", n->str);
        g_string_free(n, TRUE);
        d->depth++;
        tiles_names(d, "tile");
        return;
    }
    if (t->over != WS_OVER_COUNT || !t->count || !ws_expr_is_int(t->step_by, &(gint64){ 0 })) {
        refuse(d, NULL, "the loop %s", t->name);
        return;
    }
    g_autofree char *count = text_of(d, t->count), *from = text_of(d, t->from),
                    *by = text_of(d, t->step_by);
    line(d, "for %s in range(%s, %s + %s*%s, %s):", t->name, from, from, by, count, by);
    d->depth++;
}

static void one_loop(Dsa *d, GPtrArray *same)
{
    g_autoptr(GPtrArray) inside = ws_dsa_bodies(same, 0);
    g_autoptr(GHashTable) ring = ws_dsa_ring_inside(d->ring);
    g_autoptr(GHashTable) awaited = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTable *outer = d->ring, *before = d->awaited;
    gboolean work = FALSE;
    for (guint i = 0; i < same->len; i++)
        work |= ws_dsa_works(same->pdata[i]);
    d->ring = ring, d->awaited = awaited;
    g_autofree char *prefix = g_strdup_printf("%s/do/", ws_dsa_step(same->pdata[0]));
    if (work)
        head_of_loop(d, same->pdata[0]);
    g_ptr_array_add(d->scope.loop, same->pdata[0]);
    sequences(d, inside, prefix); /* flags alone: judged, not written */
    g_ptr_array_set_size(d->scope.loop, (gint)d->scope.loop->len - 1);
    d->depth -= work;
    d->ring = outer, d->awaited = before;
    ws_dsa_ring_behind(outer, ring, same->pdata[0]);
}

/* Sums of a ring that begin anew in the first round of the loop, and are one slot in all of it:
 * everything else would add to what another use left. */
static gboolean begins_loop(const Dsa *d, const WsExpr *cond, const WsAccess *sums)
{
    const WsTree *loop = ws_dsa_innermost(&d->scope);
    gint64 first, at;
    return loop && loop->over == WS_OVER_COUNT && loop->name && cond->op == WS_EXPR_EQ &&
           cond->arg[0]->op == WS_EXPR_VAR && cond->arg[0]->name &&
           strcmp(cond->arg[0]->name, loop->name) == 0 && ws_expr_is_int(cond->arg[1], &at) &&
           ws_expr_is_int(loop->from, &first) && at == first && sums->use &&
           !ws_dsa_varies(sums->use, loop);
}

/* A branch of one product: whether its sums begin anew. Other conditions are not written. */
static void one_branch(Dsa *d, GPtrArray *same)
{
    const WsTree *t = same->pdata[0];
    const WsTree *then = t->kid[0], *other = t->n_kids > 1 ? t->kid[1] : NULL;
    const WsOp *op = then && then->n_kids == 1 ? then->kid[0]->op : NULL,
               *more = other && other->n_kids == 1 ? other->kid[0]->op : NULL;
    if (same->len != 1 || !op || !more || !op->restart || more->restart || op->step != more->step) {
        refuse(d, op, "a condition");
        return;
    }
    const WsBuffer *sums = buffer(d, &op->access[0]);
    if (sums->stages > 1 && !begins_loop(d, t->cond, &op->access[0]))
        refuse_with(d, op, "first of the innermost loop's first round, and one use in all of it",
                    "sums in the ring %s that start from zero under another condition", sums->name);
    g_autofree char *cond = text_of(d, t->cond);
    line(d, "if %s:", cond);
    d->depth++;
    line(d, "%s = tl.zeros([%u, %u], tl.float32)", sums->name, op->access[0].rows,
         op->access[0].cols);
    d->depth--;
    tile(d, op,
         &(WsAccess){ .buffer = op->access[0].buffer,
                      .use = op->access[0].use,
                      .rows = op->access[0].rows,
                      .cols = op->access[0].cols,
                      .mode = WS_MODE_WRITE });
    cube(d, more);
}

static void placed(Dsa *d, const WsTree *t, const char *prefix)
{
    const char *step = ws_dsa_step(t);
    if (!strstr(step, "/body/"))
        refuse(d, t->op, "%s, which has an id of its own: its place in the stream is not known",
               step);
    else if (!g_str_has_prefix(step, prefix) || strchr(step + strlen(prefix), '/'))
        refuse(d, t->op, "a step that runs ahead, or under a condition");
}

/* `prefix`: how the paths of the steps that stand here begin; others were brought here, as what
 * runs ahead is. */
static void sequences(Dsa *d, GPtrArray *seq, const char *prefix)
{
    g_autoptr(GPtrArray) kids = g_ptr_array_new();
    for (guint i = 0; i < seq->len; i++)
        ws_dsa_collect(kids, seq->pdata[i]);
    g_ptr_array_sort(kids, ws_dsa_in_order);
    for (guint i = 0; i < kids->len; i++)
        placed(d, kids->pdata[i], prefix);
    for (guint i = 0; i < kids->len && !d->why;) {
        const WsTree *t = kids->pdata[i];
        g_autoptr(GPtrArray) same = g_ptr_array_new();
        if (t->op) {
            operation(d, t->op);
            i++;
            continue;
        }
        for (; i < kids->len && strcmp(ws_dsa_step(kids->pdata[i]), ws_dsa_step(t)) == 0; i++)
            if (((const WsTree *)kids->pdata[i])->kind == t->kind)
                g_ptr_array_add(same, kids->pdata[i]);
        if (t->kind == WS_TREE_LOOP)
            one_loop(d, same);
        else
            one_branch(d, same);
    }
}

/* --- the file --------------------------------------------------------------------------------- */

static void run_names(Dsa *d)
{
    const WsProgram *p = d->p;
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind != WS_VAR_RUN)
            continue;
        g_autofree char *value = text_of(d, p->var[i].value);
        line(d, "%s = %s", p->var[i].name, value);
    }
}

/* What a launch is: the assumptions, and as many programs as there are tiles, or cores. */
static void host(Dsa *d)
{
    const WsProgram *p = d->p;
    GString *parameters = g_string_new(NULL), *grid = g_string_new(NULL);
    for (guint i = 0; i < p->n_tensors; i++)
        g_string_append_printf(parameters, "%s%s", i ? ", " : "", p->tensor[i].name);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(parameters, ", %s", p->var[i].name);
    d->depth = 0;
    d->host = TRUE;
    g_string_append(d->out, "\n\n");
    line(d, "def launch(%s%s):", parameters->str,
         p->tiles->launch == WS_LAUNCH_SINGLE ? "" : ", cores");
    d->depth++;
    run_names(d);
    for (guint i = 0; i < p->n_assume; i++) {
        g_autofree char *condition = text_of(d, p->assume[i]);
        g_autofree char *shown = g_strescape(p->assume_text[i], NULL);
        line(d, "if not (%s):", condition);
        line(d, "    raise ValueError(\"%s does not hold\")", shown);
    }
    if (p->tiles->launch != WS_LAUNCH_SINGLE) {
        line(d, "if not (cores >= 1):");
        line(d, "    raise ValueError(\"cores >= 1 does not hold\")");
    }
    for (guint a = 0; a < p->tiles->n_axes; a++) {
        g_autofree char *extent = text_of(d, p->tiles->axis[a].extent);
        g_string_append_printf(grid, "%s%s", a ? "*" : "", extent);
    }
    line(d, "kernel[(%s,)](%s)", p->tiles->launch == WS_LAUNCH_SINGLE ? grid->str : "cores",
         parameters->str);
    g_string_free(parameters, TRUE);
    g_string_free(grid, TRUE);
}

static void objects(Dsa *d)
{
    const WsProgram *p = d->p;
    for (guint i = 0; i < p->n_buffers; i++) {
        const WsBuffer *b = &p->buffer[i];
        g_autofree char *shape = b->rank == 1 ? g_strdup_printf("[%u]", b->cols)
                                              : g_strdup_printf("[%u, %u]", b->rows, b->cols);
        g_autofree char *stages =
            b->stages > 1 ? g_strdup_printf("  # stages: %u", b->stages) : g_strdup("");
        if (is_sums(d, i))
            line(d, "%s = tl.zeros(%s, tl.float32)", b->name, shape);
        else
            line(d, "%s = tle.dsa.alloc(%s, dtype=%s, mem_addr_space=tle.dsa.ascend.%s)%s", b->name,
                 shape, type_of(d, b->dtype), ws_core_space_name(p->hardware->core, b->space),
                 stages);
    }
    run_names(d);
    if (p->tiles->launch == WS_LAUNCH_SINGLE)
        tiles_names(d, "tl.program_id(0)");
}

static void judge(Dsa *d)
{
    const WsTiles *t = d->p->tiles;
    g_autofree char *clash = ws_dsa_clash(d->p);
    if (clash)
        refuse_with(d, NULL, "another name", "%s", clash);
    if (t->order != WS_ORDER_LINEAR)
        refuse(d, NULL, "tiles in another order than linear");
    for (guint a = 0; a < t->n_axes; a++)
        if (t->axis[a].reverse)
            refuse(d, NULL, "axis %s runs backwards", t->axis[a].name);
    for (guint i = 0; i < d->p->n_vars; i++)
        if (d->p->var[i].kind == WS_VAR_SCALAR || d->p->var[i].kind == WS_VAR_TILE)
            refuse(d, NULL, "%s, which is not a size", d->p->var[i].name);
}

static void whole(Dsa *d)
{
    const WsProgram *p = d->p;
    GString *arguments = g_string_new(NULL);
    for (guint i = 0; i < p->n_tensors; i++)
        g_string_append_printf(arguments, "%s%s_ptr", i ? ", " : "", p->tensor[i].name);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(arguments, ", %s", p->var[i].name);
    line(d, "# %s: TLE-DSA, written by Warpstave from a design of the target %s.", p->name,
         p->target);
    line(d, "# The steps stand in the order of the stream. Flags, barriers and the slots of rings "
            "are not");
    line(d, "# written: the compiler of TLE-DSA orders queues and doubles buffers itself.");
    line(d, "# Numbers of tiles and places in a tensor are 32-bit integers, so every size, every "
            "number of");
    line(d, "# tiles and every sum in a place has to stay below 2**31; offsets have 64 bits.");
    for (guint i = 0; i < p->n_granted; i++)
        line(d, "# taken for granted: %s", p->granted[i]);
    line(d, "import triton");
    line(d, "import triton.language as tl");
    line(d, "import triton.experimental.tle as tle");
    g_string_append(d->out, "\n\n");
    line(d, "@triton.jit");
    line(d, "def kernel(%s):", arguments->str);
    g_string_free(arguments, TRUE);
    d->depth++;
    objects(d);
    g_autoptr(GPtrArray) seq = g_ptr_array_new();
    for (guint a = 0; a < p->n_agents; a++)
        g_ptr_array_add(seq, p->agent[a].body);
    g_autofree char *prefix = g_strdup_printf("%s/body/", p->agent[0].path);
    sequences(d, seq, prefix);
    host(d);
}

char *ws_generate_dsa(const WsProgram *p, GError **error)
{
    Dsa d = { .p = p, .out = g_string_new(NULL), .scope = { p, g_ptr_array_new() } };
    d.written = g_hash_table_new(g_str_hash, g_str_equal);
    d.ring = ws_dsa_ring_new();
    d.awaited = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    d.set = g_hash_table_new(g_str_hash, g_str_equal);
    judge(&d);
    if (!d.why)
        whole(&d);
    g_hash_table_unref(d.written);
    g_hash_table_unref(d.ring);
    g_hash_table_unref(d.awaited);
    g_hash_table_unref(d.set);
    g_ptr_array_unref(d.scope.loop);
    if (d.why) {
        ws_generate_refuse(error, "tle", d.op, NULL, d.why, d.remedy);
        g_free(d.why);
        g_string_free(d.out, TRUE);
        return NULL;
    }
    return g_string_free(d.out, FALSE);
}
