/* Packages: a kernel with everything that is needed to launch it, without Warpstave. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
    WS_PACKAGE_ERROR_LENS, /* the design needs something packages cannot carry, by name */
    WS_PACKAGE_ERROR_NAME, /* none that C and Python take (name.h) */
    WS_PACKAGE_ERROR_RULE, /* a line of a rule, or builds that are not alike */
    WS_PACKAGE_ERROR_PAIR, /* designs that are not a forward and its gradient */
} WsPackageError;
#define WS_PACKAGE_ERROR ws_package_error_quark()
GQuark ws_package_error_quark(void);

/* Everything is borrowed. */
typedef struct {
    const WsProgram *program;
    const char *name;    /* of functions and files: a C identifier */
    const char *ptx;     /* timed build */
    GBytes *cubin;       /* the same, assembled for sm_90a */
    const char *verdict; /* what was proved, as `check` says it */
    const char *outcome; /* the same in a word: "proved"; NULL: not known */
    const char *version; /* NULL: Warpstave's, and of the design's hash what tells it from others */
    const char *figures; /* Markdown: what was measured; NULL: nothing */
    const char *licence; /* NULL: the one of Warpstave's own files */
    gboolean among;      /* one of several in a folder: its cubin and design are named after it */
} WsPackageSpec;

/* File that marks a folder as a package. */
#define WS_PACKAGE_MARK "package.txt"

/* Writes the folder whole or not at all; a package or an empty folder there is replaced. */
gboolean ws_package_write(const WsPackageSpec *spec, const char *dir, GError **error);

/* The package as a wheel in the folder `wheels`, compiled by cc: its path, caller frees; NULL and
 * G_SPAWN_ERROR where there is none. */
char *ws_package_wheel(const WsPackageSpec *spec, const char *wheels, GError **error);

/* Whether this can be a package: its name, order of tiles, tensor maps. */
gboolean ws_package_check_form(const WsPackageSpec *spec, GError **error);
/* The same of one with a launcher: of one device. */
gboolean ws_package_check(const WsPackageSpec *spec, GError **error);
/* The single files, as text; caller frees. NULL and WS_PACKAGE_ERROR_LENS as above. */
char *ws_package_header(const WsPackageSpec *spec, GError **error);
char *ws_package_launcher(const WsPackageSpec *spec, GError **error);
/* NAME_python.c, the extension that the module calls where it is built. */
char *ws_package_extension(const WsPackageSpec *spec);
/* bench.py: how long it takes. */
char *ws_package_bench(const WsPackageSpec *spec);
char *ws_package_module(const WsPackageSpec *spec, GError **error);
/* The cubin as C, and what opens it: NAME_kernel.c; `file`: what it is called in the package. */
char *ws_package_kernel(const WsPackageSpec *spec, const char *file);
char *ws_package_readme(const WsPackageSpec *spec, GError **error);

G_END_DECLS
