/* L-RAW. The text is taken apart into instructions, in order; what a register holds an address of
 * is the operands of the text that it was computed from. Nothing of it is executed. */
#include "check/proof/raw_text.h"
#include "base/phrase.h"
#include "check/proof/raw_defined.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/raw.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"

#include <string.h>

typedef enum {
    UNKNOWN,
    COMPUTES,
    GATHERS,
    LOADS,
    STORES,
    BOTH,
    ARRIVES,
    ORDERS,
    JUMPS,
} Deed;

static const struct {
    const char *word;
    Deed deed;
} words[] = {
#define WS_RAW_WORD(word, deed) { word, deed },
#include "check/proof/raw_word.def"
#undef WS_RAW_WORD
};

typedef struct {
    const WsProgram *p;
    const WsOp *op;
    GHashTable *from;           /* register -> operands it is computed from, a set of bits */
    GPtrArray *due;             /* const WsOp*: declared signals that the text has not made yet */
    GHashTable *reg;            /* names that the text declares */
    GHashTable *given;          /* "out.2": registers of `out` that are set whatever happens */
    GHashTable *label, *wanted; /* those that have stood in the text; that it jumps to */
    WsRawDefined *defined;      /* registers of the text that are set */
    guint64 wrote;              /* buffers, the last of them for all beyond */
    gboolean jumps, signals;
    char *why;
} Text;

static void refuse(Text *t, char *phrase)
{
    if (t->why)
        g_free(phrase);
    else
        t->why = phrase;
}

/* --- instructions ----------------------------------------------------------------------------- */

typedef struct {
    const char *code; /* "ld.shared.f32" */
    char **part;      /* of it, at its dots */
    GPtrArray *at;    /* char*: operands */
    gboolean guarded; /* @p */
} Line;

/* Between commas that stand in no braces or brackets. */
static GPtrArray *operands_of(const char *text)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    guint depth = 0;
    const char *from = text;
    for (const char *c = text;; c++) {
        depth += *c == '{' || *c == '[';
        depth -= depth && (*c == '}' || *c == ']');
        if (*c && (*c != ',' || depth))
            continue;
        char *one = g_strstrip(g_strndup(from, (gsize)(c - from)));
        if (*one)
            g_ptr_array_add(list, one);
        else
            g_free(one);
        if (!*c)
            return list;
        from = c + 1;
    }
}

static Deed deed_of(const char *word)
{
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (!strcmp(words[i].word, word))
            return words[i].deed;
    return UNKNOWN;
}

/* --- operands of the text ----------------------------------------------------------------------
 */

static gint operand_of(const Text *t, const char *name, gsize n)
{
    for (guint i = 0; i < t->op->n_raw && i < 64; i++)
        if (strlen(t->op->raw[i].name) == n && !strncmp(t->op->raw[i].name, name, n))
            return (gint)i;
    return -1;
}

/* Registers that a thread holds of a whole value of 32-bit elements; 0: not known here, or nobody
 * but the leader would set them. */
static gint64 registers_of(const Text *t, const WsRawOperand *o)
{
    const WsValueUse *use = &t->op->value[o->index];
    const WsRegValue *v = &t->p->agent[t->op->agent].value[use->value];
    return use->rows == v->rows && use->cols == v->cols && ws_dtype_bytes(v->dtype) == 4 &&
                   t->op->breadth == WS_BREADTH_GROUP
               ? v->registers
               : 0;
}

/* The operand that a text is, "%{x}" or "%{x.2}", and which register of it; -1: something else. */
static gint whole_operand(const Text *t, const char *at, gint64 *register_of)
{
    if (!g_str_has_prefix(at, "%{") || strcspn(at, "}") + 1 != strlen(at))
        return -1;
    const gsize n = strcspn(at + 2, ".}");
    char *end = NULL;
    *register_of = at[2 + n] == '.' ? g_ascii_strtoll(at + 3 + n, &end, 10) : 0;
    if (end && (*end != '}' || !g_ascii_isdigit(at[3 + n])))
        return -1;
    return operand_of(t, at + 2, n);
}

/* Special registers that a text may read: they are what they are, for every thread. */
static gboolean is_special(const char *name)
{
    static const char *const known[] = {
        "%tid.x",   "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",      "%ntid.z",
        "%ctaid.x", "%ctaid.y",     "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",
        "%laneid",  "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
        NULL
    };
    return g_strv_contains(known, name);
}

/* An operand of the step in an operand of an instruction, up to its bracket. */
static void know_operand(Text *t, const char *at, gsize length, gboolean reads)
{
    gint64 register_of = 0;
    g_autofree char *whole = g_strndup(at, length);
    const gint i = whole_operand(t, whole, &register_of);
    const WsRawOperand *o = i < 0 ? NULL : &t->op->raw[i];
    if (!o || (o->kind != WS_RAW_VALUE && strchr(whole, '.'))) {
        refuse(t, ws_phrase("%s in its text is not understood", whole));
        return;
    }
    if (o->kind != WS_RAW_VALUE)
        return;
    g_autofree char *key = g_strdup_printf("%s.%" G_GINT64_FORMAT, o->name, register_of);
    if (register_of < 0 || register_of >= registers_of(t, o))
        refuse(t,
               ws_phrase("its text names %s, and how many registers that has is not known", whole));
    else if (reads && o->out && !g_hash_table_contains(t->given, key))
        refuse(t, ws_phrase("its text reads %s, which it may not have set", whole));
}

/* Every name in an operand of an instruction is declared in the text, an operand of the step, or a
 * special register: others may be registers of the kernel around it. */
static void know_names(Text *t, const char *at, gboolean reads)
{
    for (const char *c = at; *c && !t->why;) {
        const gsize n =
            strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.%");
        g_autofree char *name = g_strndup(c, n);
        if (c[0] == '%' && c[1] == '{') {
            const gsize length = strcspn(c, "}") + 1;
            know_operand(t, c, MIN(length, strlen(c)), reads);
            c += MIN(length, strlen(c));
        } else if (n == 0) {
            if (!strchr("[]{}|,+-! \t\n", *c))
                refuse(t, ws_phrase("%s in its text is not understood", at));
            c++;
        } else {
            if (!g_ascii_isdigit(*name) && strcmp(name, "_") != 0 && !is_special(name) &&
                !g_hash_table_contains(t->reg, name))
                refuse(t, ws_phrase("its text names %s, which it does not declare", name));
            else if (reads && g_hash_table_contains(t->reg, name) &&
                     !ws_raw_defined_has(t->defined, name))
                refuse(t, ws_phrase("its text reads %s, which it may not have set", name));
            c += n;
        }
    }
}

/* ".reg .u32 a, b": plain names. One that begins with % may be one of the kernel's around it, and
 * hide an operand. */
static void declare(Text *t, const char *text)
{
    const char *type = text + strcspn(text, " \t\n");
    type += strspn(type, " \t\n");
    g_autoptr(GPtrArray) name = operands_of(type + strcspn(type, " \t\n"));
    if (*type != '.' || name->len == 0)
        refuse(t, ws_phrase("%s in its text is not understood", text));
    for (guint i = 0; i < name->len; i++) {
        const char *one = name->pdata[i];
        const gsize n =
            strspn(one, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
        if (one[n] || !(g_ascii_isalpha(*one) || *one == '_') || !strcmp(one, "_") ||
            g_hash_table_contains(t->reg, one))
            refuse(t, ws_phrase("%s in its text is not understood", one));
        else
            g_hash_table_add(t->reg, g_strdup(one));
    }
}

/* The operands that the registers of an operand of an instruction are computed from. */
static guint64 made_of(const Text *t, const char *at)
{
    guint64 set = 0;
    for (const char *c = at; *c;) {
        if (c[0] == '%' && c[1] == '{') {
            const gsize n = strcspn(c + 2, ".}");
            const gint i = operand_of(t, c + 2, n);
            set |= i < 0 ? 0 : 1ull << i;
            c += strcspn(c, "}");
            continue;
        }
        const gsize n =
            strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.");
        g_autofree char *name = g_strndup(c, n);
        const guint64 *known = n ? g_hash_table_lookup(t->from, name) : NULL;
        set |= known ? *known : 0;
        c += MAX(n, 1);
    }
    return set;
}

/* Registers that the instruction sets: those of the list, "a", "{a, b}", "p|q". */
static void set(Text *t, const char *at, guint64 from, gboolean maybe)
{
    g_auto(GStrv) name = g_strsplit_set(at, "{}|, \t\n", -1);
    if (strstr(at, "%{")) {
        gint64 register_of;
        const gint i = whole_operand(t, at, &register_of);
        const WsRawOperand *o = i < 0 ? NULL : &t->op->raw[i];
        if (!o || o->kind != WS_RAW_VALUE || !o->out)
            refuse(t, ws_phrase("its text sets %s, which is no value of `out`", at));
        else if (!maybe)
            g_hash_table_add(t->given,
                             g_strdup_printf("%s.%" G_GINT64_FORMAT, o->name, register_of));
        return;
    }
    for (guint i = 0; name[i]; i++) {
        if (!*name[i] || !strcmp(name[i], "_"))
            continue;
        ws_raw_defined_set(t->defined, name[i]);
        guint64 *all = g_new(guint64, 1);
        const guint64 *old = maybe ? g_hash_table_lookup(t->from, name[i]) : NULL;
        *all = from | (old ? *old : 0);
        g_hash_table_insert(t->from, g_strdup(name[i]), all);
    }
}

static gboolean same(const WsExpr *a, const WsExpr *b)
{
    return a == b || (a && b && ws_expr_equal(a, b));
}

/* --- memory ------------------------------------------------------------------------------------
 */

/* The step declares that it touches the bytes of `a` in this way. */
static gboolean declares(const WsOp *op, const WsAccess *a, WsMode mode)
{
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *x = &op->access[i];
        if ((x->mode & mode) && x->buffer == a->buffer && x->rows == a->rows &&
            x->cols == a->cols && same(x->element, a->element) && same(x->stage, a->stage) &&
            same(x->row0, a->row0) && same(x->col0, a->col0))
            return TRUE;
    }
    return FALSE;
}

static gboolean has(const Line *l, const char *part)
{
    return g_strv_contains((const char *const *)l->part, part);
}

static const char *address_of(const Line *l)
{
    for (guint i = 0; i < l->at->len; i++)
        if (*(const char *)l->at->pdata[i] == '[')
            return l->at->pdata[i];
    return NULL;
}

/* Lanes of a group may touch what others of it touch: an access of one kind each. */
static void reach(Text *t, const Line *l, Deed deed)
{
    const char *address = address_of(l);
    const guint64 from = address ? made_of(t, address) : 0;
    const gboolean shared = has(l, "shared") || has(l, "shared::cta"), global = has(l, "global");
    if (shared == global || has(l, "async") || has(l, "bulk")) {
        refuse(t, ws_phrase("%s in its text does not say which memory it is of", l->code));
        return;
    }
    gboolean based = FALSE;
    for (guint i = 0; i < t->op->n_raw && i < 64; i++) {
        const WsRawOperand *o = &t->op->raw[i];
        if (!(from >> i & 1) || o->kind == WS_RAW_EXPR || o->kind == WS_RAW_VALUE)
            continue; /* numbers */
        based = TRUE;
        if (global && (o->kind != WS_RAW_TENSOR || deed != LOADS)) {
            refuse(t,
                   ws_phrase("%s in its text writes a tensor, or goes by what is none", l->code));
        } else if (shared && o->kind != WS_RAW_BUFFER) {
            refuse(t, ws_phrase("%s in its text goes by %s, which is no buffer", l->code, o->name));
        } else if (shared) {
            const WsAccess *a = &t->op->access[o->index];
            if (deed != STORES && !declares(t->op, a, WS_MODE_READ))
                refuse(t, ws_phrase("%s in its text reads %s, which is not declared", l->code,
                                    t->p->buffer[a->buffer].name));
            if (deed != LOADS)
                t->wrote |= 1ull << MIN(a->buffer, 63);
            if (deed != LOADS && !declares(t->op, a, WS_MODE_WRITE))
                refuse(t, ws_phrase("%s in its text writes %s, which is not declared", l->code,
                                    t->p->buffer[a->buffer].name));
        }
    }
    if (!based)
        refuse(t, ws_phrase("%s in its text goes to an address that no operand gives", l->code));
    if (t->signals) /* what was signalled is over */
        refuse(t, ws_phrase("%s in its text comes after an arrival", l->code));
}

/* --- barriers ----------------------------------------------------------------------------------
 */

/* Arrivals that every thread which executes the text makes, one by one: `per` says which threads
 * the declared ones are of, `count` how many they are together. */
static gboolean counts(const Text *t, const WsOp *due, const char *given)
{
    const gint64 n = given ? g_ascii_strtoll(given, NULL, 0) : 1;
    const gint64 threads = t->p->agent[t->op->agent].threads;
    return t->op->breadth == WS_BREADTH_LEADER  ? due->per == 0 && due->count == n
           : t->op->breadth == WS_BREADTH_GROUP ? due->per == 1 && n == 1 && due->count == threads
                                                : FALSE;
}

static gboolean is_number(const char *text)
{
    char *end = NULL;
    g_ascii_strtoll(text, &end, 0);
    return *text && !*end;
}

static void arrive(Text *t, const Line *l)
{
    static const char *const known[] = { "mbarrier", "arrive", "shared",    "shared::cta", "b64",
                                         "release",  "cta",    "expect_tx", NULL };
    const gboolean expects = has(l, "expect_tx");
    gboolean plain = has(l, "arrive") && (has(l, "shared") || has(l, "shared::cta"));
    for (guint i = 0; l->part[i]; i++)
        plain = plain && g_strv_contains(known, l->part[i]);
    const char *address = address_of(l), *name = address ? strstr(address, "%{") : NULL;
    const gint i = name ? operand_of(t, name + 2, strcspn(name + 2, "}")) : -1;
    const WsRawOperand *o = i < 0 ? NULL : &t->op->raw[i];
    const char *last = l->at->len ? l->at->pdata[l->at->len - 1] : "";
    const char *given = last != address ? last : NULL;
    g_autofree char *whole = o ? g_strdup_printf("[%%{%s}]", o->name) : NULL;
    if (!plain || l->guarded || t->jumps || !o || o->kind != WS_RAW_BARRIER ||
        strcmp(address, whole) != 0 || (given && !is_number(given))) {
        refuse(t, ws_phrase("%s in its text is not understood", l->code));
        return;
    }
    for (guint k = 0; k < t->due->len; k++) {
        const WsOp *due = t->due->pdata[k];
        const gboolean is = expects ? ws_op_expects(due->kind) && given &&
                                          due->bytes == g_ascii_strtoll(given, NULL, 0) &&
                                          due->count == 1 && t->op->breadth == WS_BREADTH_LEADER
                                    : ws_op_arrives(due->kind) && !ws_op_expects(due->kind) &&
                                          counts(t, due, given);
        if (!is || due->barrier != o->barrier->barrier || due->ctas.kind != WS_CTAS_OWN ||
            !same(due->element, o->barrier->element) || !same(due->slot, o->barrier->slot))
            continue;
        g_ptr_array_remove_index(t->due, k);
        t->signals = TRUE;
        return;
    }
    refuse(t, ws_phrase("%s in its text makes an arrival that is not declared", l->code));
}

/* --- the text ----------------------------------------------------------------------------------*/

static void jump(Text *t, const Line *l)
{
    const char *to = l->at->len == 1 ? l->at->pdata[0] : "";
    if (l->part[1]) /* `.uni` promises what nobody shows */
        refuse(t, ws_phrase("%s in its text is not understood", l->code));
    if (!*to || g_hash_table_contains(t->label, to))
        refuse(t, ws_phrase("%s in its text goes back: a loop may not end", l->code));
    g_hash_table_add(t->wanted, g_strdup(to));
    ws_raw_defined_jump(t->defined, to);
    t->jumps = TRUE;
}

/* Of all lanes of a warp: with another mask lanes may wait for one that does not come. */
static gboolean whole_warp(const Line *l)
{
    const char *mask = l->at->len ? l->at->pdata[l->at->len - 1] : "";
    return has(l, "sync") && (!strcmp(mask, "-1") || !g_ascii_strcasecmp(mask, "0xffffffff"));
}

static void instruction(Text *t, const Line *l)
{
    const Deed deed = deed_of(l->part[0]);
    const gboolean maybe = l->guarded || t->jumps;
    const gboolean computes = deed == COMPUTES || deed == GATHERS;
    guint brackets = 0;
    for (guint i = 0; i < l->at->len; i++)
        brackets += strchr(l->at->pdata[i], '[') != NULL;
    if (deed == UNKNOWN || (computes && brackets) || brackets > 1 ||
        (deed == GATHERS && (maybe || t->op->breadth != WS_BREADTH_GROUP || !whole_warp(l)))) {
        refuse(t, ws_phrase("%s in its text is not understood", l->code));
        return;
    }
    const char *first = l->at->len ? l->at->pdata[0] : NULL;
    const gboolean sets =
        first &&
        (computes || ((deed == LOADS || deed == BOTH || deed == ARRIVES) && *first != '['));
    for (guint i = 0; deed != JUMPS && i < l->at->len; i++)
        know_names(t, l->at->pdata[i], i > 0 || !sets);
    if (deed == LOADS || deed == STORES || deed == BOTH)
        reach(t, l, deed);
    if (deed == ARRIVES)
        arrive(t, l);
    if (deed == JUMPS)
        jump(t, l);
    guint64 from = 0;
    for (guint i = 1; computes && i < l->at->len; i++)
        from |= made_of(t, l->at->pdata[i]);
    if (sets)
        set(t, first, from, maybe);
}

/* Labels and a predicate stand before it. */
static void statement(Text *t, char *text)
{
    g_strstrip(text);
    if (*text == '{' || *text == '}') /* the same name may be another register there */
        refuse(t, ws_phrase("%s in its text is not understood", "{ }"));
    for (char *colon;
         (colon = strchr(text, ':')) && colon[1] != ':' &&
         strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%") ==
             (gsize)(colon - text);) {
        g_autofree char *label = g_strndup(text, (gsize)(colon - text));
        ws_raw_defined_label(t->defined, label);
        g_hash_table_add(t->label, g_steal_pointer(&label));
        t->jumps = TRUE; /* what comes here may come from elsewhere */
        memset(text, ' ', (gsize)(colon - text) + 1);
        g_strstrip(text);
    }
    Line l = { .guarded = *text == '@' };
    ws_raw_defined_next(t->defined, NULL);
    if (l.guarded) {
        g_autofree char *guard = g_strndup(text, strcspn(text, " \t\n"));
        know_names(t, guard + 1, TRUE);
        ws_raw_defined_next(t->defined, guard);
        memset(text, ' ', strcspn(text, " \t\n"));
        g_strstrip(text);
    }
    if (!*text)
        return;
    const gsize n = strcspn(text, " \t\n");
    g_autofree char *code = g_strndup(text, n);
    if (*code == '.') {
        if (strcmp(code, ".reg") != 0)
            refuse(t, ws_phrase("%s in its text is not understood", code));
        else
            declare(t, text);
        return;
    }
    l.code = code;
    l.part = g_strsplit(code, ".", -1);
    l.at = operands_of(text + n);
    instruction(t, &l);
    g_strfreev(l.part);
    g_ptr_array_unref(l.at);
}

static char *without_comments(const char *text)
{
    GString *s = g_string_new(NULL);
    for (const char *c = text; *c;) {
        const gboolean line = c[0] == '/' && c[1] == '/', block = c[0] == '/' && c[1] == '*';
        const char *end = block ? strstr(c + 2, "*/") : NULL;
        if (!line && !block) {
            g_string_append_c(s, *c++);
            continue;
        }
        g_string_append_c(s, ' ');
        if (block && !end)
            g_string_append(s, "/*"); /* which nothing ends: no instruction */
        c = line ? c + strcspn(c, "\n") : end ? end + 2 : c + 2;
    }
    return g_string_free(s, FALSE);
}

/* A value of `out` is set whole, whatever way the text takes. */
static void know_given(Text *t, const WsRawOperand *o)
{
    if (o->kind != WS_RAW_VALUE || !o->out)
        return;
    const gint64 n = registers_of(t, o);
    for (gint64 i = 0; i < MAX(n, 1); i++) {
        g_autofree char *key = g_strdup_printf("%s.%" G_GINT64_FORMAT, o->name, i);
        if (n == 0 || !g_hash_table_contains(t->given, key)) {
            refuse(t, ws_phrase("its text may leave %%{%s} unset", key));
            return;
        }
    }
}

/* The raw step behind it: what is declared there is of that one. */
static gboolean is_next(const WsOp *op, const WsOp *other)
{
    return ws_op_is_raw(other->kind) && other->agent == op->agent;
}

char *ws_raw_reason(const WsProgram *p, const WsOp *op)
{
    if (op->unread)
        return ws_phrase("a raw step may synchronise in ways it does not declare");
    if (op->dialect != WS_RAW_PTX)
        return ws_phrase("the raw step at %s is no PTX: its text is not compared with what it "
                         "declares",
                         op->id);
    if (op->proxy == WS_PROXY_ASYNC || op->breadth == WS_BREADTH_WARP || op->n_raw > 64)
        return ws_phrase(
            "the raw step at %s is not compared with its text: `by` warp, `proxy` async", op->id);
    for (guint i = 0; i < op->n_access; i++)
        for (guint k = 0; k < op->n_access; k++)
            if (op->access[i].buffer == op->access[k].buffer &&
                (op->access[i].mode & WS_MODE_READ) && (op->access[k].mode & WS_MODE_WRITE))
                return ws_phrase("the text at %s reads and writes %s: which thread touches what is "
                                 "not known",
                                 op->id, p->buffer[op->access[i].buffer].name);
    Text t = { .p = p, .op = op };
    t.reg = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t.given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t.from = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    t.label = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t.wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t.due = g_ptr_array_new();
    t.defined = ws_raw_defined_new();
    for (guint i = op->index + 1; i < p->n_ops && !is_next(op, p->op[i]); i++)
        if (p->op[i]->declared && p->op[i]->agent == op->agent)
            g_ptr_array_add(t.due, p->op[i]);
    g_autofree char *plain = without_comments(op->text);
    g_auto(GStrv) line = g_strsplit(plain, ";", -1);
    for (guint i = 0; line[i] && !t.why; i++)
        statement(&t, line[i]);
    GHashTableIter it;
    gpointer label;
    g_hash_table_iter_init(&it, t.wanted);
    while (g_hash_table_iter_next(&it, &label, NULL))
        if (!g_hash_table_contains(t.label, label))
            refuse(&t,
                   ws_phrase("its text jumps to %s, which does not stand in it", (char *)label));
    for (guint i = 0; i < op->n_raw && !t.why; i++)
        know_given(&t, &op->raw[i]);
    for (guint i = 0; i < op->n_access; i++)
        if ((op->access[i].mode & WS_MODE_WRITE) && !(t.wrote >> MIN(op->access[i].buffer, 63) & 1))
            refuse(&t, ws_phrase("its text writes nothing to %s",
                                 p->buffer[op->access[i].buffer].name));
    if (t.due->len)
        refuse(&t, ws_phrase("its text does not make all arrivals that it declares"));
    g_hash_table_unref(t.from);
    g_hash_table_unref(t.reg);
    g_hash_table_unref(t.given);
    g_hash_table_unref(t.label);
    g_hash_table_unref(t.wanted);
    g_ptr_array_unref(t.due);
    ws_raw_defined_free(t.defined);
    if (!t.why)
        return NULL;
    char *all = ws_phrase("the raw step at %s: %s", op->id, t.why);
    g_free(t.why);
    return all;
}
