#include "codegen/python/parameters.h"
#include "codegen/fold.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/launch_values.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

#define MOST_CONSTANTS 32
#define MOST_PROBES    16

/* --- pieces ------------------------------------------------------------------------------------*/

static WsPyPieces *pieces_new(void)
{
    WsPyPieces *p = g_new0(WsPyPieces, 1);
    p->piece = g_ptr_array_new_with_free_func(g_free);
    p->frozen = g_array_new(FALSE, FALSE, sizeof(gboolean));
    return p;
}

static void pieces_free(WsPyPieces *p)
{
    if (!p)
        return;
    g_ptr_array_unref(p->piece);
    g_array_unref(p->frozen);
    g_free(p);
}

void ws_py_pieces_add(WsPyPieces *p, const char *text, gboolean frozen)
{
    g_ptr_array_add(p->piece, g_strdup(text));
    g_array_append_val(p->frozen, frozen);
}

/* NULL: the language cannot say it. */
static WsPyPieces *pieces_of(const WsProgram *p, WsPyWrite write)
{
    WsPyPieces *pieces = pieces_new();
    g_autofree char *text = write(p, FALSE, pieces, NULL, NULL);
    if (!text)
        g_clear_pointer(&pieces, pieces_free);
    return pieces;
}

/* --- tokens ------------------------------------------------------------------------------------*/

/* The next integer of the code from *c on: its first character, behind it *end. NULL: no more. Not
 * those of names, reals, comments and texts in quotes. */
static const char *next_integer(const char *c, const char **end)
{
    while (*c) {
        if (*c == '#') {
            c += strcspn(c, "\n");
        } else if (*c == '"' || *c == '\'') {
            const char *close = strchr(c + 1, *c);
            c = close ? close + 1 : c + strlen(c);
        } else if (ws_fold_word_char(*c)) {
            const char *begin = c;
            gboolean integer = TRUE;
            for (; ws_fold_word_char(*c) || (*c == '.' && g_ascii_isdigit(*begin)); c++)
                integer = integer && g_ascii_isdigit(*c);
            if (integer && c - begin < 12) {
                *end = c;
                return begin;
            }
        } else {
            c++;
        }
    }
    return NULL;
}

/* Integers of a piece, and its code with # in place of each, without comments. */
static GArray *integers_of(const char *text, char **shape)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(gint64));
    GString *s = g_string_new(NULL);
    const char *from = text, *end = NULL;
    for (const char *c = text; (c = next_integer(c, &end)); c = from = end) {
        gint64 v = g_ascii_strtoll(c, NULL, 10);
        g_array_append_val(all, v);
        g_string_append_len(s, from, c - from);
        g_string_append_c(s, '\x02');
    }
    g_string_append(s, from);
    GString *code = g_string_new(NULL);
    for (const char *c = s->str; *c; c++) {
        if (*c == '#')
            c += strcspn(c, "\n") - 1;
        else
            g_string_append_c(code, *c);
    }
    g_string_free(s, TRUE);
    *shape = g_string_free(code, FALSE);
    return all;
}

/* --- what a probe shows ------------------------------------------------------------------------*/

typedef struct {
    gint64 value;
    GPtrArray *integers; /* GArray* of gint64 per piece */
} Probe;

typedef struct {
    gint8 *power; /* per integer of all pieces: 1 product, -1 quotient, 0 not in it */
    gint64 lo, hi;
} Constant;

struct WsPyNumbers {
    const WsProgram *p;
    guint n; /* constants */
    Constant constant[MOST_CONSTANTS];
    GArray *first;       /* guint per piece: number of its first integer */
    GArray *value;       /* gint64 */
    GArray *frozen;      /* gboolean per integer */
    GPtrArray *quotient; /* char*, in pairs */
};

static GPtrArray *integers_of_all(const WsPyPieces *pieces, GPtrArray *shapes)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint i = 0; i < pieces->piece->len; i++) {
        char *shape = NULL;
        g_ptr_array_add(all, integers_of(pieces->piece->pdata[i], &shape));
        g_ptr_array_add(shapes, shape);
    }
    return all;
}

static gboolean same_shapes(const GPtrArray *a, const GPtrArray *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++) {
        if (strcmp(a->pdata[i], b->pdata[i]) != 0)
            return FALSE;
    }
    return TRUE;
}

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

/* Takes probe `to` into constant c, if it agrees with what earlier ones showed. */
static gboolean take(WsPyNumbers *n, Constant *c, gint64 was, const GPtrArray *base,
                     const GPtrArray *to, gint64 is, gboolean any)
{
    g_autofree gint8 *power = g_new0(gint8, n->value->len + 1);
    guint at = 0;
    for (guint i = 0; i < base->len; i++) {
        const GArray *a = base->pdata[i], *b = to->pdata[i];
        for (guint k = 0; k < a->len; k++, at++) {
            gint64 v = g_array_index(a, gint64, k), w = g_array_index(b, gint64, k);
            gint how = power_of(v, w, was, is);
            if (how == 2 || (how && g_array_index(n->frozen, gboolean, at)) ||
                (any && c->power[at] != how))
                return FALSE;
            power[at] = (gint8)how;
        }
    }
    memcpy(c->power, power, n->value->len);
    return TRUE;
}

static void probe(WsPyNumbers *n, guint number, const GPtrArray *base, const GPtrArray *shapes,
                  gint64 all, WsPyWrite write)
{
    Constant *c = &n->constant[number];
    const gint64 was = n->p->constant[number];
    gboolean any = FALSE;
    for (gint side = -1; side <= 1;
         side += 2) { /* away from the design's value, as far as it goes */
        for (guint k = 1; k <= 3; k++) {
            const gint64 is = was < 8 ? was + side * (gint64)k : side < 0 ? was >> k : was << k;
            if (is < 1 || (was >= 8 && side < 0 && is << k != was))
                break;
            WsProgram *p = ws_program_with(n->p, n->p->constant_name[number], is);
            WsPyPieces *pieces = p && all >= 0 && stored(p) == all ? pieces_of(p, write) : NULL;
            g_autoptr(GPtrArray) shape = g_ptr_array_new_with_free_func(g_free);
            g_autoptr(GPtrArray) to = pieces ? integers_of_all(pieces, shape) : NULL;
            gboolean good = to && same_shapes(shapes, shape) && take(n, c, was, base, to, is, any);
            pieces_free(pieces);
            if (p)
                ws_program_unref(p);
            if (!good)
                break;
            any = TRUE;
            c->lo = MIN(c->lo, is);
            c->hi = MAX(c->hi, is);
        }
    }
}

/* --- what a number is --------------------------------------------------------------------------*/

/* "BN // SLAB"; NULL: a number. FALSE in *good: no product or quotient of constants. */
static char *expression(const WsPyNumbers *n, guint at, const char *const *ident, gboolean *good,
                        GString *over, GString *under)
{
    gint64 v = g_array_index(n->value, gint64, at), top = 1, bottom = 1;
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
    memset(n->constant[i].power, 0, n->value->len + 1);
    n->constant[i].lo = n->constant[i].hi = n->p->constant[i];
}

/* A number that no product of its constants makes pins them all. */
static void settle(WsPyNumbers *n)
{
    GString *over = g_string_new(NULL), *under = g_string_new(NULL);
    for (guint at = 0; at < n->value->len; at++) {
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

static WsPyNumbers *numbers_new(const WsProgram *p, WsPyWrite write)
{
    WsPyPieces *pieces = pieces_of(p, write);
    if (!pieces)
        return NULL;
    WsPyNumbers *n = g_new0(WsPyNumbers, 1);
    *n = (WsPyNumbers){ .p = p, .n = MIN(p->n_constants, MOST_CONSTANTS) };
    n->first = g_array_new(FALSE, FALSE, sizeof(guint));
    n->value = g_array_new(FALSE, FALSE, sizeof(gint64));
    n->frozen = g_array_new(FALSE, FALSE, sizeof(gboolean));
    n->quotient = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) shapes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) base = integers_of_all(pieces, shapes);
    for (guint i = 0; i < base->len; i++) {
        const GArray *a = base->pdata[i];
        guint first = n->value->len;
        g_array_append_val(n->first, first);
        g_array_append_vals(n->value, a->data, a->len);
        for (guint k = 0; k < a->len; k++)
            g_array_append_vals(n->frozen, &g_array_index(pieces->frozen, gboolean, i), 1);
    }
    pieces_free(pieces);
    const gint64 all = stored(p);
    for (guint i = 0; i < n->n; i++) {
        n->constant[i].power = g_new0(gint8, n->value->len + 1);
        n->constant[i].lo = n->constant[i].hi = p->constant[i];
        probe(n, i, base, shapes, all, write);
    }
    settle(n);
    return n;
}

static void numbers_free(WsPyNumbers *n)
{
    if (!n)
        return;
    for (guint i = 0; i < n->n; i++)
        g_free(n->constant[i].power);
    g_array_unref(n->first);
    g_array_unref(n->value);
    g_array_unref(n->frozen);
    g_ptr_array_unref(n->quotient);
    g_free(n);
}

char *ws_py_parametric(const WsProgram *p, gboolean remarks, WsPyWrite write, GError **error)
{
    WsPyNumbers *numbers = numbers_new(p, write);
    char *text = write(p, remarks, NULL, numbers, error);
    numbers_free(numbers);
    return text;
}

static void note_quotient(const WsPyNumbers *n, const char *over, const char *under)
{
    for (guint i = 0; i + 1 < n->quotient->len; i += 2) {
        if (!strcmp(n->quotient->pdata[i], over) && !strcmp(n->quotient->pdata[i + 1], under))
            return;
    }
    g_ptr_array_add(n->quotient, g_strdup(over));
    g_ptr_array_add(n->quotient, g_strdup(under));
}

char *ws_py_numbers_apply(const WsPyNumbers *n, guint piece, const char *text,
                          const char *const *ident)
{
    if (!n || piece >= n->first->len)
        return g_strdup(text);
    GString *s = g_string_new(NULL), *over = g_string_new(NULL), *under = g_string_new(NULL);
    guint at = g_array_index(n->first, guint, piece);
    const char *from = text, *end = NULL;
    for (const char *c = text; (c = next_integer(c, &end)); c = from = end, at++) {
        gboolean good;
        g_autofree char *is = expression(n, at, ident, &good, over, under);
        g_string_append_len(s, from, c - from);
        if (!is) {
            g_string_append_len(s, c, end - c);
            continue;
        }
        if (under->len)
            note_quotient(n, over->str, under->str);
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

void ws_py_numbers_range(const WsPyNumbers *n, guint constant, gint64 *lo, gint64 *hi)
{
    *lo = *hi = n->p->constant[constant];
    if (constant < n->n) {
        *lo = n->constant[constant].lo;
        *hi = n->constant[constant].hi;
    }
}

const GPtrArray *ws_py_numbers_quotients(const WsPyNumbers *n)
{
    return n->quotient;
}
