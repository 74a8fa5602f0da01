#include "package/wheel.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/temporary.h"
#include "package/package.h"
#include "package/template.h"
#include "package/zip.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmake_config.inc"
#include "cmake_lists.inc"
#include "example.inc"
#include "licence.inc"
#include "metadata.inc"
#include "pkgconfig.inc"

enum { LIBRARY_BYTES_MOST = 1 << 30 };

WsWheelFile *ws_wheel_file(const char *name, GBytes *data)
{
    WsWheelFile *f = g_new(WsWheelFile, 1);
    *f = (WsWheelFile){ g_strdup(name), data };
    return f;
}

void ws_wheel_file_free(gpointer file)
{
    WsWheelFile *f = file;
    g_free(f->name);
    g_bytes_unref(f->data);
    g_free(f);
}

/* --- compiling ---------------------------------------------------------------------------------
 */
/* A shared library from files of `dir`. */
static gboolean compile(const char *dir, const char *const *option, const char *const *file,
                        const char *out, GError **error)
{
    const char *cc = g_getenv("CC");
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *said = NULL;
    int status = 0;
    g_ptr_array_add(argv, g_strdup(cc && *cc ? cc : "cc"));
    static const char *const always[] = { "-std=gnu11", "-O2", "-shared", "-fPIC" };
    for (guint i = 0; i < G_N_ELEMENTS(always); i++)
        g_ptr_array_add(argv, g_strdup(always[i]));
    for (; *option; option++)
        g_ptr_array_add(argv, g_strdup(*option));
    for (; *file; file++)
        g_ptr_array_add(argv, g_strdup(*file));
    static const char *const last[] = { "-pthread", "-ldl", "-o" };
    for (guint i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(argv, g_strdup(last[i]));
    g_ptr_array_add(argv, g_strdup(out));
    g_ptr_array_add(argv, NULL);
    if (!g_spawn_sync(dir, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &said,
                      &status, error)) {
        g_prefix_error(error, "a wheel needs a C compiler (cc, or what CC names): ");
        return FALSE;
    }
    if (g_spawn_check_wait_status(status, NULL))
        return TRUE;
    g_set_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FAILED,
                "%s could not compile the launcher: %.300s", (char *)argv->pdata[0],
                said ? said : "");
    return FALSE;
}

static GBytes *read_bytes(const char *dir, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    char *data = NULL;
    gsize n = 0;
    return ws_file_read(path, LIBRARY_BYTES_MOST, &data, &n, error) ? g_bytes_new_take(data, n)
                                                                    : NULL;
}

/* libNAME.so and _NAME.abi3.so, in a folder of their own. */
static gboolean build(const WsWheel *w, const char *dir, GBytes **library, GBytes **extension,
                      GError **error)
{
    g_autofree char *header = g_strconcat(w->name, ".h", NULL),
                    *python = g_strconcat(w->name, "_python.c", NULL),
                    *so = g_strdup_printf("lib%s.so", w->name),
                    *abi = g_strdup_printf("_%s.abi3.so", w->name),
                    *soname = g_strdup_printf("-Wl,-soname,lib%s.so", w->name);
    g_autoptr(GPtrArray) file = g_ptr_array_new();
    if (!ws_folder_put_text(dir, header, w->header, error) ||
        !ws_folder_put_text(dir, python, w->extension, error))
        return FALSE;
    for (guint i = 0; w->source[i]; i += 2) {
        if (!ws_folder_put_text(dir, w->source[i], w->source[i + 1], error))
            return FALSE;
        if (g_str_has_suffix(w->source[i], ".c"))
            g_ptr_array_add(file, (char *)w->source[i]);
    }
    g_ptr_array_add(file, NULL);
    const char *const shared[] = { soname, NULL }, *const hidden[] = { "-fvisibility=hidden",
                                                                       NULL };
    if (!compile(dir, shared, (const char *const *)file->pdata, so, error))
        return FALSE;
    file->pdata[file->len - 1] = python;
    g_ptr_array_add(file, NULL);
    return compile(dir, hidden, (const char *const *)file->pdata, abi, error) &&
           (*library = read_bytes(dir, so, error)) && (*extension = read_bytes(dir, abi, error));
}

/* --- the archive -------------------------------------------------------------------------------
 */
typedef struct {
    WsZip *zip;
    GString *record;
} Archive;

/* A file and its row of RECORD: SHA-256 in base 64 for names, without what fills it up. */
static void put(Archive *a, const char *path, GBytes *data)
{
    gsize n = 0, digest_n = 32;
    const void *bytes = g_bytes_get_data(data, &n);
    guint8 digest[32];
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, bytes, (gssize)n);
    g_checksum_get_digest(sum, digest, &digest_n);
    g_autofree char *text = g_base64_encode(digest, digest_n);
    text[strcspn(text, "=")] = 0;
    g_strdelimit(text, "+", '-');
    g_strdelimit(text, "/", '_');
    ws_zip_add(a->zip, path, bytes, n, g_str_has_suffix(path, ".so"));
    g_string_append_printf(a->record, "%s,sha256=%s,%" G_GSIZE_FORMAT "\n", path, text, n);
}

static void put_text(Archive *a, const char *path, char *text)
{
    g_autoptr(GBytes) data = g_bytes_new_take(text, strlen(text));
    put(a, path, data);
}

static char *platform(void)
{
    struct utsname u;
    return g_strdup_printf("linux_%s", uname(&u) == 0 ? u.machine : "x86_64");
}

static GBytes *archive(const WsWheel *w, const char *tag, GBytes *library, GBytes *extension)
{
    Archive a = { ws_zip_new(), g_string_new(NULL) };
    const struct {
        const char *path, *text;
    } filled[] = { { "lib/pkgconfig/%s.pc", pkgconfig_pc },
                   { "lib/cmake/%s/%sConfig.cmake", cmake_config },
                   { "examples/example.c", example_c },
                   { "examples/CMakeLists.txt", cmake_lists } };
    for (guint i = 0; i < w->file->len; i++) {
        const WsWheelFile *f = w->file->pdata[i];
        g_autofree char *path = g_strdup_printf("%s/%s", w->name, f->name);
        put(&a, path, f->data);
    }
    for (guint i = 0; i < G_N_ELEMENTS(filled); i++) {
        g_auto(GStrv) part = g_strsplit(filled[i].path, "%s", -1);
        g_autofree char *inside = g_strjoinv(w->name, part),
                        *path = g_strdup_printf("%s/%s", w->name, inside);
        put_text(&a, path, ws_template_fill(filled[i].text, w->words));
    }
    g_autofree char *so = g_strdup_printf("%s/lib/lib%s.so", w->name, w->name),
                    *abi = g_strdup_printf("%s/_%s.abi3.so", w->name, w->name),
                    *header = g_strdup_printf("%s/include/%s.h", w->name, w->name),
                    *cpp = g_strdup_printf("%s/examples/example.cpp", w->name),
                    *info = g_strdup_printf("%s-%s.dist-info", w->name, w->version);
    put(&a, so, library);
    put(&a, abi, extension);
    put_text(&a, header, g_strdup(w->header));
    put_text(&a, cpp, g_strdup("#include \"example.c\"\n"));
    g_autofree char *metadata = g_strconcat(info, "/METADATA", NULL),
                    *wheel = g_strconcat(info, "/WHEEL", NULL),
                    *licence = g_strconcat(info, "/LICENSE", NULL),
                    *record = g_strconcat(info, "/RECORD", NULL),
                    *head = ws_template_fill(metadata_text, w->words);
    put_text(&a, metadata, g_strconcat(head, w->readme, NULL));
    put_text(&a, licence, g_strdup(licence_text));
    put_text(&a, wheel,
             g_strdup_printf("Wheel-Version: 1.0\nGenerator: warpstave " WARPSTAVE_VERSION
                             "\nRoot-Is-Purelib: false\nTag: %s\n",
                             tag));
    g_string_append_printf(a.record, "%s,,\n", record);
    ws_zip_add(a.zip, record, a.record->str, a.record->len, FALSE);
    g_string_free(a.record, TRUE);
    return ws_zip_end(a.zip);
}

char *ws_wheel_write(const WsWheel *w, const char *dir, GError **error)
{
    g_autoptr(GBytes) library = NULL;
    g_autoptr(GBytes) extension = NULL;
    g_autofree char *work = ws_temporary_folder(error);
    if (!work)
        return NULL;
    const gboolean built = build(w, work, &library, &extension, error);
    ws_folder_remove(work);
    if (!built)
        return NULL;
    if (g_mkdir_with_parents(dir, 0755) != 0) {
        const int code = errno;
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                    "cannot make the folder %s: %s", dir, g_strerror(code));
        return NULL;
    }
    g_autofree char *on = platform(), *tag = g_strdup_printf("cp39-abi3-%s", on),
                    *name = g_strdup_printf("%s-%s-%s.whl", w->name, w->version, tag);
    g_autoptr(GBytes) all = archive(w, tag, library, extension);
    char *path = g_build_filename(dir, name, NULL);
    gsize n = 0;
    const char *data = g_bytes_get_data(all, &n);
    if (ws_file_write(path, data, n, error))
        return path;
    g_free(path);
    return NULL;
}
