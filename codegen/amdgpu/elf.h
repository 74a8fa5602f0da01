/* ELF of 64 bits, little endian, as far as code objects need it: reading with bounds. */
#pragma once

#include <elf.h>
#include <glib.h>

G_BEGIN_DECLS

#define WS_ELF_AMDGPU     224 /* EM_AMDGPU */
#define WS_ELF_AMDGPU_HSA 64  /* ELFOSABI_AMDGPU_HSA */
#define WS_ELF_REL64      5   /* R_AMDGPU_REL64 */

typedef struct {
    const guint8 *data;
    gsize size;
    Elf64_Ehdr head;
    Elf64_Shdr *section; /* [head.e_shnum] */
    const char **name;
} WsElf;

gboolean ws_elf_open(WsElf *elf, GBytes *bytes, GError **error);
void ws_elf_clear(WsElf *elf);
/* Number of the section, 0 if there is none. */
guint ws_elf_find(const WsElf *elf, const char *name);
/* Contents; its bounds were checked. */
static inline const guint8 *ws_elf_data(const WsElf *elf, guint section)
{
    return elf->data + elf->section[section].sh_offset;
}
/* Text of a string table, NULL if it does not end inside it. */
const char *ws_elf_text(const WsElf *elf, guint table, guint64 at);
void ws_elf_error(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

G_END_DECLS
