#include "ui/panels/compare_bar.h"

#include "ui/app/actions.h"
#include "ui/app/theme.h"
#include "ui/parts/format.h"
#include "ui/timeline/marks/compare_score.h"

#include <glib/gi18n.h>

typedef struct {
    WsDocument *document;
    GtkWidget *box, *names, *cycles, *legend, *flip;
} Bar;

static const struct {
    char sign;
    const char *glyph, *one, *many;
} kinds[] = {
    { '+', "+", N_("%s added"), N_("%s added") },
    { '-', "\xe2\x88\x92", N_("%s removed"), N_("%s removed") },
    { '~', "~", N_("%s changed"), N_("%s changed") },
    { '>', "\xe2\x86\x94", N_("%s moved"), N_("%s moved") },
};

static guint count(const WsComparison *c, char sign)
{
    guint n = 0;
    for (guint i = 0; i < c->compare->row->len; i++)
        n += ((const WsCompareRow *)c->compare->row->pdata[i])->sign == sign;
    return n;
}

/* What the marks mean, each in its colour and with its glyph. */
static void show_legend(const Bar *b, const WsComparison *c)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        const guint n = count(c, kinds[i].sign);
        if (!n)
            continue;
        g_autofree char *text = ws_format_count(n, ngettext(kinds[i].one, kinds[i].many, n));
        g_autofree char *safe = g_markup_escape_text(text, -1);
        g_string_append_printf(out, "%s<span color=\"#%06x\"><b>%s</b></span>\xc2\xa0%s",
                               out->len ? "   " : "", ws_compare_colour(kinds[i].sign),
                               kinds[i].glyph, safe);
    }
    g_autofree char *ghost =
        g_markup_escape_text(_("dashed: where A had it, seen from the start of the round"), -1);
    g_string_append_printf(out, "%s\xe2\x94\x84\xc2\xa0%s", out->len ? "   " : "", ghost);
    gtk_label_set_markup(GTK_LABEL(b->legend), out->str);
}

static char *cycles_text(const WsComparison *c)
{
    g_autofree char *a = ws_format_int(c->cycles_a), *now = ws_format_int(c->cycles_b);
    if (c->cycles_a <= 0 || c->cycles_b <= 0)
        return g_strdup(_("one of them has no predicted time"));
    const double gain = 100.0 * ((double)c->cycles_b / (double)c->cycles_a - 1);
    g_autofree char *percent = ws_format_real(ABS(gain), 1);
    if (c->cycles_a == c->cycles_b)
        return g_strdup_printf(_("%s cycles, both"), now);
    /* Translators: cycles of A, cycles of B, by how much it is less or more. */
    return g_strdup_printf(gain < 0 ? _("%s → %s cycles, %s %% less")
                                    : _("%s → %s cycles, %s %% more"),
                           a, now, percent);
}

static void update(WsDocument *d, Bar *b)
{
    const WsComparison *c = ws_document_comparison(d);
    gtk_widget_set_visible(b->box, ws_document_comparing(d));
    gtk_button_set_label(GTK_BUTTON(b->flip), ws_document_shows_a(d) ? _("Show B") : _("Show A"));
    if (!c) {
        gtk_label_set_text(GTK_LABEL(b->names), _("Comparing…"));
        gtk_label_set_text(GTK_LABEL(b->cycles), "");
        gtk_label_set_text(GTK_LABEL(b->legend), "");
        return;
    }
    /* Translators: the two designs that are compared; %s names the first. */
    g_autofree char *names =
        g_strdup_printf(ws_document_shows_a(d) ? _("A: %s (shown)   B: this design")
                                               : _("A: %s   B: this design (shown)"),
                        c->name);
    g_autofree char *cycles = cycles_text(c);
    gtk_label_set_text(GTK_LABEL(b->names), names);
    gtk_label_set_text(GTK_LABEL(b->cycles), cycles);
    show_legend(b, c);
}

static void theme_changed(GObject *theme, Bar *b)
{
    update(b->document, b);
}

static GtkWidget *label(const char *css_class)
{
    GtkWidget *l = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(l), 0);
    gtk_label_set_wrap(GTK_LABEL(l), TRUE);
    if (css_class)
        gtk_widget_add_css_class(l, css_class);
    return l;
}

static GtkWidget *button(const char *name, const char *text)
{
    const WsAction *action = ws_action_find(name);
    g_autofree char *target = g_strdup_printf("win.%s", name);
    g_autofree char *tip = ws_action_tooltip(action);
    GtkWidget *b = gtk_button_new_with_label(text);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), target);
    gtk_widget_set_tooltip_text(b, tip);
    gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
    return b;
}

static void unmake(gpointer data, GObject *box)
{
    Bar *b = data;
    g_signal_handlers_disconnect_by_data(b->document, b);
    g_signal_handlers_disconnect_by_data(ws_theme_watch(), b);
    g_object_unref(b->document);
    g_free(b);
}

GtkWidget *ws_compare_bar_new(WsDocument *document)
{
    Bar *b = g_new0(Bar, 1);
    GtkWidget *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *first = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 16);
    b->document = g_object_ref(document);
    b->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    b->names = label("ws-bound");
    b->cycles = label(NULL);
    b->legend = label(NULL);
    b->flip = button("compare-flip", _("Show A"));
    gtk_box_append(GTK_BOX(first), b->names);
    gtk_box_append(GTK_BOX(first), b->cycles);
    gtk_box_append(GTK_BOX(words), first);
    gtk_box_append(GTK_BOX(words), b->legend);
    gtk_widget_set_hexpand(words, TRUE);
    gtk_box_append(GTK_BOX(b->box), words);
    gtk_box_append(GTK_BOX(b->box), b->flip);
    gtk_box_append(GTK_BOX(b->box), button("compare-stop", _("Stop")));
    gtk_widget_add_css_class(b->box, "ws-bar");
    gtk_widget_set_visible(b->box, FALSE);
    g_signal_connect(document, "compared", G_CALLBACK(update), b);
    g_signal_connect(document, "previewed", G_CALLBACK(update), b);
    g_signal_connect(ws_theme_watch(), "changed", G_CALLBACK(theme_changed), b);
    g_object_weak_ref(G_OBJECT(b->box), unmake, b);
    return b->box;
}
