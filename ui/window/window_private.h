/* The window's own files share this. */
#pragma once

#include "ui/panels/palette.h"
#include "ui/window/window.h"

/* What stands around the score. */
typedef enum { WS_PANE_SIDEBAR, WS_PANE_INSPECTOR, WS_PANE_PANELS, WS_PANE_COUNT } WsPaneKind;

/* Goes on once the design is saved or given up (`safe`), or not at all. */
typedef void (*WsWindowThen)(WsWindow *w, gboolean safe, gpointer data);

struct _WsWindow {
    GtkApplicationWindow parent;
    WsDocument *document;
    GtkWidget *part[WS_PART_COUNT]; /* owned by the widget tree; SELF is the window */
    GtkFileChooserNative *chooser;  /* while a dialogue is open */
    GtkWindow *palette;             /* command palette while open; a weak pointer */
    GtkWindow *asking;              /* the question of what is unsaved, while it is open */
    int answer;                     /* to it: a GtkResponseType, 0 none */
    WsWindowThen then;              /* what goes on after it */
    gpointer then_data;
    gboolean closing;   /* it may be lost: the window closes without a question */
    GtkLabel *toast;    /* what a command has to say */
    guint toast_source; /* hides it */
    GtkWidget *sidebar, *history_button;
    /* window_adapt.c: what the person wants, what there is no room for, what is shown all the same
     */
    gboolean wanted[WS_PANE_COUNT], no_room[WS_PANE_COUNT], insisted[WS_PANE_COUNT];
    guint adapt_source;
    gboolean dragging;   /* the score shows what letting go would give … */
    GtkLabel *of_before; /* … and the panels what was before, as this says */

    GPtrArray *detached; /* GtkWindow: panels in windows of their own */
    GFileMonitor
        *monitor; /* of the design's file, or of the kernel it was read from; NULL if none */
    guint watch_source;
    GCancellable *importing; /* while a kernel is being read */
    guint import_source;     /* says so after a while */
    guint has_room;          /* frames since the panels may have been made higher for a source */

    /* template children */
    GtkWidget *header, *recent_button, *menu_button, *theme_button, *work_box, *open_button,
        *search_button;
    GtkLabel *title_label, *subtitle_label;
    GtkInfoBar *error_bar;
    GtkLabel *error_what, *error_how;
    GtkWidget *error_scroll, *reload_button, *cancel_button, *compare_button, *own_button;
    GFile *offered;         /* a trace of another design, while the bar offers it; NULL none */
    WsTrace *offered_trace; /* what it holds */
    GtkWidget *traces_button;
    GFile *traces_of; /* the file beside which the button lists traces */
    GtkImage *error_icon;
    GtkStack *pages;
    GtkWidget *welcome_box, *score_box, *inspector_box, *jobs_box, *status_box;
    GtkPaned *rows, *columns, *side;
    GtkNotebook *panels;
    GtkWidget *status_verdict_button, *status_fix;
    GtkLabel *status_verdict, *status_fix_label, *status_selection, *status_device, *status_zoom;
};

/* window_actions.c: what a command of actions.def does, by its name. */
typedef struct {
    const char *name;
    void (*run)(WsWindow *w);
    void (*with)(WsWindow *w, gint value); /* instead of `run`: what several commands do … */
    gint value;                            /* … with this */
} WsCommand;
const WsCommand *ws_command_find(const WsCommand *all, guint n, const char *name); /* or NULL */
void ws_command_run(const WsCommand *command, WsWindow *w); /* NULL: nothing */
void ws_window_add_actions(WsWindow *w);
void ws_window_update_actions(WsWindow *w);
/* window_open.c */
void ws_window_choose_file(WsWindow *w, gboolean trace);
/* Opens it once what is open is saved or given up. */
void ws_window_open_safely(WsWindow *w, GFile *file);
/* A file dialogue, kept in w->chooser until it answers. Borrowed. */
GtkFileChooser *ws_window_new_chooser(WsWindow *w, const char *title, GtkFileChooserAction action,
                                      const char *accept, GCallback response);
/* What it answered, and its end: the file, NULL none. Caller unrefs. */
GFile *ws_window_chosen(WsWindow *w, GtkNativeDialog *dialog, int response);
void ws_window_add_filter(GtkFileChooser *chooser, const char *name, const char *const *suffixes);
void ws_window_accept_drops(WsWindow *w);
GMenuModel *ws_window_recent_menu(void); /* transfer full */
void ws_window_note_recent(GFile *file);
/* Opens a file whatever it is, with its own design; what is open is gone. */
gboolean ws_window_open_own(WsWindow *w, GFile *file);
/* window_kin.c: a trace of another design than the one that is open. Offers to compare, or to open
 * it with its own; FALSE: it is of this design, or no trace, or (unless `always`) has nothing in
 * common with it. */
gboolean ws_window_offer_trace(WsWindow *w, GFile *file, gboolean always);
void ws_window_follow_traces(WsWindow *w); /* those beside the design's file, in the status bar */
void ws_window_forget_traces(WsWindow *w);
/* window_save.c */
gboolean ws_window_save(WsWindow *w, GFile *file);
void ws_window_save_as(WsWindow *w);
void ws_window_do_save(WsWindow *w);
void ws_window_do_new(WsWindow *w);
void ws_window_begin_design(WsWindow *w, const WsDesign *design);
/* Asks if something is unsaved; `closing`: another window on the document keeps it. */
void ws_window_when_safe(WsWindow *w, gboolean closing, WsWindowThen then, gpointer data);
/* add_dialog.c */
void ws_window_add_item(WsWindow *w, const WsPaletteItem *item, WsEditSpot spot);
/* window_export.c */
void ws_window_choose_picture(WsWindow *w);
void ws_window_choose_trace_export(WsWindow *w);
/* By the file's ending. */
gboolean ws_window_export_trace(WsWindow *w, GFile *file);
gboolean ws_window_export_picture(WsWindow *w, GFile *file);
gboolean ws_window_say_saved(WsWindow *w, GFile *file, gboolean ok, const char *why);
/* window_import.c: reads a kernel; the window says when it is there. */
void ws_window_import(WsWindow *w, GFile *file);
void ws_window_cancel_import(WsWindow *w); /* silently */
void ws_window_stop_import(WsWindow *w);
void ws_window_let_stop_import(WsWindow *w); /* by Escape */
/* window_machine.c */
void ws_window_choose_machine(WsWindow *w);
void ws_window_machine_built_in(WsWindow *w);
/* window_compare.c */
void ws_window_choose_other_design(WsWindow *w);
/* window_status.c */
void ws_window_follow_status(WsWindow *w);
/* window_adapt.c */
void ws_window_want_pane(WsWindow *w, WsPaneKind pane, gboolean wanted);
gboolean ws_window_pane_shown(WsWindow *w, WsPaneKind pane);
void ws_window_adapt(WsWindow *w); /* the window has another size: soon */
void ws_window_adapt_first(WsWindow *w);
void ws_window_restore_panes(WsWindow *w);
/* window_detach.c */
void ws_window_make_detachable(WsWindow *w);
void ws_window_add_panel(WsWindow *w, GtkWidget *panel, const char *label);
void ws_window_detach_panel(WsWindow *w); /* the one that is shown */
/* FALSE if the panel is in the main window. */
gboolean ws_window_present_detached(WsWindow *w, GtkWidget *panel);
void ws_window_close_detached(WsWindow *w);
/* window_watch.c */
void ws_window_watch_file(WsWindow *w);
void ws_window_unwatch_file(WsWindow *w);
/* Says that another program has changed it, and offers to read it again. */
void ws_window_offer_file(WsWindow *w, GFile *file);
/* window.c: shows a panel and leaves the keyboard where it is. */
void ws_window_raise_panel(WsWindow *w, WsPart part);
