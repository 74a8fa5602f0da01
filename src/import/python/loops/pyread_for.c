#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* `for` and `while` of Python: which loops of a design they are. */

/* A round of a loop whose rounds are walked one by one. */
static void run_one(PyRead *p, const WsPyNode *body, gint64 round)
{
    const gsize outer = p->rounds->len;
    g_string_append_printf(p->rounds, "%" G_GINT64_FORMAT " ", round);
    py_run(p, body);
    g_string_truncate(p->rounds, outer);
}

/* Round by round: static_range, and loops outside of groups, which set up barriers. */
static void unrolled(PyRead *p, const WsPyNode *node, const WsExpr *start, const WsExpr *stop,
                     const WsExpr *step)
{
    gint64 a, b, c;
    if (!ws_x_is(start, &a) || !ws_x_is(stop, &b) || !ws_x_is(step, &c) || c < 1 || b - a > 1024) {
        py_opaque_step(p, node, "a loop to be unrolled whose bounds are not numbers");
        return;
    }
    for (; a < b && !*p->r->error && !(p->frame && p->frame->returned); a += c) {
        if (node->kid[0]->kind == WS_PY_NAME)
            py_assign(p, node->kid[0]->text, py_literal(p, a));
        run_one(p, node->kid[2], a);
    }
}

/* num_stages=1, warp_specialize=False: a loop that the compiler leaves as it is. */
static gboolean leaves_loop(PyRead *p, const WsPyNode *arg)
{
    gint64 n;
    const gboolean stages = !strcmp(arg->text, "num_stages");
    if (!stages && strcmp(arg->text, "warp_specialize") && strcmp(arg->text, "flatten"))
        return FALSE;
    const Val *v = py_eval(p, arg->kid[0]);
    return v->kind == VAL_NONE || (py_known(v, &n) && (n == 0 || (stages && n == 1)));
}

/* num_stages=3 of a loop whose products take what it loads (TLE). */
static gboolean stages_loop(PyRead *p, const WsPyNode *arg, const WsPyNode *loop)
{
    gint64 n;
    return p->from == WS_IMPORT_TLE && p->group && !strcmp(arg->text, "num_stages") &&
           py_known(py_eval(p, arg->kid[0]), &n) && n >= 2 && n <= 64 && py_stage_loop(p, loop, n);
}

/* pipe_stages and what goes with it, where all of it is read. */
static gboolean hints_loop(PyRead *p, const WsPyNode *arg, const WsPyNode *loop)
{
    return (!strcmp(arg->text, "pipe_stages") || !strcmp(arg->text, "pipe_orders") ||
            !strcmp(arg->text, "executors") || !strcmp(arg->text, "num_stages")) &&
           py_hint_loop(p, loop);
}

static gboolean is_range(const PyRead *p, const char *full, const char *last)
{
    const gboolean pipeline = p->from == WS_IMPORT_TLE && g_str_has_suffix(full, "gpu.pipeline");
    return !strchr(full, '/') &&
           (!strcmp(last, "range") || !strcmp(last, "static_range") || pipeline);
}

static gboolean range_of(PyRead *p, const WsPyNode *loop, const WsExpr **part, gboolean *unroll)
{
    const WsPyNode *call = loop->kid[1];
    g_autofree char *dotted = call->kind == WS_PY_CALL ? ws_python_dotted(call->kid[0]) : NULL;
    if (!dotted)
        return FALSE;
    g_autofree char *root = g_strndup(dotted, strcspn(dotted, "."));
    const Val *from = py_lookup(p, root);
    if (from->kind != VAL_NAME)
        return FALSE; /* a function of the file */
    g_autofree char *full = g_strconcat(from->text, dotted + strlen(root), NULL);
    const char *last = strrchr(full, '.');
    last = last ? last + 1 : full;
    if (!is_range(p, full, last))
        return FALSE;
    *unroll = !strcmp(last, "static_range");
    if (p->from == WS_IMPORT_TLE && p->group && !*unroll)
        py_stage_loop(p, loop, 1); /* unless a keyword says how many */
    for (guint i = 1; i < call->n; i++)
        if (p->in_kernel && call->kid[i]->kind == WS_PY_KEYWORD &&
            !py_law_keyword(last, call->kid[i]->text) && !leaves_loop(p, call->kid[i]) &&
            !stages_loop(p, call->kid[i], loop) && !hints_loop(p, call->kid[i], loop))
            py_opaque_step(p, call, ws_source_format(p->r, "the keyword `%s`", call->kid[i]->text));
    guint n = 0;
    for (guint i = 1; i < call->n; i++) {
        if (call->kid[i]->kind == WS_PY_KEYWORD)
            continue;
        if (n < 3)
            part[n++] = py_eval_int(p, call->kid[i]);
        else if (p->in_kernel)
            py_opaque_step(p, call, "an argument that is not known here");
    }
    if (n == 1) {
        part[1] = part[0];
        part[0] = ws_x_int(p->r, 0);
    }
    if (n < 3)
        part[2] = ws_x_int(p->r, 1);
    return n > 0;
}

/* for i in range(cdiv(tiles - program_id, num_programs)): positions of this CTA's tiles. */
static gboolean over_positions(PyRead *p, PyLoop *l, const WsExpr **part)
{
    gint64 from, step, minus;
    const WsExpr *e = part[1];
    if (!ws_x_is(part[0], &from) || from || !ws_x_is(part[2], &step) || step != 1 || !e ||
        e->op != WS_EXPR_CALL || e->func != WS_FUNC_CDIV || e->arg[1]->op != WS_EXPR_NAME ||
        strcmp(e->arg[1]->name, PY_GRID))
        return FALSE;
    const WsExpr *stop =
        ws_x_without(p->r, ws_x_own(p->r, ws_expr_ref(e->arg[0])), PY_PID, FALSE, &minus);
    if (!stop || minus != -1 ||
        !py_over_tiles(p, l, ws_x_name(p->r, PY_PID), stop, ws_x_name(p->r, PY_GRID)))
        return FALSE;
    l->index = ws_x_name(p->r, l->name);
    return TRUE;
}

/* Loops that make barriers or end them are walked round by round. */
static gboolean names_barrier_ends(const WsPyNode *node)
{
    if (node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_ATTR &&
        (!strcmp(node->kid[0]->text, "init") || !strcmp(node->kid[0]->text, "invalidate")))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (names_barrier_ends(node->kid[i]))
            return TRUE;
    return FALSE;
}

static gboolean skips(const WsPyNode *node)
{
    gboolean found =
        node->kind == WS_PY_BREAK || node->kind == WS_PY_CONTINUE || node->kind == WS_PY_RETURN;
    for (guint i = 0; i < node->n && !found; i++)
        found = skips(node->kid[i]);
    return found;
}

/* A loop of the host over cases: the first one. */
static void host_loop(PyRead *p, const WsPyNode *node)
{
    const Val *source = py_eval(p, node->kid[1]);
    if (skips(node->kid[2])) /* which rounds come by the launch is not followed */
        py_leave_open(p, node);
    else if (source->kind == VAL_TUPLE && source->n)
        py_store_value(p, node->kid[0], source->item[0], node);
    py_run(p, node->kid[2]);
}

#define MOST_WRITTEN 16 /* rounds that may be walked one by one */

/* cdiv(x + c·step, step) is cdiv(x, step) + c: loops that begin later are seen to make fewer
 * rounds.
 */
static const WsExpr *rounds_of(PyRead *p, const WsExpr *span, const WsExpr *step)
{
    WsRead *r = p->r;
    WsAffine f;
    gint64 n;
    if (!ws_x_is(step, &n) || n < 2 || !ws_expr_affine(span, &f))
        return n == 1 ? span : ws_x_call(r, WS_FUNC_CDIV, span, step, NULL);
    const gint64 whole = f.n && f.constant % n == 0 ? f.constant : 0;
    ws_affine_clear(&f);
    const WsExpr *rest = ws_x_op(r, WS_EXPR_SUB, span, ws_x_int(r, whole));
    return ws_x_op(r, WS_EXPR_ADD, ws_x_call(r, WS_FUNC_CDIV, rest, step, NULL),
                   ws_x_int(r, whole / n));
}

static void for_(PyRead *p, const WsPyNode *node)
{
    const WsExpr *part[3] = { NULL };
    PyLoop l = { .node = node, .body = node->kid[2], .target = node->kid[0] };
    gboolean fixed;
    const gboolean range = range_of(p, node, part, &fixed);
    if (!range || (!p->in_kernel && skips(node->kid[2]))) {
        if (!p->in_kernel) {
            host_loop(p, node);
            return;
        }
        const Val *list = py_eval(p, node->kid[1]);
        if (list->kind == VAL_TUPLE && list->n <= 64) { /* written out */
            for (guint i = 0; i < list->n && !*p->r->error && !p->frame->returned; i++) {
                py_store_value(p, node->kid[0], list->item[i], node);
                run_one(p, node->kid[2], i);
            }
            return;
        }
        py_opaque_step(p, node, "a loop that is not over a range");
        return;
    }
    gint64 known, last, by;
    if (!p->group || ((fixed || names_barrier_ends(node->kid[2])) && ws_x_is(part[0], &known) &&
                      ws_x_is(part[1], &last) && ws_x_is(part[2], &by) && by > 0 &&
                      (fixed || last - known <= 64))) {
        unrolled(p, node, part[0], part[1], part[2]);
        return;
    }
    if (!over_positions(p, &l, part) && !py_over_tiles(p, &l, part[0], part[1], part[2])) {
        WsRead *r = p->r;
        gint64 step;
        const WsExpr *span = ws_x_op(r, WS_EXPR_SUB, part[1], part[0]);
        if (!span || !ws_x_is(part[2], &step) || step < 1) {
            py_opaque_step(p, node,
                           "a loop whose bounds are no integers, or whose step is not a number");
            return;
        }
        gint64 end;
        if (ws_x_is(part[0], &l.first) && ws_x_is(part[1], &end) && step > 0 &&
            end - l.first <= MOST_WRITTEN * step) {
            l.rounds = end > l.first ? (end - l.first + step - 1) / step : 0;
            l.by = step;
        }
        l.name = py_group_name(p, l.target->kind == WS_PY_NAME ? l.target->text : "i");
        l.count = rounds_of(p, span, part[2]);
        l.index = ws_x_op(r, WS_EXPR_ADD, part[0],
                          ws_x_op(r, WS_EXPR_MUL, ws_x_name(r, l.name), part[2]));
    }
    py_walk(p, &l);
}

/* while tile < n: … tile = what the counter or another group said */
static void claimed(PyRead *p, PyLoop *l, const WsPyNode *variable, const WsExpr *start,
                    const WsExpr *stop)
{
    if (!py_over_tiles(p, l, start, stop, ws_x_name(p->r, PY_GRID)) || l->from) {
        py_opaque_step(p, l->node, "a loop over claimed tiles that does not begin at program_id");
        return;
    }
    p->r->launch = "dynamic";
    l->target = variable;
    if (py_walk(p, l))
        py_take_tile(p, py_lookup(p, variable->text), l->node);
    py_assign(p, variable->text, py_opaque(p));
}

/* while v < bound: … v += step */
static void while_(PyRead *p, const WsPyNode *node)
{
    const WsPyNode *c = node->kid[0];
    PyLoop l = { .node = node, .body = node->kid[1] };
    if (!p->group || c->kind != WS_PY_BINARY || strcmp(c->text, "<") ||
        c->kid[0]->kind != WS_PY_NAME) {
        py_opaque_step(p, node, "a while loop that is not `variable < bound`");
        return;
    }
    const WsPyNode *variable = c->kid[0];
    const WsExpr *start = py_eval_int(p, variable), *stop = py_eval_int(p, c->kid[1]);
    g_autoptr(GArray) one = g_array_new(FALSE, TRUE, sizeof(PyCarry));
    PyCarry v = { .name = variable->text, .entry = py_lookup(p, variable->text) };
    g_array_append_val(one, v);
    l.name = py_group_name(p, "w");
    py_probe(p, &l, one);
    g_clear_pointer(&l.waited_on, g_array_unref);
    g_clear_pointer(&l.generic, g_array_unref);
    g_clear_pointer(&l.inside, g_ptr_array_unref);
    g_clear_pointer(&l.set, g_array_unref);
    g_ptr_array_set_size(p->loop_names, p->loop_names->len - 1);
    PyCarry *found = &g_array_index(one, PyCarry, 0);
    if (*p->r->error)
        return;
    if (found->atom && found->end && found->end->kind == VAL_INT)
        py_classify(p, found);
    if (found->end && start && stop && py_is_next_tile(p, found->end)) {
        claimed(p, &l, variable, start, stop);
        return;
    }
    gint64 step;
    if (!start || !stop || found->kind != CARRY_LINEAR) {
        py_opaque_step(p, node, "a while loop whose variable does not grow evenly");
        return;
    }
    if (py_over_tiles(p, &l, start, stop, found->step)) {
        l.target = variable;
    } else if (ws_x_is(found->step, &step) && step > 0) {
        l.name = py_group_name(p, variable->text);
        l.count = ws_x_op(p->r, WS_EXPR_SUB, stop, start);
        if (step > 1)
            l.count = ws_x_call(p->r, WS_FUNC_CDIV, l.count, found->step, NULL);
    } else {
        py_opaque_step(p, node, "a while loop whose variable does not grow by a number");
        return;
    }
    py_walk(p, &l);
}

void py_loop(PyRead *p, const WsPyNode *node)
{
    if (p->loops->len >= 10) {
        py_opaque_step(p, node, "loops nested deeper than ten");
        return;
    }
    if (node->n > (node->kind == WS_PY_FOR ? 3 : 2))
        py_opaque_step(p, node, "the else of a loop");
    if (node->kind == WS_PY_FOR)
        for_(p, node);
    else if (!py_loop_over_pipe(p, node))
        while_(p, node);
}
