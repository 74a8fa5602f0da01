#include "codegen/nvptx/ptxas/ptxas_kept.h"
#include "codegen/generate.h"
#include "codegen/nvptx/ptxas/ptxas_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define MOST (4 << 20) /* bytes of answers; then they are begun from nothing */

/* Text and assembler as one name. NULL: there is no assembler. Caller frees. */
static char *name_of(const char *ptx)
{
    GStatBuf s;
    g_autofree char *path = ws_ptxas_path();
    if (!path || g_stat(path, &s) != 0)
        return NULL;
    g_autofree char *tool = g_strdup_printf("%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", path,
                                            (gint64)s.st_size, (gint64)s.st_mtime);
    g_autofree char *all = g_strconcat(tool, ptx, NULL);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
}

static char *file_of_answers(void)
{
    return g_build_filename(g_get_user_cache_dir(), "warpstave", "ptxas-answers", NULL);
}

/* A line is a name, a blank and 0 or 1. Anything else in the file is passed over. */
static gboolean find(const char *file, const char *name, gboolean *clean)
{
    g_autofree char *text = NULL;
    gsize n;
    if (!g_file_get_contents(file, &text, &n, NULL))
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        const gsize length = strlen(name);
        if (strlen(lines[i]) != length + 2 || strncmp(lines[i], name, length) != 0)
            continue;
        const char *said = lines[i] + length;
        *clean = strcmp(said, " 1") == 0;
        if (*clean || strcmp(said, " 0") == 0)
            return TRUE;
    }
    return FALSE;
}

/* A cache that cannot be written is none. Lines of several processes do not mix: each is one write.
 */
static void keep(const char *file, const char *name, gboolean clean)
{
    GStatBuf s;
    g_autofree char *folder = g_path_get_dirname(file);
    g_autofree char *line = g_strdup_printf("\n%s %d\n", name, clean);
    const gboolean full = g_stat(file, &s) == 0 && s.st_size > MOST;
    if (g_mkdir_with_parents(folder, 0700) != 0)
        return;
    const int fd = g_open(file, O_WRONLY | O_CREAT | O_CLOEXEC | (full ? O_TRUNC : O_APPEND), 0600);
    if (fd < 0)
        return;
    ssize_t written;
    do
        written = write(fd, line, strlen(line));
    while (written < 0 && errno == EINTR);
    g_close(fd, NULL);
}

gboolean ws_ptxas_ask(const char *ptx, gboolean *clean, GError **error)
{
    g_autofree char *file = file_of_answers(), *name = name_of(ptx);
    if (name && find(file, name, clean))
        return TRUE;
    WsPtxasReport *report = ws_ptxas_run(ptx, NULL, error);
    if (!report)
        return FALSE;
    *clean = ws_ptxas_report_clean(report);
    ws_ptxas_report_free(report);
    if (name)
        keep(file, name, *clean);
    return TRUE;
}
