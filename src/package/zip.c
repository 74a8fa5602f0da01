#include "package/zip.h"

#include <string.h>

struct WsZip {
    GByteArray *body, *directory;
    guint n;
};

enum { DATE = 33 /* 1 January 1980 */, VERSION = 20, UNIX = 3 << 8 };

static void put16(GByteArray *a, guint value)
{
    const guint8 byte[] = { (guint8)value, (guint8)(value >> 8) };
    g_byte_array_append(a, byte, sizeof byte);
}

static void put32(GByteArray *a, guint32 value)
{
    put16(a, value & 0xffff);
    put16(a, value >> 16);
}

static guint32 crc32_of(const guint8 *data, gsize n)
{
    guint32 crc = G_MAXUINT32;
    for (gsize i = 0; i < n; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* What the header of a file and its row in the directory share. */
static void put_common(GByteArray *a, guint32 crc, gsize n, gsize name)
{
    put16(a, VERSION);
    put16(a, 1 << 11); /* names in UTF-8 */
    put16(a, 0);       /* stored */
    put16(a, 0);
    put16(a, DATE);
    put32(a, crc);
    put32(a, (guint32)n);
    put32(a, (guint32)n);
    put16(a, (guint)name);
    put16(a, 0);
}

WsZip *ws_zip_new(void)
{
    WsZip *zip = g_new0(WsZip, 1);
    zip->body = g_byte_array_new();
    zip->directory = g_byte_array_new();
    return zip;
}

void ws_zip_add(WsZip *zip, const char *name, const void *data, gsize n, gboolean program)
{
    const guint32 crc = crc32_of(data, n), at = zip->body->len;
    const gsize length = strlen(name);
    put32(zip->body, 0x04034b50);
    put_common(zip->body, crc, n, length);
    g_byte_array_append(zip->body, (const guint8 *)name, (guint)length);
    g_byte_array_append(zip->body, data, (guint)n);
    put32(zip->directory, 0x02014b50);
    put16(zip->directory, VERSION | UNIX);
    put_common(zip->directory, crc, n, length);
    put16(zip->directory, 0); /* no comment */
    put16(zip->directory, 0); /* the first disk */
    put16(zip->directory, 0);
    put32(zip->directory, (program ? 0100755u : 0100644u) << 16);
    put32(zip->directory, at);
    g_byte_array_append(zip->directory, (const guint8 *)name, (guint)length);
    zip->n++;
}

GBytes *ws_zip_end(WsZip *zip)
{
    const guint32 at = zip->body->len, n = zip->directory->len;
    g_byte_array_append(zip->body, zip->directory->data, n);
    put32(zip->body, 0x06054b50);
    put32(zip->body, 0); /* disks */
    put16(zip->body, zip->n);
    put16(zip->body, zip->n);
    put32(zip->body, n);
    put32(zip->body, at);
    put16(zip->body, 0);
    g_byte_array_unref(zip->directory);
    GBytes *all = g_byte_array_free_to_bytes(zip->body);
    g_free(zip);
    return all;
}
