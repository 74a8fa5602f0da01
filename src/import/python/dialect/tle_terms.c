#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* What TLE means where it differs from Gluon: the initial state of a barrier is said when it is
 * made and flips the parity of its waits, a copy expects its own bytes, a barrier without phase is
 * a named one, stores to tensors wait by themselves, matrix products are always asynchronous. */

/* --- objects -----------------------------------------------------------------------------------*/

/* With a capacity the shape is that of one of so many slots. NULL: it is none. */
static const Val *slots_of(PyRead *p, const Val *shape, const Val *capacity)
{
    if (!py_given(capacity))
        return shape;
    if (!shape || shape->kind != VAL_TUPLE || py_number(capacity, 0) < 1)
        return NULL;
    Val *all = py_val(p, VAL_TUPLE);
    all->item = g_new0(const Val *, shape->n + 2);
    g_ptr_array_add(p->r->pool, all->item);
    all->item[all->n++] = capacity;
    for (guint i = 0; i < shape->n; i++)
        all->item[all->n++] = shape->item[i];
    return all;
}

const Val *py_mean_TLE_ALLOCATE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (py_given(a[3]) && !py_is_named(a[3], ".smem"))
        return py_wrong(p, at, "an allocation that is not of shared memory");
    const gint64 offset = py_given(a[7]) ? py_number(a[7], -1) : 0;
    if (py_given(a[6]) && (a[6]->kind != VAL_BUFFER || offset < 0))
        return py_wrong(p, at, "an allocation over something that is no buffer");
    const Val *shape = slots_of(p, a[0], a[8]);
    if (!shape)
        return py_wrong(p, at, "an allocation whose shape or capacity is not known");
    const Val *v = py_mean_ALLOCATE(p, (const Val *[]){ a[1], shape, NULL, a[4] }, at);
    if (py_given(a[6]) && v->kind == VAL_BUFFER) {
        WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
        b->over = a[6]->place.object + 1;
        b->over_at = offset;
    }
    return v;
}

/* The last dimension unless another one is said. */
const Val *py_mean_TLE_SLICE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[1] && a[1]->kind == VAL_TUPLE)
        return py_given(a[3]) ? py_wrong(p, at, "a part of a buffer") : py_box(p, a, at);
    const gint64 dim = py_given(a[3]) ? py_number(a[3], -1) : -1;
    const Val *b[4] = { a[0], a[1], a[2], py_literal(p, dim == 0 ? 0 : 1) };
    return py_mean_SLICE(p, b, at);
}

/* A tile that the compiler keeps in memory of its own is the same tile. */
const Val *py_mean_TLE_SPACE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !py_is_tile(a[0]) || !py_is_named(a[1], ".smem"))
        return py_wrong(p, at,
                        "a space of something that is no tile, or that is not shared memory");
    return a[0];
}

/* float("inf"), float("-Infinity"), float("1e-3"), float(3). */
const Val *py_mean_TLE_FLOAT(PyRead *p, const Val **a, const WsPyNode *at)
{
    static const char *const infinite[] = { "inf", "infinity", NULL };
    gint64 n;
    if (a[0] && p->in_kernel && py_known(a[0], &n))
        return py_real(p, ws_source_format(p->r, "%" G_GINT64_FORMAT ".0", n));
    if (!a[0] || a[0]->kind != VAL_STRING)
        return a[0] && (!p->in_kernel || a[0]->kind == VAL_REAL || a[0]->kind == VAL_PARAM)
                   ? a[0]
                   : py_opaque(p);
    const gsize length = strlen(a[0]->text);
    if (length < 3 || *a[0]->text != '"' || strpbrk(a[0]->text, "\\_"))
        return py_opaque(p);
    g_autofree char *text = g_ascii_strdown(a[0]->text + 1, (gssize)length - 2);
    const char *digits = text + (*text == '+' || *text == '-');
    if (g_strv_contains(infinite, digits))
        return py_real(p, *text == '-' ? "-1e999" : "1e999");
    return py_real(p, strpbrk(digits, ".e") ? text : ws_source_format(p->r, "%s.0", text));
}

/* --- barriers ----------------------------------------------------------------------------------*/

/* "pingpong[0]": a named barrier is picked by a number. NULL: it is not. */
static const char *named(PyRead *p, const Val *v)
{
    WsReadBarrier *b = py_barrier_of(p, v);
    gint64 i = 0;
    if (v->place.index && !ws_x_is(v->place.index, &i))
        return NULL;
    b->named = TRUE;
    if (b->each)
        return NULL;
    return b->copies > 1 ? ws_source_format(p->r, "%s[%" G_GINT64_FORMAT "]", b->name, i) : b->name;
}

static const Val *join(PyRead *p, WsReadKind kind, const Val *barrier, const WsPyNode *at)
{
    const char *name = p->group && py_is_barrier(barrier) ? named(p, barrier) : NULL;
    if (!name)
        return py_wrong(p, at, "a barrier without phase whose index is not a number");
    py_step(p, kind, at)->name = name;
    if (kind == WS_READ_SYNC) /* all threads of the partition are there */
        py_have_met(p);
    return py_none(p);
}

static gboolean same(const WsExpr *a, const WsExpr *b)
{
    return a == b || (a && b && ws_expr_equal(a, b));
}

/* phaseIdx counts the uses of a slot; READY flips the parity that is tested. */
/* Which of the barriers that are parts of one. */
static guint part_bit(const Val *v)
{
    return v->n ? 1u << (v->rows & 31) : 0;
}

static void mark_part(PyRead *p, WsReadKind kind, const Val *barrier)
{
    WsReadStep *s = p->group && p->to->len ? g_ptr_array_index(p->to, p->to->len - 1) : NULL;
    if (s && s->kind == kind && s->barrier.object == barrier->place.object)
        s->parts = part_bit(barrier);
}

const Val *py_mean_TLE_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!py_given(a[1]))
        return join(p, WS_READ_SYNC, a[0], at);
    const WsExpr *phase = py_as_int(p, a[1]);
    if (!py_is_barrier(a[0]) || !phase)
        return py_wrong(p, at, "a wait whose barrier or phase is not known");
    if (!py_phase_fits(p))
        return py_wrong(p, at, "a phase of a count that may be below 0");
    WsReadStep *last = p->group && p->to->len ? g_ptr_array_index(p->to, p->to->len - 1) : NULL;
    const WsExpr *flip = ws_x_int(p->r, a[0]->index == 1);
    const WsExpr *parity = ws_x_mod(p->r, ws_x_op(p->r, WS_EXPR_ADD, phase, flip), 2);
    if (a[0]->n && last && last->kind == WS_READ_WAIT && same(last->parity, parity) &&
        last->barrier.object == a[0]->place.object &&
        same(last->barrier.index, a[0]->place.index) && !(last->parts & part_bit(a[0]))) {
        last->parts |= part_bit(a[0]);
        return py_none(p); /* the other part of the same barrier */
    }
    const Val *done = py_mean_WAIT(p, (const Val *[]){ a[0], py_int(p, parity), NULL, NULL }, at);
    mark_part(p, WS_READ_WAIT, a[0]);
    return done;
}

const Val *py_mean_TLE_ARRIVE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!py_given(a[2]))
        return join(p, WS_READ_BAR_ARRIVE, a[0], at);
    const gint64 n = a[1] ? py_number(a[1], -1) : 1;
    if (p->group && py_is_barrier(a[0]) && py_barrier_of(p, a[0])->each && n >= 1)
        return py_arrive_each(p, a[0], n, at);
    return py_mean_ARRIVE(p, (const Val *[]){ a[0], a[1], NULL }, at);
}

/* --- copies ------------------------------------------------------------------------------------*/

/* Exports of designs say where a store is waited for; otherwise it waits by itself. */
static gboolean waits_are_said(const PyRead *p)
{
    for (guint i = 0; i < p->r->n_lines; i++)
        if (strstr(p->r->line[i], "# store_wait: "))
            return TRUE;
    return FALSE;
}

static gint64 bytes_of(PyRead *p, const Val *buffer, const Val *shape)
{
    if (!buffer || buffer->kind != VAL_BUFFER || !shape || shape->kind != VAL_TUPLE)
        return -1;
    const char *dtype = g_array_index(p->r->buffers, WsReadBuffer, buffer->place.object).dtype;
    gint64 n = strstr(dtype, "32") ? 4 : strstr(dtype, "16") ? 2 : 1;
    for (guint i = 0; i < shape->n; i++)
        n *= CLAMP(py_number(shape->item[i], -1), -1, 1 << 20);
    return n;
}

/* A design derives what a load expects: steps that say the same are left out, unless another copy
 * into the barrier expects what does not come. */
static void leave_out(WsRead *r, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_EXPECT &&
            !g_array_index(r->barriers, WsReadBarrier, s->barrier.object).misfit)
            s->off = TRUE;
        leave_out(r, s->body);
        leave_out(r, s->other);
    }
}

/* Barriers that stand for one are used together: each wait is for all of them, and every list of
 * steps signals each of them as often as the others. */
static gboolean together(const GPtrArray *list, gint object, guint parts)
{
    guint signals[32] = { 0 };
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!together(s->body, object, parts) || !together(s->other, object, parts))
            return FALSE;
        if (s->off || s->barrier.object != object ||
            (s->kind != WS_READ_WAIT && s->kind != WS_READ_ARRIVE && s->kind != WS_READ_LOAD))
            continue;
        if (s->kind == WS_READ_ARRIVE ||
            (s->kind == WS_READ_WAIT && s->parts != (guint)((guint64)1 << parts) - 1) ||
            (s->kind == WS_READ_LOAD && !s->parts))
            return FALSE;
        for (guint k = 0; s->kind == WS_READ_LOAD && k < parts; k++)
            signals[k] += s->parts >> k & 1;
    }
    for (guint k = 1; k < parts; k++)
        if (signals[k] != signals[0])
            return FALSE;
    return TRUE;
}

static void check_parts(PyRead *p)
{
    for (guint i = 0; i < p->r->barriers->len; i++) {
        const WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, i);
        gboolean fine = b->parts <= 31;
        for (guint g = 0; fine && b->parts > 1 && g < p->r->groups->len; g++)
            fine = together(((WsReadGroup *)g_ptr_array_index(p->r->groups, g))->body, (gint)i,
                            b->parts);
        if (!fine)
            ws_source_unread(p->r, b->line, 1, b->line,
                             "waits and copies that use parts of a barrier apart", "");
    }
}

static gboolean arrives_at(const GPtrArray *list, gint barrier)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == WS_READ_ARRIVE && s->barrier.object == barrier) ||
            arrives_at(s->body, barrier) || arrives_at(s->other, barrier))
            return TRUE;
    }
    return FALSE;
}

/* Where every thread arrives the count is one of threads: those of the partitions that arrive,
 * which are equally large. */
static void count_threads(PyRead *p)
{
    for (guint i = 0; i < p->r->barriers->len; i++) {
        WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, i);
        gint64 warps = 0;
        gboolean fine = TRUE;
        for (guint g = 0; b->each && g < p->r->groups->len; g++) {
            const WsReadGroup *group = g_ptr_array_index(p->r->groups, g);
            if (!arrives_at(group->body, (gint)i))
                continue;
            fine &= !warps || warps == group->warps;
            warps = group->warps;
        }
        if (b->each && (!fine || !warps))
            ws_source_unread(p->r, b->line, 1, b->line,
                             "arrivals of each thread of partitions of unequal size, or of none",
                             "");
        for (gint64 k = 0; b->each && warps && k < b->copies; k++)
            b->count[k] *= 32 * warps;
    }
}

void py_tle_finish(PyRead *p)
{
    WsRead *r = p->r;
    count_threads(p);
    py_tle_pipes(p);
    check_parts(p);
    for (guint i = 0; i < r->groups->len; i++) {
        WsReadGroup *group = g_ptr_array_index(r->groups, i);
        leave_out(r, group->body);
        if (py_copies_maybe(group->body, FALSE))
            ws_source_unread(r, group->line, 1, group->line,
                             "a copy without a barrier that may be left out", "");
    }
}

const Val *py_mean_TLE_COPY(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean async = py_copies_async(p, a[6], at), in = a[1] && a[1]->kind == VAL_BUFFER;
    if (async && (!in || (a[0] && (a[0]->kind == VAL_DESC || a[0]->kind == VAL_BUFFER))))
        return py_wrong(p, at,
                        "an asynchronous copy of something else than pointers to a buffer, which "
                        "upstream refuses");
    if (async && p->group && a[0] && !py_tle_signal(p, a[1]))
        return py_start_copy(p, a, at);
    if (p->group && a[0] && a[1] &&
        ((a[0]->kind == VAL_POINTER && a[1]->kind == VAL_BUFFER) ||
         (a[1]->kind == VAL_POINTER && a[0]->kind == VAL_BUFFER)))
        return py_copy_through(p, a, at);
    if (a[0] && a[0]->kind == VAL_BUFFER) {
        py_need_block(p, a[2], a[0], at);
        const Val *none = py_mean_STORE(p, (const Val *[]){ a[1], a[3], a[0] }, at);
        if (p->group && !waits_are_said(p)) { /* all threads go on when it is done */
            py_step(p, WS_READ_STORE_WAIT, at)->n = 0;
            py_step(p, WS_READ_SYNC, at)->name = "group";
        }
        return none;
    }
    if (py_given(a[5]))
        return py_wrong(p, at, "a copy by a descriptor under a mask, which upstream refuses");
    py_need_block(p, a[2], a[1], at);
    const Val *pipe = py_given(a[4]) ? NULL : py_tle_signal(p, a[1]);
    if (!pipe && !py_given(a[4]) && a[0] && a[0]->kind == VAL_DESC && a[1] &&
        a[1]->kind == VAL_BUFFER)
        return py_copy_at_once(p, a, at);
    if (!pipe && !py_is_barrier(a[4]))
        return py_wrong(p, at, "a copy whose barrier is none, or of something else than a tensor");
    if (!pipe &&
        a[4]->at) { /* what the copy expects; left out where it is what comes (py_tle_finish) */
        WsReadBarrier *b = py_barrier_of(p, a[4]);
        py_mean_EXPECT(p, (const Val *[]){ a[4], py_literal(p, a[4]->at), NULL }, at);
        b->misfit = b->misfit || a[4]->at != bytes_of(p, a[1], a[2]);
    }
    const Val *done =
        py_mean_LOAD(p, (const Val *[]){ a[0], a[3], pipe ? pipe : a[4], a[1], NULL }, at);
    if (!pipe)
        mark_part(p, WS_READ_LOAD, a[4]);
    return done;
}

const Val *py_mean_TLE_ARANGE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 n = py_number(a[1], 0) - py_number(a[0], 0);
    if (n < 1 || py_number(a[0], 0))
        return py_opaque(p);
    Val *row = p->frame ? g_hash_table_lookup(p->frame->vars, PY_ROW) : NULL;
    if (row) { /* all of them have to have as many */
        row->rows = row->rows && row->rows != n ? -1 : n;
        return row;
    }
    Val *v = py_val(p, VAL_MATH);
    v->text = "col";
    v->dtype = "i32";
    v->dims = 1;
    v->rows = 1;
    v->cols = n;
    return v;
}

/* --- products ----------------------------------------------------------------------------------*/

static const Val *turned(PyRead *p, const Val *operand, const Val *flag)
{
    gint64 known;
    if (!operand || operand->kind != VAL_BUFFER || !flag || !py_known(flag, &known) || !known)
        return operand;
    Val *v = py_val(p, VAL_BUFFER);
    *v = *operand;
    v->place.transposed = !v->place.transposed;
    return v;
}

/* Exports of designs say behind the product when it starts anew: "# first: k == 0". */
static const WsExpr *said_first(PyRead *p, const WsPyNode *at)
{
    const WsPyNode *node;
    g_autoptr(WsPython) tree = py_said(p, at, "# first: ", &node);
    return node ? py_eval_int(p, node) : NULL;
}

static const char *type_of(PyRead *p, const Val *acc)
{
    if (acc && acc->kind == VAL_TILE && p->group && !acc->text)
        return g_array_index(p->group->values, WsReadValue, acc->index).dtype;
    return acc && acc->kind == VAL_ZERO ? acc->dtype : NULL;
}

/* How it computes is what a product of a design does: it adds up in the type of its accumulator,
 * fp8 as the tensor cores do without being asked for more, 32-bit reals as tf32. What is said
 * otherwise is listed. */
static void check_numbers(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *b = a[1] && a[1]->kind == VAL_BUFFER ? a[1] : NULL;
    const char *of = b ? g_array_index(p->r->buffers, WsReadBuffer, b->place.object).dtype : "";
    const char *own = py_given(a[2]) ? type_of(p, a[2]) : NULL;
    const char *sum = own ? own : g_str_has_prefix(of, "i8") ? "i32" : "f32";
    const char *out = !py_given(a[5])          ? g_strcmp0(sum, "i32") ? "f32" : "i32"
                      : a[5]->kind == VAL_NAME ? py_dtype(a[5]->text)
                                               : NULL;
    if (g_strcmp0(out, sum) != 0)
        py_unread(p, at, "a product that adds up in another type than its accumulator has");
    if (py_given(a[4]) && *of == 'e')
        py_unread(p, at, "a product of fp8 that says how often its sums are made exact");
    if (py_given(a[3]) && strstr(of, "32") &&
        !(a[3]->kind == VAL_STRING && strstr(a[3]->text, "tf32") && !strstr(a[3]->text, "tf32x")))
        py_unread(p, at, "a product of 32-bit reals that are not rounded to tf32");
}

const Val *py_mean_TLE_MMA(PyRead *p, const Val **a, const WsPyNode *at)
{
    check_numbers(p, a, at);
    const Val *acc = py_given(a[2]) ? a[2] : NULL;
    const WsExpr *first = acc ? said_first(p, at) : NULL;
    const Val *use = acc ? NULL : py_literal(p, 0);
    if (first && !py_begins_anew(p, acc, first)) {
        py_unread(
            p, at,
            "a remark that says when a product starts from zero, which no line before it does");
        first = NULL;
    }
    if (first && acc->kind == VAL_ZERO) { /* zeros that stand for `first` */
        Val *plain = py_val(p, VAL_TILE);
        *plain = *acc;
        plain->kind = VAL_TILE;
        acc = plain;
    }
    if (first)
        use = py_int(p, ws_x_op(p->r, WS_EXPR_NOT, first, NULL));
    const Val *b[8] = {
        turned(p, a[0], a[6]), turned(p, a[1], a[7]), acc, use, NULL, NULL, py_literal(p, 1), NULL
    };
    return py_mean_MMA(p, b, at);
}

const Val *py_mean_TLE_MMA_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean alone = a[0] && !a[1] && a[0]->kind != VAL_INT; /* wgmma_wait(acc) */
    const gint64 n = alone ? 0 : py_number(a[0], 0);
    WsReadStep *last = p->group && p->to->len ? g_ptr_array_index(p->to, p->to->len - 1) : NULL;
    if (last && last->kind == WS_READ_MMA_WAIT && !last->off && last->n == n)
        return alone ? a[0] : a[1] ? a[1] : py_none(p); /* one wait, named once per accumulator */
    return py_mean_MMA_WAIT(p, (const Val *[]){ py_literal(p, n), alone ? a[0] : a[1] }, at);
}

/* --- remarks -----------------------------------------------------------------------------------*/

static const char *remark(const PyRead *p, guint line, guint column)
{
    const char *text = line >= 1 && line <= p->r->n_lines ? p->r->line[line - 1] : "";
    const gsize blanks = strspn(text, " ");
    return text[blanks] == '#' && blanks + 1 == column ? text + blanks : NULL;
}

static void say(PyRead *p, const char *text, guint line, guint column)
{
    const gboolean load = g_str_has_prefix(text, "# load_wait: ");
    if (!load && !g_str_has_prefix(text, "# store_wait: "))
        return;
    WsReadStep *s = ws_source_step(p->r, p->to, load ? WS_READ_LOAD_WAIT : WS_READ_STORE_WAIT, line,
                                   column, line);
    char *end;
    s->n = g_ascii_strtoll(strchr(text, ':') + 1, &end, 10);
    if (s->n < 0 || *end || end[-1] == ' ') { /* what is written is not there for other threads */
        const WsPyNode at = {
            .kind = WS_PY_CONST, .line = line, .column = column, .end_line = line, .text = "None"
        };
        py_unread(p, &at, "a remark that says of a wait more than how many copies may be left");
    }
}

/* A block ends where the next statement begins: what is in it ends before. */
static guint last_line(const WsPyNode *node)
{
    const gboolean block = node->kind == WS_PY_BLOCK || node->kind == WS_PY_FOR ||
                           node->kind == WS_PY_WHILE || node->kind == WS_PY_IF ||
                           node->kind == WS_PY_WITH;
    guint line = block ? node->line : node->end_line;
    for (guint i = 0; i < node->n; i++)
        line = MAX(line, last_line(node->kid[i]));
    return line;
}

/* Comment lines above statement i of a block, or below its last one. */
void py_tle_remarks(PyRead *p, const WsPyNode *block, guint i)
{
    if (p->from != WS_IMPORT_TLE || !p->group || !block->n)
        return;
    const guint column = block->kid[0]->column;
    guint first = i < block->n ? block->kid[i]->line : last_line(block->kid[i - 1]) + 1;
    guint end = first;
    while (i < block->n && remark(p, first - 1, column))
        first--;
    while (i == block->n && remark(p, end, column))
        end++;
    for (guint line = first; line < end; line++)
        say(p, remark(p, line, column), line, column);
}
