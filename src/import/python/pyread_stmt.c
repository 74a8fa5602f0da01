#include "import/python/amd/amd.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* Statements, and calls of functions of the file. */

WsReadStep *py_step(PyRead *p, WsReadKind kind, const WsPyNode *at)
{
    return ws_source_step(p->r, p->to, kind, at->line, at->column, at->end_line);
}

void py_unread(PyRead *p, const WsPyNode *at, const char *what)
{
    if (p->probing)
        return;
    if (p->in_kernel) {
        py_law_unread(p, at, what, NULL, 0);
        return;
    }
    g_autofree char *source = p->py ? ws_python_lines(p->py, at->line, at->end_line) : g_strdup("");
    ws_source_unread(p->r, at->line, at->column, at->end_line, what, source);
}

#define MOST_RAW_VALUES 3 /* of a raw step of a design, which may write one more */

static void touch(WsReadStep *s, const Val *v)
{
    const gint64 value = v->index;
    if (v->kind == VAL_TILE && (!s->reads || s->reads->len < MOST_RAW_VALUES)) {
        s->reads = s->reads ? s->reads : g_array_new(FALSE, FALSE, sizeof(gint64));
        g_array_append_val(s->reads, value);
    } else if (v->kind == VAL_BUFFER) {
        s->places = s->places ? s->places : g_array_new(FALSE, FALSE, sizeof(WsPlace));
        g_array_append_val(s->places, v->place);
    }
}

/* x, x.index(i), x.index(i).slice(…): what stands for a buffer or a tile and does nothing. */
static gboolean is_view(const WsPyNode *node)
{
    static const char *const views[] = {
        "index", "slice", "slot", "subslice", "permute", "reshape"
    };
    if (node->kind == WS_PY_NAME)
        return TRUE;
    if (node->kind != WS_PY_CALL || node->kid[0]->kind != WS_PY_ATTR ||
        !is_view(node->kid[0]->kid[0]))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(views); i++)
        if (!strcmp(node->kid[0]->text, views[i]))
            return TRUE;
    return FALSE;
}

/* The buffers and tiles that the lines of an opaque step name: it may read them, and write the
 * buffers. */
static void touch_all(PyRead *p, WsReadStep *s, const WsPyNode *node)
{
    if (is_view(node)) {
        const Val *v = p->frame ? py_eval(p, node) : NULL;
        if (v && (v->kind == VAL_BUFFER || v->kind == VAL_TILE)) {
            touch(s, v);
            return;
        }
    }
    for (guint i = 0; i < node->n; i++)
        touch_all(p, s, node->kid[i]);
}

WsReadStep *py_opaque_lines(PyRead *p, const WsPyNode *at)
{
    if (p->waited) { /* what it writes may be what a store had to have read */
        p->waited = FALSE;
        WsReadStep *met = py_step(p, WS_READ_SYNC, at);
        met->name = "group";
        met->implied = TRUE;
    }
    WsReadStep *s = py_step(p, WS_READ_OPAQUE, at);
    if (p->touching)
        return s;
    GPtrArray *to = p->to, *scratch = g_ptr_array_new();
    p->to = scratch; /* what cannot be read of these lines either is not told again */
    p->touching = TRUE;
    p->probing++;
    touch_all(p, s, at);
    p->probing--;
    p->touching = FALSE;
    p->to = to;
    g_ptr_array_unref(scratch);
    if (s->places) { /* all threads may have done it: in order with what one of them does later */
        p->dirty = TRUE;
        if (p->from != WS_IMPORT_TLE)
            py_step(p, WS_READ_FENCE, at)->name = "async";
    }
    return s;
}

void py_opaque_step(PyRead *p, const WsPyNode *at, const char *what)
{
    if (!p->in_kernel || p->computing) /* what is not followed there leaves values open */
        return;
    if (p->group)
        py_opaque_lines(p, at);
    py_unread(p, at, what);
}

/* Whether the text has a counter in it, which is another number later. */
static gboolean counts(PyRead *p, const char *text)
{
    const WsExpr *e = ws_x_parsed(p->r, text);
    gboolean any = !e;
    for (guint i = 0; e && i < p->group->counters->len; i++)
        any |= ws_expr_mentions(e, p->group->counters->pdata[i]);
    return any;
}

/* A formula gets a value of the design under the variable's name. */
static const Val *settle(PyRead *p, const char *name, const Val *v, const WsPyNode *at)
{
    if (!p->group)
        return v;
    const gboolean copied = v->kind == VAL_TILE && !v->text;
    if (copied) {
        WsReadValue *held = &g_array_index(p->group->values, WsReadValue, v->index);
        g_autofree char *own = g_strconcat(p->frame->prefix, name, NULL);
        const Val *old = g_hash_table_lookup(p->frame->vars, name);
        /* y = x of what arithmetic made is a copy; an accumulator keeps its place */
        if (held->accumulator || !strcmp(held->name, own) || !old || old->kind != VAL_TILE ||
            old->index == v->index)
            return v;
        if (held->rows == 1 && old->cols == 1 && old->rows == held->cols)
            py_turn_line(p, v->index); /* a line of memory is one value per row there */
        v = p->amd ? py_copy_of(p, v) : py_itself(p, v);
    }
    const gboolean place = v->kind == VAL_POINTER || py_is_index(v);
    if ((p->from != WS_IMPORT_GLUON || p->amd) && place && !counts(p, v->text))
        return v;
    const Val *unheld = p->amd ? py_amd_unheld(p, v) : NULL;
    if (v->kind == VAL_POINTER || unheld)
        return unheld ? unheld : py_opaque(p);
    if (v->kind != VAL_MATH || v->rows * v->cols <= 1 || !g_strcmp0(v->dtype, "b"))
        return v; /* a condition is used where it is named */
    const guint before = p->r->steps->len;
    const gint value = py_hold(p, name, v, at, 0, 0);
    if (value < 0)
        return py_opaque(p);
    if (copied)
        py_added(p, before);
    Val *tile = py_val(p, VAL_TILE);
    tile->index = value;
    tile->dims = v->dims;
    tile->rows = v->rows;
    tile->cols = v->cols;
    if (place && !counts(p, v->text))
        tile->counted = v;
    return tile;
}

/* What the caller says a number of the host is, which the host finds out or sets. */
static const Val *as_defined(PyRead *p, const WsPyNode *target, const Val *v, const WsPyNode *at)
{
    const gboolean host = !p->in_kernel && !p->entered && p->frame && !p->frame->helper;
    const Val *said = host && target->kind == WS_PY_NAME ? py_defined(p, target->text) : NULL;
    const gboolean number = v->kind == VAL_INT || v->kind == VAL_PARAM || v->kind == VAL_OPAQUE;
    gint64 is, wanted;
    if (!said || said == v || !number || !py_known(said, &wanted))
        return v;
    const gboolean set = at->kind == WS_PY_ASSIGN && at->kid[at->n - 1]->kind == WS_PY_INT;
    if (!set && py_known(v, &is) && is != wanted)
        py_unread(p, at,
                  ws_source_format(
                      p->r, "`%s`, which the host computes as another number than the given one",
                      target->text));
    if (!set && v->kind == VAL_INT)
        py_assume(p, ws_x_op(p->r, WS_EXPR_EQ, v->e, said->e));
    return said;
}

void py_store_value(PyRead *p, const WsPyNode *target, const Val *v, const WsPyNode *at)
{
    v = as_defined(p, target, py_current(p, v, at), at);
    if (target->kind == WS_PY_NAME && v->kind == VAL_INT && !p->probing)
        ws_source_define(p->r, target->text, v->e);
    if (target->kind == WS_PY_NAME) {
        if (v->kind == VAL_ZERO && p->group && v->step && v->rows * v->cols > 1) {
            py_assign(p, target->text, py_stored_zeros(p, target->text, v, at));
            return;
        }
        py_assign(p, target->text, settle(p, target->text, v, at));
        return;
    }
    if (target->kind == WS_PY_ATTR) { /* self.x = … */
        const Val *object = py_eval(p, target->kid[0]);
        if (object->kind == VAL_OBJECT) {
            py_object_set(p, object, target->text,
                          py_plain_store(p, object, at) ? v : py_opaque(p));
            return;
        }
    }
    if (target->kind != WS_PY_TUPLE && target->kind != WS_PY_LIST) {
        py_opaque_step(p, at, "an assignment to something that is no variable");
        return;
    }
    v = py_at_once(p, target, v, at);
    for (guint i = 0; i < target->n; i++) {
        const Val *one = py_opaque(p);
        if (v->kind == VAL_TUPLE && v->n == target->n) {
            one = v->item[i];
        } else if (v->kind == VAL_SHAPE && target->kid[i]->kind == WS_PY_NAME) {
            WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, v->index);
            t->rank = MAX(t->rank, MIN(target->n, 5));
            t->whole = t->rank == target->n;
            const Val *said = py_defined(p, target->kid[i]->text);
            if (i < 5 && !t->shape[i] && said && said->kind == VAL_INT && !p->in_kernel)
                t->shape[i] = said->e;
            one = i < 5 ? py_int(p, py_extent(p, v->index, i, target->kid[i]->text)) : one;
        }
        py_store_value(p, target->kid[i], one, at);
    }
}

static void assign(PyRead *p, const WsPyNode *node)
{
    const WsPyNode *value = node->kid[node->n - 1];
    p->hint = node->n == 2 && node->kid[0]->kind == WS_PY_NAME ? node->kid[0]->text : NULL;
    p->whole = value;
    py_stage_once(p, node);
    const Val *said = py_said_value(p, node);
    const Val *v = said ? said : py_eval(p, value);
    p->hint = NULL;
    for (guint i = 0; i + 1 < node->n; i++)
        py_store_value(p, node->kid[i], v, node);
    if (v->kind == VAL_OPAQUE && p->in_kernel)
        py_law_value(p, node, "the value of an assignment");
}

static void augment(PyRead *p, const WsPyNode *node)
{
    WsPyNode sum = { .kind = WS_PY_BINARY,
                     .line = node->line,
                     .column = node->column,
                     .end_line = node->end_line,
                     .text = node->text,
                     .n = 2,
                     .kid = node->kid };
    const Val *v = py_eval(p, &sum);
    py_store_value(p, node->kid[0], v, node);
    if (v->kind == VAL_OPAQUE && p->in_kernel)
        py_law_value(p, node, "the value of an assignment");
}

/* --- statements ------------------------------------------------------------------------------- */

/* Contexts that change nothing are walked as if they were not there; what another one makes of
 * its body is not known. */
static void with(PyRead *p, const WsPyNode *node)
{
    if (py_tasks(p, node) || py_hint_group(p, node) || (p->amd && py_amd_stage(p, node)))
        return;
    for (guint i = 0; p->in_kernel && i + 1 < node->n; i++) {
        const WsPyNode *item = node->kid[i], *call = item->kind == WS_PY_CALL ? item->kid[0] : item;
        g_autofree char *dotted = ws_python_dotted(call);
        const char *dot = dotted ? strchr(dotted, '.') : NULL;
        g_autofree char *first = dot ? g_strndup(dotted, dot - dotted) : g_strdup(dotted);
        const Val *from = first ? py_lookup(p, first) : NULL;
        g_autofree char *full =
            from && from->kind == VAL_NAME ? g_strconcat(from->text, dot, NULL) : NULL;
        if (py_law_harmless(PY_HARMLESS_CONTEXT, full))
            continue;
        const Val *anything = py_opaque(p);
        py_law_unread(p, item,
                      ws_source_format(p->r, "the context `%s`", dotted ? dotted : "of with"),
                      &anything, 1);
    }
    g_auto(GStrv) bound = node->text ? g_strsplit(node->text, " ", -1) : NULL;
    for (guint i = 0; bound && bound[i]; i++)
        py_assign(p, g_intern_string(bound[i]),
                  p->in_kernel ? py_opaque(p) : py_open(p, g_intern_string(bound[i])));
    py_run_maybe(p, node->kid[node->n - 1]);
    if (!p->in_kernel && !py_leads_to_launch(p, node)) /* an error may have ended it */
        py_leave_open(p, node->kid[node->n - 1]);
}

/* A function or class inside of a function keeps the variables around it, itself included. */
static void define(PyRead *p, const WsPyNode *node)
{
    Val *v = py_val(p, node->kind == WS_PY_CLASS ? VAL_CLASS : VAL_FUNC);
    v->node = node;
    if (p->frame) {
        if (p->in_kernel)
            py_opaque_step(p, node, "a function or class in a kernel");
        v->closure = py_closure(p);
        g_hash_table_insert(v->closure, (gpointer)node->text, v);
        g_ptr_array_add(p->closures, v->closure);
    }
    py_assign(p, node->text, v);
}

static void run(PyRead *p, const WsPyNode *block);

static void leave_named(const char *name, const WsPyNode *at, gpointer data)
{
    if (at->kind == WS_PY_NAMED)
        py_assign(data, name, py_open(data, name));
}

/* `:=` binds whenever its expression is evaluated, if it is. */
static void leave_walrus(PyRead *p, const WsPyNode *node)
{
    py_bound_names(node, leave_named, p);
}

static void statement(PyRead *p, const WsPyNode *node)
{
    const gboolean host = !p->in_kernel && p->frame && p->frame->helper;
    if (!p->in_kernel)
        leave_walrus(p, node);
    const gboolean is = node->kind == WS_PY_EXPR || node->kind == WS_PY_ASSIGN;
    p->certain = !p->in_kernel && is ? node->kid[node->n - 1] : NULL;
    const gboolean looks = !p->in_kernel && !p->entered && p->frame && node->kind != WS_PY_DEF &&
                           node->kind != WS_PY_CLASS;
    /* what may be left out is seen whole, once: its blocks may not be walked */
    const gboolean whole = looks && !p->frame->looked_at && (is || !py_leads_to_launch(p, node));
    if (looks)
        py_host_in_place(p, node, whole);
    if (whole)
        p->frame->looked_at++;
    if (!p->in_kernel)
        py_passed_statement(p, node);
    const GPtrArray *to = p->to;
    const guint before = to ? to->len : 0;
    py_statement(p, node);
    if (whole)
        p->frame->looked_at--;
    if (p->amd)
        py_amd_beside(p, node, to, before);
    if (!p->in_kernel)
        leave_walrus(p, node);
    if (host && node->kind != WS_PY_RETURN && py_returns(node))
        p->unsure++; /* until the call ends: what follows may be left out */
}

void py_statement(PyRead *p, const WsPyNode *node)
{
    switch (node->kind) {
    case WS_PY_ASSIGN:
        assign(p, node);
        break;
    case WS_PY_AUGMENT:
        augment(p, node);
        break;
    case WS_PY_EXPR: {
        const WsPyNode *around = p->bare;
        p->bare = node->kid[0];
        py_eval(p, node->kid[0]);
        p->bare = around;
        break;
    }
    case WS_PY_FOR:
    case WS_PY_WHILE:
        p->unsure += !p->in_kernel && !py_leads_to_launch(p, node);
        py_loop(p, node);
        if (!p->in_kernel && !py_leads_to_launch(p, node)) {
            p->unsure--;
            py_leave_open(p, node);
        }
        break;
    case WS_PY_IF:
        py_branch(p, node);
        break;
    case WS_PY_WITH:
        with(p, node);
        break;
    case WS_PY_IMPORT:
        py_read_import(p, node);
        break;
    case WS_PY_RETURN:
        p->frame->result = node->n ? py_eval(p, node->kid[0]) : py_val(p, VAL_NONE);
        p->frame->returned = TRUE;
        break;
    case WS_PY_CLASS:
    case WS_PY_DEF:
        define(p, node);
        break;
    case WS_PY_ASSERT: /* a kernel's own does nothing but in a debug build */
        if (!p->in_kernel && node->kid[0]->kind != WS_PY_TUPLE) /* (x, "text") always holds */
            py_sure(p, node->kid[0], TRUE);
        for (guint i = 0; p->in_kernel && i < node->n; i++)
            py_eval(p, node->kid[i]); /* what it calls is done */
        break;
    case WS_PY_BREAK:
    case WS_PY_CONTINUE:
    case WS_PY_OTHER:
        if (!g_strcmp0(node->text, "raise"))
            py_never_behind(p, node);
        if (p->in_kernel || strcmp(node->text ? node->text : "", "del"))
            py_opaque_step(p, node, node->text ? node->text : ws_python_kind_text(node->kind));
        break;
    case WS_PY_TRY:
        py_opaque_step(p, node, ws_python_kind_text(node->kind));
        if (!p->in_kernel) {
            py_run_maybe(p, node->kid[0]);
            py_leave_open(p, node);
        }
        break;
    case WS_PY_PASS:
        break;
    case WS_PY_ATTR:
    case WS_PY_BINARY:
    case WS_PY_BLOCK:
    case WS_PY_CALL:
    case WS_PY_CLAUSE:
    case WS_PY_COMP:
    case WS_PY_CONST:
    case WS_PY_DICT:
    case WS_PY_FLOAT:
    case WS_PY_INDEX:
    case WS_PY_INT:
    case WS_PY_KEYWORD:
    case WS_PY_KIND_COUNT:
    case WS_PY_LAMBDA:
    case WS_PY_LIST:
    case WS_PY_NAMED:
    case WS_PY_NAME:
    case WS_PY_NOTED:
    case WS_PY_PARAMS:
    case WS_PY_PARAM:
    case WS_PY_SLICE:
    case WS_PY_STAR:
    case WS_PY_STRING:
    case WS_PY_TERNARY:
    case WS_PY_TUPLE:
    case WS_PY_UNARY:
    default: /* no statement: the parser makes none of these */
        py_opaque_step(p, node, ws_python_kind_text(node->kind));
        break;
    }
}

void py_run(PyRead *p, const WsPyNode *block)
{
    if (p->frame)
        p->frame->blocks++;
    run(p, block);
    if (p->frame)
        p->frame->blocks--;
}

static void run(PyRead *p, const WsPyNode *block)
{
    for (guint i = 0; i < block->n && !*p->r->error; i++) {
        if (p->frame && p->frame->returned)
            return;
        if (++p->budget > PY_READ_BUDGET) {
            ws_source_fail(p->r, block->line, block->column,
                           "Import the kernel from a file of its own.",
                           "this kernel takes too long to follow");
            return;
        }
        if (!ws_source_reads(p->r, block->kid[i]->line))
            return;
        py_tle_remarks(p, block, i);
        statement(p, block->kid[i]);
    }
    if (!(p->frame && p->frame->returned))
        py_tle_remarks(p, block, block->n);
}

static gboolean is_constant_function(const WsPyNode *function)
{
    for (guint k = 2; k < function->n; k++) {
        g_autofree char *name = py_decorator(function->kid[k]);
        if (name && g_str_has_suffix(name, "constexpr_function"))
            return TRUE;
    }
    return FALSE;
}

/* In a loop, `try` or `with`. */
static gboolean returns_inside(const WsPyNode *node, gboolean inside)
{
    const gboolean own = inside || node->kind == WS_PY_FOR || node->kind == WS_PY_WHILE ||
                         node->kind == WS_PY_TRY || node->kind == WS_PY_WITH;
    if (own && node->kind == WS_PY_RETURN)
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (node->kid[i]->kind != WS_PY_DEF && node->kid[i]->kind != WS_PY_CLASS &&
            returns_inside(node->kid[i], own))
            return TRUE;
    return FALSE;
}

/* Whether calling it by its name runs it with the arguments of the call. */
static gboolean is_itself(const PyRead *p, const WsPyNode *function)
{
    for (guint k = 2; p->names && k < function->n; k++)
        if (!py_known_decorator(p->names, function->kid[k]))
            return FALSE;
    return TRUE;
}

const Val *py_call(PyRead *p, const WsPyNode *function, const Val **args, const WsPyNode *at)
{
    const WsPyNode *params = function->kid[0];
    if (p->calls >= 16 || p->depth >= 32) {
        py_opaque_step(p, at, "calls nested too deep");
        return py_opaque(p);
    }
    Frame frame = { .vars = g_hash_table_new(g_str_hash, g_str_equal),
                    .closure = p->closure,
                    .at = at,
                    .function = function,
                    .up = p->frame };
    p->closure = NULL;
    if (!p->in_kernel && (py_is_generator(function) || !is_itself(p, function))) {
        for (guint i = 0; at != function && i < params->n; i++)
            args[i] = py_open(p, params->kid[i]->text); /* given by what is not followed */
        if (!py_leads_to_launch(p, function)) {
            g_hash_table_unref(frame.vars);
            return py_opaque(p);
        }
    }
    frame.prefix = p->group && p->calls ? py_prefix_of(p, function, at) : "";
    for (guint i = 0; i < params->n; i++) {
        const WsPyNode *param = params->kid[i];
        const Val *v = args[i];
        if (*param->text == '*') { /* a tuple or a dictionary that is not followed */
            const char *all = param->text + 1;
            g_hash_table_insert(frame.vars, (gpointer)all,
                                p->in_kernel ? (gpointer)py_opaque(p) : py_open(p, all));
            continue;
        }
        if (!v && !(param->kid[1]->kind == WS_PY_CONST && !strcmp(param->kid[1]->text, "None")))
            v = py_plain_default(p, param->kid[1]) ? py_eval(p, param->kid[1]) : py_opaque(p);
        if (!v) {
            const Val *global = g_hash_table_lookup(p->globals, param->text);
            Val *open = global && global->kind == VAL_INT ? NULL : py_open(p, param->text);
            if (open)
                open->given = at == function; /* from outside of the file */
            v = open ? open : global;
        }
        if (v->kind == VAL_INT && !p->probing)
            ws_source_define(p->r, param->text, v->e);
        g_hash_table_insert(frame.vars, (gpointer)param->text, (gpointer)v);
    }
    const gboolean constant = p->in_kernel && is_constant_function(function);
    GPtrArray *to = p->to;
    if (p->in_kernel)
        py_law_decorators(p, function);
    p->frame = &frame;
    p->calls += p->group != NULL;
    p->depth++;
    p->computing += constant;
    const guint unsure = p->unsure;
    frame.helper = !p->in_kernel && !py_leads_to_launch(p, function);
    /* what a decorator makes of it is not known */
    p->unsure += frame.helper && (at != p->certain || function->n > 2);
    py_run(p, function->kid[1]);
    p->unsure = unsure;
    p->computing -= constant;
    p->depth--;
    p->calls -= p->group != NULL;
    p->to = to; /* a return in a branch leaves the other one open */
    p->frame = frame.up;
    g_hash_table_unref(frame.vars);
    const Val *result = frame.result ? frame.result : py_val(p, VAL_NONE);
    if (!p->in_kernel && returns_inside(function->kid[1], FALSE))
        result = py_opaque(p); /* by which of them is not known */
    for (const PyReturn *one = frame.early; one; one = one->before)
        result = py_either(p, one->c, one->v, result, at);
    return result;
}
