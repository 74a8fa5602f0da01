#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Named barriers of the hardware, for which Gluon has no call: PTX inline, "bar.sync $1, $2;". A
 * barrier is known by its number; exports say behind the constant that holds the first number what
 * it is called: "turn = gl.constexpr(4)  # named in the design: 256,256 threads". */

static void add(PyRead *p, const char *name, gint64 id, gint64 copies, const gint64 *threads,
                guint line)
{
    WsReadBarrier b = {
        .name = ws_source_name(p->r, name), .copies = copies, .line = line, .named = TRUE
    };
    b.hw_id = id;
    b.count = g_new0(gint64, copies);
    b.ready = g_new0(gint, copies);
    memcpy(b.count, threads, copies * sizeof *threads);
    g_array_append_val(p->r->barriers, b);
}

void py_named_constant(PyRead *p, const WsPyNode *assign, const Val *v)
{
    static const char key[] = "# named in the design: ";
    const char *line = assign->end_line <= p->r->n_lines ? p->r->line[assign->end_line - 1] : "";
    const char *text = strstr(line, key);
    gint64 id, threads[16] = { 0 }, n = 0;
    if (!text || !py_known(v, &id) || id < 0 || id > 15)
        return;
    char *end = (char *)text + strlen(key) - 1;
    do
        threads[n++] = g_ascii_strtoll(end + 1, &end, 10);
    while (*end == ',' && n + id < 16);
    for (gint64 i = 0; i < n; i++)
        if (threads[i] < 32 || threads[i] > 1024)
            return;
    add(p, assign->kid[0]->text, id, n, threads, assign->line);
}

const char *py_named_barrier(PyRead *p, gint64 id, gint64 threads, const WsPyNode *at)
{
    for (guint i = 0;; i++) {
        if (i == p->r->barriers->len)
            add(p, ws_source_format(p->r, "named_%d", (int)id), id, 1, &threads, at->line);
        const WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, i);
        if (!b->named || id < b->hw_id || id >= b->hw_id + b->copies)
            continue;
        if (b->count[id - b->hw_id] != threads)
            return NULL;
        return b->copies > 1 ? ws_source_format(p->r, "%s[%d]", b->name, (int)(id - b->hw_id))
                             : b->name;
    }
}

/* A number of the text, or "$1" for the first argument behind the results. */
static gboolean operand(const Val *args, guint results, const char **at, gint64 *value)
{
    const char *c = *at + strspn(*at, " ,");
    const gboolean argument = *c == '$';
    char *end;
    const guint64 n = g_ascii_strtoull(c + argument, &end, 10);
    if (end == c + argument || n > 1024)
        return FALSE;
    *at = end;
    *value = (gint64)n;
    return !argument ||
           (n >= results && n - results < args->n && py_known(args->item[n - results], value));
}

/* inline_asm_elementwise("bar.sync $1, $2;", "=r,r,r", [id, threads], …) */
const Val *py_mean_ASM(PyRead *p, const Val **a, const WsPyNode *at)
{
    static const struct {
        const char *text;
        WsReadKind kind;
    } words[] = {
        { "bar.sync ", WS_READ_SYNC },
        { "barrier.sync ", WS_READ_SYNC },
        { "barrier.sync.aligned ", WS_READ_SYNC },
        { "bar.arrive ", WS_READ_BAR_ARRIVE },
        { "barrier.arrive ", WS_READ_BAR_ARRIVE },
        { "barrier.arrive.aligned ", WS_READ_BAR_ARRIVE },
    };
    const char *text = a[0] && a[0]->kind == VAL_STRING ? strpbrk(a[0]->text, "\"'") : NULL;
    guint results = 0, word = 0;
    for (const char *c = a[1] && a[1]->kind == VAL_STRING ? a[1]->text : ""; *c; c++)
        results += *c == '=';
    for (text = text ? text + 1 : ""; word < G_N_ELEMENTS(words); word++)
        if (g_str_has_prefix(text, words[word].text))
            break;
    if (word == G_N_ELEMENTS(words) || !a[2] || a[2]->kind != VAL_TUPLE || !p->group)
        return py_wrong(p, at, "PTX inline that is no barrier between groups");
    gint64 id, threads;
    text += strlen(words[word].text);
    const gboolean known = operand(a[2], results, &text, &id) &&
                           operand(a[2], results, &text, &threads) &&
                           text[strspn(text, " ")] == ';';
    const char *name = known && id >= 0 && id < 16 && threads >= 32 && threads <= 1024
                           ? py_named_barrier(p, id, threads, at)
                           : NULL;
    if (!name)
        return py_wrong(p, at, "a barrier between groups whose number or threads are not known");
    /* who calls the helper that holds the PTX is meant */
    py_step(p, words[word].kind, p->calls > 1 ? p->frame->at : at)->name = name;
    return py_none(p);
}
