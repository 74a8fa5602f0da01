#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "target/target.h"
#include "ui/inspector/figures.h"

#include "launch/bundle.h"
#include "ui/document/document_idle.h"
#include "ui/document/document_machine.h"
#include "ui/parts/format.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <math.h>

/* Totals of the launch: what was predicted, what was measured. */

typedef struct {
    GPtrArray *rows;
    const WsClockResult *clock;
    const WsTrace *measured;
    double ghz[2], flops;
} Totals;

/* Takes both texts; NULL is a figure that is not known. */
static void put(Totals *s, const char *name, const char *help, char *predicted, char *measured)
{
    WsRow *row = ws_row_new(4, NULL);
    ws_row_text(row, 0, g_strdup(name));
    ws_row_text(row, 1, predicted ? predicted : g_strdup(WS_NO_FIGURE));
    ws_row_text(row, 2, measured ? measured : g_strdup(WS_NO_FIGURE));
    ws_row_text(row, 3, g_strdup(help ? help : ""));
    ws_row_tip(row, help);
    ws_row_index(row, s->rows->len);
    g_ptr_array_add(s->rows, row);
}

static void put_shares(Totals *s, const char *name, const char *help, double predicted,
                       double measured)
{
    if (isfinite(predicted) || isfinite(measured))
        put(s, name, help, ws_format_share(predicted), ws_format_share(measured));
}

static gint64 measured_cycles(const WsTrace *t)
{
    gint64 most = 0;
    for (guint i = 0; t && i < t->cta->len; i++)
        most = MAX(most, g_array_index(t->cta, WsTraceCta, i).cycles);
    return most;
}

static char *time_text(gint64 cycles, double ghz)
{
    return ghz > 0 && cycles > 0 ? ws_format_seconds((double)cycles / (ghz * 1e9)) : NULL;
}

static char *rate_text(const Totals *s, gint64 cycles, double ghz)
{
    if (!(s->flops > 0) || !(ghz > 0) || cycles <= 0)
        return NULL;
    g_autofree char *text = ws_format_real(s->flops / ((double)cycles / (ghz * 1e9)) / 1e12, 1);
    return g_strdup_printf(_("%s TFLOP/s"), text);
}

static char *clock_text(double ghz)
{
    g_autofree char *text = ghz > 0 ? ws_format_real(ghz, 3) : NULL;
    return text ? g_strdup_printf(_("%s GHz"), text) : NULL;
}

static void put_time(Totals *s)
{
    gint64 p = s->clock && !s->clock->stuck ? s->clock->cycles : 0,
           m = measured_cycles(s->measured);
    put(s, _("Length"),
        _("cycles of the busiest SM; measured: of the longest recorded CTA, with "
          "what recording cost"),
        !s->clock         ? NULL
        : s->clock->stuck ? g_strdup(_("none: it gets stuck"))
                          : ws_format_cycles(p),
        m ? ws_format_cycles(m) : NULL);
    put(s, _("Clock"),
        _("the prediction states times at the clock of its machine description; power "
          "sets the real one"),
        clock_text(s->clock ? s->clock->ghz : 0), s->measured ? clock_text(s->ghz[1]) : NULL);
    put(s, _("Time"), _("length divided by the clock"), time_text(p, s->ghz[0]),
        time_text(m, s->ghz[1]));
    if (s->flops > 0)
        put(s, _("Throughput"), _("operations of the reference, divided by the time"),
            rate_text(s, p, s->ghz[0]), rate_text(s, m, s->ghz[1]));
}

/* What a measured trace says of the tensor core without any rate. */
static void put_in_flight(Totals *s, const WsIdle *idle)
{
    if (!idle || !idle->uses[WS_UNIT_TENSOR])
        return;
    g_autofree char *share = ws_format_share(1 - idle->idle[WS_UNIT_TENSOR]);
    put(s, _("A product in flight"),
        _("share of the time recorded, at most: a flight is over at the latest when its wait "
          "returns"),
        NULL, g_strdup_printf("\xe2\x89\xa4 %s", share));
}

/* Products of what was recorded of a CTA, for all CTAs that are at work at once. */
static char *products_text(const Totals *s, const WsIdle *idle, double ghz)
{
    const gint64 cycles = idle ? idle->cycles[WS_UNIT_TENSOR] : 0;
    if (!idle || !(idle->flops > 0) || cycles <= 0 || !s->clock || s->clock->stuck ||
        s->clock->waves <= 0 || s->clock->grid <= 0 || !(ghz > 0))
        return NULL;
    const gint64 at_once = (s->clock->grid + s->clock->waves - 1) / s->clock->waves;
    g_autofree char *text =
        ws_format_real(idle->flops / (double)cycles * (double)at_once * ghz / 1e3, 1);
    return g_strdup_printf(_("%s TFLOP/s"), text);
}

static void put_products(Totals *s, WsDocument *document)
{
    char *a = products_text(s, ws_document_idle(document, FALSE), s->ghz[0]);
    char *b = products_text(s, ws_document_idle(document, TRUE), s->ghz[1]);
    if (!a && !b)
        return;
    put(s, _("Products"),
        _("multiplications and additions of the products as they were issued, masked ones too, "
          "between first and last: of the CTAs looked at, for all that run at once"),
        a, b);
}

/* The text in the words of the design's target. */
static const char *own(WsDocument *document, const char *text)
{
    const WsProgram *p = ws_document_program(document);
    return gettext(ws_target_own_word(p ? p->hardware : NULL, text));
}

static void put_units(Totals *s, WsDocument *document)
{
    const WsClockResult *c = s->clock;
    if (!c)
        return;
    const WsIdle *idle = ws_document_idle(document, TRUE);
    const char *steady = _("share of the steady tiles");
    const char *rated = s->measured ? _("share of the steady tiles; measured: what was recorded, "
                                        "at the rate of the unit, in the time recorded")
                                    : steady;
    const char *unseen = s->measured ? _("share of the steady tiles; not measured: the recorder "
                                         "has clocks, no counters")
                                     : steady;
    put_shares(s, own(document, N_("Tensor pipe busy")), rated, c->tensor_busy,
               idle ? idle->rated[WS_UNIT_TENSOR] : NAN);
    put_in_flight(s, idle);
    put_products(s, document);
    put_shares(s, own(document, N_("TMA busy")), unseen, c->tma_busy, NAN);
    put_shares(s, own(document, N_("Shared memory busy")), unseen, c->smem_busy, NAN);
    put_shares(s, own(document, N_("ALU busy")), unseen, c->alu_busy, NAN);
    if (!c->core)
        put_shares(s, _("MUFU busy"), rated, c->mufu_busy,
                   idle && idle->uses[WS_UNIT_MUFU] ? idle->rated[WS_UNIT_MUFU] : NAN);
    if (c->hbm_cycles > 0)
        put(s, _("Floor by memory traffic"),
            _("what the launch must move once, at the rate of the HBM"),
            ws_format_cycles((gint64)c->hbm_cycles), NULL);
}

static void put_launch(Totals *s, WsDocument *document)
{
    const WsClockResult *c = s->clock;
    const WsTrace *m = s->measured;
    if (c) {
        g_autofree char *note = ws_words(c->extrapolated ? c->note : NULL);
        put(s, own(document, N_("CTAs")), _("of the launch"), ws_format_int(c->grid),
            m && m->grid > 0 ? ws_format_int(m->grid) : NULL);
        put(s, own(document, N_("Tiles of the busiest CTA")), note, ws_format_int(c->tiles), NULL);
        if (isfinite(c->tile_period))
            put(s, _("Tile to tile"), _("steady distance of two tiles"),
                ws_format_cycles((gint64)llround(c->tile_period)), NULL);
    }
    if (ws_document_launch(document)) {
        char *sizes = ws_launch_sizes_text(ws_document_launch(document));
        put(s, _("Sizes"), NULL, sizes, m ? g_strdup(sizes) : NULL);
    }
    if (c || m)
        put(s, _("Device"), _("predicted on the machine description of this device"),
            c ? g_strdup(ws_document_machine(document)->name) : NULL,
            m ? g_strdup(m->device) : NULL);
    if (!m)
        return;
    put(s, _("Records"), _("executions of steps recorded"), NULL, ws_format_int(m->record->len));
    if (!isnan(m->round_cost) && !m->launch->len)
        put_shares(s, _("Rounds longer by"),
                   _("rounds of inner loops, against those of launches that take turns with them"),
                   NAN, m->round_cost);
    if (m->launch->len)
        put(s, _("Launches"),
            _("that took turns with the rounds of inner loops; what lies between two rounds was "
              "not "
              "measured"),
            NULL, ws_format_int(m->launch->len));
    put_shares(s, _("Cost of recording"), _("time with the recorder against time without it"), NAN,
               m->overhead);
}

GPtrArray *ws_figures_summary(WsDocument *document)
{
    Totals s = { .rows = g_ptr_array_new_with_free_func(g_object_unref),
                 .clock = ws_document_clock(document),
                 .measured = ws_document_measured(document),
                 .ghz = { ws_figures_clock(document, FALSE), ws_figures_clock(document, TRUE) } };
    if (!s.clock && !s.measured)
        return s.rows;
    if (ws_document_program(document) && ws_document_launch(document))
        s.flops = ws_launch_flops(ws_document_program(document), ws_document_launch(document));
    put_time(&s);
    put_units(&s, document);
    put_launch(&s, document);
    return s.rows;
}

/* "compute g (work of all at once, tensor core idle 25.5 %)"; NULL: not known. */
static char *measured_bound(WsDocument *document)
{
    static const char *const unit[WS_UNITS] = { N_("tensor core"), N_("MUFU"), N_("TMA load"),
                                                N_("TMA store") };
    static const char *const reason[] = { N_("work"), N_("wait"), N_("flight") };
    const WsProgram *p = ws_document_program(document);
    WsBoundBy by;
    if (!p || !ws_document_bound(document, &by))
        return NULL;
    g_autofree char *share = ws_format_share(by.share);
    if (by.is_unit)
        /* Translators: a unit of the SM, and the share of the time that its work takes. */
        return g_strdup_printf(_("%s (%s at its rate)"), _(unit[by.unit]), share);
    const char *label = p->op[by.op]->label ? p->op[by.op]->label : p->op[by.op]->id;
    /* Translators: a step; "work", "wait" or "flight"; a unit, and the share of the time that it is
     * idle for this. */
    return g_strdup_printf(by.together ? _("%s (%s of all at once, %s idle %s)")
                                       : _("%s (%s, %s idle %s)"),
                           label, _(reason[by.reason]), _(unit[by.unit]), share);
}

char *ws_figures_bound_text(WsDocument *document)
{
    const WsClockResult *clock = ws_document_clock(document);
    g_autofree char *measured = measured_bound(document);
    g_autofree char *predicted = ws_words_bound(clock ? clock->bound : NULL);
    if (measured && predicted)
        return g_strdup_printf(_("Bound by %s, measured; by %s, predicted"), measured, predicted);
    if (measured)
        return g_strdup_printf(_("Bound by %s, measured"), measured);
    if (predicted)
        return g_strdup_printf(_("Bound by %s, predicted"), predicted);
    return g_strdup(ws_document_design(document) ? _("Nothing can be predicted: see the problems.")
                                                 : _("No design is open."));
}
