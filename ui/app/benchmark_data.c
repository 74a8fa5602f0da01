#include "ui/app/benchmark_data.h"

#include <unistd.h>

#define PAIRS 16
#define LOADS 25 /* of a producer, in a round: 16 * 25 * (2 + 3) = 2 000 steps */

/* Two rings of a pair take turns: the even and the odd loads of a round. */
static char *use_of(guint j)
{
    return g_strdup_printf("k.total*%d+%u", j % 2 ? LOADS / 2 : LOADS - LOADS / 2, j / 2);
}

static void add_producer(GString *s, guint i)
{
    g_string_append_printf(s,
                           "{\"name\":\"load%u\",\"role\":\"producer\",\"warps\":1,\"body\":["
                           "{\"for\":\"k\",\"count\":\"N\",\"do\":[",
                           i);
    for (guint j = 0; j < LOADS; j++) {
        const guint ring = 2 * i + j % 2;
        g_autofree char *use = use_of(j);
        g_string_append_printf(
            s,
            "%s{\"wait\":\"empty%u\",\"use\":\"%s\"},"
            "{\"load\":\"A\",\"at\":[0,\"(k*%d+%u)*64\"],\"into\":\"a%u\",\"signal\":\"full%u\","
            "\"use\":\"%s\"}",
            j ? "," : "", ring, use, LOADS, j, ring, ring, use);
    }
    g_string_append(s, "]}]},");
}

static void add_consumer(GString *s, guint i)
{
    g_string_append_printf(s,
                           "{\"name\":\"use%u\",\"role\":\"consumer\",\"warps\":1,\"values\":["
                           "{\"name\":\"v\",\"dtype\":\"bf16\",\"tile\":[32,64]}],\"body\":["
                           "{\"for\":\"k\",\"count\":\"N\",\"do\":[",
                           i);
    for (guint j = 0; j < LOADS; j++) {
        const guint ring = 2 * i + j % 2;
        g_autofree char *use = use_of(j);
        g_string_append_printf(s,
                               "%s{\"wait\":\"full%u\",\"use\":\"%s\"},"
                               "{\"read\":\"v\",\"from\":\"a%u\",\"use\":\"%s\"},"
                               "{\"arrive\":\"empty%u\",\"by\":\"warp\",\"use\":\"%s\"}",
                               j ? "," : "", ring, use, ring, use, ring, use);
    }
    g_string_append_printf(s, "]},{\"write\":\"v\",\"to\":\"C\",\"at\":[%u,0]}]}%s", 32 * i,
                           i + 1 < PAIRS ? "," : "");
}

static GFile *temporary(const char *suffix, GError **error)
{
    g_autofree char *pattern = g_strdup_printf("warpstave-XXXXXX%s", suffix), *path = NULL;
    int fd = g_file_open_tmp(pattern, &path, error);
    if (fd < 0)
        return NULL;
    close(fd);
    return g_file_new_for_path(path);
}

GFile *ws_benchmark_large_design(GError **error)
{
    g_autoptr(GString) s = g_string_new("{\"warpstave\":1,\"name\":\"large\",\"target\":\"sm_90a\","
                                        "\"sizes\":{\"N\":4},\"assume\":[\"N >= 1\"],");
    g_string_append_printf(s,
                           "\"tensors\":[{\"name\":\"A\",\"dtype\":\"bf16\",\"shape\":[32,"
                           "\"64*N*%d\"]},{\"name\":\"C\",\"dtype\":\"bf16\",\"shape\":[%d,64],"
                           "\"access\":\"write\"}],\"tiles\":{\"axes\":{\"t\":1},"
                           "\"launch\":\"single\"},\"buffers\":[",
                           LOADS, 32 * PAIRS);
    for (guint i = 0; i < 2 * PAIRS; i++)
        g_string_append_printf(s, "%s{\"name\":\"a%u\",\"dtype\":\"bf16\",\"tile\":[32,64]}",
                               i ? "," : "", i);
    g_string_append(s, "],\"barriers\":[");
    for (guint i = 0; i < 2 * PAIRS; i++)
        g_string_append_printf(s,
                               "%s{\"name\":\"full%u\"},{\"name\":\"empty%u\",\"init\":\"ready\"}",
                               i ? "," : "", i, i);
    g_string_append(s, "],\"groups\":[");
    for (guint i = 0; i < PAIRS; i++)
        add_producer(s, i);
    for (guint i = 0; i < PAIRS; i++)
        add_consumer(s, i);
    g_string_append(s, "]}");
    g_autoptr(GFile) file = temporary(".wstave", error);
    if (!file || !g_file_set_contents(g_file_peek_path(file), s->str, (gssize)s->len, error))
        return NULL;
    return g_steal_pointer(&file);
}

/* ---------------------------------------------------------------------------------------------- */

static void add_cta(WsTrace *t, const WsTrace *from, guint cta, guint records)
{
    double slower = 1 + 0.0002 * cta;
    WsTraceCta row = {
        .id = cta, .sm = cta % 132, .cycles = (gint64)((double)from->cycles * slower), .ghz = 1.6
    };
    g_array_append_val(t->cta, row);
    for (guint i = 0; i < from->record->len && t->record->len < records; i++) {
        WsTraceRecord r = g_array_index(from->record, WsTraceRecord, i);
        gint64 *time[] = { &r.start, &r.issued, &r.done };
        for (guint k = 0; k < G_N_ELEMENTS(time); k++)
            if (*time[k] >= 0)
                *time[k] = (gint64)((double)*time[k] * slower);
        r.cta = (guint16)cta;
        ws_trace_add(t, &r);
    }
}

GFile *ws_benchmark_long_trace(WsTrace *predicted, WsProgram *program, guint records,
                               GError **error)
{
    if (!predicted || !predicted->record->len) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "the design has no predicted trace");
        return NULL;
    }
    g_autoptr(WsTrace) t = ws_trace_new(program, WS_TRACE_MEASURED);
    for (guint i = 0; i < predicted->size->len; i++)
        ws_trace_add_size(t, g_array_index(predicted->size_name, char *, i),
                          g_array_index(predicted->size, gint64, i));
    for (guint cta = 0; t->record->len < records && cta < G_MAXUINT16; cta++)
        add_cta(t, predicted, cta, records);
    ws_trace_finish(t);
    g_autoptr(GFile) file = temporary(".wtrace", error);
    if (!file || !ws_trace_save(t, g_file_peek_path(file), error))
        return NULL;
    return g_steal_pointer(&file);
}
