#include "ui/app/benchmark.h"

#include "ui/app/benchmark_data.h"
#include "ui/app/main_loop.h"
#include "ui/app/settings.h"
#include "ui/gesture/gesture.h"
#include "ui/timeline/timeline.h"
#include "ui/window/window.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAMES        240
#define WIDTH         1600
#define HEIGHT        900
#define GOAL_START    500.0 /* milliseconds, all of them */
#define GOAL_FRAME    16.0
#define GOAL_OPEN     300.0
#define GOAL_OPEN_TEN 1000.0 /* of ten million records */
#define GOAL_WORST    33.0   /* of a frame while one drags, and of the answer after it */
#define GIVE_UP       (30 * G_USEC_PER_SEC)

static gint64 started;

void ws_benchmark_note_start(void)
{
    started = g_get_monotonic_time();
}

/* Milliseconds since the process began, by the kernel's account of it (in ticks of 10 ms); where
 * there is none, since main(). */
static double since_start(void)
{
    g_autofree char *stat = NULL;
    double now = (double)(g_get_monotonic_time() - started) / 1000;
    struct timespec up;
    if (!g_file_get_contents("/proc/self/stat", &stat, NULL, NULL) ||
        clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return now;
    const char *rest = strrchr(stat, ')'); /* the name may hold anything */
    unsigned long long ticks = 0;
    if (!rest || sscanf(rest + 1,
                        " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                        "%*d %llu",
                        &ticks) != 1)
        return now;
    double age = (double)up.tv_sec * 1000 + (double)up.tv_nsec / 1e6 -
                 (double)ticks * 1000 / (double)sysconf(_SC_CLK_TCK);
    return MAX(age, now);
}

static double cpu_now(void) /* milliseconds of this thread */
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static double process_cpu(void) /* milliseconds of all threads since the process began */
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

/* --- a bench: a window and what its frames take ----------------------------------------------- */

typedef struct {
    WsWindow *window;
    WsTimeline *timeline;
    GdkFrameClock *clock;
    gint64 frame_began, frame_took; /* microseconds */
    guint frames;
    gboolean missed;
} Bench;

static void frame_begins(GdkFrameClock *clock, Bench *b)
{
    b->frame_began = g_get_monotonic_time();
}

static void frame_ends(GdkFrameClock *clock, Bench *b)
{
    b->frame_took = g_get_monotonic_time() - b->frame_began;
    b->frames++;
}

/* Until `n` more frames are on screen; FALSE: they do not come. */
static gboolean wait_frames(Bench *b, guint n)
{
    guint until = b->frames + n;
    gint64 begin = g_get_monotonic_time();
    while (b->frames < until) {
        gdk_frame_clock_request_phase(b->clock, GDK_FRAME_CLOCK_PHASE_PAINT);
        ws_main_loop_turn();
        if (g_get_monotonic_time() - begin > GIVE_UP)
            return FALSE;
    }
    return TRUE;
}

/* Until nothing is left to do after the last movement. */
static void rest(Bench *b, double seconds)
{
    gint64 end = g_get_monotonic_time() + (gint64)(seconds * G_USEC_PER_SEC);
    while (g_get_monotonic_time() < end)
        ws_main_loop_turn();
}

static gboolean bench_open(Bench *b, GtkApplication *application, GFile *design, GFile *trace)
{
    *b = (Bench){ .window = ws_window_new(application) };
    b->timeline = WS_TIMELINE(ws_window_part(b->window, WS_PART_TIMELINE));
    gtk_window_set_default_size(GTK_WINDOW(b->window), WIDTH, HEIGHT);
    if (!ws_window_open(b->window, design))
        return FALSE;
    gtk_window_present(GTK_WINDOW(b->window));
    b->clock = gtk_widget_get_frame_clock(GTK_WIDGET(b->window));
    if (!b->clock)
        return FALSE;
    g_signal_connect(b->clock, "before-paint", G_CALLBACK(frame_begins), b);
    g_signal_connect(b->clock, "after-paint", G_CALLBACK(frame_ends), b);
    return !trace || ws_window_open_trace(b->window, trace);
}

static void bench_close(Bench *b)
{
    if (b->clock)
        g_signal_handlers_disconnect_by_data(b->clock, b);
    gtk_window_destroy(GTK_WINDOW(b->window));
    while (g_main_context_iteration(NULL, FALSE))
        ;
}

/* --- figures ------------------------------------------------------------------------------------
 */

static int by_value(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double percentile(GArray *values, double p)
{
    guint at = (guint)(p * (values->len - 1) + 0.5);
    return g_array_index(values, double, at);
}

/* `cpu`: of all threads of the process; on a machine that is shared, the figure to compare. */
static void say_time(Bench *b, const char *what, double value, double cpu, double goal)
{
    gboolean met = value <= goal;
    b->missed |= !met;
    printf("%-44s %8.1f ms          cpu %7.1f ms  goal %3.0f ms %s\n", what, value, cpu, goal,
           met ? "met" : "MISSED");
    fflush(stdout);
}

/* `frame`: from the movement to the end of the frame that shows it; `cpu`: all that the main thread
 * did for it, work put off between frames included. */
static void say_frames(Bench *b, const char *what, GArray *frame, GArray *cpu)
{
    g_array_sort(frame, by_value);
    g_array_sort(cpu, by_value);
    double p95 = percentile(frame, 0.95);
    gboolean met = p95 <= GOAL_FRAME;
    b->missed |= !met;
    printf("%-44s p50 %5.1f  p95 %5.1f  cpu p50 %4.1f p95 %5.1f ms  goal %3.0f ms %s  worst %.1f\n",
           what, percentile(frame, 0.5), p95, percentile(cpu, 0.5), percentile(cpu, 0.95),
           GOAL_FRAME, met ? "met" : "MISSED", percentile(frame, 1));
    fflush(stdout);
}

typedef void (*Move)(Bench *b, guint i);

static void zoom(Bench *b, guint i)
{
    /* In for a while, out for a while, about a pointer that wanders. */
    double x = WIDTH * (0.2 + 0.3 * fabs(sin((double)i / 17)));
    ws_timeline_zoom_at(b->timeline, x, i / 20 % 2 ? 1 / 1.15 : 1.15);
}

static void pan(Bench *b, guint i)
{
    ws_timeline_scroll_by(b->timeline, i / 60 % 2 ? -37 : 37, i / 30 % 2 ? -5 : 5);
}

static void measure(Bench *b, const char *what, Move move)
{
    g_autoptr(GArray) frame = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) cpu = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < FRAMES; i++) {
        double cpu_began = cpu_now();
        gint64 began = g_get_monotonic_time();
        move(b, i);
        double took = (double)(g_get_monotonic_time() - began) / 1000;
        if (!wait_frames(b, 1))
            return;
        took += (double)b->frame_took / 1000;
        double used = cpu_now() - cpu_began;
        g_array_append_val(frame, took);
        g_array_append_val(cpu, used);
    }
    say_frames(b, what, frame, cpu);
}

static void measure_moves(Bench *b, const char *name)
{
    g_autofree char *zooming = g_strdup_printf("%s: zoom", name);
    g_autofree char *panning = g_strdup_printf("%s: pan", name);
    rest(b, 0.5);
    measure(b, zooming, zoom);
    /* Pan in the middle, a hundredth of the score wide and not less than what is readable. */
    double length = ws_timeline_length(b->timeline), width = MAX(length / 40, 4000);
    ws_timeline_set_view(b->timeline, length / 2, length / 2 + width);
    rest(b, 0.5);
    measure(b, panning, pan);
}

/* --- the three scenes ---------------------------------------------------------------------------
 */

static int first_scene(GtkApplication *application, GFile *design, GFile *trace)
{
    Bench b;
    gboolean ok = bench_open(&b, application, design, trace) && wait_frames(&b, 1);
    double start = since_start(), cpu = process_cpu();
    if (ok) {
        say_time(&b, "start to the first frame of the design", start, cpu, GOAL_START);
        measure_moves(&b, trace ? "design with measured trace" : "design");
    }
    bench_close(&b);
    return ok ? b.missed : 3;
}

static int large_scene(GtkApplication *application)
{
    Bench b;
    g_autoptr(GError) error = NULL;
    g_autoptr(GFile) file = ws_benchmark_large_design(&error);
    if (!file) {
        fprintf(stderr, "warpstave-studio: %s\n", error->message);
        return 3;
    }
    gboolean ok = bench_open(&b, application, file, NULL) && wait_frames(&b, 2);
    g_file_delete(file, NULL, NULL);
    if (ok)
        measure_moves(&b, "32 groups, 2 000 steps");
    bench_close(&b);
    return ok ? b.missed : 3;
}

/* Memory of the process in MiB, by the kernel's account; 0 unknown. */
static double memory(void)
{
    g_autofree char *text = NULL;
    unsigned long long pages = 0;
    if (!g_file_get_contents("/proc/self/statm", &text, NULL, NULL) ||
        sscanf(text, "%*u %llu", &pages) != 1)
        return 0;
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

typedef struct {
    const char *name;
    guint records;
    double open, memory; /* goals: milliseconds, MiB */
} Long;

static gboolean long_opens(Bench *b, GFile *file, const Long *l)
{
    gint64 began = g_get_monotonic_time();
    double cpu_began = process_cpu();
    g_autofree char *what = g_strdup_printf("%s: open to the first frame", l->name);
    if (!ws_window_open_trace(b->window, file) || !wait_frames(b, 1))
        return FALSE;
    say_time(b, what, (double)(g_get_monotonic_time() - began) / 1000, process_cpu() - cpu_began,
             l->open);
    measure_moves(b, l->name);
    const double used = memory();
    b->missed |= used > l->memory;
    printf("%-44s %8.0f MiB                            goal %.0f MiB %s\n", l->name, used,
           l->memory, used <= l->memory ? "met" : "MISSED");
    fflush(stdout);
    return TRUE;
}

static int long_scene(GtkApplication *application, GFile *design, const Long *l)
{
    Bench b;
    g_autoptr(GError) error = NULL;
    gboolean ok = bench_open(&b, application, design, NULL) && wait_frames(&b, 2);
    WsDocument *d = ws_window_document(b.window);
    g_autoptr(GFile) file = ok ? ws_benchmark_long_trace(ws_document_predicted(d),
                                                         ws_document_program(d), l->records, &error)
                               : NULL;
    malloc_trim(0); /* what making the file took is none of the studio's */
    if (error)
        fprintf(stderr, "warpstave-studio: %s\n", error->message);
    ok = file && long_opens(&b, file, l);
    if (file)
        g_file_delete(file, NULL, NULL);
    bench_close(&b);
    return ok ? b.missed : 3;
}

/* projects/NAME/measured/ *.wtrace, the first by name; NULL if there is none. */
static GFile *trace_beside(GFile *design)
{
    g_autoptr(GFile) folder = g_file_get_parent(design);
    g_autoptr(GFile) measured = folder ? g_file_get_child(folder, "measured") : NULL;
    g_autofree char *path = measured ? g_file_get_path(measured) : NULL;
    g_autoptr(GDir) dir = path ? g_dir_open(path, 0, NULL) : NULL;
    g_autofree char *first = NULL;
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".wtrace") && (!first || strcmp(name, first) < 0)) {
            g_free(first);
            first = g_strdup(name);
        }
    return first ? g_file_get_child(measured, first) : NULL;
}

static GFile *shipped_design(void)
{
    g_autofree char *projects = ws_projects_folder();
    g_autofree char *path =
        projects ? g_build_filename(projects, "gemm-bf16", "design.wstave", NULL) : NULL;
    return path ? g_file_new_for_path(path) : NULL;
}

/* --- dragging a step -----------------------------------------------------------------------------
 */

static const WsSceneItem *widest(WsTimeline *t)
{
    const WsSceneItem *best = NULL;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (item->step && item->shape == WS_SHAPE_HEAD && item->x > t->view.width / 3 &&
            item->x < t->view.width / 2 && (!best || item->w > best->w))
            best = item;
    }
    return best;
}

static double drag_x, drag_y;

static void drag(Bench *b, guint i)
{
    ws_gesture_move(b->timeline, drag_x + 220 * sin((double)i / 23), drag_y);
}

/* From the last movement to the verdict and the times of what was tried. */
static void measure_answers(Bench *b)
{
    WsDocument *d = ws_window_document(b->window);
    g_autoptr(GArray) took = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) cpu = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < 40; i++) {
        const double cpu_began = process_cpu();
        gint64 began = g_get_monotonic_time();
        ws_gesture_move(b->timeline, drag_x + (i % 2 ? 150 : -170) + (double)(i % 5) * 9, drag_y);
        while (ws_document_pending(d) && g_get_monotonic_time() - began < GIVE_UP)
            g_main_context_iteration(NULL, TRUE);
        double ms = (double)(g_get_monotonic_time() - began) / 1000;
        const double used = process_cpu() - cpu_began;
        g_array_append_val(took, ms);
        g_array_append_val(cpu, used);
        rest(b, 0.05);
    }
    g_array_sort(took, by_value);
    g_array_sort(cpu, by_value);
    const double worst = percentile(took, 1);
    b->missed |= worst > GOAL_WORST;
    printf("%-44s p50 %5.1f  p95 %5.1f  cpu p50 %5.1f ms  goal %3.0f ms %s  worst %.1f\n",
           "attention: verdict and times after rest", percentile(took, 0.5), percentile(took, 0.95),
           percentile(cpu, 0.5), GOAL_WORST, worst <= GOAL_WORST ? "met" : "MISSED", worst);
}

static int drag_scene(GtkApplication *application)
{
    Bench b;
    g_autofree char *folder = ws_projects_folder();
    g_autofree char *path =
        folder ? g_build_filename(folder, "attention-d128", "design.wstave", NULL) : NULL;
    if (!path || !g_file_test(path, G_FILE_TEST_EXISTS))
        return 0;
    g_autoptr(GFile) file = g_file_new_for_path(path);
    gboolean ok = bench_open(&b, application, file, NULL) && wait_frames(&b, 3);
    const WsSceneItem *item = ok ? widest(b.timeline) : NULL;
    if (item) {
        rest(&b, 0.5);
        drag_x = item->x + item->w / 2 + ws_timeline_offset(b.timeline) + WS_TIMELINE_GUTTER;
        drag_y = item->y + item->h / 2 - b.timeline->view.at.y;
        if (ws_gesture_start(b.timeline, drag_x, drag_y)) {
            measure(&b, "attention: dragging a step", drag);
            measure_answers(&b);
            ws_gesture_abandon(b.timeline);
        }
    }
    bench_close(&b);
    return ok ? b.missed : 3;
}

/* $WARPSTAVE_BENCHMARK names the scenes to look at, separated by commas; without it all of them. */
static gboolean wanted(const char *scene)
{
    const char *names = g_getenv("WARPSTAVE_BENCHMARK");
    g_auto(GStrv) name = g_strsplit(names ? names : scene, ",", -1);
    return g_strv_contains((const char *const *)name, scene);
}

int ws_benchmark_run(GtkApplication *application, const char *design)
{
    static const Long longs[] = { { "1 000 000 records", 1000000, GOAL_OPEN, 1024 },
                                  { "10 000 000 records", 10000000, GOAL_OPEN_TEN, 1024 } };
    g_autoptr(GFile) file = design ? g_file_new_for_commandline_arg(design) : shipped_design();
    if (!file) {
        fprintf(stderr, "warpstave-studio: name a design: the shipped ones are not here\n");
        return 3;
    }
    g_autoptr(GFile) trace = trace_beside(file);
    int status = wanted("first") ? first_scene(application, file, trace) : 0;
    if (status == 3)
        return status;
    const int large = wanted("large") ? large_scene(application) : 0;
    const int million = wanted("long") ? long_scene(application, file, &longs[0]) : 0;
    const int ten = wanted("longest") ? long_scene(application, file, &longs[1]) : 0;
    const int dragging = wanted("drag") ? drag_scene(application) : 0;
    return MAX(MAX(status, large), MAX(MAX(million, ten), dragging));
}
