/* ET_REL to ET_DYN: headers, notes, symbols, hash and descriptors in a segment that is read, the
 * text in one that is executed, the dynamic table in one that is written. Addresses are file
 * offsets, a page more for each segment. */
#include "codegen/amdgpu/code_object.h"
#include "codegen/amdgpu/elf.h"

#include <string.h>

#define PAGE 0x1000u

enum { NOTE = 1, DYNSYM, HASH, DYNSTR, RODATA, TEXT, DYNAMIC, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };
enum { PHDR_SELF, LOAD_READ, LOAD_TEXT, LOAD_DYNAMIC, DYNAMIC_TABLE, STACK, NOTES, SEGMENTS };

static const char *const names[SECTIONS] = {
    "",      ".note",    ".dynsym", ".hash",   ".dynstr",   ".rodata",
    ".text", ".dynamic", ".symtab", ".strtab", ".shstrtab",
};

typedef struct {
    const WsElf *from;
    guint of[SECTIONS]; /* the same section of the relocatable object */
    GByteArray *out;
    Elf64_Shdr section[SECTIONS];
    GArray *symbol; /* Elf64_Sym, names in `strings`; the first is empty */
    GByteArray *strings;
} Link;

/* --- what the object holds --------------------------------------------------------------------*/

static gboolean known_section(const Link *l, guint i, GError **error)
{
    static const char *const dropped[] = { ".strtab", ".symtab", ".rela.rodata", NULL };
    const Elf64_Shdr *s = &l->from->section[i];
    const char *name = l->from->name[i];
    if (s->sh_size == 0 || i == l->of[NOTE] || i == l->of[RODATA] || i == l->of[TEXT] ||
        g_strv_contains(dropped, name) || !(s->sh_flags & SHF_ALLOC || s->sh_type == SHT_RELA))
        return TRUE;
    ws_elf_error(error, "section %s of the object has no place in it", name);
    return FALSE;
}

static gboolean find_sections(Link *l, GError **error)
{
    static const guint needed[] = { NOTE, RODATA, TEXT };
    for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
        l->of[needed[i]] = ws_elf_find(l->from, names[needed[i]]);
        if (!l->of[needed[i]]) {
            ws_elf_error(error, "the object has no section %s", names[needed[i]]);
            return FALSE;
        }
    }
    for (guint i = 1; i < l->from->head.e_shnum; i++)
        if (!known_section(l, i, error))
            return FALSE;
    return TRUE;
}

/* Section of the output that holds a section of the object; 0: none. */
static guint placed(const Link *l, guint section)
{
    return section == l->of[TEXT] ? TEXT : section == l->of[RODATA] ? RODATA : 0;
}

static guint add_text(Link *l, const char *text)
{
    const guint at = l->strings->len;
    g_byte_array_append(l->strings, (const guint8 *)text, (guint)strlen(text) + 1);
    return at;
}

static gboolean symbol_at(const Link *l, guint table, guint64 i, Elf64_Sym *out)
{
    const Elf64_Shdr *s = &l->from->section[table];
    if (s->sh_type != SHT_SYMTAB || i >= s->sh_size / sizeof *out)
        return FALSE;
    memcpy(out, ws_elf_data(l->from, table) + i * sizeof *out, sizeof *out);
    return TRUE;
}

/* Global symbols; their values are places in their section until it has an address. */
static gboolean take_symbols(Link *l, GError **error)
{
    const guint table = ws_elf_find(l->from, ".symtab");
    const Elf64_Sym none = { 0 };
    Elf64_Sym s;
    g_array_append_val(l->symbol, none);
    add_text(l, "");
    for (guint i = 1; table && symbol_at(l, table, i, &s); i++) {
        if (ELF64_ST_BIND(s.st_info) == STB_LOCAL)
            continue;
        const char *name = ws_elf_text(l->from, l->from->section[table].sh_link, s.st_name);
        const guint to = placed(l, s.st_shndx);
        if (!name || !to) {
            ws_elf_error(error, "symbol %s is not defined in its text or its descriptors",
                         name ? name : "?");
            return FALSE;
        }
        s.st_name = add_text(l, name);
        s.st_shndx = (Elf64_Section)to;
        g_array_append_val(l->symbol, s);
    }
    if (l->symbol->len < 2)
        ws_elf_error(error, "it has no kernel");
    return l->symbol->len >= 2;
}

/* --- the file ---------------------------------------------------------------------------------*/

static void pad_to(Link *l, gsize align)
{
    static const guint8 zero[256];
    const gsize more = (align - l->out->len % align) % align;
    g_byte_array_append(l->out, zero, (guint)more);
}

static void put(Link *l, guint section, guint32 type, guint64 flags, guint align, guint page,
                gconstpointer data, gsize size)
{
    pad_to(l, align);
    l->section[section] = (Elf64_Shdr){
        .sh_type = type,
        .sh_flags = flags,
        .sh_addr = flags & SHF_ALLOC ? l->out->len + (guint64)page * PAGE : 0,
        .sh_offset = l->out->len,
        .sh_size = size,
        .sh_addralign = align,
    };
    g_byte_array_append(l->out, data, (guint)size);
}

static void put_same(Link *l, guint section, guint32 type, guint64 flags, guint align, guint page)
{
    const Elf64_Shdr *s = &l->from->section[l->of[section]];
    put(l, section, type, flags, (guint)CLAMP(s->sh_addralign, align, 256), page,
        ws_elf_data(l->from, l->of[section]), s->sh_size);
}

/* The table of System V: one chain of all symbols. */
static void put_hash(Link *l)
{
    const guint n = l->symbol->len;
    g_autofree guint32 *word = g_new0(guint32, n + 3);
    word[0] = 1;
    word[1] = n;
    word[2] = n > 1 ? 1 : 0;
    for (guint i = 1; i < n; i++)
        word[3 + i] = i + 1 < n ? i + 1 : 0;
    put(l, HASH, SHT_HASH, SHF_ALLOC, 4, 0, word, sizeof(guint32) * (n + 3));
}

static void put_dynamic(Link *l)
{
    const Elf64_Dyn table[] = {
        { DT_SYMTAB, { l->section[DYNSYM].sh_addr } }, { DT_SYMENT, { sizeof(Elf64_Sym) } },
        { DT_STRTAB, { l->section[DYNSTR].sh_addr } }, { DT_STRSZ, { l->strings->len } },
        { DT_HASH, { l->section[HASH].sh_addr } },     { DT_NULL, { 0 } },
    };
    put(l, DYNAMIC, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, 2, table, sizeof table);
    l->section[DYNAMIC].sh_entsize = sizeof(Elf64_Dyn);
    l->section[DYNAMIC].sh_link = DYNSTR;
}

/* Values of symbols become addresses; both tables have them. */
static void place_symbols(Link *l)
{
    for (guint i = 1; i < l->symbol->len; i++) {
        Elf64_Sym *s = &g_array_index(l->symbol, Elf64_Sym, i);
        s->st_value += l->section[s->st_shndx].sh_addr;
    }
    memcpy(l->out->data + l->section[DYNSYM].sh_offset, l->symbol->data,
           l->symbol->len * sizeof(Elf64_Sym));
}

static void put_sections(Link *l)
{
    const gsize heads = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
    const gsize symbols = l->symbol->len * sizeof(Elf64_Sym);
    g_byte_array_set_size(l->out, (guint)heads);
    put_same(l, NOTE, SHT_NOTE, SHF_ALLOC, 4, 0);
    put(l, DYNSYM, SHT_DYNSYM, SHF_ALLOC, 8, 0, l->symbol->data, symbols);
    put_hash(l);
    put(l, DYNSTR, SHT_STRTAB, SHF_ALLOC, 1, 0, l->strings->data, l->strings->len);
    put_same(l, RODATA, SHT_PROGBITS, SHF_ALLOC, 64, 0);
    put_same(l, TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 256, 1);
    put_dynamic(l);
    place_symbols(l);
    put(l, SYMTAB, SHT_SYMTAB, 0, 8, 0, l->symbol->data, symbols);
    put(l, STRTAB, SHT_STRTAB, 0, 1, 0, l->strings->data, l->strings->len);
    static const struct {
        guint section, link;
    } tables[] = { { DYNSYM, DYNSTR }, { SYMTAB, STRTAB } };
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
        l->section[tables[i].section].sh_link = tables[i].link;
        l->section[tables[i].section].sh_info = 1; /* the first global symbol */
        l->section[tables[i].section].sh_entsize = sizeof(Elf64_Sym);
    }
    l->section[HASH].sh_link = DYNSYM;
    l->section[HASH].sh_entsize = 4;
}

static void put_names(Link *l)
{
    GByteArray *text = g_byte_array_new();
    guint at[SECTIONS];
    for (guint i = 0; i < SECTIONS; i++) {
        at[i] = text->len;
        g_byte_array_append(text, (const guint8 *)names[i], (guint)strlen(names[i]) + 1);
    }
    put(l, SHSTRTAB, SHT_STRTAB, 0, 1, 0, text->data, text->len);
    for (guint i = 0; i < SECTIONS; i++)
        l->section[i].sh_name = at[i];
    g_byte_array_unref(text);
}

static Elf64_Phdr segment(guint32 type, guint32 flags, guint64 from, guint64 address, guint64 bytes,
                          guint64 align)
{
    return (Elf64_Phdr){ .p_type = type,
                         .p_flags = flags,
                         .p_offset = from,
                         .p_vaddr = address,
                         .p_paddr = address,
                         .p_filesz = bytes,
                         .p_memsz = bytes,
                         .p_align = align };
}

static Elf64_Phdr of_section(const Link *l, guint32 type, guint32 flags, guint section,
                             guint64 align)
{
    const Elf64_Shdr *s = &l->section[section];
    return segment(type, flags, s->sh_offset, s->sh_addr, s->sh_size,
                   align ? align : s->sh_addralign);
}

static void put_heads(Link *l)
{
    const Elf64_Shdr *last = &l->section[RODATA];
    Elf64_Ehdr h = l->from->head;
    pad_to(l, 8);
    h.e_type = ET_DYN;
    h.e_phoff = sizeof h;
    h.e_phentsize = sizeof(Elf64_Phdr);
    h.e_phnum = SEGMENTS;
    h.e_shoff = l->out->len;
    h.e_shnum = SECTIONS;
    h.e_shstrndx = SHSTRTAB;
    g_byte_array_append(l->out, (const guint8 *)l->section, sizeof l->section);
    const Elf64_Phdr heads[SEGMENTS] = {
        [PHDR_SELF] = segment(PT_PHDR, PF_R, sizeof h, sizeof h, SEGMENTS * sizeof(Elf64_Phdr), 8),
        [LOAD_READ] = segment(PT_LOAD, PF_R, 0, 0, last->sh_offset + last->sh_size, PAGE),
        [LOAD_TEXT] = of_section(l, PT_LOAD, PF_R | PF_X, TEXT, PAGE),
        [LOAD_DYNAMIC] = of_section(l, PT_LOAD, PF_R | PF_W, DYNAMIC, PAGE),
        [DYNAMIC_TABLE] = of_section(l, PT_DYNAMIC, PF_R | PF_W, DYNAMIC, 0),
        [STACK] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0),
        [NOTES] = of_section(l, PT_NOTE, PF_R, NOTE, 0),
    };
    memcpy(l->out->data, &h, sizeof h);
    memcpy(l->out->data + sizeof h, heads, sizeof heads);
}

/* --- relocations ------------------------------------------------------------------------------*/

static gboolean relocate(Link *l, const Elf64_Rela *r, guint table, GError **error)
{
    Elf64_Sym s = { 0 };
    const Elf64_Shdr *to = &l->section[RODATA];
    const guint32 type = ELF64_R_TYPE(r->r_info);
    if (type != WS_ELF_REL64 || to->sh_size < 8 || r->r_offset > to->sh_size - 8 ||
        !symbol_at(l, table, ELF64_R_SYM(r->r_info), &s) || !placed(l, s.st_shndx)) {
        ws_elf_error(error,
                     "relocation of type %u at .rodata+0x%" G_GINT64_MODIFIER
                     "x is none that it knows",
                     type, (guint64)r->r_offset);
        return FALSE;
    }
    const guint64 value = l->section[placed(l, s.st_shndx)].sh_addr + s.st_value +
                          (guint64)r->r_addend - (to->sh_addr + r->r_offset);
    memcpy(l->out->data + to->sh_offset + r->r_offset, &value, sizeof value);
    return TRUE;
}

static gboolean relocate_all(Link *l, GError **error)
{
    for (guint i = 1; i < l->from->head.e_shnum; i++) {
        const Elf64_Shdr *s = &l->from->section[i];
        if ((s->sh_type != SHT_RELA && s->sh_type != SHT_REL) || s->sh_size == 0)
            continue;
        if (s->sh_type != SHT_RELA || s->sh_info != l->of[RODATA] ||
            s->sh_link >= l->from->head.e_shnum) {
            ws_elf_error(error, "relocations %s are none of the descriptors", l->from->name[i]);
            return FALSE;
        }
        for (guint64 k = 0; k < s->sh_size / sizeof(Elf64_Rela); k++) {
            Elf64_Rela r;
            memcpy(&r, ws_elf_data(l->from, i) + k * sizeof r, sizeof r);
            if (!relocate(l, &r, s->sh_link, error))
                return FALSE;
        }
    }
    return TRUE;
}

GBytes *ws_code_object_link(GBytes *relocatable, GError **error)
{
    WsElf elf;
    Link l = { .from = &elf,
               .out = g_byte_array_new(),
               .symbol = g_array_new(FALSE, FALSE, sizeof(Elf64_Sym)),
               .strings = g_byte_array_new() };
    gboolean fine = ws_elf_open(&elf, relocatable, error);
    if (fine && elf.head.e_type != ET_REL) {
        ws_elf_error(error, "it is not relocatable");
        fine = FALSE;
    }
    fine = fine && find_sections(&l, error) && take_symbols(&l, error);
    if (fine) {
        put_sections(&l);
        put_names(&l);
        put_heads(&l);
        fine = relocate_all(&l, error);
    }
    ws_elf_clear(&elf);
    g_array_unref(l.symbol);
    g_byte_array_unref(l.strings);
    if (fine)
        return g_byte_array_free_to_bytes(l.out);
    g_byte_array_unref(l.out);
    return NULL;
}
