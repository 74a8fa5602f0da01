/* The traced build: it must write the same bits as the timed one, and its record buffer is read
 * back after one launch on poisoned memory; of a mesh one of each device. */
#include "runner/mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ws_trace_clear(WsSession *s)
{
    return s->mesh ? ws_mesh_clear_records(s)
                   : ws_cu(s, s->cu.memset8(s->records, 0xff, s->m->record_bytes, s->stream),
                           "cuMemsetD8Async");
}

bool ws_trace_same(WsSession *s, bool *right)
{
    if (!s->build[WS_MODULE_TRACED].function)
        return true;
    ws_session_phase(s, s->options->timeout, "first launch of the traced build");
    s->phase = (uint32_t)s->m->launches / 2;
    if (!ws_case_poison(s) || !ws_trace_clear(s) || !ws_session_launch(s, WS_MODULE_TRACED) ||
        !ws_session_synchronize(s))
        return false;
    for (int t = 0; t < s->m->n_tensors; t++) {
        WsOutputResult *o = &s->r->output[t];
        if (!ws_run_is_output(&s->m->tensor[t]))
            continue;
        if (!ws_hash_output(s, t, &o->traced_hash))
            return false;
        o->traced_same = o->traced_hash == o->hash;
        if (s->m->tensor[t].access == WS_RUN_WRITE && !o->traced_same)
            *right = false;
    }
    return true;
}

/* Writes through a temporary file, so that a broken run leaves no half of one. */
static bool save(WsSession *s, const char *name, const void *data, size_t size)
{
    char path[4096], part[4200];
    snprintf(path, sizeof path, "%s/%s", s->options->dir, name);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    ok = f && fclose(f) == 0 && ok;
    if (!ok || rename(part, path) != 0) {
        ws_session_fail(s, "cannot write %s: %s", path, strerror(errno));
        unlink(part);
        return false;
    }
    return true;
}

/* A cold launch of the traced build. */
static bool record(WsSession *s)
{
    double us;
    if (!ws_trace_clear(s))
        return false;
    if (s->mesh)
        return ws_mesh_cold(s, WS_MODULE_TRACED, &us);
    return ws_case_zero_reductions(s) &&
           ws_cu(s, s->cu.memset32(s->flush, 0, WS_FLUSH_BYTES / 4, s->stream),
                 "cuMemsetD32Async") &&
           ws_session_launch(s, WS_MODULE_TRACED) && ws_session_synchronize(s);
}

static bool record_one(WsSession *s, unsigned char *to)
{
    /* A few launches first, so that the recorded one meets the clock of a busy GPU. */
    for (int i = 0; i < 5; i++)
        if (!ws_session_launch(s, WS_MODULE_TIMED))
            return false;
    return record(s) && (s->mesh ? ws_mesh_copy_records(s, to)
                                 : ws_cu(s, s->cu.copy_to_host(to, s->records, s->m->record_bytes),
                                         "cuMemcpyDtoH"));
}

bool ws_trace_case(WsSession *s)
{
    if (!s->build[WS_MODULE_TRACED].function)
        return true;
    ws_session_phase(s, s->options->timeout + 60, "the traced launch");
    const size_t parts = s->mesh ? (size_t)s->mesh->n : 1;
    const size_t launches = s->m->launches > 1 ? (size_t)s->m->launches : 1;
    unsigned char *data = malloc(launches * parts * s->m->record_bytes);
    if (!data)
        return ws_session_fail(s, "out of memory for the records");
    char name[WS_MANIFEST_NAME];
    ws_run_records_name(s->results->current, name, sizeof name);
    bool ok = true;
    for (size_t i = 0; i < launches && ok; i++) {
        s->phase = (uint32_t)((launches / 2 + i) % launches); /* ws_record_phase() */
        ok = record_one(s, data + i * parts * s->m->record_bytes);
    }
    ok = ok && save(s, name, data, launches * parts * s->m->record_bytes) &&
         (!s->mesh || ws_mesh_meet_timers(s));
    free(data);
    if (ok)
        strcpy(s->r->records, name);
    return ok;
}
