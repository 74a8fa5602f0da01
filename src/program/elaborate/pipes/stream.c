#include "program/elaborate/elab.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#include <string.h>

/* Streams (LANGUAGE section 15): what the writer of a pipe commits up to each `close`, as a number
 * of rounds that a `for` over the pipe makes. It is read off the steps of the writer's body:
 * windows and loops of windows in the lists around the close, back to the close before. What would
 * need more than adding up is refused by name; whether loop and close meet is for the check to
 * prove. */

typedef struct {
    WsElab *E;
    const char *pipe;
    guint wanted;          /* closes yet to be passed */
    const WsNode *close;   /* the one that was meant */
    GPtrArray *term, *per; /* counts of loops, and windows in a round of them */
    gint64 windows;
    const char *refused; /* why they do not add up, NULL */
    GHashTable *taken;   /* acquires that some close ends */
} Stream;

static gboolean is_on(const Stream *s, const WsNode *step, WsNodeKind kind)
{
    return step->kind == kind && !ws_node_bool(step, WS_F_muted, FALSE) &&
           ws_elab_field_is(s->E, step, WS_F_keyword, s->pipe);
}

static guint count_inside(const Stream *s, const WsNode *step, WsNodeKind kind)
{
    static const WsFieldId field[] = { WS_F_do, WS_F_then, WS_F_else };
    if (ws_node_bool(step, WS_F_muted, FALSE))
        return 0;
    guint n = is_on(s, step, kind);
    for (guint f = 0; f < G_N_ELEMENTS(field); f++)
        for (guint i = 0; i < ws_node_n_children(step, field[f]); i++)
            n += count_inside(s, ws_node_child(step, field[f], i), kind);
    return n;
}

static void take(const Stream *s, const WsNode *step)
{
    for (guint i = 0; i < ws_node_n_children(step, WS_F_do); i++)
        take(s, ws_node_child(step, WS_F_do, i));
    if (step->kind == WS_STEP_ACQUIRE)
        g_hash_table_add(s->taken, (gpointer)step);
}

/* Windows of a loop: directly in its body, the same in every round. */
static void add_loop(Stream *s, const WsNode *loop)
{
    guint direct = 0;
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        if (!is_on(s, step, WS_STEP_ACQUIRE))
            continue;
        if (ws_node_has(step, WS_F_when))
            s->refused = WS_WORD("an acquire happens under a condition");
        direct++;
    }
    if (!ws_node_has(loop, WS_F_count) || ws_node_has(loop, WS_F_when))
        s->refused = WS_WORD("windows stand in a loop that has no count, or a condition");
    else if (direct != count_inside(s, loop, WS_STEP_ACQUIRE))
        s->refused = WS_WORD("windows stand in a loop or a branch within a loop");
    g_ptr_array_add(s->term, (gpointer)ws_elab_field_expr(s->E, loop, WS_F_count));
    g_ptr_array_add(s->per, GUINT_TO_POINTER(direct));
    take(s, loop);
}

/* What stands before `end` in a list, back to the close before; TRUE if there is one. */
static gboolean add_before(Stream *s, const WsNode *owner, WsFieldId field, guint end)
{
    for (guint i = end; i-- > 0;) {
        const WsNode *step = ws_node_child(owner, field, i);
        if (count_inside(s, step, WS_STEP_CLOSE))
            return TRUE;
        if (count_inside(s, step, WS_STEP_ACQUIRE) == 0)
            continue;
        if (is_on(s, step, WS_STEP_ACQUIRE) && !ws_node_has(step, WS_F_when)) {
            s->windows++;
            take(s, step);
        } else if (step->kind == WS_STEP_FOR) {
            add_loop(s, step);
        } else {
            s->refused = WS_WORD("an acquire happens under a condition");
        }
    }
    return FALSE;
}

/* The wanted close in the order of the text; adds up on the way back. FALSE: not in there. *over
 * once the stream has begun. */
static gboolean find_close(Stream *s, const WsNode *owner, WsFieldId field, gboolean *over)
{
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *step = ws_node_child(owner, field, i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        const gboolean here = is_on(s, step, WS_STEP_CLOSE) && s->wanted-- == 0;
        if (here)
            s->close = step;
        if (here || find_close(s, step, WS_F_do, over) || find_close(s, step, WS_F_then, over) ||
            find_close(s, step, WS_F_else, over)) {
            if (!*over)
                *over = add_before(s, owner, field, i) || owner->kind == WS_STEP_FOR;
            return TRUE;
        }
    }
    return FALSE;
}

static void begin(Stream *s, WsElab *E, const char *pipe, guint close)
{
    *s = (Stream){ .E = E, .pipe = pipe, .wanted = close };
    s->term = g_ptr_array_new();
    s->per = g_ptr_array_new();
    s->taken = g_hash_table_new(NULL, NULL);
}

static void end(Stream *s)
{
    g_ptr_array_free(s->term, TRUE);
    g_ptr_array_free(s->per, TRUE);
    g_hash_table_destroy(s->taken);
}

static const WsNode *group_at(WsElab *E, guint group)
{
    return ws_node_child(E->root, WS_F_groups, group);
}

gboolean ws_stream_closes(WsElab *E, const char *pipe)
{
    const Stream s = { .E = E, .pipe = pipe };
    guint n = 0;
    for (guint g = 0; g < ws_node_n_children(E->root, WS_F_groups); g++)
        for (guint i = 0; i < ws_node_n_children(group_at(E, g), WS_F_body); i++)
            n += count_inside(&s, ws_node_child(group_at(E, g), WS_F_body, i), WS_STEP_CLOSE);
    return n > 0;
}

guint ws_stream_buffer(WsElab *E, const char *pipe, guint stages)
{
    WsBuffer b = { .name = ws_arena_printf(E->arena, "%s.closed", pipe),
                   .dtype = WS_DTYPE_I32,
                   .rank = 1,
                   .rows = 1,
                   .cols = 1,
                   .array = 1,
                   .over = -1 };
    ws_buffer_hidden(E, &b);
    ws_buffer_set_stages(&b, stages);
    g_array_append_val(E->buffers, b);
    g_ptr_array_add(E->buffer_node, NULL);
    return E->buffers->len - 1;
}

/* Windows that no close ends, and closes of another group than the writer's. */
static void left_over(const Stream *s, const WsNode *owner, WsFieldId field, const char *path,
                      gboolean writes)
{
    static const WsFieldId below[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *step = ws_node_child(owner, field, i);
        const char *own = ws_node_text(step, WS_F_id);
        g_autofree char *at = g_strdup_printf("%s/%s/%u", path, ws_field_name(field), i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        if (is_on(s, step, WS_STEP_ACQUIRE) && !g_hash_table_contains(s->taken, step))
            ws_elab_note(s->E, WS_RULE_L_PIPE, own ? own : at, "Close the pipe after it.",
                         "no close of pipe %s ends what is committed here: its readers have ended",
                         s->pipe);
        if (is_on(s, step, WS_STEP_CLOSE) && !writes)
            ws_elab_note(s->E, WS_RULE_L_PIPE, own ? own : at, "Let its writer close it.",
                         "pipe %s is closed by a group that does not write it", s->pipe);
        for (guint f = 0; f < G_N_ELEMENTS(below); f++)
            left_over(s, step, below[f], at, writes);
    }
}

void ws_stream_judge(WsElab *E, const WsPipeBuild *pipe)
{
    const char *name = ws_node_name(pipe->node);
    const char *at = ws_arena_printf(E->arena, "pipes/%s", name);
    Stream all = { .E = E, .pipe = name, .taken = g_hash_table_new(NULL, NULL) };
    gboolean found = pipe->writer > 0;
    if (E->p->cluster > 1)
        ws_elab_error(E, WS_RULE_L_LENS, at, NULL,
                      "close of pipe %s: not supported by elaboration in a cluster", name);
    for (guint n = 0; found; n++) {
        Stream s;
        gboolean over = FALSE;
        GHashTableIter each;
        gpointer acquire;
        begin(&s, E, name, n);
        found = find_close(&s, group_at(E, pipe->writer - 1), WS_F_body, &over);
        g_hash_table_iter_init(&each, s.taken);
        while (found && g_hash_table_iter_next(&each, &acquire, NULL))
            g_hash_table_add(all.taken, acquire);
        if (found && s.refused)
            ws_elab_error(E, WS_RULE_L_PIPE, at, "Let the rounds of each stream be one sum.",
                          "the rounds that a close of pipe %s ends do not add up: %s", name,
                          s.refused);
        end(&s);
    }
    for (guint g = 0; g < ws_node_n_children(E->root, WS_F_groups); g++) {
        const char *group = ws_arena_printf(E->arena, "groups/%s", ws_node_name(group_at(E, g)));
        left_over(&all, group_at(E, g), WS_F_body, group, g + 1 == pipe->writer);
    }
    g_hash_table_destroy(all.taken);
}

/* Names that mean the same in every group: the writer's own would be others in the reader. */
static void foreign(const WsExpr *e, gpointer data)
{
    Stream *s = data;
    if (e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL)
        if (e->op == WS_EXPR_TOTAL || !g_hash_table_contains(s->E->names, e->name))
            s->refused = e->name;
}

/* Number of this loop among those over the pipe in its group, in the order of the text. */
static gboolean number_of(const Stream *s, const WsNode *step, const WsNode *loop, guint *number)
{
    static const WsFieldId below[] = { WS_F_do, WS_F_then, WS_F_else };
    if (step == loop)
        return TRUE;
    if (ws_node_bool(step, WS_F_muted, FALSE))
        return FALSE;
    *number += step->kind == WS_STEP_FOR && ws_elab_field_is(s->E, step, WS_F_over, s->pipe);
    for (guint f = 0; f < G_N_ELEMENTS(below); f++)
        for (guint i = 0; i < ws_node_n_children(step, below[f]); i++)
            if (number_of(s, ws_node_child(step, below[f], i), loop, number))
                return TRUE;
    return FALSE;
}

/* max(count, 0) * windows, added up, as text of the writer. */
static WsExpr *added_up(const Stream *s)
{
    WsExpr *sum = ws_expr_int(s->windows);
    for (guint i = 0; i < s->term->len; i++) {
        WsExpr **arg = g_new(WsExpr *, 2);
        arg[0] = ws_expr_ref(s->term->pdata[i]);
        arg[1] = ws_expr_int(0);
        WsExpr *per = ws_expr_int(GPOINTER_TO_UINT(s->per->pdata[i]));
        WsExpr *count = ws_expr_op(WS_EXPR_MUL, ws_expr_call(WS_FUNC_MAX, arg, 2), per);
        g_free(arg);
        sum = ws_expr_op(WS_EXPR_ADD, sum, count);
    }
    return sum;
}

WsExpr *ws_stream_rounds(WsStepState *S, const WsPipeBuild *pipe)
{
    WsElab *E = S->E;
    const char *name = ws_node_name(pipe->node);
    guint number = 0;
    gboolean over = FALSE;
    Stream s = { .E = E, .pipe = name };
    WsExpr *rounds = ws_elab_int(E, 0);
    if (pipe->writer == 0)
        return rounds;
    for (guint i = 0, found = 0; i < ws_node_n_children(E->agent->node, WS_F_body) && !found; i++)
        found = number_of(&s, ws_node_child(E->agent->node, WS_F_body, i), S->node, &number);
    begin(&s, E, name, number);
    const gboolean found = find_close(&s, group_at(E, pipe->writer - 1), WS_F_body, &over);
    if (!found)
        ws_elab_error(E, WS_RULE_L_PIPE, S->id, "Close it once for each loop over it.",
                      "pipe %s has fewer closes than this group has loops over it", name);
    for (guint i = 0; found && !s.refused && i < s.term->len; i++) {
        ws_expr_visit(s.term->pdata[i], foreign, &s);
        if (s.refused)
            ws_elab_error(E, WS_RULE_L_PIPE, S->id, "Make it a name of the tile or of the launch.",
                          "the rounds that end at the close of pipe %s follow %s, which is its "
                          "writer's own",
                          name, s.refused);
    }
    if (found && !s.refused && s.term->len == 1 && s.windows == 0) {
        rounds = ws_elab_resolve(E, s.term->pdata[0], 0, S->id);
        rounds = ws_elab_op_int(E, WS_EXPR_MUL, rounds, GPOINTER_TO_UINT(s.per->pdata[0]), S->id);
    } else if (found && !s.refused) {
        g_autoptr(WsExpr) sum = added_up(&s);
        rounds = ws_elab_resolve(E, sum, 0, S->id);
    }
    end(&s);
    return rounds;
}
