/* The parts of a package that differ from design to design, as text for the templates. */
#pragma once

#include "package/package.h"
#include "program/parts/dtype.h"
#include "program/parts/tensor.h"

G_BEGIN_DECLS

/* Values of the words in header.h.in and launcher.c.in, and in module.py.in; NULL with an error
 * where the design cannot be packed. Caller unrefs. */
GHashTable *ws_package_words_c(const WsPackageSpec *spec, GError **error);
GHashTable *ws_package_words_python(const WsPackageSpec *spec, GError **error);
/* Of python.c.in: the words of the launcher and tables. */
GHashTable *ws_package_words_extension(const WsPackageSpec *spec);
/* Of bench.py.in and the texts of resources/package/wheel. */
GHashTable *ws_package_words_wheel(const WsPackageSpec *spec);
/* Words that all texts share: names, threads, bytes. */
GHashTable *ws_package_words(const WsPackageSpec *spec);
void ws_package_word(GHashTable *words, const char *word, char *value); /* takes the value */

typedef struct {
    const char *torch, *c;
    int map_value, code, bits; /* of the driver's enumeration; of DLPack */
} WsPackageDtype;
const WsPackageDtype *ws_package_dtype(WsDtype t);
/* CU_TENSOR_MAP_SWIZZLE_NONE, 32B, 64B, 128B: 0 to 3. */
int ws_package_swizzle(const WsTensorMap *map);
/* Whether a tensor may have other strides than the design's: its tensor maps are all that the
 * kernel reaches it by (the machine code never reads the address). FALSE where the PTX is not
 * known. */
gboolean ws_package_strides_free(const WsPackageSpec *spec, guint tensor);
const char *ws_package_access(WsTensorAccess access); /* "read", "write", "reduce" */
/* Where a size can be read: calls `put` with tensors and dimensions whose extent it is. */
typedef void (*WsPackageExtent)(GString *out, guint tensor, guint d);
void ws_package_extents(GString *out, const WsProgram *p, guint var, WsPackageExtent put);
/* The functions that expressions of launch_text.def call in C. Borrowed. */
const char *ws_package_arithmetic(void);
/* A static array of the bytes, a zero behind them. */
void ws_package_put_image(GString *out, const char *name, GBytes *image);
/* Stride expression of one dimension: as given, or the product of the extents behind it. */
gboolean ws_package_stride(GString *out, const WsProgram *p, guint tensor, guint d, gboolean python,
                           GError **error);

G_END_DECLS
