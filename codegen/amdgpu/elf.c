#include "codegen/amdgpu/elf.h"
#include "codegen/generate.h"

#include <string.h>

void ws_elf_error(GError **error, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL, "code object: %s", text);
}

static gboolean inside(const WsElf *elf, guint64 at, guint64 bytes)
{
    return at <= elf->size && bytes <= elf->size - at;
}

const char *ws_elf_text(const WsElf *elf, guint table, guint64 at)
{
    if (table >= elf->head.e_shnum || at >= elf->section[table].sh_size)
        return NULL;
    const char *from = (const char *)ws_elf_data(elf, table) + at;
    return memchr(from, '\0', elf->section[table].sh_size - at) ? from : NULL;
}

static gboolean read_sections(WsElf *elf, GError **error)
{
    const Elf64_Ehdr *h = &elf->head;
    elf->section = g_new0(Elf64_Shdr, h->e_shnum + 1u);
    elf->name = g_new0(const char *, h->e_shnum + 1u);
    memcpy(elf->section, elf->data + h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr));
    for (guint i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &elf->section[i];
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
            !inside(elf, s->sh_offset, s->sh_size)) {
            ws_elf_error(error, "section %u lies outside of the file", i);
            return FALSE;
        }
    }
    for (guint i = 0; i < h->e_shnum; i++) {
        elf->name[i] = ws_elf_text(elf, h->e_shstrndx, elf->section[i].sh_name);
        if (!elf->name[i]) {
            ws_elf_error(error, "section %u has no name", i);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean ws_elf_open(WsElf *elf, GBytes *bytes, GError **error)
{
    *elf = (WsElf){ 0 };
    elf->data = g_bytes_get_data(bytes, &elf->size);
    if (elf->size < sizeof elf->head) {
        ws_elf_error(error, "%" G_GSIZE_FORMAT " bytes are no ELF file", elf->size);
        return FALSE;
    }
    memcpy(&elf->head, elf->data, sizeof elf->head);
    const Elf64_Ehdr *h = &elf->head;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_ident[EI_OSABI] != WS_ELF_AMDGPU_HSA ||
        h->e_machine != WS_ELF_AMDGPU) {
        ws_elf_error(error, "it is no ELF file of AMDGPU for HSA");
        return FALSE;
    }
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shstrndx >= h->e_shnum ||
        !inside(elf, h->e_shoff, (guint64)h->e_shnum * sizeof(Elf64_Shdr))) {
        ws_elf_error(error, "its section headers lie outside of the file");
        return FALSE;
    }
    return read_sections(elf, error);
}

void ws_elf_clear(WsElf *elf)
{
    g_clear_pointer(&elf->section, g_free);
    g_clear_pointer(&elf->name, g_free);
}

guint ws_elf_find(const WsElf *elf, const char *name)
{
    for (guint i = 1; i < elf->head.e_shnum; i++)
        if (strcmp(elf->name[i], name) == 0)
            return i;
    return 0;
}
