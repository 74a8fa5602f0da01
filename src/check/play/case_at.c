/* A case at given sizes: those that a finding names, and those at which the answers of an alarm can
 * all hold together. */
#include "check/play/case_at.h"

#include <string.h>

/* --- a case ----------------------------------------------------------------------------------- */
static gint var_named(const WsProgram *p, const char *name, gsize n)
{
    for (guint v = 0; v < p->n_vars; v++)
        if ((p->var[v].kind == WS_VAR_SIZE || p->var[v].kind == WS_VAR_TILE) &&
            strlen(p->var[v].name) == n && strncmp(p->var[v].name, name, n) == 0)
            return (gint)v;
    return -1;
}

static void case_free(WsCase *c)
{
    g_clear_pointer(&c->values, ws_launch_values_free);
    g_free(c->pin);
    g_free(c->pin_values);
    g_free(c->sizes);
    g_free(c);
}

static WsLaunchValues *values_of(const WsProgram *p, const gint64 *now)
{
    g_autofree WsSize *size = g_new0(WsSize, p->n_vars + 1);
    g_autoptr(WsFindings) why = ws_findings_new();
    guint n = 0;
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            size[n++] = (WsSize){ p->var[v].name, now[v] };
    return ws_launch_values(p, size, n, TRUE, why);
}

static gint64 *base_sizes(const WsProgram *p)
{
    gint64 *now = g_new0(gint64, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        now[v] = p->var[v].kind == WS_VAR_SIZE ? p->var[v].rehearse : 0;
    return now;
}

WsCase *ws_case_at(const WsProgram *p, const char *sizes, guint tiles)
{
    g_autofree gint64 *now = base_sizes(p);
    g_auto(GStrv) part = g_strsplit(sizes, ", ", -1);
    WsCase *c = g_new0(WsCase, 1);
    c->rounds = -1;
    c->tiles = tiles;
    c->pin = g_new0(gint64, p->n_vars + 1);
    c->n_pin_values = MAX(tiles, 1);
    c->pin_values = g_new0(gint64, (gsize)(g_strv_length(part) + 1) * c->n_pin_values);
    c->sizes = g_strdup(sizes);
    for (guint i = 0; part[i]; i++) {
        const char *is = strstr(part[i], " =");
        gint v = is ? var_named(p, part[i], (gsize)(is - part[i])) : -1;
        if (v < 0) {
            case_free(c);
            return NULL;
        }
        g_auto(GStrv) number = g_strsplit(g_strstrip((char *)is + 2), " ", -1);
        guint n = g_strv_length(number);
        if (p->var[v].kind == WS_VAR_SIZE) {
            now[v] = n ? g_ascii_strtoll(number[0], NULL, 10) : now[v];
            continue;
        }
        c->pin[v] = i + 1;
        for (guint k = 0; n && k < c->n_pin_values; k++)
            c->pin_values[i * c->n_pin_values + k] = g_ascii_strtoll(number[k % n], NULL, 10);
    }
    c->values = values_of(p, now);
    if (!c->values || (tiles > 0 && ws_launch_tiles(c->values) < 1)) {
        case_free(c);
        return NULL;
    }
    return c;
}

void ws_case_free(WsCase *c)
{
    if (c)
        case_free(c);
}

/* The tile name can have that value whatever the sizes: it is an element, or bounded by numbers. */
static gboolean can_be(const WsExpr *e, gint64 value)
{
    gint64 n;
    if (!e || value < G_MININT32 || value > G_MAXINT32)
        return FALSE;
    if (e->op == WS_EXPR_INDEX)
        return TRUE;
    if (e->op != WS_EXPR_CALL || e->n_args != 2 ||
        (e->func != WS_FUNC_MAX && e->func != WS_FUNC_MIN))
        return FALSE;
    gboolean second = ws_expr_is_int(e->arg[1], &n);
    if (!second && !ws_expr_is_int(e->arg[0], &n))
        return FALSE;
    return (e->func == WS_FUNC_MAX ? value >= n : value <= n) &&
           can_be(e->arg[second ? 0 : 1], value);
}

/* --- sizes for answers ------------------------------------------------------------------------ */
typedef struct {
    const WsProgram *p;
    const GArray *told; /* WsTold */
    gint64 *now;
    GArray *number; /* gint64: worth trying */
    guint tries;
} Solve;

static void try_number(Solve *s, gint64 x)
{
    for (guint i = 0; i < s->number->len; i++)
        if (g_array_index(s->number, gint64, i) == x)
            return;
    if (x >= 0 && s->number->len < 160)
        g_array_append_val(s->number, x);
}

static void see_number(const WsExpr *e, gpointer data)
{
    Solve *s = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < s->p->n_vars &&
        s->p->var[e->var].kind == WS_VAR_RUN && s->p->var[e->var].value && s->tries < 16) {
        s->tries++;
        ws_expr_visit(s->p->var[e->var].value, see_number, s);
        s->tries--;
    }
    if (e->op != WS_EXPR_INT || e->i < 2 || e->i > 4096)
        return;
    for (guint i = 0; i < s->told->len; i++) {
        const WsTold *t = &g_array_index(s->told, WsTold, i);
        for (gint64 d = -1; d <= 1; d++) {
            try_number(s, (ABS(t->value) + d) * e->i);
            try_number(s, ABS(t->value) * e->i + d);
        }
    }
}

/* How many answers hold at the present sizes; -1: no launch has them. */
static gint hold(Solve *s)
{
    WsLaunchValues *values = values_of(s->p, s->now);
    gint n = 0;
    if (!values)
        return -1;
    WsExprEnv env = ws_launch_env(values);
    for (guint i = 0; i < s->told->len; i++) {
        const WsTold *t = &g_array_index(s->told, WsTold, i);
        gint64 x;
        n += ws_expr_eval(t->expr, &env, &x, NULL) &&
             (t->op == WS_EXPR_EQ   ? x == t->value
              : t->op == WS_EXPR_NE ? (x != 0) == (t->value != 0)
              : t->op == WS_EXPR_LE ? x <= t->value
                                    : x > t->value);
    }
    ws_launch_values_free(values);
    return n;
}

/* One size after the other to the number with which most answers hold. */
static gboolean climb(Solve *s)
{
    gint best = hold(s), want = (gint)s->told->len;
    for (guint pass = 0; pass < 4 && best < want; pass++)
        for (guint v = 0; v < s->p->n_vars && best < want; v++) {
            if (s->p->var[v].kind != WS_VAR_SIZE)
                continue;
            gint64 keep = s->now[v];
            for (guint i = 0; i < s->number->len && best < want && s->tries < 4000; i++) {
                s->tries++;
                s->now[v] = g_array_index(s->number, gint64, i);
                gint n = hold(s);
                if (n > best)
                    best = n, keep = s->now[v];
            }
            s->now[v] = keep;
        }
    return best == want && want > 0;
}

char *ws_sizes_of(const WsProgram *p, const GArray *told)
{
    g_autofree gint64 *base = base_sizes(p), *now = g_memdup2(base, p->n_vars * sizeof(gint64));
    g_autoptr(GArray) number = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) launch = g_array_new(FALSE, FALSE, sizeof(WsTold));
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < told->len; i++) {
        const WsTold *t = &g_array_index(told, WsTold, i);
        if (t->launch)
            g_array_append_val(launch, *t);
    }
    Solve s = { p, launch, now, number, 0 };
    for (gint64 x = 0; x <= 20; x++)
        try_number(&s, x);
    for (guint i = 0; i < launch->len; i++) {
        const WsTold *t = &g_array_index(launch, WsTold, i);
        for (gint64 d = -2; d <= 2; d++)
            try_number(&s, ABS(t->value) + d);
        ws_expr_visit(t->expr, see_number, &s);
    }
    if (launch->len) {
        gboolean found = climb(&s);
        for (guint start = 0; start < 3 && !found; start++) {
            static const gint64 from[] = { 0, 8, 32 };
            for (guint v = 0; v < p->n_vars; v++)
                now[v] = from[start];
            found = climb(&s);
        }
        if (!found)
            return NULL;
    }
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE && now[v] != base[v])
            g_string_append_printf(text, "%s%s = %" G_GINT64_FORMAT, text->len ? ", " : "",
                                   p->var[v].name, now[v]);
    for (guint i = 0; i < told->len; i++) { /* names of tiles are chosen as they are */
        const WsTold *t = &g_array_index(told, WsTold, i);
        if (t->launch || t->expr->op != WS_EXPR_VAR || t->expr->var < 0 ||
            (guint)t->expr->var >= p->n_vars || p->var[t->expr->var].kind != WS_VAR_TILE)
            continue;
        gint64 value = t->op == WS_EXPR_GT ? t->value + 1 : t->value;
        if (!can_be(p->var[t->expr->var].value, value))
            continue;
        g_string_append_printf(text, "%s%s = %" G_GINT64_FORMAT, text->len ? ", " : "",
                               p->var[t->expr->var].name, value);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}
