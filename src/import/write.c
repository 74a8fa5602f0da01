#include "import/write.h"
#include "model/text.h"

#include <string.h>

/* What was read -> the text of a design -> the ordinary reader. */

typedef struct {
    WsRead *r;
    WsReadGroup *group;
    GString *out;
    GPtrArray *loops; /* WsReadStep*: enclosing */
    guint conditional;
} Writer;

static void put_coords(Writer *w, const WsReadStep *s)
{
    g_string_append(w->out, ", \"at\": [");
    for (guint i = 0; i < s->n_coord; i++) {
        g_autofree char *text = ws_source_named_text(w->r, s->coord[i]);
        g_string_append(w->out, i ? ", " : "");
        ws_text_json(w->out, text);
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
        g_autofree char *text = use ? ws_source_named_text(w->r, use) : g_strdup("0");
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
    return s->kind == WS_READ_ARRIVE || s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD ||
           s->kind == WS_READ_GATHER || s->kind == WS_READ_COPY;
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
    *turn = c > 0 && (slots > 1 ? c % 2 : ready) ? c - 2 : c;
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

/* An element that does not exist is found when the design is elaborated. */
static gboolean is_ready(const WsReadBarrier *b, const WsSpot *spot)
{
    return spot->element < b->copies && b->ready[MAX(spot->element, 0)];
}

/* The use at which a wait of the design tests what the source tests; NULL: there is none. */
static const WsExpr *wait_use(Writer *w, const WsReadStep *s, const WsSpot *spot)
{
    WsRead *r = w->r;
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsExpr *x;
    gint64 shift, p, d;
    const gboolean ready = is_ready(b, spot);
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
    const WsExpr *use = s->barrier.use ? s->barrier.use : wait_use(w, s, &spot);
    g_autofree char *name = barrier_name(w, &s->barrier, &spot);
    g_string_append(w->out, "{\"wait\": ");
    ws_text_json(w->out, name);
    if (use) {
        ws_write_expr(w->r, w->out, "use", use);
        return;
    }
    const WsExpr *slot = spot.slot  ? spot.slot
                         : spot.use ? ws_x_mod(w->r, spot.use, b->slots)
                                    : ws_x_int(w->r, 0);
    ws_write_expr(w->r, w->out, "slot", slot);
    const WsExpr *parity = s->parity ? s->parity : ws_x_int(w->r, 0);
    ws_write_expr(w->r, w->out, "phase",
                  is_ready(b, &spot)
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
    const gboolean load =
        s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER || s->kind == WS_READ_COPY;
    if (!use && load)
        use = spot.slot ? spot.slot : ws_x_int(w->r, 0);
    g_autofree char *text = use ? ws_source_named_text(w->r, use) : NULL;
    g_autofree char *ref = load ? g_strdup_printf("%s @ %s", name, text) : g_strdup(name);
    g_string_append_printf(w->out, "%s\"%s\": ", load ? ", " : "{", key);
    ws_text_json(w->out, ref);
    if (s->kind == WS_READ_EXPECT)
        g_string_append_printf(w->out, ", \"bytes\": %" G_GINT64_FORMAT, s->n);
    if (s->kind == WS_READ_ARRIVE && s->n != 1)
        g_string_append_printf(w->out, ", \"count\": %" G_GINT64_FORMAT, s->n);
    if (s->kind == WS_READ_ARRIVE && s->flag)
        ws_write_field(w->out, "by", "all");
    if (s->kind == WS_READ_ARRIVE && s->all)
        ws_write_field(w->out, "by", "warp");
    if (s->ctas)
        g_string_append_printf(w->out, ", \"%s\": %s", load ? "multicast" : "cta", s->ctas);
    if (s->cta)
        ws_write_expr(w->r, w->out, "cta", s->cta);
    if (!load && use)
        ws_write_field(w->out, "use", text);
    else if (!load)
        ws_write_expr(w->r, w->out, "slot", spot.slot ? spot.slot : ws_x_int(w->r, 0));
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
    ws_text_json(w->out, s->name);
    if (s->e)
        ws_write_expr(w->r, w->out, "count", s->e);
    else
        ws_write_field(w->out, "over", "tiles");
    if (s->n)
        g_string_append_printf(w->out, ", \"from\": %" G_GINT64_FORMAT, s->n);
    if (s->stride > 1)
        g_string_append_printf(w->out, ", \"step\": %" G_GINT64_FORMAT, s->stride);
    if (s->all)
        ws_write_field(w->out, "unroll", "full");
    ws_write_note(w->r, w->out, s->line, s->column, s->line);
    g_ptr_array_add(w->loops, s);
    put_block(w, "do", s->body);
    g_ptr_array_set_size(w->loops, w->loops->len - 1);
}

static void put_if(Writer *w, WsReadStep *s)
{
    g_string_append(w->out, "{\"if\": ");
    g_autofree char *text = ws_source_named_text(w->r, s->e);
    ws_text_json(w->out, text);
    ws_write_note(w->r, w->out, s->line, s->column, s->line);
    w->conditional++;
    put_block(w, "then", s->body);
    if (s->other && s->other->len)
        put_block(w, "else", s->other);
    w->conditional--;
}

static gboolean fills(const GPtrArray *list, gint buffer)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean comes = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER;
        if ((comes && !s->off && s->buffer.object == buffer) || fills(s->body, buffer) ||
            fills(s->other, buffer))
            return TRUE;
    }
    return FALSE;
}

/* Some copy brings what the buffer holds. */
static gboolean is_loaded(const WsRead *r, gint buffer)
{
    for (guint g = 0; g < r->groups->len; g++)
        if (fills(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, buffer))
            return TRUE;
    return FALSE;
}

/* What an opaque step may do with the values and buffers that its lines name: it reads what copies
 * bring, and writes the other buffers. */
static void put_touched(Writer *w, const char *key, const WsReadStep *s, gboolean values)
{
    gboolean any = FALSE;
    g_string_append_printf(w->out, ", \"%s\": [", key);
    for (guint i = 0; values && s->reads && i < s->reads->len; i++, any = TRUE) {
        const gint v = (gint)g_array_index(s->reads, gint64, i);
        g_string_append(w->out, any ? ", " : "");
        ws_text_json(w->out, g_array_index(w->group->values, WsReadValue, v).name);
    }
    for (guint i = 0; s->places && i < s->places->len; i++) {
        const WsPlace *place = &g_array_index(s->places, WsPlace, i);
        if (is_loaded(w->r, place->object) != values)
            continue;
        g_autofree char *ref = buffer_ref(w, place);
        g_string_append(w->out, any ? ", " : "");
        ws_text_json(w->out, ref);
        any = TRUE;
    }
    if (!values && s->value >= 0) {
        g_string_append(w->out, any ? ", " : "");
        ws_text_json(w->out, g_array_index(w->group->values, WsReadValue, s->value).name);
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
        ws_text_json(w->out, text);
    }
    g_string_append(w->out, "]");
    if (s->reads || s->places)
        put_touched(w, "reads", s, TRUE);
    if (s->value >= 0 || s->places) {
        put_touched(w, "writes", s, FALSE);
    } else if (s->buffer.object >= 0) {
        g_autofree char *ref = buffer_ref(w, &s->buffer);
        g_string_append_printf(w->out, ", \"%s\": [", s->flag ? "writes" : "reads");
        ws_text_json(w->out, ref);
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
        ws_text_json(w->out, value);
    } else {
        ws_text_json(w->out, g_array_index(w->r->tensors, WsReadTensor, s->tensor).name);
        put_coords(w, s);
    }
    if (s->value >= 0 && s->tensor >= 0) { /* through pointers */
        ws_write_field(w->out, key, g_array_index(w->r->tensors, WsReadTensor, s->tensor).name);
        put_coords(w, s);
    } else {
        ws_write_field(w->out, key, ref);
    }
}

static void put_mma(Writer *w, const WsReadStep *s)
{
    g_autofree char *a = buffer_ref(w, &s->a), *b = buffer_ref(w, &s->b);
    g_string_append(w->out, "{\"mma\": ");
    g_autofree char *sum = g_strconcat(g_array_index(w->group->values, WsReadValue, s->value).name,
                                       s->text ? s->text : "", NULL);
    ws_text_json(w->out, sum);
    ws_write_field(w->out, "a", a);
    ws_write_field(w->out, "b", b);
    if (s->e) {
        gint64 first;
        if (ws_x_is(s->e, &first))
            g_string_append_printf(w->out, ", \"first\": %s", first ? "true" : "false");
        else
            ws_write_expr(w->r, w->out, "first", s->e);
    }
}

static void put_word(Writer *w, const char *keyword, const char *value)
{
    g_string_append_printf(w->out, "{\"%s\": ", keyword);
    ws_text_json(w->out, value);
}

static void put_place(Writer *w, const char *key, const WsPlace *place)
{
    g_autofree char *ref = buffer_ref(w, place);
    ws_write_field(w->out, key, ref);
}

/* The statement in the names of the design; as it is where it is none of the grammar. */
static void put_compute(Writer *w, const char *text)
{
    WsStatement *s = ws_statement_parse(text, NULL);
    g_autofree char *value = s ? ws_source_named_text(w->r, s->value) : NULL;
    g_autofree char *own = s ? g_strdup_printf("%s = %s", s->name, value) : g_strdup(text);
    put_word(w, "compute", own);
    if (s)
        ws_statement_unref(s);
}

/* What most steps are: a keyword and what stands behind it. */
typedef enum {
    FORM_OWN,    /* of its kind alone */
    FORM_SIGNAL, /* on a barrier */
    FORM_MOVE,   /* between a value or tensor and `key` */
    FORM_WORD,   /* name */
    FORM_NUMBER, /* n */
    FORM_SUM,    /* name, `key` an expression */
    FORM_TILES,  /* "tiles", `key` a place */
} Form;

static const struct {
    Form form;
    const char *keyword, *key;
} forms[] = {
    [WS_READ_ARRIVE] = { FORM_SIGNAL, "arrive", NULL },
    [WS_READ_EXPECT] = { FORM_SIGNAL, "expect", NULL },
    [WS_READ_LOAD] = { FORM_MOVE, "load", "into" },
    [WS_READ_GATHER] = { FORM_MOVE, "gather", "into" },
    [WS_READ_STORE] = { FORM_MOVE, "store", "from" },
    [WS_READ_WRITE] = { FORM_MOVE, "write", "to" },
    [WS_READ_READ] = { FORM_MOVE, "read", "from" },
    [WS_READ_STORE_WAIT] = { FORM_NUMBER, "store_wait", NULL },
    [WS_READ_LOAD_WAIT] = { FORM_NUMBER, "load_wait", NULL },
    [WS_READ_MMA_WAIT] = { FORM_NUMBER, "mma_wait", NULL },
    [WS_READ_CLUSTER] = { FORM_WORD, "cluster", NULL },
    [WS_READ_SYNC] = { FORM_WORD, "sync", NULL },
    [WS_READ_BAR_ARRIVE] = { FORM_WORD, "arrive", NULL },
    [WS_READ_FENCE] = { FORM_WORD, "fence", NULL },
    [WS_READ_DEPENDENT] = { FORM_WORD, "griddepcontrol", NULL },
    [WS_READ_ADVANCE] = { FORM_SUM, "advance", "by" },
    [WS_READ_LET] = { FORM_SUM, "let", "be" },
    [WS_READ_CLAIM] = { FORM_TILES, "claim", "into" },
    [WS_READ_TAKE] = { FORM_TILES, "take", "from" },
};

static void put_copy(Writer *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    g_autofree char *from = buffer_ref(w, &s->a);
    put_word(w, "copy", from);
    put_place(w, "into", &s->buffer);
    put_signal(w, list, at, "signal");
}

static void put_own(Writer *w, const GPtrArray *list, guint at)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind == WS_READ_FOR)
        put_for(w, s);
    else if (s->kind == WS_READ_IF)
        put_if(w, s);
    else if (s->kind == WS_READ_WAIT)
        put_wait(w, s);
    else if (s->kind == WS_READ_MMA)
        put_mma(w, s);
    else if (s->kind == WS_READ_COMPUTE)
        put_compute(w, s->text);
    else if (s->kind == WS_READ_COPY)
        put_copy(w, list, at);
    else
        put_opaque(w, s);
}

static void put_transfer(Writer *w, const GPtrArray *list, guint at, const char *keyword,
                         const char *key)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const gboolean comes = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER;
    put_move(w, s, keyword, key);
    if (comes && s->barrier.object >= 0)
        put_signal(w, list, at, "signal");
    if (s->flag && (s->kind == WS_READ_STORE || s->kind == WS_READ_WRITE))
        ws_write_field(w->out, "reduce", "add");
}

static void put_step(Writer *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const Form form = s->kind < G_N_ELEMENTS(forms) ? forms[s->kind].form : FORM_OWN;
    const char *keyword = form ? forms[s->kind].keyword : NULL;
    const char *key = form ? forms[s->kind].key : NULL;
    switch (form) {
    case FORM_OWN:
        put_own(w, list, at);
        break;
    case FORM_SIGNAL:
        put_signal(w, list, at, keyword);
        break;
    case FORM_MOVE:
        put_transfer(w, list, at, keyword, key);
        break;
    case FORM_WORD:
        put_word(w, keyword, s->name);
        break;
    case FORM_NUMBER:
        g_string_append_printf(w->out, "{\"%s\": %" G_GINT64_FORMAT "%s", keyword, s->n,
                               s->kind == WS_READ_STORE_WAIT && s->flag ? ", \"full\": true" : "");
        break;
    case FORM_SUM:
        put_word(w, keyword, s->name);
        ws_write_expr(w->r, w->out, key, s->e);
        break;
    case FORM_TILES:
        put_word(w, keyword, "tiles");
        put_place(w, key, &s->buffer);
        break;
    }
    if (s->when)
        ws_write_expr(w->r, w->out, "when", s->when);
    if (s->kind != WS_READ_FOR && s->kind != WS_READ_IF)
        ws_write_note(w->r, w->out, s->line, s->column, s->end_line);
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
    ws_write_note(w->r, w->out, g->line, 1, g->line);
    GString *values = g_string_new(NULL), *body = w->out;
    w->out = g_string_new(NULL);
    put_steps(w, g->body);
    for (guint i = 0; i < g->values->len; i++) {
        const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
        if (v->gone)
            continue;
        g_string_append_printf(
            values,
            "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [%" G_GINT64_FORMAT
            ", %" G_GINT64_FORMAT "]}",
            values->len ? ", " : "", v->name, v->dtype, v->rows, v->cols);
    }
    g_string_append_printf(body, ", \"values\": [%s], \"counters\": [", values->str);
    for (guint i = 0; i < g->counters->len; i++) {
        g_autofree char *start = ws_source_named_text(w->r, g_ptr_array_index(g->starts, i));
        g_string_append_printf(body, "%s{\"name\": \"%s\", \"start\": ", i ? ", " : "",
                               (char *)g_ptr_array_index(g->counters, i));
        ws_text_json(body, start);
        g_string_append(body, "}");
    }
    g_string_append_printf(body, "], \"body\": [%s]}\n", w->out->str);
    g_string_free(values, TRUE);
    g_string_free(w->out, TRUE);
    w->out = body;
}

WsDesign *ws_source_write(WsRead *r)
{
    Writer w = { .r = r, .out = g_string_new(NULL), .loops = g_ptr_array_new() };
    ws_source_rings(r);
    ws_source_settle_names(r);
    ws_write_objects(r, w.out);
    g_string_append(w.out, ", \"groups\": [");
    for (guint i = 0; i < r->groups->len; i++) {
        g_string_append(w.out, i ? ", " : "");
        put_group(&w, g_ptr_array_index(r->groups, i));
    }
    g_string_append(w.out, "]}");
    GString *head = g_string_new(NULL);
    ws_write_head(r, head); /* last: it holds the names that were used */
    g_string_prepend(w.out, head->str);
    g_string_free(head, TRUE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(w.out->str, w.out->len, r->file, findings);
    if (!design) {
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        ws_source_fail(r, 1, 1, "Import a smaller part of it.",
                       "what was read makes no design: %s at %s", f->message, f->at);
    }
    g_ptr_array_unref(w.loops);
    g_string_free(w.out, TRUE);
    return design;
}
