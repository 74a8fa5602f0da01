#include "import/recognise.h"

#include <string.h>

/* What was read -> the text of a design -> the ordinary reader. */

typedef struct {
    WsRead *r;
    WsReadGroup *group;
    GString *out;
    GPtrArray *loops; /* WsReadStep*: enclosing */
    guint conditional;
} Writer;

static void put_string(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (const char *c = text; *c; c = g_utf8_next_char(c)) {
        const gunichar u = g_utf8_get_char(c);
        if (u == '"' || u == '\\')
            g_string_append_printf(out, "\\%c", (char)u);
        else if (u < 32)
            g_string_append_printf(out, "\\u%04x", u);
        else
            g_string_append_unichar(out, u);
    }
    g_string_append_c(out, '"');
}

static void put_field(Writer *w, const char *key, const char *text)
{
    g_string_append_printf(w->out, ", \"%s\": ", key);
    put_string(w->out, text);
}

static void put_expr(Writer *w, const char *key, const WsExpr *e)
{
    g_autofree char *text = ws_x_text(e);
    put_field(w, key, text);
}

static void put_note(Writer *w, guint line, guint column, guint end_line)
{
    if (!line)
        return;
    const WsRead *r = w->r;
    g_autofree char *source = g_strdup(line <= r->n_lines ? r->line[line - 1] : "");
    g_strstrip(source);
    if (g_utf8_strlen(source, -1) > 160)
        strcpy(g_utf8_offset_to_pointer(source, 160), "");
    g_autofree char *note = g_strdup_printf("%s:%u:%u: %s%s", r->file, line, MAX(column, 1), source,
                                            end_line > line ? " …" : "");
    put_field(w, "note", note);
}

static void put_coords(Writer *w, const WsReadStep *s)
{
    g_string_append(w->out, ", \"at\": [");
    for (guint i = 0; i < s->n_coord; i++) {
        g_autofree char *text = ws_x_text(s->coord[i]);
        g_string_append(w->out, i ? ", " : "");
        put_string(w->out, text);
    }
    g_string_append(w->out, "]");
}

/* --- references
 * ----------------------------------------------------------------------------------*/

static const WsReadBuffer *buffer_of(const Writer *w, const WsPlace *p)
{
    return &g_array_index(w->r->buffers, WsReadBuffer, p->object);
}

static const WsReadBarrier *barrier_of(const Writer *w, const WsPlace *p)
{
    return &g_array_index(w->r->barriers, WsReadBarrier, p->object);
}

static char *buffer_ref(Writer *w, const WsPlace *p)
{
    if (p->in_value)
        return g_strdup_printf("%s%s", g_array_index(w->group->values, WsReadValue, p->object).name,
                               p->views ? p->views : "");
    const WsReadBuffer *b = buffer_of(w, p);
    const WsSpot spot = ws_source_spot(w->r, p, b->stages, b->copies);
    GString *out = g_string_new(b->name);
    if (spot.element >= 0)
        g_string_append_printf(out, "[%" G_GINT64_FORMAT "]", spot.element);
    if (p->views)
        g_string_append(out, p->views);
    if (p->transposed)
        g_string_append(out, ".t");
    const WsExpr *use = spot.use ? spot.use : spot.slot;
    if (b->stages > 1) {
        g_autofree char *text = use ? ws_x_text(use) : g_strdup("0");
        g_string_append_printf(out, " @ %s", text);
    }
    return g_string_free(out, FALSE);
}

static char *barrier_name(Writer *w, const WsPlace *p, const WsSpot *spot)
{
    const WsReadBarrier *b = barrier_of(w, p);
    return spot->element >= 0 ? g_strdup_printf("%s[%" G_GINT64_FORMAT "]", b->name, spot->element)
                              : g_strdup(b->name);
}

static gboolean same_barrier(const WsReadStep *a, const WsReadStep *b)
{
    if (a->off || b->off || a->barrier.object != b->barrier.object || a->barrier.object < 0)
        return FALSE;
    if (!a->barrier.index || !b->barrier.index)
        return a->barrier.index == b->barrier.index;
    gint64 d;
    return ws_x_difference(a->barrier.index, b->barrier.index, &d) && d == 0;
}

static gboolean contributes(const WsReadStep *s)
{
    return s->kind == WS_READ_ARRIVE || s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD;
}

/* Is `s` the first step of what it contributes: an expect and the loads behind it are one. */
static gboolean opens(const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind != WS_READ_LOAD)
        return TRUE;
    for (guint i = at; i-- > 0;) {
        const WsReadStep *before = g_ptr_array_index(list, i);
        if (!same_barrier(s, before))
            continue;
        return before->kind == WS_READ_ARRIVE || before->kind == WS_READ_WAIT;
    }
    return TRUE;
}

static guint sites(const GPtrArray *list, const WsReadStep *like)
{
    guint n = 0;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        n += sites(s->body, like) + sites(s->other, like);
        if (contributes(s) && same_barrier(s, like) && opens(list, i))
            n++;
    }
    return n;
}

/* A barrier of one slot says nothing of its use: the running number of this group's contributions.
 * NULL where it does not follow from one list of steps. */
static const WsExpr *ordinal(Writer *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    guint here = 0, before = 0;
    for (guint i = 0; i < list->len; i++) {
        const WsReadStep *other = g_ptr_array_index(list, i);
        if (!contributes(other) || !same_barrier(other, s) || !opens(list, i))
            continue;
        here++;
        before += i <= at;
    }
    if (!here || sites(w->group->body, s) != here || w->conditional)
        return NULL;
    before = before ? before - 1 : 0;
    if (!w->loops->len)
        return ws_x_int(w->r, before);
    const WsReadStep *loop = g_ptr_array_index(w->loops, w->loops->len - 1);
    const WsExpr *rounds = ws_x_total(w->r, loop->name);
    return ws_x_op(w->r, WS_EXPR_ADD, ws_x_op(w->r, WS_EXPR_MUL, rounds, ws_x_int(w->r, here)),
                   ws_x_int(w->r, before));
}

static const WsExpr *contribution_use(Writer *w, const GPtrArray *list, guint at,
                                      const WsSpot *spot)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (spot->use)
        return spot->use;
    const WsExpr *turn = ordinal(w, list, at);
    const gint64 slots = barrier_of(w, &s->barrier)->slots;
    if (!turn || slots == 1)
        return turn;
    return spot->slot ? ws_x_op(w->r, WS_EXPR_ADD, spot->slot,
                                ws_x_op(w->r, WS_EXPR_MUL, turn, ws_x_int(w->r, slots)))
                      : NULL;
}

/* --- waits
 * -----------------------------------------------------------------------------------------*/

/* A parity of (x / slots + c) mod 2 awaits completion x / slots + c: for c = 1 the one before x's,
 * as everybody writes it who starts with free slots. `turn` is that c. */
static gboolean take_parity(Writer *w, const WsExpr *parity, gint64 slots, gboolean ready,
                            const WsExpr **x, gint64 *turn)
{
    WsAffine f;
    gint64 n;
    if (parity->op != WS_EXPR_MOD || !ws_x_is(parity->arg[1], &n) || n != 2 ||
        !ws_expr_affine(parity->arg[0], &f))
        return FALSE;
    gboolean found = FALSE;
    const gint64 c = f.constant;
    *turn = c > 0 && c % 2 && (slots > 1 || ready) ? c - 2 : c;
    if (slots == 1) {
        *x = ws_x_op(w->r, WS_EXPR_SUB, ws_x_own(w->r, ws_expr_ref(parity->arg[0])),
                     ws_x_int(w->r, c));
        found = *x != NULL;
    } else if (f.n == 1 && (f.factor[0] == 1 || f.factor[0] == -1) &&
               f.term[0]->op == WS_EXPR_DIV && ws_x_is(f.term[0]->arg[1], &n) && n == slots) {
        *x = ws_x_own(w->r, ws_expr_ref(f.term[0]->arg[0]));
        found = TRUE;
    }
    ws_affine_clear(&f);
    return found;
}

/* The use at which a wait of the design tests what the source tests; NULL: there is none. */
static const WsExpr *wait_use(Writer *w, const WsReadStep *s, const WsSpot *spot)
{
    WsRead *r = w->r;
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsExpr *x;
    gint64 shift, p, d;
    const gboolean ready = b->ready[MAX(spot->element, 0)];
    if (!s->parity)
        return NULL;
    if (ws_x_is(s->parity, &p)) {
        if (spot->use || (w->loops->len && !spot->slot))
            return NULL;          /* the ring goes on, the parity does not */
        gboolean in_loop = FALSE; /* an index that is the loop's own may stand for all slots once */
        for (guint i = 0; i < w->loops->len; i++) {
            const WsReadStep *loop = g_ptr_array_index(w->loops, i);
            in_loop |= !ws_x_mentions(spot->slot, loop->name);
        }
        const gint64 turn = ready ? (p ? 0 : 1) : p;
        return in_loop ? NULL
                       : ws_x_op(r, WS_EXPR_ADD, spot->slot ? spot->slot : ws_x_int(r, 0),
                                 ws_x_int(r, turn * b->slots));
    }
    if (!take_parity(w, s->parity, b->slots, ready, &x, &shift))
        return NULL;
    if (b->slots > 1) {
        const WsExpr *u = spot->use ? spot->use : spot->slot;
        if (!ws_x_difference(u, x, &d) || d % b->slots)
            return NULL; /* index and parity follow different counts */
    }
    return ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, b->slots * (shift + (ready ? 1 : 0))));
}

static void put_wait(Writer *w, const WsReadStep *s)
{
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsSpot spot = ws_source_spot(w->r, &s->barrier, b->slots, b->copies);
    const WsExpr *use = wait_use(w, s, &spot);
    g_autofree char *name = barrier_name(w, &s->barrier, &spot);
    g_string_append(w->out, "{\"wait\": ");
    put_string(w->out, name);
    if (use) {
        put_expr(w, "use", use);
        return;
    }
    const WsExpr *slot = spot.slot  ? spot.slot
                         : spot.use ? ws_x_mod(w->r, spot.use, b->slots)
                                    : ws_x_int(w->r, 0);
    put_expr(w, "slot", slot);
    const WsExpr *parity = s->parity ? s->parity : ws_x_int(w->r, 0);
    put_expr(w, "phase",
             b->ready[MAX(spot.element, 0)]
                 ? ws_x_mod(w->r, ws_x_op(w->r, WS_EXPR_ADD, parity, ws_x_int(w->r, 1)), 2)
                 : parity);
}

/* --- steps
 * -----------------------------------------------------------------------------------------*/

static void put_steps(Writer *w, const GPtrArray *list);

static void put_signal(Writer *w, const GPtrArray *list, guint at, const char *key)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsSpot spot = ws_source_spot(w->r, &s->barrier, b->slots, b->copies);
    g_autofree char *name = barrier_name(w, &s->barrier, &spot);
    const WsExpr *use = contribution_use(w, list, at, &spot);
    const gboolean load = s->kind == WS_READ_LOAD;
    if (!use && load)
        use = spot.slot ? spot.slot : ws_x_int(w->r, 0);
    g_autofree char *text = use ? ws_x_text(use) : NULL;
    g_autofree char *ref = load ? g_strdup_printf("%s @ %s", name, text) : g_strdup(name);
    g_string_append_printf(w->out, "%s\"%s\": ", load ? ", " : "{", key);
    put_string(w->out, ref);
    if (s->kind == WS_READ_EXPECT)
        g_string_append_printf(w->out, ", \"bytes\": %" G_GINT64_FORMAT, s->n);
    if (s->kind == WS_READ_ARRIVE && s->n != 1)
        g_string_append_printf(w->out, ", \"count\": %" G_GINT64_FORMAT, s->n);
    if (s->kind == WS_READ_ARRIVE && s->flag)
        put_field(w, "by", "all");
    if (s->kind == WS_READ_ARRIVE && s->all)
        put_field(w, "by", "warp");
    if (!load && use)
        put_field(w, "use", text);
    else if (!load)
        put_expr(w, "slot", spot.slot ? spot.slot : ws_x_int(w->r, 0));
}

static void put_block(Writer *w, const char *key, const GPtrArray *list)
{
    g_string_append_printf(w->out, ", \"%s\": [", key);
    put_steps(w, list);
    g_string_append(w->out, "]");
}

static void put_for(Writer *w, WsReadStep *s)
{
    g_string_append(w->out, "{\"for\": ");
    put_string(w->out, s->name);
    if (s->e)
        put_expr(w, "count", s->e);
    else
        put_field(w, "over", "tiles");
    if (s->n)
        g_string_append_printf(w->out, ", \"from\": %" G_GINT64_FORMAT, s->n);
    if (s->stride > 1)
        g_string_append_printf(w->out, ", \"step\": %" G_GINT64_FORMAT, s->stride);
    if (s->all)
        put_field(w, "unroll", "full");
    put_note(w, s->line, s->column, s->line);
    g_ptr_array_add(w->loops, s);
    put_block(w, "do", s->body);
    g_ptr_array_set_size(w->loops, w->loops->len - 1);
}

static void put_if(Writer *w, WsReadStep *s)
{
    g_string_append(w->out, "{\"if\": ");
    g_autofree char *text = ws_x_text(s->e);
    put_string(w->out, text);
    put_note(w, s->line, s->column, s->line);
    w->conditional++;
    put_block(w, "then", s->body);
    if (s->other && s->other->len)
        put_block(w, "else", s->other);
    w->conditional--;
}

static void put_names(Writer *w, const char *key, const GArray *values)
{
    g_string_append_printf(w->out, ", \"%s\": [", key);
    for (guint i = 0; values && i < values->len; i++) {
        const gint v = (gint)g_array_index(values, gint64, i);
        g_string_append(w->out, i ? ", " : "");
        put_string(w->out, g_array_index(w->group->values, WsReadValue, v).name);
    }
    g_string_append(w->out, "]");
}

static void put_opaque(Writer *w, const WsReadStep *s)
{
    g_string_append(w->out, "{\"raw\": \"ptx\", \"text\": [");
    for (guint line = s->line; line <= MIN(s->end_line, s->line + 7) && line <= w->r->n_lines;
         line++) {
        g_autofree char *text =
            g_strdup_printf("// %s:%u: %s", w->r->file, line, w->r->line[line - 1]);
        for (char *c = text; *c; c++)
            if (*c == '%')
                *c = '/'; /* %{…} would name an operand */
        g_string_append(w->out, line > s->line ? ", " : "");
        put_string(w->out, text);
    }
    g_string_append(w->out, "]");
    if (s->reads && s->reads->len)
        put_names(w, "reads", s->reads);
    if (s->value >= 0)
        g_string_append_printf(w->out, ", \"writes\": [\"%s\"]",
                               g_array_index(w->group->values, WsReadValue, s->value).name);
    else if (s->buffer.object >= 0) {
        g_autofree char *ref = buffer_ref(w, &s->buffer);
        g_string_append_printf(w->out, ", \"%s\": [", s->flag ? "writes" : "reads");
        put_string(w->out, ref);
        g_string_append(w->out, "]");
    }
}

static void put_move(Writer *w, const WsReadStep *s, const char *keyword, const char *key)
{
    g_autofree char *ref = s->buffer.object >= 0 ? buffer_ref(w, &s->buffer) : NULL;
    g_string_append_printf(w->out, "{\"%s\": ", keyword);
    if (s->value >= 0) {
        g_autofree char *value =
            g_strconcat(g_array_index(w->group->values, WsReadValue, s->value).name,
                        s->text ? s->text : "", NULL);
        put_string(w->out, value);
    } else {
        put_string(w->out, g_array_index(w->r->tensors, WsReadTensor, s->tensor).name);
        put_coords(w, s);
    }
    if (s->value >= 0 && s->tensor >= 0) { /* through pointers */
        put_field(w, key, g_array_index(w->r->tensors, WsReadTensor, s->tensor).name);
        put_coords(w, s);
    } else {
        put_field(w, key, ref);
    }
}

static void put_mma(Writer *w, const WsReadStep *s)
{
    g_autofree char *a = buffer_ref(w, &s->a), *b = buffer_ref(w, &s->b);
    g_string_append(w->out, "{\"mma\": ");
    put_string(w->out, g_array_index(w->group->values, WsReadValue, s->value).name);
    put_field(w, "a", a);
    put_field(w, "b", b);
    if (s->e) {
        gint64 first;
        if (ws_x_is(s->e, &first))
            g_string_append_printf(w->out, ", \"first\": %s", first ? "true" : "false");
        else
            put_expr(w, "first", s->e);
    }
}

static void put_word(Writer *w, const char *keyword, const char *value)
{
    g_string_append_printf(w->out, "{\"%s\": ", keyword);
    put_string(w->out, value);
}

static void put_step(Writer *w, const GPtrArray *list, guint at)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    switch (s->kind) {
    case WS_READ_FOR:
        put_for(w, s);
        break;
    case WS_READ_IF:
        put_if(w, s);
        break;
    case WS_READ_WAIT:
        put_wait(w, s);
        break;
    case WS_READ_ARRIVE:
        put_signal(w, list, at, "arrive");
        break;
    case WS_READ_EXPECT:
        put_signal(w, list, at, "expect");
        break;
    case WS_READ_LOAD:
        put_move(w, s, "load", "into");
        put_signal(w, list, at, "signal");
        break;
    case WS_READ_STORE:
        put_move(w, s, "store", "from");
        break;
    case WS_READ_WRITE:
        put_move(w, s, "write", "to");
        break;
    case WS_READ_READ:
        put_move(w, s, "read", "from");
        break;
    case WS_READ_STORE_WAIT:
        g_string_append_printf(w->out, "{\"store_wait\": %" G_GINT64_FORMAT "%s", s->n,
                               s->flag ? ", \"full\": true" : "");
        break;
    case WS_READ_MMA:
        put_mma(w, s);
        break;
    case WS_READ_MMA_WAIT:
        g_string_append_printf(w->out, "{\"mma_wait\": %" G_GINT64_FORMAT, s->n);
        break;
    case WS_READ_COMPUTE:
        put_word(w, "compute", s->text);
        break;
    case WS_READ_SYNC:
        put_word(w, "sync", s->name);
        break;
    case WS_READ_BAR_ARRIVE:
        put_word(w, "arrive", s->name);
        break;
    case WS_READ_FENCE:
        put_word(w, "fence", s->name);
        break;
    case WS_READ_ADVANCE:
        put_word(w, "advance", s->name);
        put_expr(w, "by", s->e);
        break;
    case WS_READ_LET:
        put_word(w, "let", s->name);
        put_expr(w, "be", s->e);
        break;
    case WS_READ_OPAQUE:
        put_opaque(w, s);
        break;
    }
    if (s->when)
        put_expr(w, "when", s->when);
    if (s->kind != WS_READ_FOR && s->kind != WS_READ_IF)
        put_note(w, s->line, s->column, s->end_line);
    g_string_append(w->out, "}\n");
}

static void put_steps(Writer *w, const GPtrArray *list)
{
    gboolean any = FALSE;
    for (guint i = 0; list && i < list->len; i++) {
        if (((WsReadStep *)g_ptr_array_index(list, i))->off)
            continue;
        g_string_append(w->out, any ? ", " : "");
        put_step(w, list, i);
        any = TRUE;
    }
}

/* --- objects
 * ---------------------------------------------------------------------------------------*/

static void put_tensors(Writer *w)
{
    g_string_append(w->out, ", \"tensors\": [");
    for (guint i = 0; i < w->r->tensors->len; i++) {
        const WsReadTensor *t = &g_array_index(w->r->tensors, WsReadTensor, i);
        g_string_append_printf(w->out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"shape\": [",
                               i ? ", " : "", t->name, t->dtype ? t->dtype : "bf16");
        for (guint d = 0; d < t->rank; d++) {
            g_autofree char *text = ws_x_text(t->shape[d]);
            g_string_append(w->out, d ? ", " : "");
            put_string(w->out, text);
        }
        g_string_append(w->out, "]");
        if (t->written || t->reduced)
            put_field(w, "access", t->reduced ? "reduce" : "write");
        put_note(w, t->line, 1, t->line);
        g_string_append(w->out, "}\n");
    }
    g_string_append(w->out, "]");
}

static void put_buffers(Writer *w)
{
    g_string_append(w->out, ", \"buffers\": [");
    for (guint i = 0; i < w->r->buffers->len; i++) {
        const WsReadBuffer *b = &g_array_index(w->r->buffers, WsReadBuffer, i);
        g_string_append_printf(w->out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [",
                               i ? ", " : "", b->name, b->dtype);
        const guint lead = (b->indexed ? 1 : 0) + (b->indexed_twice ? 1 : 0);
        for (guint d = lead; d < b->rank; d++)
            g_string_append_printf(w->out, "%s%" G_GINT64_FORMAT, d > lead ? ", " : "",
                                   b->shape[d]);
        g_string_append(w->out, "]");
        if (b->copies > b->stages)
            g_string_append_printf(w->out, ", \"array\": %" G_GINT64_FORMAT, b->copies / b->stages);
        g_string_append_printf(w->out, ", \"stages\": %" G_GINT64_FORMAT, b->stages);
        if (b->over) {
            const WsReadBuffer *under = &g_array_index(w->r->buffers, WsReadBuffer, b->over - 1);
            g_autofree char *ref =
                g_strconcat(under->name, under->copies > under->stages ? "[0]" : "", NULL);
            put_field(w, "over", ref);
            if (b->over_at)
                g_string_append_printf(w->out, ", \"offset\": %" G_GINT64_FORMAT, b->over_at);
        }
        put_note(w, b->line, 1, b->line);
        g_string_append(w->out, "}\n");
    }
    g_string_append(w->out, "]");
}

/* Arrivals of the elements of a barrier; the design has one figure for all of them. */
static gint64 arrivals_of(WsRead *r, const WsReadBarrier *b)
{
    gint64 n = 0;
    for (gint64 i = 0; i < b->copies; i++) {
        if (n && b->count[i] && b->count[i] != n) { /* never to be called proved */
            ws_source_unread(r, b->line, 1, b->line,
                             "arrival counts that differ between the slots of a barrier", b->name);
            WsReadGroup *g = g_ptr_array_index(r->groups, 0);
            ws_source_step(r, g->body, WS_READ_OPAQUE, b->line, 1, b->line);
            return n;
        }
        n = MAX(n, b->count[i]);
    }
    return MAX(n, 1);
}

static void put_init(Writer *w, const WsReadBarrier *b)
{
    static const char *const word[] = { "pending", "ready" };
    const gint64 n = b->copies / b->slots;
    gboolean same = TRUE;
    for (gint64 i = 1; i < n; i++)
        same &= b->ready[i] == b->ready[0];
    if (same) {
        put_field(w, "init", word[b->ready[0]]);
        return;
    }
    g_string_append(w->out, ", \"init\": [");
    for (gint64 i = 0; i < n; i++)
        g_string_append_printf(w->out, "%s\"%s\"", i ? ", " : "", word[b->ready[i]]);
    g_string_append(w->out, "]");
}

static void put_barriers(Writer *w)
{
    g_string_append(w->out, ", \"barriers\": [");
    for (guint i = 0; i < w->r->barriers->len; i++) {
        const WsReadBarrier *b = &g_array_index(w->r->barriers, WsReadBarrier, i);
        g_string_append_printf(w->out, "%s{\"name\": \"%s\"", i ? ", " : "", b->name);
        if (b->named) {
            if (b->copies > 1)
                g_string_append_printf(w->out, ", \"array\": %" G_GINT64_FORMAT, b->copies);
            g_string_append_printf(w->out, ", \"kind\": \"named\", \"threads\": %" G_GINT64_FORMAT,
                                   b->count[0]);
        } else {
            if (b->copies > b->slots)
                g_string_append_printf(w->out, ", \"array\": %" G_GINT64_FORMAT,
                                       b->copies / b->slots);
            g_string_append_printf(w->out, ", \"slots\": %" G_GINT64_FORMAT, b->slots);
            put_init(w, b);
            g_string_append_printf(w->out, ", \"arrivals\": %" G_GINT64_FORMAT,
                                   arrivals_of(w->r, b));
        }
        put_note(w, b->line, 1, b->line);
        g_string_append(w->out, "}\n");
    }
    g_string_append(w->out, "]");
}

static gboolean issues(const GPtrArray *list, WsReadKind kind)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == kind && !s->off) || issues(s->body, kind) || issues(s->other, kind))
            return TRUE;
    }
    return FALSE;
}

static void put_group(Writer *w, WsReadGroup *g)
{
    w->group = g;
    const char *role = issues(g->body, WS_READ_MMA)    ? "consumer"
                       : issues(g->body, WS_READ_LOAD) ? "producer"
                                                       : "worker";
    g_string_append_printf(w->out,
                           "{\"name\": \"%s\", \"role\": \"%s\", \"warps\": %" G_GINT64_FORMAT,
                           g->name, role, g->warps);
    if (g->registers)
        g_string_append_printf(w->out, ", \"registers\": %" G_GINT64_FORMAT, g->registers);
    put_note(w, g->line, 1, g->line);
    GString *values = g_string_new(NULL), *body = w->out;
    w->out = g_string_new(NULL);
    put_steps(w, g->body);
    for (guint i = 0; i < g->values->len; i++) {
        const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
        g_string_append_printf(
            values,
            "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [%" G_GINT64_FORMAT
            ", %" G_GINT64_FORMAT "]}",
            i ? ", " : "", v->name, v->dtype, v->rows, v->cols);
    }
    g_string_append_printf(body, ", \"values\": [%s], \"counters\": [", values->str);
    for (guint i = 0; i < g->counters->len; i++) {
        g_autofree char *start = ws_x_text(g_ptr_array_index(g->starts, i));
        g_string_append_printf(body, "%s{\"name\": \"%s\", \"start\": ", i ? ", " : "",
                               (char *)g_ptr_array_index(g->counters, i));
        put_string(body, start);
        g_string_append(body, "}");
    }
    g_string_append_printf(body, "], \"body\": [%s]}\n", w->out->str);
    g_string_free(values, TRUE);
    g_string_free(w->out, TRUE);
    w->out = body;
}

static void put_head(Writer *w)
{
    WsRead *r = w->r;
    g_string_append(w->out, "{\"warpstave\": 1, \"name\": ");
    put_string(w->out, r->title);
    g_autofree char *note = g_strdup_printf("imported from %s; notes give the lines", r->file);
    put_field(w, "note", note);
    put_field(w, "target", "sm_90a");
    if (r->fences)
        put_field(w, "fences", r->fences);
    g_string_append(w->out, ", \"sizes\": {");
    for (guint i = 0; i < r->sizes->len; i++)
        g_string_append_printf(w->out, "%s\"%s\": %" G_GINT64_FORMAT, i ? ", " : "",
                               (char *)g_ptr_array_index(r->sizes, i),
                               g_array_index(r->presets, gint64, i));
    g_string_append(w->out, "}, \"scalars\": {");
    for (guint i = 0; i < r->scalars->len; i++)
        g_string_append_printf(w->out, "%s\"%s\": 1.0", i ? ", " : "",
                               (char *)g_ptr_array_index(r->scalars, i));
    g_string_append(w->out, "}, \"assume\": [");
    for (guint i = 0; i < r->assume->len; i++) {
        g_string_append(w->out, i ? ", " : "");
        put_string(w->out, g_ptr_array_index(r->assume, i));
    }
    g_string_append(w->out, "]");
    if (r->cluster > 1)
        g_string_append_printf(w->out, ", \"cluster\": %" G_GINT64_FORMAT, r->cluster);
    g_string_append(w->out, ", \"tiles\": {\"axes\": {");
    for (guint i = 0; i + 1 < r->axes->len; i += 2) {
        g_string_append_printf(w->out, "%s\"%s\": ", i ? ", " : "",
                               (char *)g_ptr_array_index(r->axes, i));
        put_string(w->out, g_ptr_array_index(r->axes, i + 1));
    }
    g_string_append_printf(w->out, "}, \"launch\": \"%s\"}", r->launch);
}

WsDesign *ws_source_write(WsRead *r)
{
    Writer w = { .r = r, .out = g_string_new(NULL), .loops = g_ptr_array_new() };
    ws_source_rings(r);
    put_head(&w);
    put_tensors(&w);
    put_buffers(&w);
    put_barriers(&w);
    g_string_append(w.out, ", \"groups\": [");
    for (guint i = 0; i < r->groups->len; i++) {
        g_string_append(w.out, i ? ", " : "");
        put_group(&w, g_ptr_array_index(r->groups, i));
    }
    g_string_append(w.out, "]}");
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(w.out->str, w.out->len, r->file, findings);
    if (g_getenv("WS_IMPORT_TEXT"))
        g_printerr("%s\n", w.out->str);
    if (!design) {
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        ws_source_fail(r, 1, 1, "Import a smaller part of it.",
                       "what was read makes no design: %s at %s", f->message, f->at);
    }
    g_ptr_array_unref(w.loops);
    g_string_free(w.out, TRUE);
    return design;
}
