#include "codegen/python/parameters.h"
#include "base/phrase.h"
#include "codegen/generate.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

#define MOST_CONSTANTS 32
#define MOST_STEPS     2 /* away from the design's value, to each side */

typedef struct {
    gint8 *power;  /* per integer of all pieces: 1 product, -1 quotient, 0 not in it */
    GArray *value; /* gint64: what it was shown for, the design's own first */
} Constant;

struct WsPyNumbers {
    const WsProgram *p;
    const WsPyJudge *judge;
    WsPyWrite write;
    gboolean split;   /* the text is that of ws_program_split() */
    gboolean remarks; /* in the text: their numbers count, too */
    gint64 stored;    /* see stored() */
    guint n;          /* constants */
    Constant constant[MOST_CONSTANTS];
    WsPyIntegers *base; /* of the design's own text */
    GArray *apart;      /* WsPyPair */
};

/* Elements that all tiles of a launch store at the design's sizes; -1: not known. A design whose
 * tiles no longer cover its outputs, or overlap, stores another number. */
static gint64 stored(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) at = ws_launch_values(p, NULL, 0, FALSE, findings);
    gint64 all = 0;
    for (guint i = 0; at && i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        const WsOpRow *is = ws_op_row(op->kind);
        const gboolean copies = is->from == WS_DATA_AT_SHARED;
        if (op->agent < 0 || is->to != WS_DATA_AT_TENSOR)
            continue;
        gint64 n = copies ? (gint64)op->access[0].rows * op->access[0].cols
                          : (gint64)op->value[0].rows * op->value[0].cols;
        for (const WsTree *t = op->tree; t; t = t->parent) {
            gint64 rounds = 1;
            if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT &&
                !ws_expr_is_int(t->count, &rounds))
                return -1;
            n *= rounds;
        }
        all += n;
    }
    return at ? all * ws_launch_tiles(at) : -1;
}

/* --- trying ------------------------------------------------------------------------------------*/

/* The integers of the text of `p`, which belongs to `n`'s design but for constants, if that was
 * shown to do the same and its text differs in integers alone. NULL: no. Takes `p` over. */
static WsPyIntegers *shown(const WsPyNumbers *n, WsProgram *p)
{
    WsPyIntegers *is = NULL;
    g_autoptr(WsProgram) whole = p, said = NULL;
    if (!p || n->stored < 0 || stored(p) != n->stored)
        return NULL;
    said = n->split ? ws_program_split(p) : ws_program_ref(p);
    g_autoptr(WsPyPieces) pieces = ws_py_pieces_new();
    g_autofree char *text = said ? n->write(said, n->remarks, pieces, NULL, NULL) : NULL;
    is = text ? ws_py_integers(pieces) : NULL;
    if (is && (strcmp(is->shape->str, n->base->shape->str) != 0 ||
               !n->judge->shown(said, n->judge->data)))
        g_clear_pointer(&is, ws_py_integers_free);
    return is;
}

/* How integer `v` becomes `w` when a constant `a` becomes `b`; 2: in no way that can be said. */
static gint power_of(gint64 v, gint64 w, gint64 a, gint64 b)
{
    if (v == w)
        return 0;
    if (v * b == w * a)
        return 1;
    if (v * a == w * b)
        return -1;
    return 2;
}

/* Takes the integers at value `value` into constant c, if they agree with what earlier ones showed.
 */
static gboolean take(WsPyNumbers *n, Constant *c, const WsPyIntegers *to, gint64 value)
{
    const gint64 was = g_array_index(c->value, gint64, 0);
    const guint all = n->base->value->len;
    const gboolean any = c->value->len > 1;
    g_autofree gint8 *power = g_new0(gint8, all + 1);
    for (guint i = 0; i < all; i++) {
        gint how = power_of(g_array_index(n->base->value, gint64, i),
                            g_array_index(to->value, gint64, i), was, value);
        if (how == 2 || (how && g_array_index(n->base->frozen, gboolean, i)) ||
            (any && c->power[i] != how))
            return FALSE;
        power[i] = (gint8)how;
    }
    memcpy(c->power, power, all);
    g_array_append_val(c->value, value);
    return TRUE;
}

static void try_alone(WsPyNumbers *n, guint number)
{
    Constant *c = &n->constant[number];
    const gint64 was = n->p->constant[number];
    const char *name = n->p->constant_name[number];
    for (gint side = -1; side <= 1; side += 2) {
        for (guint k = 1; k <= MOST_STEPS; k++) {
            const gint64 is = was < 8 ? was + side * (gint64)k : side < 0 ? was >> k : was << k;
            if (is < 1 || (was >= 8 && side < 0 && is << k != was))
                break;
            g_autoptr(WsPyIntegers) to = shown(n, ws_program_with(n->p, name, is));
            if (!to || !take(n, c, to, is))
                break;
        }
    }
}

/* Integer `i` of the text when the constants of a pair have its values. FALSE: no integer. */
static gboolean told(const WsPyNumbers *n, guint i, const WsPyPair *at, gint64 *is)
{
    gint64 up = g_array_index(n->base->value, gint64, i), down = 1;
    for (guint k = 0; k < 2; k++) {
        const gint power = n->constant[at->constant[k]].power[i];
        const gint64 was = n->p->constant[at->constant[k]];
        up *= power > 0 ? at->value[k] : power < 0 ? was : 1;
        down *= power > 0 ? was : power < 0 ? at->value[k] : 1;
    }
    *is = up / down;
    return up % down == 0;
}

static gboolean as_told(const WsPyNumbers *n, const WsPyPair *at)
{
    WsProgram *one = ws_program_with(n->p, n->p->constant_name[at->constant[0]], at->value[0]);
    WsProgram *both =
        one ? ws_program_with(one, n->p->constant_name[at->constant[1]], at->value[1]) : NULL;
    if (one)
        ws_program_unref(one);
    g_autoptr(WsPyIntegers) to = shown(n, both);
    gint64 is;
    for (guint i = 0; to && i < n->base->value->len; i++) {
        if (!told(n, i, at, &is) || is != g_array_index(to->value, gint64, i))
            return FALSE;
    }
    return to != NULL;
}

static void try_pairs(WsPyNumbers *n, guint a, guint b)
{
    const GArray *of_a = n->constant[a].value, *of_b = n->constant[b].value;
    for (guint i = 1; i < of_a->len; i++) {
        for (guint k = 1; k < of_b->len; k++) {
            const WsPyPair at = {
                { a, b }, { g_array_index(of_a, gint64, i), g_array_index(of_b, gint64, k) }
            };
            if (!as_told(n, &at))
                g_array_append_val(n->apart, at);
        }
    }
}

/* --- what a number is --------------------------------------------------------------------------*/

/* "BN // SLAB"; NULL: a number. FALSE in *good: no product or quotient of constants. */
static char *expression(const WsPyNumbers *n, guint at, const char *const *ident, gboolean *good,
                        GString *over, GString *under)
{
    gint64 v = g_array_index(n->base->value, gint64, at), top = 1, bottom = 1;
    g_string_truncate(over, 0);
    g_string_truncate(under, 0);
    for (guint i = 0; i < n->n; i++) {
        gint power = n->constant[i].power[at];
        if (!power)
            continue;
        GString *s = power > 0 ? over : under;
        g_string_append_printf(s, "%s%s", s->len ? " * " : "", ident[i]);
        *(power > 0 ? &top : &bottom) *= n->p->constant[i];
    }
    *good = TRUE;
    if (!over->len && !under->len)
        return NULL;
    gint64 up = v * bottom, down = top;
    *good = up % down == 0 || (up && down % up == 0);
    if (up % down == 0 && up != down) {
        g_autofree char *rest = g_strdup(over->str);
        g_string_printf(over, "%" G_GINT64_FORMAT "%s%s", up / down, *rest ? " * " : "", rest);
    } else if (up != down) {
        g_autofree char *rest = g_strdup(under->str);
        g_string_printf(under, "%s%s%" G_GINT64_FORMAT, rest, *rest ? " * " : "",
                        up ? down / up : 0);
    }
    if (!over->len)
        g_string_assign(over, "1");
    if (!under->len)
        return g_strdup(over->str);
    gboolean several = strchr(under->str, ' ') != NULL;
    return g_strdup_printf("%s // %s%s%s", over->str, several ? "(" : "", under->str,
                           several ? ")" : "");
}

static void pin(WsPyNumbers *n, guint i)
{
    memset(n->constant[i].power, 0, n->base->value->len + 1);
    g_array_set_size(n->constant[i].value, 1);
}

/* A number that no product of its constants makes pins them all. */
static void settle(WsPyNumbers *n)
{
    GString *over = g_string_new(NULL), *under = g_string_new(NULL);
    for (guint at = 0; at < n->base->value->len; at++) {
        gboolean good;
        g_autofree char *text =
            expression(n, at, (const char *const *)n->p->constant_name, &good, over, under);
        for (guint i = 0; !good && i < n->n; i++) {
            if (n->constant[i].power[at])
                pin(n, i);
        }
        (void)text;
    }
    g_string_free(over, TRUE);
    g_string_free(under, TRUE);
}

/* `said`: the program that is written, p itself or p in parts. */
static WsPyNumbers *numbers_new(const WsProgram *p, const WsProgram *said, gboolean remarks,
                                const WsPyJudge *judge, WsPyWrite write)
{
    g_autoptr(WsPyPieces) pieces = ws_py_pieces_new();
    g_autofree char *text = write(said, remarks, pieces, NULL, NULL);
    if (!text)
        return NULL;
    WsPyNumbers *n = g_new0(WsPyNumbers, 1);
    *n = (WsPyNumbers){ .p = p,
                        .judge = judge,
                        .write = write,
                        .split = said != p,
                        .remarks = remarks,
                        .n = MIN(p->n_constants, MOST_CONSTANTS) };
    n->base = ws_py_integers(pieces);
    n->apart = g_array_new(FALSE, FALSE, sizeof(WsPyPair));
    n->stored = judge ? stored(p) : -1;
    const gboolean right = n->stored >= 0 && judge->shown(said, judge->data);
    for (guint i = 0; i < n->n; i++) {
        n->constant[i].power = g_new0(gint8, n->base->value->len + 1);
        n->constant[i].value = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_array_append_val(n->constant[i].value, p->constant[i]);
        if (right && p->constant[i] > 0)
            try_alone(n, i);
    }
    settle(n);
    for (guint a = 0; a < n->n; a++) {
        for (guint b = a + 1; b < n->n; b++)
            try_pairs(n, a, b);
    }
    return n;
}

static void numbers_free(WsPyNumbers *n)
{
    if (!n)
        return;
    for (guint i = 0; i < n->n; i++) {
        g_free(n->constant[i].power);
        g_array_unref(n->constant[i].value);
    }
    ws_py_integers_free(n->base);
    g_array_unref(n->apart);
    g_free(n);
}

static char *proposal(const WsProgram *p, const WsPyJudge *judge, const char *name, gint64 is)
{
    if (!(judge->proved ? judge->proved : judge->shown)(p, judge->data))
        return NULL;
    return judge->proved
               ? ws_phrase("with --set %s=%d it can be written and is proved (not rehearsed)", name,
                           (int)is)
               : ws_phrase("with --set %s=%d it can be written", name, (int)is);
}

/* A power of two in place of one constant that is none, with which the language can say the design
 * and which is proved or shown to be right, as a phrase. NULL: none. Caller frees. */
static char *other_constant(const WsProgram *p, const WsPyJudge *judge, WsPyWrite write)
{
    for (guint i = 0; i < MIN(p->n_constants, MOST_CONSTANTS); i++) {
        const gint64 was = p->constant[i];
        gint64 is = 1;
        if (was < 3 || was > G_MAXINT32 / 2 || !(was & (was - 1)))
            continue;
        while (2 * is < was)
            is *= 2;
        for (guint k = 0; k < 2; k++, is *= 2) { /* the next ones below and above */
            g_autoptr(WsProgram) other = ws_program_with(p, p->constant_name[i], is);
            g_autofree char *text = other ? write(other, FALSE, NULL, NULL, NULL) : NULL;
            char *words = text ? proposal(other, judge, p->constant_name[i], is) : NULL;
            if (words)
                return words;
        }
    }
    return NULL;
}

static char *written(const WsProgram *p, const WsProgram *said, gboolean remarks,
                     const WsPyJudge *judge, WsPyWrite write, GError **error)
{
    WsPyNumbers *numbers = numbers_new(p, said, remarks, judge, write);
    char *text = write(said, remarks, NULL, numbers, error);
    numbers_free(numbers);
    return text;
}

/* The text with tiles in parts of 2^n, if those are shown to do the same: their values against the
 * reference, or without a reference their protocol alone. *error is replaced where the parts are
 * refused for a reason of their own. */
static char *in_parts(const WsProgram *p, gboolean remarks, const WsPyJudge *judge, WsPyWrite write,
                      GError **error)
{
    g_autoptr(WsProgram) parts = ws_program_split(p);
    g_autoptr(GError) refused = NULL;
    g_autofree char *text = parts ? write(parts, FALSE, NULL, NULL, &refused) : NULL;
    if (!text) {
        if (refused) {
            g_clear_error(error);
            g_propagate_error(error, g_steal_pointer(&refused));
        }
        return NULL;
    }
    if (!(p->n_reference || !judge->proved ? judge->shown : judge->proved)(parts, judge->data))
        return NULL;
    return written(p, parts, remarks, judge->pinned ? NULL : judge, write, NULL);
}

char *ws_py_parametric(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                       WsPyWrite write, GError **error)
{
    g_autoptr(GError) refused = NULL;
    const WsPyJudge *tries = judge && !judge->pinned ? judge : NULL;
    char *text = written(p, p, remarks, tries, write, &refused);
    if (!text && judge && ws_generate_refusal(refused))
        text = in_parts(p, remarks, judge, write, &refused);
    if (text)
        return text;
    g_autofree char *advice =
        tries && ws_generate_refusal(refused) ? other_constant(p, tries, write) : NULL;
    if (advice)
        ws_generate_advise(refused, advice);
    g_propagate_error(error, g_steal_pointer(&refused));
    return NULL;
}

char *ws_py_numbers_apply(const WsPyNumbers *n, guint piece, const char *text,
                          const char *const *ident)
{
    if (!n || piece >= n->base->first->len)
        return g_strdup(text);
    GString *s = g_string_new(NULL), *over = g_string_new(NULL), *under = g_string_new(NULL);
    guint at = g_array_index(n->base->first, guint, piece);
    const char *from = text;
    WsPyCursor cursor = { text, FALSE };
    for (const char *c; (c = ws_py_next_integer(&cursor)); from = cursor.c, at++) {
        const char *end = cursor.c;
        gboolean good;
        g_autofree char *is = expression(n, at, ident, &good, over, under);
        g_string_append_len(s, from, c - from);
        if (!is) {
            g_string_append_len(s, c, end - c);
            continue;
        }
        const char *behind = end + strspn(end, " ");
        gsize k = s->len;
        while (k && s->str[k - 1] == ' ')
            k--;
        gboolean alone = k && strchr("([,=\n", s->str[k - 1]) && strchr(")],:\n", *behind);
        gboolean name = !strchr(is, ' ');
        g_string_append_printf(s, alone || name ? "%s" : "(%s)", is);
    }
    g_string_append(s, from);
    g_string_free(over, TRUE);
    g_string_free(under, TRUE);
    return g_string_free(s, FALSE);
}

const GArray *ws_py_numbers_values(const WsPyNumbers *n, guint constant)
{
    return constant < n->n ? n->constant[constant].value : NULL;
}

const GArray *ws_py_numbers_apart(const WsPyNumbers *n)
{
    return n->apart;
}
