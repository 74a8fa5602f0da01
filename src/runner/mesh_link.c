#include "runner/mesh_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAGIC = 0x57534c31 };

typedef struct {
    uint32_t magic;
    int32_t tell, ok, last, rank, ranks;
    int64_t a;
    uint64_t bundle; /* of the first word: what it runs */
    WsLinkGift gift[WS_LINK_PROCESSES];
    char text[WS_TEXT];
} Word;

/* --- words and descriptors ---------------------------------------------------------------------*/
static bool put(int socket, const Word *w, const int *fd, int n)
{
    char room[CMSG_SPACE(sizeof(int) * WS_LINK_PROCESSES)] __attribute__((aligned(8))) = { 0 };
    struct iovec io = { (void *)(uintptr_t)w, sizeof *w };
    struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
    if (n > 0) {
        m.msg_control = room;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n);
        memcpy(CMSG_DATA(c), fd, sizeof(int) * (size_t)n);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *w;
}

/* Takes as many descriptors as are wanted; false: the other side is gone, or says what is no word.
 */
static bool take(int socket, Word *w, int *fd, int n)
{
    char room[CMSG_SPACE(sizeof(int) * WS_LINK_PROCESSES)] __attribute__((aligned(8))) = { 0 };
    struct iovec io = { w, sizeof *w };
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room
    };
    ssize_t got;
    int found = 0;
    do
        got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    for (struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        const int have = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < have; i++) {
            int one;
            memcpy(&one, CMSG_DATA(c) + (size_t)i * sizeof one, sizeof one);
            if (fd && found < n)
                fd[found++] = one;
            else
                close(one);
        }
    }
    w->text[WS_TEXT - 1] = 0;
    return got == (ssize_t)sizeof *w && w->magic == MAGIC && (!fd || !w->ok || found == n);
}

static Word word(const WsSession *s, const WsLink *l, WsTell tell)
{
    return (Word){
        .magic = MAGIC, .tell = (int32_t)tell, .ok = 1, .rank = l->own, .ranks = s->options->ranks
    };
}

static bool gone(WsSession *s, WsLink *l, int rank)
{
    char phase[WS_TEXT];
    snprintf(phase, sizeof phase, "%s", s->results->phase);
    l->broken = true;
    s->last = -1;
    return ws_session_fail(s, "process %d of %d has ended, while: %.300s", rank, s->options->ranks,
                           phase);
}

bool ws_link_broken(WsSession *s, WsLink *l)
{
    for (int i = 0; i < l->n; i++) {
        struct pollfd p = { .fd = l->socket[i], .events = POLLRDHUP };
        if (p.fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR))) {
            gone(s, l, l->own ? 0 : i);
            return true;
        }
    }
    return l->broken;
}

/* --- coming together ---------------------------------------------------------------------------*/
static struct sockaddr_un address(const WsRunOptions *o)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", o->meet);
    return a;
}

int ws_link_listen(const WsRunOptions *o, char *error, size_t size)
{
    const struct sockaddr_un a = address(o);
    const int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct stat there;
    /* One that was left by a run that was killed; nothing else is taken away. */
    if (lstat(a.sun_path, &there) == 0 && S_ISSOCK(there.st_mode) && there.st_uid == getuid()) {
        const int old = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (connect(old, (const struct sockaddr *)&a, sizeof a) < 0 && errno == ECONNREFUSED)
            unlink(a.sun_path);
        close(old);
    }
    const mode_t was = umask(077);
    const int bound = s < 0 ? -1 : bind(s, (const struct sockaddr *)&a, sizeof a);
    umask(was);
    if (bound == 0 && listen(s, WS_LINK_PROCESSES) == 0)
        return s;
    snprintf(error, size, "the socket at which processes meet, %s: %s", a.sun_path,
             errno == EADDRINUSE ? "another run has it: give each --meet a folder of its own"
                                 : strerror(errno));
    if (s >= 0)
        close(s);
    return -1;
}

static bool own_user(int socket)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid();
}

/* A file of the bundle, its name and its length with it; one that cannot be read is another one. */
static uint64_t mix_file(const WsSession *s, uint64_t h, const char *name)
{
    char path[4096];
    uint64_t n = 0;
    for (const char *c = name; *c; c++)
        h = (h ^ (uint64_t)(unsigned char)*c) * 0x100000001b3u;
    snprintf(path, sizeof path, "%s/%s", s->options->dir, name);
    FILE *f = fopen(path, "rb");
    for (int c; f && (c = fgetc(f)) != EOF; n++)
        h = (h ^ (uint64_t)(unsigned char)c) * 0x100000001b3u;
    for (int i = 0; i < 8; i++)
        h = (h ^ (f ? n >> 8 * i & 255 : 256)) * 0x100000001b3u;
    if (f)
        fclose(f);
    return h;
}

/* What the process runs: bundle.txt, and the files of code that it names. */
static uint64_t bundle_hash(const WsSession *s)
{
    uint64_t h = mix_file(s, 0xcbf29ce484222325u, "bundle.txt");
    for (int k = 0; k < WS_MODULE_COUNT; k++)
        if (s->m->module[k][0])
            h = mix_file(s, h, s->m->module[k]);
    for (int t = 0; t < s->m->n_tensors; t++)
        if (s->m->tensor[t].reference[0])
            h = mix_file(s, h, s->m->tensor[t].reference);
    return h;
}

static bool welcome(WsSession *s, WsLink *l, int socket, int *came)
{
    Word w;
    const int most = s->options->ranks;
    if (!own_user(socket) || !take(socket, &w, NULL, 0)) {
        close(socket);
        return true; /* nobody of this run */
    }
    s->results->status = WS_EXIT_INPUT;
    if (w.ranks != most || w.rank < 1 || w.rank >= most || l->socket[w.rank] >= 0) {
        close(socket);
        return ws_session_fail(
            s, "process %d of %d came twice, or is of another run (this one has %d)", w.rank,
            w.ranks, most);
    }
    if (w.bundle != bundle_hash(s)) {
        close(socket);
        return ws_session_fail(s, "process %d has another bundle", w.rank);
    }
    s->results->status = 0;
    l->socket[w.rank] = socket;
    ++*came;
    return true;
}

static bool gather(WsSession *s, WsLink *l)
{
    const double until = ws_seconds() + s->options->meet_seconds;
    for (int came = 1; came < l->n;) {
        struct pollfd p = { .fd = s->options->listen, .events = POLLIN };
        const double left = until - ws_seconds();
        if (left <= 0 ||
            (poll(&p, 1, left < 1 ? (int)(left * 1e3) + 1 : 1000) < 0 && errno != EINTR)) {
            char missing[128] = "";
            for (int i = 1; i < l->n; i++)
                if (l->socket[i] < 0)
                    snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s%d",
                             *missing ? ", " : "", i);
            s->results->status = WS_EXIT_ABSENT;
            return ws_session_fail(s, "of %d processes %d came to %s within %.3g s; missing: %s",
                                   l->n, came, s->options->meet, s->options->meet_seconds, missing);
        }
        if (!(p.revents & POLLIN))
            continue;
        const int socket = accept4(p.fd, NULL, NULL, SOCK_CLOEXEC);
        if (socket >= 0 && !welcome(s, l, socket, &came))
            return false;
    }
    return true;
}

static bool join(WsSession *s, WsLink *l)
{
    const struct sockaddr_un a = address(s->options);
    const double until = ws_seconds() + s->options->meet_seconds;
    Word hello = word(s, l, WS_TELL_MEET);
    hello.bundle = bundle_hash(s);
    for (;;) {
        const int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (to >= 0 && connect(to, (const struct sockaddr *)&a, sizeof a) == 0) {
            l->socket[0] = to;
            if (!own_user(to))
                return ws_session_fail(s, "%s is another user's", a.sun_path);
            return put(to, &hello, NULL, 0) || gone(s, l, 0);
        }
        const int why = errno;
        if (to >= 0)
            close(to);
        if (ws_seconds() > until) {
            s->results->status = WS_EXIT_ABSENT;
            return ws_session_fail(s, "process 0 of %d did not come to %s within %.3g s: %s",
                                   s->options->ranks, a.sun_path, s->options->meet_seconds,
                                   strerror(why));
        }
        usleep(20000);
    }
}

bool ws_link_open(WsSession *s, WsLink *l)
{
    l->own = s->options->rank;
    l->n = s->options->ranks;
    for (int i = 0; i < WS_LINK_PROCESSES; i++)
        l->socket[i] = -1;
    ws_session_phase(s, s->options->meet_seconds + 30, "waiting for %d processes at %s", l->n,
                     s->options->meet);
    return l->own ? join(s, l) : gather(s, l);
}

void ws_link_close(WsLink *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->socket[i] >= 0)
            close(l->socket[i]);
    l->n = 0;
}

/* --- steps -------------------------------------------------------------------------------------*/
bool ws_link_tell(WsSession *s, WsLink *l, WsTell tell, int64_t a)
{
    Word w = word(s, l, tell);
    w.a = a;
    if (l->broken && tell != WS_TELL_END)
        return false;
    if (tell == WS_TELL_END && s->results->error[0])
        snprintf(w.text, sizeof w.text, "%.500s", s->results->error);
    for (int i = 1; i < l->n && !l->own; i++)
        if (l->socket[i] >= 0 && !put(l->socket[i], &w, NULL, 0) && tell != WS_TELL_END)
            return gone(s, l, i);
    return true;
}

bool ws_link_hear(WsSession *s, WsLink *l, WsTell *tell, int64_t *a)
{
    Word w;
    s->results->deadline_ns = 0; /* as long as process 0 takes: its end ends this */
    if (!take(l->socket[0], &w, NULL, 0))
        return gone(s, l, 0);
    *tell = (WsTell)w.tell;
    *a = w.a;
    if (w.tell == WS_TELL_END && w.text[0])
        snprintf(s->results->error, WS_TEXT, "process 0: %.500s", w.text);
    return true;
}

/* Of the leader: what all brought, and the first failure. */
static bool hear_all(WsSession *s, WsLink *l, Word *all, int *fd)
{
    for (int i = 1; i < l->n; i++) {
        Word w;
        int one = -1;
        if (!take(l->socket[i], &w, fd ? &one : NULL, 1))
            return gone(s, l, i);
        all->gift[i] = w.gift[i];
        if (fd)
            fd[i] = one;
        if (!w.ok && all->ok) {
            all->ok = 0;
            all->last = w.last;
            snprintf(all->text, sizeof all->text, "process %d: %.480s", i, w.text);
        }
    }
    return true;
}

static bool lead(WsSession *s, WsLink *l, Word *all, WsLinkGift *gift, int *fd)
{
    if (!hear_all(s, l, all, fd))
        return false;
    for (int i = 1; i < l->n; i++) {
        int rest[WS_LINK_PROCESSES], n = 0;
        for (int k = 0; fd && all->ok && k < l->n; k++)
            if (k != i)
                rest[n++] = fd[k];
        if (!put(l->socket[i], all, rest, n))
            return gone(s, l, i);
    }
    if (gift)
        memcpy(gift, all->gift, sizeof *gift * (size_t)l->n);
    return true;
}

static bool follow(WsSession *s, WsLink *l, Word *own, WsLinkGift *gift, int *fd)
{
    const uint64_t deadline = s->results->deadline_ns;
    int rest[WS_LINK_PROCESSES];
    if (!put(l->socket[0], own, fd ? &fd[l->own] : NULL, fd && own->ok))
        return gone(s, l, 0);
    s->results->deadline_ns = 0;
    if (!take(l->socket[0], own, fd ? rest : NULL, l->n - 1))
        return gone(s, l, 0);
    s->results->deadline_ns = deadline;
    for (int k = 0, n = 0; fd && own->ok && k < l->n; k++)
        if (k != l->own)
            fd[k] = rest[n++];
    if (gift)
        memcpy(gift, own->gift, sizeof *gift * (size_t)l->n);
    return true;
}

bool ws_link_meet(WsSession *s, WsLink *l, bool ok, WsLinkGift *gift, int *fd)
{
    if (!l->n)
        return ok;
    if (l->broken)
        return false;
    Word w = word(s, l, WS_TELL_MEET);
    w.ok = ok;
    w.last = s->last;
    snprintf(w.text, sizeof w.text, "%.500s", ok ? "" : s->error);
    if (gift)
        w.gift[l->own] = gift[l->own];
    if (!(l->own ? follow(s, l, &w, gift, fd) : lead(s, l, &w, gift, fd)))
        return false;
    if (w.ok || !ok) /* what failed here is said here */
        return ok && w.ok;
    s->last = w.last;
    return ws_session_fail(s, "%.500s", w.text);
}
