#include "ui/problems/problem_source.h"

#include "model/finding.h"
#include "ui/document/document_source.h"
#include "ui/parts/labels.h"

#include <glib/gi18n.h>
#include <string.h>

#define AROUND 2 /* lines shown before and behind */

typedef struct {
    WsDocument *document;
    GtkWidget *box, *link, *lines;
} Place;

/* How far all of them are indented; tabulators count as one. */
static gsize common_indent(char **line, guint from, guint to)
{
    gsize common = G_MAXSIZE;
    for (guint i = from; i <= to; i++) {
        const gsize indent = strspn(line[i - 1], " \t");
        if (line[i - 1][indent])
            common = MIN(common, indent);
    }
    return common < G_MAXSIZE ? common : 0;
}

/* "▸ 43  mbarrier.wait(…)" between its neighbours. Caller frees. */
static char *excerpt(const WsSource *source, guint line)
{
    g_auto(GStrv) all = g_strsplit(source->text, "\n", -1);
    const guint n = g_strv_length(all);
    const guint from = line > AROUND ? line - AROUND : 1, to = MIN(line + AROUND, n);
    const gsize indent = common_indent(all, from, to);
    GString *text = g_string_new(NULL);
    for (guint i = from; i <= to; i++)
        g_string_append_printf(text, "%s%s %4u  %s", i > from ? "\n" : "",
                               i == line ? "\xe2\x96\xb8" : " ", i,
                               all[i - 1] + MIN(indent, strlen(all[i - 1])));
    return g_string_free(text, FALSE);
}

static void explained(WsProblems *problems, Place *p)
{
    const WsFinding *f = ws_problems_selected(problems);
    const WsSource *source = ws_document_source(p->document);
    const gboolean shown = f && source && f->line;
    gtk_widget_set_visible(p->box, shown);
    if (!shown)
        return;
    g_autofree char *place = g_strdup_printf("%s:%u", source->name, f->line);
    g_autofree char *text = excerpt(source, f->line);
    ws_link_button_set(p->link, place);
    gtk_label_set_text(GTK_LABEL(p->lines), text);
}

static void clicked(GtkButton *button, WsProblems *problems)
{
    ws_problems_reveal(problems);
    gtk_widget_activate_action(GTK_WIDGET(button), "win.show-source", NULL);
}

static void unmake(gpointer data, GObject *box)
{
    Place *p = data;
    g_object_unref(p->document);
    g_free(p);
}

void ws_problem_source_attach(WsProblems *problems, WsDocument *document)
{
    Place *p = g_new0(Place, 1);
    p->document = g_object_ref(document);
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->link = ws_link_button("", _("Show this line in the source"));
    p->lines = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(p->lines), 0);
    gtk_label_set_ellipsize(GTK_LABEL(p->lines), PANGO_ELLIPSIZE_END);
    gtk_label_set_selectable(GTK_LABEL(p->lines), TRUE);
    gtk_widget_add_css_class(p->lines, "monospace");
    gtk_widget_add_css_class(p->lines, "ws-excerpt");
    gtk_box_append(GTK_BOX(p->box), p->link);
    gtk_box_append(GTK_BOX(p->box), p->lines);
    g_signal_connect(p->link, "clicked", G_CALLBACK(clicked), problems);
    ws_problems_insert(problems, p->box);
    g_object_weak_ref(G_OBJECT(p->box), unmake, p);
    g_signal_connect(problems, "explained", G_CALLBACK(explained), p);
    explained(problems, p);
}
