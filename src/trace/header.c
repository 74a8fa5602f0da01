/* `trace --header`: a C header that stamps a kernel written by hand with the steps of a drawn
 * design. The tables come from the program, the rest is stamp.cuh, the same for every design. */
#include "trace/header.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "trace/op_kind.h"

#include "trace/recorder.h"

#include <string.h>

extern const char ws_stamp_text[];

/* One step of a group, whatever replica executes it. */
typedef struct {
    const WsOp *op; /* of the first replica */
    char *name;     /* mma_wait_full */
    guint group;
    GArray *by_replica; /* guint: operation of each replica */
} Step;

static void free_step(gpointer data)
{
    Step *s = data;
    g_free(s->name);
    g_array_unref(s->by_replica);
    g_free(s);
}

static void put_string(GString *s, const char *text)
{
    g_string_append_c(s, '"');
    for (; text && *text; text++) {
        const guchar c = (guchar)*text;
        if (c == '"' || c == '\\')
            g_string_append_printf(s, "\\%c", c);
        else if (c == '\n')
            g_string_append(s, text[1] ? "\\n\"\n    \"" : "\\n");
        else if (c < 0x20 || c >= 0x7f || c == '?')
            g_string_append_printf(s, "\\%03o", c); /* "??" would be a trigraph */
        else
            g_string_append_c(s, (char)c);
    }
    g_string_append_c(s, '"');
}

/* group_label as a C identifier: "mma", "wait full" -> mma_wait_full. */
static char *identifier(const char *group, const char *label)
{
    GString *s = g_string_new(group);
    gboolean gap = TRUE;
    for (; *label; label++) {
        if (g_ascii_isalnum(*label)) {
            if (gap)
                g_string_append_c(s, '_');
            g_string_append_c(s, *label);
        }
        gap = !g_ascii_isalnum(*label);
    }
    for (gsize i = 0; i < s->len; i++)
        if (!g_ascii_isalnum(s->str[i]))
            s->str[i] = '_';
    return g_string_free(s, FALSE);
}

static const char *group_name(const WsAgent *a)
{
    const char *slash = strrchr(a->path, '/');
    return slash ? slash + 1 : a->path;
}

static Step *find_step(GPtrArray *steps, const WsAgent *a, const WsOp *op)
{
    for (guint i = 0; i < steps->len; i++) {
        Step *s = steps->pdata[i];
        if (s->group == a->group && s->op->kind == op->kind &&
            g_strcmp0(s->op->step, op->step) == 0 && s->by_replica->len == a->replica)
            return s;
    }
    return NULL;
}

static gboolean name_taken(const GPtrArray *steps, const char *name)
{
    for (guint i = 0; i < steps->len; i++)
        if (strcmp(((Step *)steps->pdata[i])->name, name) == 0)
            return TRUE;
    return FALSE;
}

static void add_step(GPtrArray *steps, const WsAgent *a, const WsOp *op)
{
    Step *s = find_step(steps, a, op);
    if (!s) {
        if (a->replica > 0)
            return; /* a step that the first replica does not have */
        g_autofree char *base =
            identifier(group_name(a), op->label ? op->label : ws_op_kind_text(op->kind));
        g_autofree char *name = g_strdup(base);
        for (guint n = 2; name_taken(steps, name); n++) {
            g_free(name);
            name = g_strdup_printf("%s_%u", base, n);
        }
        s = g_new0(Step, 1);
        s->op = op;
        s->name = g_steal_pointer(&name);
        s->group = a->group;
        s->by_replica = g_array_new(FALSE, FALSE, sizeof(guint));
        g_ptr_array_add(steps, s);
    }
    g_array_append_val(s->by_replica, op->index);
}

/* The steps that the recorder of a generated kernel stamps, and those that only arrive. */
static GPtrArray *steps_of(const WsProgram *p)
{
    const WsRecordChoice choice = { .rounds = 1, .tiles = 1 };
    g_autoptr(WsRecorder) plan = ws_recorder_new(p, &choice);
    GPtrArray *steps = g_ptr_array_new_with_free_func(free_step);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent < 0)
            continue;
        const gboolean arrives = ws_op_predicted(op->kind) && !ws_op_measured(op->kind);
        if (ws_recorder_point(plan, op, NULL) || (arrives && !op->derived))
            add_step(steps, &p->agent[op->agent], op);
    }
    return steps;
}

static void put_agents(GString *s, const WsProgram *p)
{
    g_string_append_printf(s, "#define WS_N_AGENTS %u\n", p->n_agents);
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        if (a->replica > 0)
            continue;
        g_autofree char *name = identifier(group_name(a), "");
        g_string_append_printf(s, "#define WS_AGENT_%s %u%s\n", name, i,
                               a->replicas > 1 ? " /* + replica */" : "");
    }
    g_string_append(s, "\nstatic const struct {\n    const char *name;\n    int group, replica;\n"
                       "} ws_agents[WS_N_AGENTS] = {\n");
    for (guint i = 0; i < p->n_agents; i++) {
        g_string_append(s, "    { ");
        put_string(s, p->agent[i].name);
        g_string_append_printf(s, ", %u, %u },\n", p->agent[i].group, p->agent[i].replica);
    }
    g_string_append(s, "};\n\n");
}

static void put_steps(GString *s, const GPtrArray *steps)
{
    guint most = 1;
    for (guint i = 0; i < steps->len; i++) {
        const Step *x = steps->pdata[i];
        g_string_append_printf(s, "#define WS_STEP_%s %uu\n", x->name, i);
        most = MAX(most, x->by_replica->len);
    }
    g_string_append_printf(s, "#define WS_N_STEPS %u\n\n", steps->len);
    g_string_append(
        s, "/* flies: its effect continues after WS_STEP_END, until WS_STEP_SEEN */\nstatic "
           "const struct {\n    int group, flies;\n} ws_steps[WS_N_STEPS] = {\n");
    for (guint i = 0; i < steps->len; i++) {
        const Step *x = steps->pdata[i];
        g_string_append_printf(s, "    { %u, %d }, /* %s */\n", x->group, ws_op_flies(x->op->kind),
                               x->name);
    }
    g_string_append_printf(s,
                           "};\n\n/* operation of each replica */\n"
                           "static const int ws_step_op[WS_N_STEPS][%u] = {\n",
                           most);
    for (guint i = 0; i < steps->len; i++) {
        const Step *x = steps->pdata[i];
        g_string_append(s, "    { ");
        for (guint k = 0; k < most; k++) {
            const guint from = MIN(k, x->by_replica->len - 1);
            g_string_append_printf(s, "%s%u", k ? ", " : "",
                                   g_array_index(x->by_replica, guint, from));
        }
        g_string_append(s, " },\n");
    }
    g_string_append(s, "};\n\n");
}

/* Names as a trace of this program has them, from a trace of this program. */
static void put_operations(GString *s, const WsProgram *p)
{
    g_autoptr(WsTrace) t = ws_trace_new(p, WS_TRACE_MEASURED);
    g_string_append_printf(s,
                           "#define WS_N_OPS %u\nstatic const struct {\n    const char *id, "
                           "*label, *loop, *kind;\n} ws_ops[WS_N_OPS] = {\n",
                           p->n_ops);
    for (guint i = 0; i < p->n_ops; i++) {
        const char *text[] = { t->op_id->pdata[i], t->op_label->pdata[i], t->op_loop->pdata[i],
                               ws_op_kind_text(ws_trace_op_kind(t, i)) };
        g_string_append(s, "    { ");
        for (guint k = 0; k < G_N_ELEMENTS(text); k++) {
            g_string_append(s, k ? ", " : "");
            put_string(s, text[k]);
        }
        g_string_append(s, " },\n");
    }
    g_string_append(s, "};\n\n#define WS_DESIGN_HASH ");
    put_string(s, p->design_hash);
    g_string_append(s, "\nstatic const char ws_design[] =\n    ");
    put_string(s, p->design_text);
    g_string_append(s, ";\n");
}

char *ws_trace_header(const WsProgram *p)
{
    g_autoptr(GPtrArray) steps = steps_of(p);
    GString *s =
        g_string_new("/* Written by `warpstave trace DESIGN --header`, from the design\n * ");
    for (const char *c = p->name ? p->name : ""; *c; c++)
        g_string_append_c(s, g_ascii_isprint(*c) && *c != '*' ? *c : '.');
    g_string_append(s, ".\n * Stamps a CUDA kernel that was written by hand with the steps of this "
                       "design, and writes what was\n * stamped as a .wtrace that opens under it. "
                       "C and C++; one translation unit. */\n#pragma once\n\n");
    put_agents(s, p);
    put_steps(s, steps);
    put_operations(s, p);
    g_string_append(s, ws_stamp_text);
    return g_string_free(s, FALSE);
}
