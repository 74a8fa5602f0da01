/* Code objects: what the HSA loader takes of a kernel (AMDGPU ABI, code object versions 4 to 6).
 * LLVM writes a relocatable object; here it becomes a shared one, with the one relocation applied
 * that such an object has, and its metadata can be read. No linker is needed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* ET_DYN of a relocatable object of AMDGPU: text, descriptors, metadata and the global symbols.
 * What the object holds besides is an error that names it. Caller unrefs. */
GBytes *ws_code_object_link(GBytes *relocatable, GError **error);

/* Of the metadata of its only kernel. Registers are counted per lane, bytes per lane or workgroup.
 */
typedef struct {
    guint vgprs, agprs, sgprs; /* vgprs: agprs included */
    guint spilled_vgprs, spilled_sgprs;
    guint scratch, lds, arguments; /* bytes */
    guint threads, wave;
} WsCodeObjectReport;
/* FALSE and an error where it is no code object with one kernel. */
gboolean ws_code_object_report(GBytes *object, WsCodeObjectReport *out, GError **error);
/* Contents of a section, NULL and an error where there is none. Points into `object`. */
const guint8 *ws_code_object_section(GBytes *object, const char *name, gsize *size, GError **error);

G_END_DECLS
