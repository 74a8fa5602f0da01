/* Rows of prim.def as C++ functions: the same template, the same operands; and one function per
 * shape of wgmma. */
#include "codegen/cuda/cuda.h"
#include "program/parts/product.h"

#include <string.h>

const char *ws_cuda_prim_name(WsPrim id)
{
    static char *name[WS_PRIM_COUNT];
    static gsize done;
    if (g_once_init_enter(&done)) {
        static const char *const text[] = {
#define WS_PRIM(id, name, ptx, constraints, flags) #id,
#include "codegen/prim.def"
#undef WS_PRIM
        };
        for (guint i = 0; i < WS_PRIM_COUNT; i++)
            name[i] = g_ascii_strdown(text[i], -1);
        g_once_init_leave(&done, 1);
    }
    return name[id];
}

/* Operand names for people, results first; the rest are x0, x1, … */
static const char *operand_names(WsPrim id)
{
    static const char *const names[WS_PRIM_COUNT] = {
        [WS_PRIM_MBAR_INIT] = "bar count",
        [WS_PRIM_MBAR_ARRIVE_N] = "bar count",
        [WS_PRIM_MBAR_WAIT] = "bar parity",
        [WS_PRIM_MBAR_WAIT_CLUSTER] = "bar parity",
        [WS_PRIM_MBAR_ARRIVE] = "bar",
        [WS_PRIM_CP_ARRIVE] = "bar",
        [WS_PRIM_MBAR_ARRIVE_REMOTE] = "bar rank count",
        [WS_PRIM_MBAR_ARRIVE_PUBLISH] = "bar rank count",
        [WS_PRIM_MBAR_EXPECT] = "bar bytes",
        [WS_PRIM_MBAR_EXPECT_ONLY] = "bar bytes",
        [WS_PRIM_BULK_COPY] = "to from bytes bar rank",
        [WS_PRIM_CP_ASYNC] = "to from bytes",
        [WS_PRIM_CP_ASYNC_HINT] = "to from all policy",
        [WS_PRIM_SHFL_IDX] = "result value lane",
        [WS_PRIM_SHFL_BFLY] = "result value lane",
        [WS_PRIM_CVT_BF16X2] = "result hi lo",
        [WS_PRIM_CVT_F16X2] = "result hi lo",
        [WS_PRIM_CVT_BF16X2_HERE] = "result hi lo",
        [WS_PRIM_CVT_F16X2_HERE] = "result hi lo",
        [WS_PRIM_CVT_E4M3X2] = "result hi lo",
        [WS_PRIM_CVT_E5M2X2] = "result hi lo",
        [WS_PRIM_COUNT_UP] = "result counter last",
    };
    if (id >= WS_PRIM_TMA_LOAD_1D && id <= WS_PRIM_TMA_LOAD_5D_MULTI_HINT)
        return "to map bar";
    if (id >= WS_PRIM_TMA_STORE_1D && id <= WS_PRIM_TMA_MAX_5D)
        return "from map";
    return names[id] ? names[id] : "";
}

static const char *type_of(char letter)
{
    switch (letter) {
    case 'l':
        return "uint64_t";
    case 'f':
        return "float";
    case 'h':
        return "uint16_t";
    case 'b':
        return "bool";
    default:
        return "uint32_t";
    }
}

typedef struct {
    guint n, n_out, n_imm;
    char letter[16];
    char *name[16];
} Operands;

static void operands_of(WsPrim id, const WsPrimRow *r, Operands *o)
{
    g_auto(GStrv) names = g_strsplit(operand_names(id), " ", -1);
    guint given = g_strv_length(names);
    *o = (Operands){ 0 };
    for (const char *c = r->constraints; *c;) {
        gboolean out = *c == '=';
        o->letter[o->n] = c[out];
        o->name[o->n] = o->n < given ? g_strdup(names[o->n]) : g_strdup_printf("x%u", o->n);
        o->n_out += out;
        o->n++;
        c += 1 + out;
        c += *c == ',';
    }
    for (const char *c = r->ptx; (c = strchr(c, '@')); c++) {
        if (g_ascii_isdigit(c[1]))
            o->n_imm = MAX(o->n_imm, (guint)(c[1] - '0') + 1);
    }
}

#define WS_NEXT_LINE "\"\n                 \"" /* of a string literal */

/* The template as string literals, a line of PTX each; predicates become registers q0, q1, … */
static void append_text(GString *s, const char *ptx, const Operands *o)
{
    gboolean wrap = FALSE;
    for (guint i = 0; o && i < o->n; i++)
        wrap = wrap || o->letter[i] == 'b';
    g_string_append(s, wrap ? "\"{\\n\\t" : "\"");
    for (guint i = 0; wrap && i < o->n; i++) {
        if (o->letter[i] == 'b')
            g_string_append_printf(s, ".reg .pred q%u;\\n\\t" WS_NEXT_LINE, i);
        if (o->letter[i] == 'b' && i >= o->n_out)
            g_string_append_printf(s, "setp.ne.b32 q%u, %%%u, 0;\\n\\t" WS_NEXT_LINE, i, i);
    }
    for (const char *c = ptx; *c; c++) {
        if (*c == '\n')
            g_string_append(s, c[1] ? "\\n" WS_NEXT_LINE : "\\n");
        else if (*c == '\t')
            g_string_append(s, "\\t");
        else if (*c == '%')
            g_string_append(s, "%%");
        else if (*c == '@' && o && g_ascii_isdigit(c[1]))
            g_string_append_printf(s, "%%%u", o->n + (guint)(*++c - '0'));
        else if (*c == '$') {
            guint n = 0;
            while (g_ascii_isdigit(c[1]))
                n = n * 10 + (guint)(*++c - '0');
            g_string_append_printf(s, o && n < o->n && o->letter[n] == 'b' ? "q%u" : "%%%u", n);
        } else
            g_string_append_c(s, *c);
    }
    for (guint i = 0; wrap && i < o->n_out; i++) {
        if (o->letter[i] == 'b')
            g_string_append_printf(s, "\\n\\t" WS_NEXT_LINE "selp.b32 %%%u, 1, 0, q%u;", i, i);
    }
    g_string_append(s, wrap ? "\\n\\t}\"" : "\"");
}

static void append_signature(GString *s, WsPrim id, const Operands *o)
{
    for (guint i = 0; i < o->n_imm; i++)
        g_string_append_printf(s, "%sint I%u%s", i ? ", " : "template <", i,
                               i + 1 == o->n_imm ? ">\n" : "");
    g_string_append_printf(s, "__device__ __forceinline__ %s %s(",
                           o->n_out == 1 ? type_of(o->letter[0]) : "void", ws_cuda_prim_name(id));
    gboolean any = FALSE;
    for (guint i = o->n_out == 1 ? 1 : 0; i < o->n; i++, any = TRUE)
        g_string_append_printf(s, "%s%s %s%s", any ? ", " : "", type_of(o->letter[i]),
                               i < o->n_out ? "&" : "", o->name[i]);
    g_string_append(s, ")\n{\n");
}

static void append_operands(GString *s, const Operands *o)
{
    for (guint i = 0; i < o->n + o->n_imm; i++) {
        if (i == 0 && o->n_out == 0)
            g_string_append(s, "\n                 :");
        if (i == 0 || i == o->n_out)
            g_string_append(s, "\n                 : ");
        else
            g_string_append(s, ", ");
        if (i >= o->n)
            g_string_append_printf(s, "\"n\"(I%u)", i - o->n);
        else if (i < o->n_out)
            g_string_append_printf(s, "\"=%c\"(%s)", o->letter[i] == 'b' ? 'r' : o->letter[i],
                                   o->letter[i] == 'b' ? "flag" : o->name[i]);
        else if (o->letter[i] == 'b')
            g_string_append_printf(s, "\"r\"(int(%s))", o->name[i]);
        else
            g_string_append_printf(s, "\"%c\"(%s)", o->letter[i], o->name[i]);
    }
}

static void append_prim(GString *s, WsPrim id)
{
    const WsPrimRow *r = ws_prim_row(id);
    Operands o;
    operands_of(id, r, &o);
    append_signature(s, id, &o);
    gboolean flag = o.n_out == 1 && o.letter[0] == 'b';
    if (flag)
        g_string_append(s, "    uint32_t flag;\n");
    else if (o.n_out == 1)
        g_string_append_printf(s, "    %s %s;\n", type_of(o.letter[0]), o.name[0]);
    g_string_append(s, r->flags == WS_PRIM_PURE ? "    asm(" : "    asm volatile(");
    append_text(s, r->ptx, &o);
    append_operands(s, &o);
    if (r->flags == WS_PRIM_EFFECT)
        g_string_append(
            s, o.n + o.n_imm == 0
                   ? "\n                 :\n                 :\n                 : \"memory\""
               : o.n + o.n_imm == o.n_out ? "\n                 :\n                 : \"memory\""
                                          : "\n                 : \"memory\"");
    g_string_append(s, ");\n");
    if (o.n_out == 1)
        g_string_append_printf(s, "    return %s;\n", flag ? "flag != 0" : o.name[0]);
    g_string_append(s, "}\n\n");
    for (guint i = 0; i < o.n; i++)
        g_free(o.name[i]);
}

char *ws_cuda_prims(const char *text)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < WS_PRIM_COUNT; i++) {
        if (ws_prim_row(i)->ptx && ws_cuda_calls(text, ws_cuda_prim_name(i)))
            append_prim(s, i);
    }
    return g_string_free(s, FALSE);
}

/* --- wgmma -------------------------------------------------------------------------------------*/

static void append_wgmma(GString *s, const WsMma *m, WsWgmmaScale scale, const char *name)
{
    gboolean a_regs = m->a.in_registers, real = m->acc_type == WS_DTYPE_F32;
    guint regs = ws_dtype_bytes(m->acc_type) < 4 ? m->n / 4 : m->n / 2;
    const char *type = real ? "float" : m->acc_type == WS_DTYPE_I32 ? "int" : "uint32_t";
    g_autofree char *text = ws_wgmma_text(m, regs, scale, a_regs, FALSE);
    g_string_append_printf(
        s, "// d %s a b: %u x %u x %u, A from %s%s%s\n", scale == WS_WGMMA_ZERO ? "=" : "+=", 64,
        m->n, m->inst_k, a_regs ? "registers" : "shared memory",
        m->a.transposed ? ", A transposed" : "", m->b.transposed ? ", B transposed" : "");
    g_string_append_printf(s, "__device__ __forceinline__ void %s(%s *d, %s, uint64_t b%s)\n{\n",
                           name, type, a_regs ? "const uint32_t *a" : "uint64_t a",
                           scale == WS_WGMMA_RUN ? ", int scale_d" : "");
    gboolean zero = scale == WS_WGMMA_ZERO && !real; /* an output could share an input's register */
    if (zero)
        g_string_append_printf(
            s, "#pragma unroll\n    for (int i = 0; i < %u; ++i)\n        d[i] = 0;\n", regs);
    g_string_append(s, "    asm volatile(");
    GString *body = g_string_new(NULL);
    append_text(body, text, NULL);
    for (guint i = 0, in_line = 0; i < body->len;
         i++, in_line++) { /* 128 registers are a long line */
        g_string_append_c(s, body->str[i]);
        if (in_line > 72 && body->str[i] == ' ' && body->str[i - 1] == ',') {
            g_string_append(s, WS_NEXT_LINE);
            in_line = 0;
        } else if (body->str[i] == '\n') {
            in_line = 0;
        }
    }
    g_string_free(body, TRUE);
    for (guint i = 0; i < regs; i++)
        g_string_append_printf(s, "%s\"%s%c\"(d[%u])",
                               i == 0       ? "\n                 : "
                               : i % 6 == 0 ? ",\n                   "
                                            : ", ",
                               scale == WS_WGMMA_ZERO && !zero ? "=" : "+", real ? 'f' : 'r', i);
    if (a_regs)
        g_string_append(s,
                        "\n                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])");
    else
        g_string_append(s, "\n                 : \"l\"(a)");
    g_string_append_printf(s, ", \"l\"(b)%s\n                 : \"memory\");\n}\n\n",
                           scale == WS_WGMMA_RUN ? ", \"r\"(scale_d)" : "");
}

const char *ws_cuda_wgmma(WsCuda *c, const WsMma *m, WsWgmmaScale scale)
{
    static const char *const suffix[] = { "_first", "", "_if" };
    GString *s = g_string_new("wgmma_");
    g_string_append_printf(
        s, "m64n%uk%u_%s_%s_%s%s%s%s%s", m->n, m->inst_k, ws_dtype_text(m->acc_type),
        ws_dtype_text(m->a_type), ws_dtype_text(m->b_type), m->a.in_registers ? "_rs" : "",
        m->a.transposed ? "_ta" : "", m->b.transposed ? "_tb" : "", suffix[scale]);
    const char *name = g_string_chunk_insert_const(c->terms.pool, s->str);
    g_string_free(s, TRUE);
    if (g_hash_table_add(c->wgmma_name, (gpointer)name)) {
        GString *text = g_string_new(NULL);
        append_wgmma(text, m, scale, name);
        g_ptr_array_add(c->wgmma, g_string_free(text, FALSE));
    }
    return name;
}
