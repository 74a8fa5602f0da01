/* warpstave-runner BUNDLE: runs a bundle on the GPU of this machine. Needs libc and a driver. */
#include "runner/launcher.h"
#include "runner/mesh_link.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char usage[] =
    "usage: warpstave-runner BUNDLE [--json] [options]\n"
    "Runs the bundle on this machine's GPU, checks and times it, and writes results.json (and\n"
    "records.bin of a traced build) into the bundle folder. A bundle for gfx950 runs on HIP\n"
    "(libamdhip64.so, or $WARPSTAVE_LIBHIP), which is untested on a GPU until one is available.\n"
    "  --json           print the results as JSON\n"
    "  --device N       GPU number (0)\n"
    "  --devices N,…    GPUs of a bundle for several devices, as 0,1 (the first ones); one that\n"
    "                   stands there twice runs two of them: for tests on one GPU\n"
    "  --process R/N    this is process R of N, one for each device: torchrun, mpirun and srun\n"
    "                   say so by themselves; process 0 checks, times and writes the results\n"
    "  --meet FOLDER    where they meet: all see it, nobody else uses it ($TMPDIR, by the job)\n"
    "  --meet-seconds S how long they wait for each other (60)\n"
    "  --case N         only case N of the bundle (0 = first)\n"
    "  --runs N         cold rounds (from the bundle; 0: check only)\n"
    "  --sustained S    seconds back to back (from the bundle; 0: none)\n"
    "  --samples N      elements compared with the reference per output (4096)\n"
    "  --judge S        seconds the float64 reference of one output may take (60)\n"
    "  --again N        launch N times more; the values must stay the same (0)\n"
    "  --timeout S      seconds one launch may take before it counts as hung (from the bundle)\n"
    "  --no-check       time only\n"
    "  --version, --help\n"
    "exit status: 0 right, 1 wrong or hung, 2 bad bundle or usage, 4 no GPU or driver,\n"
    "             5 defect of the runner, 130 interrupted\n";

static bool number(const char *text, double low, double high, double *out)
{
    char *end;
    *out = text ? strtod(text, &end) : NAN;
    return text && end != text && !*end && *out >= low && *out <= high;
}

typedef struct {
    WsRunOptions run;
    const char *meet;
    double runs, sustained, samples, judge, timeout, device, only, again;
    bool asked_runs, asked_sustained, asked_timeout;
} Arguments;

/* "0,1": GPU numbers. */
static bool device_list(const char *text, WsRunOptions *o)
{
    for (o->n_devices = 0; text && *text;) {
        char *end;
        const long n = strtol(text, &end, 10);
        if (end == text || n < 0 || n > 1023 || (*end && *end != ',') || (*end && !end[1]) ||
            o->n_devices == (int)(sizeof o->devices / sizeof *o->devices))
            return false;
        o->devices[o->n_devices++] = (int)n;
        text = *end ? end + 1 : end;
    }
    return o->n_devices > 0;
}

/* "1/4" */
static bool process(const char *text, WsRunOptions *o)
{
    char end;
    return text && sscanf(text, "%d/%d%c", &o->rank, &o->ranks, &end) == 2 && o->rank >= 0 &&
           o->rank < o->ranks && o->ranks > 1 && o->ranks <= 16;
}

static int complain(const char *text, const char *what)
{
    fprintf(stderr, "warpstave-runner: %s%s\n%s", text, what, usage);
    return WS_EXIT_INPUT;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, Arguments *a)
{
    struct {
        const char *name;
        double *value, low, high;
        bool *asked;
    } numbers[] = {
        { "--device", &a->device, 0, 1023, NULL },
        { "--case", &a->only, 0, WS_MANIFEST_CASES - 1, NULL },
        { "--runs", &a->runs, 0, 10000, &a->asked_runs },
        { "--sustained", &a->sustained, 0, 600, &a->asked_sustained },
        { "--samples", &a->samples, 1, 1 << 24, NULL },
        { "--meet-seconds", &a->run.meet_seconds, 0.1, 3600, NULL },
        { "--judge", &a->judge, 0.1, 3600, NULL },
        { "--again", &a->again, 0, 1e6, NULL },
        { "--timeout", &a->timeout, 0.1, 3600, &a->asked_timeout },
    };
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            if (strcmp(argv[i], numbers[k].name) != 0)
                continue;
            if (!number(i + 1 < argc ? argv[i + 1] : NULL, numbers[k].low, numbers[k].high,
                        numbers[k].value))
                return complain(numbers[k].name, " needs a number in its range");
            if (numbers[k].asked)
                *numbers[k].asked = true;
            known = true;
            i++;
            break;
        }
        if (known)
            continue;
        if (strcmp(argv[i], "--devices") == 0) {
            if (!device_list(i + 1 < argc ? argv[++i] : NULL, &a->run))
                return complain("--devices", " needs GPU numbers, such as 0,1");
            continue;
        }
        if (strcmp(argv[i], "--process") == 0) {
            if (!process(i + 1 < argc ? argv[++i] : NULL, &a->run))
                return complain("--process", " needs a number and how many, such as 0/2");
            continue;
        }
        if (strcmp(argv[i], "--meet") == 0) {
            a->meet = i + 1 < argc ? argv[++i] : "";
            if (!*a->meet)
                return complain("--meet", " needs a folder");
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return WS_EXIT_YES;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("warpstave-runner %s (bundle version %d)\n", WARPSTAVE_VERSION,
                   WS_MANIFEST_VERSION);
            return WS_EXIT_YES;
        }
        if (strcmp(argv[i], "--json") == 0)
            a->run.json = true;
        else if (strcmp(argv[i], "--no-check") == 0)
            a->run.check = false;
        else if (argv[i][0] == '-')
            return complain("unknown option ", argv[i]);
        else if (a->run.dir)
            return complain("more than one bundle: ", argv[i]);
        else
            a->run.dir = argv[i];
    }
    return a->run.dir ? -1 : complain("which bundle?", "");
}

static void settle_options(Arguments *a, const WsManifest *m)
{
    a->run.device = (int)a->device;
    a->run.only_case = (int)a->only;
    a->run.samples = (int64_t)a->samples;
    a->run.judge = a->judge;
    a->run.again = (int64_t)a->again;
    a->run.runs = a->asked_runs ? (uint32_t)a->runs : m->runs;
    a->run.sustained = a->asked_sustained ? a->sustained : m->sustained;
    a->run.timeout = a->asked_timeout ? a->timeout : m->timeout;
}

/* Processes that run a mesh together; --devices says that this one runs it alone. */
static bool together(Arguments *a, const WsManifest *m, char *error, size_t size)
{
    WsRunOptions *o = &a->run;
    if (o->ranks > 1 && (!m->mesh || o->n_devices)) {
        snprintf(error, size,
                 m->mesh ? "--devices is of one process, --process of several"
                         : "the bundle runs on one device: leave --process away");
        return false;
    }
    if (!m->mesh || o->n_devices)
        return true;
    if (!ws_launcher_read(o, a->meet, error, size))
        return false;
    return o->ranks < 2 || o->rank > 0 || (o->listen = ws_link_listen(o, error, size)) >= 0;
}

int main(int argc, char **argv)
{
    Arguments a = { .run = { .check = true }, .only = -1, .samples = 4096, .judge = 60 };
    a.run.meet_seconds = 60;
    int status = parse(argc, argv, &a);
    if (status >= 0)
        return status;
    char error[1024];
    WsManifest *m = malloc(sizeof *m);
    if (!m)
        return WS_EXIT_DEFECT;
    if (!ws_manifest_load(a.run.dir, m, error, sizeof error)) {
        fprintf(stderr, "warpstave-runner: %s\n", error);
        free(m);
        return WS_EXIT_INPUT;
    }
    settle_options(&a, m);
    if (a.run.n_devices && !m->mesh) {
        fprintf(stderr, "warpstave-runner: the bundle runs on one device: leave --devices away\n");
        free(m);
        return WS_EXIT_INPUT;
    }
    a.run.listen = -1;
    if (!together(&a, m, error, sizeof error)) {
        fprintf(stderr, "warpstave-runner: %s\n", error);
        free(m);
        return WS_EXIT_INPUT;
    }
    if (a.run.only_case >= m->n_cases) {
        fprintf(stderr, "warpstave-runner: the bundle has %d cases\n", m->n_cases);
        free(m);
        return WS_EXIT_INPUT;
    }
    WsResults *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED) {
        fprintf(stderr, "warpstave-runner: mmap: %s\n", strerror(errno));
        free(m);
        return WS_EXIT_DEFECT;
    }
    status = ws_watch(m, &a.run, r);
    if (a.run.listen >= 0)
        unlink(a.run.meet);
    if (r->error[0] && a.run.ranks > 1)
        fprintf(stderr, "warpstave-runner, process %d of %d: %s\n", a.run.rank, a.run.ranks,
                r->error);
    else if (r->error[0])
        fprintf(stderr, "warpstave-runner: %s\n", r->error);
    if (a.run.rank > 0) { /* process 0 has the results */
        munmap(r, sizeof *r);
        free(m);
        return status;
    }
    if (status == WS_EXIT_INTERRUPTED) {
        fprintf(stderr, "warpstave-runner: interrupted, no results written\n");
    } else {
        if (a.run.json)
            ws_report_json(stdout, m, &a.run, r, status);
        else if (r->device[0])
            ws_report_text(stdout, m, r);
        if (!ws_report_save(a.run.dir, m, &a.run, r, status, error, sizeof error)) {
            fprintf(stderr, "warpstave-runner: %s\n", error);
            status = status ? status : WS_EXIT_INPUT;
        }
    }
    munmap(r, sizeof *r);
    free(m);
    return status;
}
