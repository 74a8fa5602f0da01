/* Generate, Rehearse and Run: processes of the command line tool on a copy of the design, with
 * progress and cancel. A row of buttons and a status line; the outcome goes into the document. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_JOBS ws_jobs_get_type()
G_DECLARE_FINAL_TYPE(WsJobs, ws_jobs, WS, JOBS, GtkWidget)

typedef enum {
    WS_JOB_GENERATE, /* PTX and LLVM IR into the document's texts */
    WS_JOB_REHEARSE, /* on the CPU, compared with the reference */
    WS_JOB_RUN,      /* on a GPU here, or on the host; the measured trace into the document */
    WS_JOB_BUNDLE,   /* a folder to take to a machine with a GPU */
    WS_JOB_COUNT
} WsJobKind;

/* Signals: "state-changed": a job began, went on or ended.
 * Class actions: jobs.generate, jobs.rehearse, jobs.run, jobs.bundle, jobs.cancel. */

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_jobs_new(WsDocument *document);
void ws_jobs_set_host(WsJobs *self, const char *host); /* of the next runs; NULL: this machine */
/* FALSE if a job is running already or there is no program. BUNDLE asks for a folder first. */
gboolean ws_jobs_start(WsJobs *self, WsJobKind kind);
void ws_jobs_cancel(WsJobs *self);
gboolean ws_jobs_running(WsJobs *self);
/* One line about the last or running job; borrowed. */
const char *ws_jobs_status(WsJobs *self);

G_END_DECLS
