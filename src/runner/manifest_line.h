/* Inside of the manifest reader: one line being read, and the table of lines. */
#pragma once

#include "runner/manifest.h"

enum { WS_LINE_WORDS = 272 };

typedef struct {
    WsManifest *m;
    int line, n;
    char *word[WS_LINE_WORDS];
    char *rest; /* the line after its keyword */
    WsRunCase *now;
    uint64_t seen;             /* keywords met, by row */
    uint32_t filled, extended; /* tensors of the open case */
    bool sized;
    int meshed; /* of the open case: lines that a mesh needs */
    char *error;
    size_t error_size;
} WsLineReader;

enum { WS_LINE_ONCE = 1, WS_LINE_NEEDED = 2, WS_LINE_IN_CASE = 4, WS_LINE_OPENS_CASE = 8 };

typedef struct {
    const char *keyword;
    bool (*read)(WsLineReader *r);
    int least, most; /* words after the keyword; most -1: any number */
    int flags;
} WsLineRow;

extern const WsLineRow ws_line_row[];
extern const int ws_line_rows;

/* Writes "bundle.txt line N: …" and returns false. */
bool ws_line_fail(WsLineReader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The open case, if any, must be complete. */
bool ws_line_close_case(WsLineReader *r);
