/* Records of devices that ran together, as one trace: when each began, by timers that run apart. */
#include "launch/collect.h"
#include "launch/devices.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

#define GRID 132
#define EACH 512 /* bytes of a device's records: two CTAs */

static WsProgram *program(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-rs/design.wstave", NULL);
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    return ws_elaborate(design, NULL, 0, findings);
}

typedef struct {
    guint64 began[2]; /* of two CTAs, by the timer of their device */
    double ghz;
    WsCollectedTimer timer;
    gboolean silent; /* it recorded nothing */
} Device;

/* Two CTAs (0 and 5) of each device; each has a record from 100 to 150 cycles that is done at 180,
 * or nobody knows when. */
static WsTrace *joined(const WsProgram *p, const Device *device, guint n, GString *note)
{
    guint id[] = { 0, 5 };
    const WsRecorder plan = { .cta_bytes = EACH / 2, .n_ctas = 2, .cta = id };
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_trace_unref);
    g_autoptr(GArray) timers = g_array_new(FALSE, FALSE, sizeof(WsCollectedTimer));
    g_autofree guint8 *data = g_malloc0(n * EACH);
    for (guint d = 0; d < n; d++) {
        WsTrace *t = ws_trace_new(p, WS_TRACE_MEASURED);
        t->grid = GRID;
        ws_trace_add_size(t, "rank", d);
        for (guint i = 0; i < 2 && !device[d].silent; i++) {
            const WsTraceCta cta = { id[i], 7, 1000, device[d].ghz };
            const WsTraceRecord r = {
                .cta = (guint16)i, .start = 100, .issued = 150, .done = i ? -1 : 180
            };
            const guint64 le = GUINT64_TO_LE(device[d].began[i]);
            memcpy(data + d * EACH + i * EACH / 2 + 8, &le, 8);
            g_array_append_val(t->cta, cta);
            ws_trace_add(t, &r);
        }
        ws_trace_finish(t);
        g_ptr_array_add(part, t);
        g_array_append_val(timers, device[d].timer);
    }
    return ws_join_devices(p, part, &plan, timers, data, EACH, note);
}

static void is_at(const WsTrace *t, guint record, guint id, gint64 start, gint64 done)
{
    const WsTraceRecord *r = &t->record->data[record];
    g_assert_cmpuint(r->cta, ==, record);
    g_assert_cmpuint(g_array_index(t->cta, WsTraceCta, r->cta).id, ==, id);
    g_assert_cmpint(r->start, ==, start);
    g_assert_cmpint(r->issued, ==, start + 50);
    g_assert_cmpint(r->done, ==, done);
    g_assert_cmpint(g_array_index(t->cta, WsTraceCta, r->cta).cycles, >=, start + 900);
}

#define EPOCH G_GUINT64_CONSTANT(1795000000000000000) /* ns: more than a double holds */

static void aligned(void)
{
    g_autoptr(WsProgram) p = program();
    const Device device[] = {
        { { EPOCH + 1000, EPOCH + 3000 }, 1.5, { TRUE, 0, 0 } },
        { { EPOCH + 52000, EPOCH + 51500 }, 2, { TRUE, 50000, 700 } },    /* 50 us ahead */
        { { EPOCH - 90000, EPOCH - 90000 }, 1, { TRUE, -91000.4, 900 } }, /* … behind */
    };
    g_autoptr(GString) note = g_string_new(NULL);
    g_autoptr(WsTrace) t = joined(p, device, 3, note);
    g_assert_cmpuint(t->cta->len, ==, 6);
    is_at(t, 0, 0, 100, 180); /* it began first, with CTA 0 of device 2 */
    is_at(t, 1, 5, 100 + 3000, -1);
    is_at(t, 2, GRID, 100 + 2000, 180 + 2000);
    is_at(t, 3, GRID + 5, 100 + 1000, -1);
    is_at(t, 4, 2 * GRID, 100, 180);
    is_at(t, 5, 2 * GRID + 5, 100, -1);
    g_assert_cmpint(t->grid, ==, GRID);
    g_assert_cmpuint(ws_trace_device(t, 3), ==, 1);
    g_assert_cmpuint(ws_trace_cta_id(t, 3), ==, 5);
    g_assert_cmpstr(note->str, ==, "3 devices, their clocks compared to within 0.90 us");
}

/* Nothing is shifted by what is not known: a timer that did not meet, a clock without a rate. */
static void apart(void)
{
    g_autoptr(WsProgram) p = program();
    for (guint i = 0; i < 3; i++) {
        const Device device[] = {
            { { EPOCH, EPOCH + 500 }, 1.5, { TRUE, 0, 0 } },
            { { EPOCH + 900, EPOCH + 900 }, i == 1 ? 0 : 1.5, { i != 0, 0, 600 } },
        };
        g_autoptr(GString) note = g_string_new(NULL);
        g_autoptr(WsTrace) t = joined(p, device, 2, note);
        is_at(t, 0, 0, 100, 180);
        is_at(t, 1, 5, i == 2 ? 850 : 100, -1);
        is_at(t, 2, GRID, i == 2 ? 1450 : 100, i == 2 ? 1530 : 180);
        static const char *const says[] = {
            "2 devices whose clocks could not be compared: times of each begin with its own CTAs",
            "2 devices whose clocks were compared, but the rate of one is not known or a CTA began "
            "at no time that a trace holds: times of each begin with its own CTAs",
            "2 devices, their clocks compared to within 0.60 us"
        };
        g_assert_cmpstr(note->str, ==, says[i]);
    }
}

/* A device of which there is no CTA is named. */
static void silent(void)
{
    g_autoptr(WsProgram) p = program();
    for (guint d = 0; d < 3; d++) {
        Device device[] = {
            { { EPOCH, EPOCH + 500 }, 1.5, { TRUE, 0, 0 }, d == 0 },
            { { EPOCH, EPOCH + 500 }, 1.5, { TRUE, 0, 0 }, d == 1 },
            { { EPOCH, EPOCH + 500 }, 1.5, { TRUE, 0, 0 }, d == 2 },
        };
        g_autoptr(GString) note = g_string_new(NULL);
        g_autoptr(WsTrace) t = joined(p, device, 3, note);
        g_autofree char *says = g_strdup_printf(", device %u recorded nothing and is not in it", d);
        g_assert_cmpuint(t->cta->len, ==, 4);
        g_assert_true(g_str_has_prefix(note->str, "3 devices, their clocks compared to within "));
        g_assert_true(g_str_has_suffix(note->str, says));
    }
}

/* Fewer timers than devices, and times that no timer shows: nothing is shifted by more than a trace
 * holds. */
static void damaged(void)
{
    g_autoptr(WsProgram) p = program();
    const Device device[] = {
        { { 0, G_MAXUINT64 }, 1.5, { TRUE, 0, 0 } },
        { { G_MAXUINT64 / 2, 1 }, 1e9, { TRUE, -1e15, 0 } },
    };
    g_autoptr(GString) note = g_string_new(NULL);
    g_autoptr(WsTrace) t = joined(p, device, 2, note);
    g_assert_true(g_str_has_prefix(note->str, "2 devices whose clocks were compared, but"));
    for (guint i = 0; i < 4; i++) {
        g_assert_cmpint(t->record->data[i].start, ==, 100); /* none is moved, not some */
        g_assert_cmpint(t->record->data[i].start, >=, 100);
        g_assert_cmpint(t->record->data[i].start, <, WS_TRACE_MAX_TIME);
    }
    guint id[] = { 0, 5 };
    const WsRecorder plan = { .cta_bytes = EACH / 2, .n_ctas = 2, .cta = id };
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_trace_unref);
    g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(WsCollectedTimer));
    g_ptr_array_add(part, ws_trace_ref(t));
    g_ptr_array_add(part, ws_trace_ref(t));
    const guint8 data[2 * EACH] = { 0 };
    g_autoptr(WsTrace) twice = ws_join_devices(p, part, &plan, none, data, EACH, note);
    g_assert_cmpuint(twice->cta->len, ==, 8);
}

/* One device of a mesh of one: there is nothing to compare, and its CTAs still begin when they
 * did. */
static void alone(void)
{
    g_autoptr(WsProgram) p = program();
    const Device device[] = { { { EPOCH, EPOCH + 500 }, 1, { TRUE, 0, 0 } } };
    g_autoptr(GString) note = g_string_new(NULL);
    g_autoptr(WsTrace) t = joined(p, device, 1, note);
    g_assert_cmpstr(note->str, ==, "");
    is_at(t, 0, 0, 100, 180);
    is_at(t, 1, 5, 600, -1);
    g_assert_false(ws_trace_has_devices(t));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/devices/aligned", aligned);
    g_test_add_func("/launch/devices/apart", apart);
    g_test_add_func("/launch/devices/silent", silent);
    g_test_add_func("/launch/devices/damaged", damaged);
    g_test_add_func("/launch/devices/alone", alone);
    return g_test_run();
}
