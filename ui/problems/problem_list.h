/* Findings in sections, one for each rule, the worst first; filtered, stepped through, copied. */
#pragma once

#include "model/findings.h"
#include "program/forward.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_PROBLEM_LIST ws_problem_list_get_type()
G_DECLARE_FINAL_TYPE(WsProblemList, ws_problem_list, WS, PROBLEM_LIST, GtkWidget)

typedef struct {
    gboolean severity[3]; /* by WsSeverity: shown */
    gboolean silenced;    /* show those that a `suppress` silences, too */
    const char *needle;   /* casefolded text, or NULL: all */
} WsProblemFilter;

GtkWidget *ws_problem_list_new(void);
/* Borrowed until the next call; NULL: none. The program names their steps. Keeps the selected
 * finding if it is still there. */
void ws_problem_list_take(WsProblemList *list, const WsProgram *p, const WsFindings *findings);
void ws_problem_list_filter(WsProblemList *list, const WsProblemFilter *filter);
guint ws_problem_list_n_shown(WsProblemList *list);
gint ws_problem_list_selected(WsProblemList *list); /* index into the findings, -1 none */
/* Selects the next (previous) one that is shown, round the ends; its index, -1 none. */
gint ws_problem_list_step(WsProblemList *list, gint by);
/* A quick-fix stands in the row of a finding: a button with its title, and what it changes as a
 * tip. Title NULL: none. */
void ws_problem_list_offer(WsProblemList *list, guint index, const char *title, const char *tip);
/* What is shown as lines with tabulators, under the names of its columns. Caller frees. */
char *ws_problem_list_copy(WsProblemList *list);

/* Signals: "selected" (gint index, -1 none); "activated" (gint index); "mend" (gint index): the
 * button of its row. */

/* Shape, translated word and CSS class of a severity. */
const char *ws_severity_glyph(WsSeverity severity);
const char *ws_severity_word(WsSeverity severity);
const char *ws_severity_class(WsSeverity severity);

G_END_DECLS
