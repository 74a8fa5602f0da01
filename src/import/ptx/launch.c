#include "import/import.h"
#include "import/ptx/walk.h"

#include <string.h>

/* What the launch alone knows, where the text does not say it: threads of a CTA, CTAs of a cluster.
 * Nothing of it is guessed. */

static gboolean fail(GError **error, const WsPtx *p, const char *file, const char *what,
                     const char *remedy)
{
    g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ, "%s:%u:1: %s. %s", file, p->line,
                what, remedy);
    return FALSE;
}

/* "NAME=12" for `name`: the number. 0: it is another name; -1: it is no number from 1 to `most`. */
static gint64 value_of(const char *define, const char *name, gint64 most)
{
    const gsize n = strlen(name);
    gint64 v;
    if (strncmp(define, name, n) || define[n] != '=')
        return 0;
    return ptx_number(define + n + 1, &v) && v >= 1 && v <= most ? v : -1;
}

static gboolean threads(WsPtx *p, gint64 n, const char *file, GError **error)
{
    g_autofree char *what = NULL;
    if (n < 0)
        return fail(error, p, file, "NTID is not a number of threads",
                    "Say --define NTID=N, from 1 to 1024.");
    if (p->threads && (p->threads_most ? n > p->threads : n != p->threads)) {
        what = g_strdup_printf("the kernel wants %s%d threads, not %d",
                               p->threads_most ? "at most " : "", (int)p->threads, (int)n);
        return fail(error, p, file, what, "Say how many the launch has.");
    }
    p->threads = n;
    p->threads_most = TRUE; /* of a launch: the verdict says it */
    return TRUE;
}

static gboolean cluster(WsPtx *p, gint64 n, const char *file, GError **error)
{
    g_autofree char *what = NULL;
    if (n < 0)
        return fail(error, p, file, "`cluster` is not a number of CTAs",
                    "Say --define cluster=N, from 1 to 16.");
    if (p->cluster_said && n != p->cluster) {
        what = g_strdup_printf("the kernel wants clusters of %d CTAs, not %d", (int)p->cluster,
                               (int)n);
        return fail(error, p, file, what, "Leave it out.");
    }
    p->cluster_given = !p->cluster_said;
    p->cluster_said = TRUE;
    p->cluster = n;
    return TRUE;
}

gboolean ws_ptx_define(WsPtx *p, char **define, const char *file, GError **error)
{
    for (guint i = 0; define && define[i]; i++) {
        const gint64 n = value_of(define[i], "NTID", 1024), c = value_of(define[i], "cluster", 16);
        if (n ? !threads(p, n, file, error) : c ? !cluster(p, c, file, error) : FALSE)
            return FALSE;
        if (n || c)
            continue;
        g_autofree char *what = g_strdup_printf("`%s` is nothing that PTX leaves open", define[i]);
        return fail(error, p, file, what, "Say --define NTID=N or --define cluster=N.");
    }
    return TRUE;
}
