/* Machine descriptions: reading, writing, the built-in one. */
#include "base/file.h"
#include "base/json_out.h"
#include "clock/clock.h"
#include "target/target.h"

/* static const char h200_json[], mi355x_json[], ascend910b_json[]: from resources/machines */
#include "clock/ascend910b.inc"
#include "clock/h200.inc"
#include "clock/mi355x.inc"

#include <json-c/json.h>
#include <string.h>

#define MAX_FILE_BYTES (1 << 20)
#define MAX_SMS        4096
#define MAX_QUEUE      4096 /* products under way, each of which the clock keeps */

G_DEFINE_QUARK(ws - machine - error - quark, ws_machine_error)

typedef enum {
    MACHINES_ALL,
    MACHINES_ANY,
    MACHINES_GROUPS,
    MACHINES_HALVES,
    MACHINES_CORES
} Machines;
static const struct {
    Machines of;
    const char *key, *unit, *help;
} rows[WS_MACHINE_VALUE_COUNT] = {
#define WS_MACHINE(id, of, key, unit, help) { MACHINES_##of, key, unit, help },
#include "clock/machine.def"
#undef WS_MACHINE
};

static const struct {
    const char *target, *text;
    gsize length;
} builtin[] = { { "sm_90a", h200_json, sizeof h200_json - 1 },
                { "gfx950", mi355x_json, sizeof mi355x_json - 1 },
                { "ascend", ascend910b_json, sizeof ascend910b_json - 1 } };

const char *ws_machine_key(WsMachineValue v)
{
    return rows[v].key;
}

const char *ws_machine_unit(WsMachineValue v)
{
    return rows[v].unit;
}

gboolean ws_machine_has(const WsMachine *m, WsMachineValue v)
{
    const WsTarget *t = ws_target_find(m->target);
    const Machines of = t && t->core     ? MACHINES_CORES
                        : t && t->halves ? MACHINES_HALVES
                                         : MACHINES_GROUPS;
    return rows[v].of == MACHINES_ALL || rows[v].of == of ||
           (rows[v].of == MACHINES_ANY && of != MACHINES_CORES);
}

void ws_machine_set(WsMachine *m, WsMachineValue v, double value, const char *source)
{
    m->value[v] = value;
    g_free(m->source[v]);
    m->source[v] = g_strdup(source);
}

void ws_machine_free(WsMachine *m)
{
    if (!m)
        return;
    for (guint i = 0; i < WS_MACHINE_VALUE_COUNT; i++)
        g_free(m->source[i]);
    g_free(m->name);
    g_free(m->target);
    g_free(m->note);
    g_free(m);
}

WsMachine *ws_machine_at(const WsMachine *m, double ghz)
{
    WsMachine *copy = g_new0(WsMachine, 1);
    copy->name = g_strdup(m->name);
    copy->target = g_strdup(m->target);
    copy->note = g_strdup(m->note);
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++)
        ws_machine_set(copy, (WsMachineValue)v, m->value[v], m->source[v]);
    copy->value[WS_MACHINE_GHZ] = ghz;
    copy->value[WS_MACHINE_HBM_BYTES] *= m->value[WS_MACHINE_GHZ] / ghz;
    /* So has L2: what each SM loads alone takes as long at 1.89 as at 1.98 GHz (H200). */
    copy->value[WS_MACHINE_L2_BYTES] *= m->value[WS_MACHINE_GHZ] / ghz;
    copy->value[WS_MACHINE_L2_FETCH] *= m->value[WS_MACHINE_GHZ] / ghz;
    copy->value[WS_MACHINE_L2_WRITE] *= m->value[WS_MACHINE_GHZ] / ghz;
    /* Memory has a clock of its own: what it adds to a load's latency is a time. */
    copy->value[WS_MACHINE_TMA_LATENCY_HBM] =
        m->value[WS_MACHINE_TMA_LATENCY] +
        (m->value[WS_MACHINE_TMA_LATENCY_HBM] - m->value[WS_MACHINE_TMA_LATENCY]) * ghz /
            m->value[WS_MACHINE_GHZ];
    copy->value[WS_MACHINE_DIE_FAR] *= m->value[WS_MACHINE_GHZ] / ghz;
    copy->value[WS_MACHINE_LOAD_LATENCY_FAR] =
        m->value[WS_MACHINE_LOAD_LATENCY] +
        (m->value[WS_MACHINE_LOAD_LATENCY_FAR] - m->value[WS_MACHINE_LOAD_LATENCY]) * ghz /
            m->value[WS_MACHINE_GHZ];
    copy->value[WS_MACHINE_POWER_LIMIT] = 0;
    return copy;
}

static gboolean format_error(GError **error, const char *file, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static gboolean format_error(GError **error, const char *file, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *message = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, WS_MACHINE_ERROR, WS_MACHINE_ERROR_FORMAT, "machine description %s: %s",
                file, message);
    return FALSE;
}

/* Rates divide, so they must be positive; latencies may be 0. */
static double least(WsMachineValue v)
{
    const gboolean rate = strstr(rows[v].unit, "/clk") || strcmp(rows[v].unit, "lanes") == 0 ||
                          v == WS_MACHINE_SMS || v == WS_MACHINE_GHZ || v == WS_MACHINE_MMA_QUEUE;
    return v == WS_MACHINE_DIES ? 1 : rate ? 1e-3 : 0;
}

static double most(WsMachineValue v)
{
    return v == WS_MACHINE_SMS || v == WS_MACHINE_DIES              ? MAX_SMS
           : v == WS_MACHINE_MMA_QUEUE || v == WS_MACHINE_LDS_QUEUE ? MAX_QUEUE
                                                                    : 1e12;
}

static gboolean read_value(WsMachine *m, const char *file, const char *key, json_object *row,
                           gboolean *seen, GError **error)
{
    guint v = 0;
    while (v < WS_MACHINE_VALUE_COUNT && strcmp(rows[v].key, key) != 0)
        v++;
    if (v == WS_MACHINE_VALUE_COUNT)
        return format_error(error, file, "unknown value \"%s\"", key);
    if (!ws_machine_has(m, (WsMachineValue)v))
        return format_error(error, file, "a machine for %s has no value \"%s\"", m->target, key);
    json_object *value = NULL, *source = NULL;
    if (!json_object_is_type(row, json_type_object) ||
        !json_object_object_get_ex(row, "value", &value) ||
        !(json_object_is_type(value, json_type_double) ||
          json_object_is_type(value, json_type_int)))
        return format_error(error, file, "\"%s\" must be { \"value\": number, \"source\": text }",
                            key);
    double x = json_object_get_double(value);
    if (!(x >= least((WsMachineValue)v) && x <= most((WsMachineValue)v)))
        return format_error(error, file, "\"%s\" is %g, which is out of range: %g to %g", key, x,
                            least((WsMachineValue)v), most((WsMachineValue)v));
    json_object_object_get_ex(row, "source", &source);
    ws_machine_set(m, (WsMachineValue)v, x, source ? json_object_get_string(source) : NULL);
    seen[v] = TRUE;
    return TRUE;
}

static gboolean read_root(WsMachine *m, const char *file, json_object *root, GError **error)
{
    json_object *name = NULL, *target = NULL, *values = NULL, *version = NULL, *note = NULL;
    gboolean seen[WS_MACHINE_VALUE_COUNT] = { FALSE };
    if (!json_object_is_type(root, json_type_object) ||
        !json_object_object_get_ex(root, "warpstave_machine", &version) ||
        json_object_get_int(version) != 1)
        return format_error(error, file, "\"warpstave_machine\": 1 expected");
    if (!json_object_object_get_ex(root, "name", &name) ||
        !json_object_object_get_ex(root, "target", &target) ||
        !json_object_object_get_ex(root, "values", &values) ||
        !json_object_is_type(name, json_type_string) ||
        !json_object_is_type(target, json_type_string) ||
        !json_object_is_type(values, json_type_object))
        return format_error(error, file, "name, target and values expected");
    m->name = g_strdup(json_object_get_string(name));
    m->target = g_strdup(json_object_get_string(target));
    if (json_object_object_get_ex(root, "note", &note)) {
        if (!json_object_is_type(note, json_type_string))
            return format_error(error, file, "\"note\" must be a text");
        m->note = g_strdup(json_object_get_string(note));
    }
    json_object_object_foreach(values, key,
                               row) if (!read_value(m, file, key, row, seen, error)) return FALSE;
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++)
        if (!seen[v] && ws_machine_has(m, (WsMachineValue)v))
            return format_error(error, file, "value \"%s\" (%s) is missing", rows[v].key,
                                rows[v].help);
    if (m->value[WS_MACHINE_POWER_LIMIT] > 0 &&
        m->value[WS_MACHINE_POWER_REST] >= m->value[WS_MACHINE_POWER_LIMIT])
        return format_error(error, file, "power_rest is %g W, which leaves nothing of power_limit",
                            m->value[WS_MACHINE_POWER_REST]);
    return TRUE;
}

static WsMachine *parse(const char *text, gsize length, const char *file, GError **error)
{
    json_tokener *tokener = json_tokener_new_ex(16);
    json_object *root = json_tokener_parse_ex(tokener, text, (int)length);
    enum json_tokener_error problem = json_tokener_get_error(tokener);
    json_tokener_free(tokener);
    if (!root || problem != json_tokener_success) {
        if (root)
            json_object_put(root);
        format_error(error, file, "not JSON: %s",
                     problem == json_tokener_continue ? "it ends too early"
                                                      : json_tokener_error_desc(problem));
        return NULL;
    }
    WsMachine *m = g_new0(WsMachine, 1);
    if (!read_root(m, file, root, error))
        g_clear_pointer(&m, ws_machine_free);
    json_object_put(root);
    return m;
}

WsMachine *ws_machine_for(const char *file, const char *target, GError **error)
{
    for (guint i = 0; !file && i < G_N_ELEMENTS(builtin); i++)
        if (g_strcmp0(builtin[i].target, target) == 0)
            return parse(builtin[i].text, builtin[i].length, "(built-in)", error);
    return ws_machine_load(file, error);
}

WsMachine *ws_machine_load(const char *file, GError **error)
{
    if (!file)
        return parse(builtin[0].text, builtin[0].length, "(built-in)", error);
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    gsize length = 0;
    if (!ws_file_read(file, MAX_FILE_BYTES, &text, &length, &problem)) {
        g_set_error(error, WS_MACHINE_ERROR, WS_MACHINE_ERROR_READ, "%s", problem->message);
        return NULL;
    }
    return parse(text, length, file, error);
}

gboolean ws_machine_save(const WsMachine *m, const char *file, GError **error)
{
    WsJsonOut j;
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_integer(&j, "warpstave_machine", 1);
    ws_json_out_text(&j, "name", m->name);
    ws_json_out_text(&j, "target", m->target);
    if (m->note)
        ws_json_out_text(&j, "note", m->note);
    ws_json_out_open(&j, "values", '{');
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++) {
        if (!ws_machine_has(m, (WsMachineValue)v))
            continue;
        ws_json_out_open(&j, rows[v].key, '{');
        ws_json_out_real(&j, "value", m->value[v]);
        if (m->source[v])
            ws_json_out_text(&j, "source", m->source[v]);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, '}');
    ws_json_out_close(&j, '}');
    g_autofree char *text = ws_json_out_end(&j);
    return ws_file_write(file, text, strlen(text), error);
}
