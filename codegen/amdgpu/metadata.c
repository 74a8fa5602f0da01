/* Metadata of a code object: a note with a map in MessagePack (AMDGPU ABI, "Code Object V3
 * Metadata" and later). */
#include "codegen/amdgpu/code_object.h"
#include "codegen/amdgpu/elf.h"

#include <string.h>

#define NOTE_METADATA 32 /* NT_AMDGPU_METADATA */
#define DEEPEST       16

typedef struct {
    const guint8 *at, *end;
    gboolean bad;
    guint kernels;
    WsCodeObjectReport *out;
} Reader;

typedef struct {
    enum { NUMBER, TEXT, LIST, MAP, OTHER } kind;
    guint64 n; /* value, bytes, or entries */
    const char *text;
} Item;

static guint64 big_endian(Reader *r, guint bytes)
{
    guint64 v = 0;
    if ((gsize)(r->end - r->at) < bytes) {
        r->bad = TRUE;
        return 0;
    }
    for (guint i = 0; i < bytes; i++)
        v = v << 8 | *r->at++;
    return v;
}

static Item text_of(Reader *r, guint64 n)
{
    Item i = { TEXT, n, (const char *)r->at };
    if (n > (guint64)(r->end - r->at))
        r->bad = TRUE;
    else
        r->at += n;
    return i;
}

static Item next(Reader *r)
{
    const guint c = (guint)big_endian(r, 1);
    if (c < 0x80)
        return (Item){ .kind = NUMBER, .n = c };
    if (c < 0x90)
        return (Item){ .kind = MAP, .n = c & 15 };
    if (c < 0xa0)
        return (Item){ .kind = LIST, .n = c & 15 };
    if (c < 0xc0)
        return text_of(r, c & 31);
    switch (c) {
    case 0xc0: /* nil, false, true */
    case 0xc2:
    case 0xc3:
        return (Item){ .kind = OTHER };
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return (Item){ .kind = NUMBER, .n = big_endian(r, 1u << (c - 0xcc)) };
    case 0xd9:
    case 0xda:
    case 0xdb:
        return text_of(r, big_endian(r, 1u << (c - 0xd9)));
    case 0xdc:
    case 0xdd:
        return (Item){ .kind = LIST, .n = big_endian(r, c == 0xdc ? 2 : 4) };
    case 0xde:
    case 0xdf:
        return (Item){ .kind = MAP, .n = big_endian(r, c == 0xde ? 2 : 4) };
    default:
        r->bad = TRUE;
        return (Item){ .kind = OTHER };
    }
}

static gboolean is(const Item *i, const char *text)
{
    return i->kind == TEXT && i->n == strlen(text) && memcmp(i->text, text, i->n) == 0;
}

static void skip(Reader *r, const Item *i, guint depth)
{
    const guint64 n = i->kind == LIST ? i->n : i->kind == MAP ? 2 * i->n : 0;
    if (depth > DEEPEST)
        r->bad = TRUE;
    for (guint64 k = 0; k < n && !r->bad; k++) {
        const Item x = next(r);
        skip(r, &x, depth + 1);
    }
}

static void kernel(Reader *r, const Item *map)
{
    const struct {
        const char *key;
        guint *to;
    } known[] = {
        { ".vgpr_count", &r->out->vgprs },
        { ".agpr_count", &r->out->agprs },
        { ".sgpr_count", &r->out->sgprs },
        { ".vgpr_spill_count", &r->out->spilled_vgprs },
        { ".sgpr_spill_count", &r->out->spilled_sgprs },
        { ".private_segment_fixed_size", &r->out->scratch },
        { ".group_segment_fixed_size", &r->out->lds },
        { ".kernarg_segment_size", &r->out->arguments },
        { ".max_flat_workgroup_size", &r->out->threads },
        { ".wavefront_size", &r->out->wave },
    };
    guint found = 0;
    r->kernels++;
    for (guint64 k = 0; map->kind == MAP && k < map->n && !r->bad; k++) {
        const Item key = next(r), value = next(r);
        for (guint i = 0; i < G_N_ELEMENTS(known); i++)
            if (is(&key, known[i].key) && value.kind == NUMBER) {
                *known[i].to = (guint)value.n;
                found++;
            }
        skip(r, &value, 0);
    }
    r->bad |= found != G_N_ELEMENTS(known);
}

static void root(Reader *r)
{
    const Item map = next(r);
    for (guint64 k = 0; map.kind == MAP && k < map.n && !r->bad; k++) {
        const Item key = next(r), value = next(r);
        if (!is(&key, "amdhsa.kernels") || value.kind != LIST) {
            skip(r, &value, 0);
            continue;
        }
        for (guint64 i = 0; i < value.n && !r->bad; i++) {
            const Item x = next(r);
            kernel(r, &x);
        }
    }
}

const guint8 *ws_code_object_section(GBytes *object, const char *name, gsize *size, GError **error)
{
    WsElf elf;
    const guint8 *data = NULL;
    if (ws_elf_open(&elf, object, error)) {
        const guint i = ws_elf_find(&elf, name);
        if (i) {
            data = ws_elf_data(&elf, i);
            *size = elf.section[i].sh_size;
        } else {
            ws_elf_error(error, "it has no section %s", name);
        }
    }
    ws_elf_clear(&elf);
    return data;
}

/* The note of AMDGPU's metadata; NULL if there is none. */
static const guint8 *metadata(const guint8 *note, gsize size, gsize *bytes)
{
    while (size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr h;
        memcpy(&h, note, sizeof h);
        const guint64 name = ((guint64)h.n_namesz + 3) & ~(guint64)3;
        const guint64 all = sizeof h + name + (((guint64)h.n_descsz + 3) & ~(guint64)3);
        if (sizeof h + name + h.n_descsz > size)
            return NULL;
        if (h.n_type == NOTE_METADATA && h.n_namesz == 7 &&
            memcmp(note + sizeof h, "AMDGPU", 7) == 0) {
            *bytes = h.n_descsz;
            return note + sizeof h + name;
        }
        if (all > size)
            return NULL;
        note += all;
        size -= all;
    }
    return NULL;
}

gboolean ws_code_object_report(GBytes *object, WsCodeObjectReport *out, GError **error)
{
    gsize size, bytes = 0;
    *out = (WsCodeObjectReport){ 0 };
    const guint8 *note = ws_code_object_section(object, ".note", &size, error);
    if (!note)
        return FALSE;
    const guint8 *map = metadata(note, size, &bytes);
    Reader r = { .at = map, .end = map ? map + bytes : NULL, .out = out, .bad = !map };
    if (!r.bad)
        root(&r);
    if (!r.bad && r.kernels == 1)
        return TRUE;
    ws_elf_error(error, "its metadata are not those of one kernel");
    return FALSE;
}
