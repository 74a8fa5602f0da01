/* Control that a proof must not simplify: names below zero, counts of indices, counters that come
 * back to where they are compared, several loops over tiles, names asked about twice. Two agents
 * meet again and again (SYNC); where one of them meets once more than the other the design hangs.
 * Those that hang are refuted, or outside where no sizes are found that show it; never proved. */
#include "design.h"

typedef struct {
    const char *title;
    WsVerdictKind verdict;
    const char *a, *b; /* bodies, with ' for " */
    const char *counters, *assume;
    const char *let; /* names of the launch */
    guint cluster;
    gboolean tiles; /* persistent */
} Row;

static const Row rows[] = {
    { "an expert of -1 is served by one role only", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'if':'e >= 0','then':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[SYNC]}]", .tiles = TRUE },
    { "an expert of -1 is served by none", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'if':'e >= 0','then':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[{'if':'e >= 0','then':[SYNC]}]}]", .tiles = TRUE },
    { "an expert of -3 alone", WS_VERDICT_REFUTED, "[{'for':'t','over':'tiles','do':[SYNC]}]",
      "[{'for':'t','over':'tiles','do':[SYNC,{'if':'e == -3','then':[SYNC]}]}]", .tiles = TRUE },
    { "a difference of sizes below zero", WS_VERDICT_REFUTED, "[SYNC]",
      "[SYNC,{'if':'d < 0','then':[SYNC]}]" },
    { "rounds over a difference of sizes", WS_VERDICT_PROVED,
      "[{'for':'k','count':'d','do':[SYNC]}]", "[{'for':'k','count':'d','do':[SYNC]}]" },
    { "the quotient of a negative name rounds down", WS_VERDICT_REFUTED, "[SYNC]",
      "[SYNC,{'if':'e/4 == -2','then':[SYNC]}]" },
    { "a remainder of a negative name", WS_VERDICT_REFUTED, "[SYNC]",
      "[SYNC,{'if':'e % 4 == 3 && e < 0','then':[SYNC]}]" },
    { "an end before its start", WS_VERDICT_REFUTED, "[{'for':'k','count':'d + 2','do':[SYNC]}]",
      "[{'for':'k','count':'max(d, -2) + 2','do':[SYNC]},{'if':'d + 7 < 0','then':[SYNC]}]" },
    { "a negative name and an index", WS_VERDICT_OUTSIDE, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'e + k == -70','then':[SYNC]}]}]" },
    { "a triangle with a longer row", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k + (k == 7)','do':[SYNC]}]}]" },
    { "a window of six rounds", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'min(k, 6)','do':[SYNC]}]}]" },
    { "a triangle", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "a triangle of eight rows", WS_VERDICT_PROVED,
      "[{'for':'k','count':'8','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'8','do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "a triangle of eight rows, the last one longer", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'8','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'8','do':[{'for':'j','count':'k + (k == 7)','do':[SYNC]}]}]" },
    { "a range from an index", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'2','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'2','from':'k','do':[SYNC,{'if':'j == 11',"
      "'then':[SYNC]}]}]}]" },
    { "rounds of an index less a name", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N - k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N - k','do':[SYNC]},{'if':'k == 9',"
      "'then':[SYNC]}]}]" },
    { "a range that starts at -9", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','from':'-9','do':[SYNC,{'if':'k == -1','then':[SYNC]}]}]" },
    { "a count of a let of a name", WS_VERDICT_OUTSIDE, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'let':'h','be':'N/2'},{'for':'k','count':'h*2','do':[SYNC]}]" },
    { "a count that its loop changes", WS_VERDICT_PROVED,
      "[{'for':'k','count':'left','do':[SYNC,{'advance':'left','by':'-1'}]}]",
      "[{'for':'k','count':'5','do':[SYNC]}]", .counters = "{'name':'left','start':5}" },
    { "a countdown from 12", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'left == 0','then':[SYNC]},{'advance':'left',"
      "'by':'-1'}]}]",
      .counters = "{'name':'left','start':12}" },
    { "a counter up from -12", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'left == 0','then':[SYNC]},{'advance':'left',"
      "'by':'1'}]}]",
      .counters = "{'name':'left','start':-12}" },
    { "a counter of both ways", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'c == 9','then':[SYNC]},{'if':'k % 3 == 0',"
      "'then':[{'advance':'c','by':'-1'}],'else':[{'advance':'c','by':'2'}]}]}]",
      .counters = "{'name':'c','start':0}" },
    { "a counter advanced by the index", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'c == 45','then':[SYNC]},{'advance':'c',"
      "'by':'k'}]}]",
      .counters = "{'name':'c','start':0}" },
    { "a let of what is left", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[{'let':'left','be':'14 - k'},SYNC,{'if':'left == 0',"
      "'then':[SYNC]}]}]" },
    { "a multiple of the index", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'3*k - 2*k == 15','then':[SYNC]}]}]" },
    { "a quotient of the index", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k/4 == 3','then':[SYNC]}]}]" },
    { "the index of two loops", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'2','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N','do':[{'if':'j < 2','then':[SYNC]},{"
      "'if':'k*2 == j + 31','then':[SYNC]}]}]}]" },
    { "a round of the other CTA", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k == 12*cta && cta == 1','then':[SYNC]}]}]",
      .cluster = 2 },
    { "a use that falls", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'wait':'never','use':'9 - k.total'}]}]" },
    { "a use that falls with a name", WS_VERDICT_REFUTED, "[SYNC]",
      "[SYNC,{'let':'u','be':'9 - N'},{'arrive':'never','use':'u'}]" },
    { "a counter of a name, late", WS_VERDICT_REFUTED, "[SYNC]",
      "[SYNC,{'advance':'c','by':'N'},{'arrive':'never','use':'c - 5'}]",
      .counters = "{'name':'c','start':0}" },
    { "the second loop over tiles, tile 5", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'u','over':'tiles','do':[]}]",
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'u','over':'tiles','do':[{'if':'u == 5',"
      "'then':[SYNC]}]}]",
      .tiles = TRUE },
    { "two loops over tiles", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'u','over':'tiles','do':[SYNC,SYNC]}]",
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'u','over':'tiles','do':[SYNC,SYNC]}]",
      .tiles = TRUE },
    { "a loop over tiles twice in a loop", WS_VERDICT_REFUTED,
      "[{'for':'r','count':'3','do':[{'for':'t','over':'tiles','do':[SYNC]}]}]",
      "[{'for':'r','count':'3','do':[{'for':'t','over':'tiles','do':[SYNC,{"
      "'if':'r == 2 && t == 4','then':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "one role leaves out the second loop", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[SYNC]}]",
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'u','over':'tiles','do':[{'if':'u == 6',"
      "'then':[SYNC]}]}]",
      .tiles = TRUE },
    { "the total of a loop over tiles", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'t','over':'tiles','do':[SYNC]}]",
      "[{'for':'t','over':'tiles','do':[SYNC]},{'for':'t','over':'tiles','do':[SYNC,{"
      "'if':'t.total == 9','then':[SYNC]}]}]",
      .tiles = TRUE },
    { "two loops over one name, one in the other", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N','do':[SYNC]},{'if':'k == 9',"
      "'then':[SYNC]}]}]" },
    { "a name that is at least 3", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'max(3, N)','do':[SYNC]}]",
      "[{'for':'k','count':'max(3, N)','do':[SYNC]},{'if':'N == 1','then':[SYNC]}]" },
    { "a name compared with four indices", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'4','do':[SYNC]}]",
      "[{'for':'k','count':'4','do':[SYNC,{'if':'N == k + 7','then':[SYNC]}]}]" },
    { "a name compared with an index", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'M == k + 7 && k == 4','then':[SYNC]}]}]" },
    { "an index compared with a name of which nobody has asked", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k % 4 == 3','then':[{'if':'M + 9 == k',"
      "'then':[SYNC]}]}]}]" },
    { "an index that starts again", WS_VERDICT_REFUTED,
      "[{'for':'h','count':'N','do':[{'for':'k','count':'N','do':[SYNC]}]}]",
      "[{'for':'h','count':'N','do':[{'for':'k','count':'N','do':[SYNC,{"
      "'if':'M == k + 5 && h == 7','then':[SYNC]}]}]}]" },
    { "inner loops between the index and the name", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'2','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'2','do':[SYNC,{'if':'M == k && M > 8',"
      "'then':[SYNC]}]}]}]" },
    { "twenty names", WS_VERDICT_REFUTED,
      "[{'for':'h','count':'2','do':[{'for':'k0','count':'max(0, N - 2*M)','do':[]},{'for':'k1',"
      "'count':'max(0, N - 3*M)','do':[]},{'for':'k2','count':'max(0, N - 4*M)','do':[]},{"
      "'for':'k3','count':'max(0, N - 5*M)','do':[]},{'for':'k4','count':'max(0, N - 6*M)',"
      "'do':[]},{'for':'k5','count':'max(0, N - 7*M)','do':[]},{'for':'k6','count':'max(0,"
      " N - 8*M)','do':[]},{'for':'k7','count':'max(0, N - 9*M)','do':[]},{'for':'k8',"
      "'count':'max(0, N - 10*M)','do':[]},{'for':'k9','count':'max(0, N - 11*M)','do':[]},{"
      "'for':'k10','count':'max(0, N - 12*M)','do':[]},{'for':'k11','count':'max(0, N - 13*M)',"
      "'do':[]},{'for':'k12','count':'max(0, N - 14*M)','do':[]},{'for':'k13','count':'max(0,"
      " N - 15*M)','do':[]},{'for':'k14','count':'max(0, N - 16*M)','do':[]},{'for':'k15',"
      "'count':'max(0, N - 17*M)','do':[]},{'for':'k16','count':'max(0, N - 18*M)','do':[]},{"
      "'for':'k17','count':'max(0, N - 19*M)','do':[]},{'for':'k','count':'max(0, N - 40*M)',"
      "'do':[SYNC]}]}]",
      "[{'for':'h','count':'2','do':[{'for':'k0','count':'max(0, N - 2*M)','do':[]},{'for':'k1',"
      "'count':'max(0, N - 3*M)','do':[]},{'for':'k2','count':'max(0, N - 4*M)','do':[]},{"
      "'for':'k3','count':'max(0, N - 5*M)','do':[]},{'for':'k4','count':'max(0, N - 6*M)',"
      "'do':[]},{'for':'k5','count':'max(0, N - 7*M)','do':[]},{'for':'k6','count':'max(0,"
      " N - 8*M)','do':[]},{'for':'k7','count':'max(0, N - 9*M)','do':[]},{'for':'k8',"
      "'count':'max(0, N - 10*M)','do':[]},{'for':'k9','count':'max(0, N - 11*M)','do':[]},{"
      "'for':'k10','count':'max(0, N - 12*M)','do':[]},{'for':'k11','count':'max(0, N - 13*M)',"
      "'do':[]},{'for':'k12','count':'max(0, N - 14*M)','do':[]},{'for':'k13','count':'max(0,"
      " N - 15*M)','do':[]},{'for':'k14','count':'max(0, N - 16*M)','do':[]},{'for':'k15',"
      "'count':'max(0, N - 17*M)','do':[]},{'for':'k16','count':'max(0, N - 18*M)','do':[]},{"
      "'for':'k17','count':'max(0, N - 19*M)','do':[]},{'for':'k','count':'max(0, N - 40*M)',"
      "'do':[SYNC]},{'if':'h == 1 && N > 50','then':[SYNC]}]}]" },
    { "an inner loop that begins with its seventh round", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'f - 6','do':[]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'f - 6','do':[{'if':'k == 7',"
      "'then':[SYNC]}]}]}]" },
    { "an inner loop over a name", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'f - 6','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'f - 6','do':[SYNC]}]}]" },
    { "two letters that read alike", WS_VERDICT_REFUTED, "[{'if':'(2*N) % 3 > M','then':[SYNC]}]",
      "[{'if':'2*(N % 3) > M','then':[SYNC]}]" },
    { "two letters that are one", WS_VERDICT_PROVED, "[{'if':'2*N > M + 3','then':[SYNC]}]",
      "[{'if':'M < N + N - 3','then':[SYNC]}]" },
    { "min of the other order", WS_VERDICT_PROVED, "[{'for':'k','count':'min(N, 8)','do':[SYNC]}]",
      "[{'for':'k','count':'min(8, N)','do':[SYNC]}]" },
    { "a sum of itself", WS_VERDICT_PROVED, "[{'for':'k','count':'2*N','do':[SYNC]}]",
      "[{'for':'k','count':'N + N','do':[SYNC]}]" },
    { "an even number of rounds", WS_VERDICT_PROVED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N/2','do':[SYNC,SYNC]}]", .assume = "'N % 2 == 0'" },
    { "at least one round of 64", WS_VERDICT_PROVED, "[SYNC]",
      "[{'for':'k','count':'min(N/64, 1)','do':[SYNC]}]", .assume = "'N >= 1','N % 64 == 0'" },
    { "exactly two rounds", WS_VERDICT_PROVED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[SYNC,SYNC]", .assume = "'N == 2'" },
    { "exactly two rounds, of three", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[SYNC,SYNC,SYNC]", .assume = "'N == 2'" },
    { "odd rounds one more", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[SYNC]},{'if':'N % 2 == 1','then':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC]},{'if':'(N + 1) % 2 == 0','then':[SYNC]}]" },
    { "the halves of a name", WS_VERDICT_PROVED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N/2','do':[SYNC,SYNC]},{'if':'N % 2 == 1','then':[SYNC]}]" },
    { "the halves of a name, and one", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N/2','do':[SYNC,SYNC]},{'if':'(N - 1) % 2 == 1','then':[SYNC]}]" },
    { "every other index from the end", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'if':'(N - k) % 2 == 0','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'if':'(N - k) % 2 == 0','then':[SYNC]}]}]" },
    { "pairs of CTAs", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'if':'cta/2 == 1','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'if':'cta/2 == 1','then':[SYNC]}]}]", .cluster = 4 },
    { "a loop from end to end of a triangle", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N - k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N - k','do':[SYNC]}]},{'if':'N == 4',"
      "'then':[SYNC]}]" },
    { "a triangle from below", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N - k','do':[SYNC]}]}]",
      "[{'for':'i','count':'N','do':[{'for':'j','count':'N - i','do':[SYNC]}]}]" },
    { "a triangle that is cut", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'min(k,"
      " M)','do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'min(M,"
      " k)','do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "a triangle that begins later", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'N - 1','from':'0','do':[{'for':'j','count':'k + 1','do':[SYNC]}]}]",
      "[{'for':'k','count':'N - 1','from':'1','do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "a triangle, the other role one round more", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N + 1','do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "a triangle over another index", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','from':'2','do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "two triangles after each other", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N',"
      "'do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N',"
      "'do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "a triangle in every tile", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k',"
      "'do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k',"
      "'do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "a triangle in every tile, one longer", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k',"
      "'do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j',"
      "'count':'k + (t == 3 && k == 2)','do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "a triangle of which the index is asked", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]},{'if':'k == 9',"
      "'then':[SYNC]}]}]" },
    { "rounds of the tile's number", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'5 + t','do':[SYNC]}]}]",
      "[{'for':'u','over':'tiles','do':[{'for':'k','count':'u + 5','do':[SYNC]}]}]",
      .tiles = TRUE },
    { "rounds of the tile's number, seven at most", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'t','do':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'max(t, min(t + 1, 8) - (t < 7))',"
      "'do':[SYNC]}]}]",
      .tiles = TRUE },
    { "a triangle over tiles and rounds", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + t',"
      "'do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + t',"
      "'do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "rounds of the tile's number, twice", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'for':'h','count':'2','do':[{'for':'k','count':'t',"
      "'do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'h','count':'2','do':[{'for':'k','count':'t',"
      "'do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "the distance from round 6", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'abs(k - 6) == 5 && k > 6','then':[SYNC]}]}]" },
    { "the distance from round 6, the same", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'select(abs(k - 6) > 2, 1, 2)',"
      "'do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'select(abs(k - 6) > 2, 1, 2)',"
      "'do':[SYNC]}]}]" },
    { "rounds chosen by the index", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'2','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'select(k < 8, 2, 3)','do':[SYNC]}]}]" },
    { "a use chosen by the index", WS_VERDICT_REFUTED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[{'wait':'go','use':'select(k == 9, 0, k)'},{'arrive':'back',"
      "'use':'k'}]}]" },
    { "a total compared with a name", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k.total < N - 2','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k.total + 2 < N','then':[SYNC]}]}]" },
    { "a total compared with a name, two off", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k.total < N - 2','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k.total < N - 1','then':[SYNC]}]}]" },
    { "a total compared with a name, late", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k.total == M + 9','then':[SYNC]}]}]" },
    { "a total of two loops", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC]},{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC]},{'for':'k','count':'N','do':[SYNC,{"
      "'if':'k.total == M + 9 && k == 3','then':[SYNC]}]}]" },
    { "a total over tiles compared with a name", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'2','do':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'2','do':[SYNC,{"
      "'if':'k.total == f + 7','then':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "two triangles, the second one longer", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k + (k == 6)','do':[SYNC]}]}]" },
    { "two triangles, the second from 1", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "from':'1','do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "two triangles, other names", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'i','count':'N','"
      "do':[{'for':'h','count':'i','do':[SYNC]}]}]",
      "[{'for':'x','count':'N','do':[{'for':'y','count':'x','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "two triangles, of other heights", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'M','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'M','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "two triangles, heights exchanged", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'M','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'k','count':'M','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]" },
    { "a triangle in a loop", WS_VERDICT_PROVED,
      "[{'for':'h','count':'M','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':["
      "SYNC]}]}]}]",
      "[{'for':'h','count':'M','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':["
      "SYNC]}]}]}]" },
    { "a triangle in a loop, one longer in round 3", WS_VERDICT_REFUTED,
      "[{'for':'h','count':'M','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':["
      "SYNC]}]}]}]",
      "[{'for':'h','count':'M','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + (h == 3 "
      "&& k == 2)','do':[SYNC]}]}]}]" },
    { "a triangle twice and in a loop of two", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'h','count':'2','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':["
      "SYNC]}]}]}]" },
    { "a triangle twice and in a loop of three", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]}]},{'for':'k','count':'N','"
      "do':[{'for':'j','count':'k','do':[SYNC]}]}]",
      "[{'for':'h','count':'3','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':["
      "SYNC]}]}]}]" },
    { "a triangle in a triangle", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]},{'for':'h','count':'N','"
      "do':[{'for':'i','count':'h','do':[SYNC]}]}]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'k','do':[SYNC]},{'for':'h','count':'N','"
      "do':[{'for':'i','count':'h','do':[SYNC]}]}]}]" },
    { "a triangle over tiles, other words", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + "
      "t','do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'t + "
      "k','do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "a triangle over tiles, one longer", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + "
      "t','do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + t + "
      "(t == 2)','do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "a triangle over twice the tile", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + "
      "t','do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'k','count':'N','do':[{'for':'j','count':'k + "
      "2*t','do':[SYNC]}]}]}]",
      .tiles = TRUE },
    { "a triangle over every other tile", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','from':'1','step':'2','do':[{'for':'k','count':'N','do':[{'for':'"
      "j','count':'k + t','do':[SYNC]}]}]}]",
      "[{'for':'t','over':'tiles','do':[{'if':'t % 2 == "
      "1','then':[{'for':'k','count':'N','do':[{'for':'j','count':'k + t','do':[SYNC]}]}]}]}]",
      .tiles = TRUE },
    { "min of three", WS_VERDICT_PROVED, "[{'for':'k','count':'min(N, min(8, M))','do':[SYNC]}]",
      "[{'for':'k','count':'min(min(N, M), 8)','do':[SYNC]}]" },
    { "min of three, one more", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'min(N, min(8, M))','do':[SYNC]}]",
      "[{'for':'k','count':'min(min(N, M), 9)','do':[SYNC]}]" },
    { "a quotient that is assumed", WS_VERDICT_PROVED, "[{'for':'k','count':'kt','do':[SYNC]}]",
      "[SYNC,SYNC]", .let = ",'kt':'N/64'", .assume = "'N/64 == 2'" },
    { "a quotient that is assumed, one more", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'kt','do':[SYNC]}]", "[SYNC,SYNC,SYNC]", .let = ",'kt':'N/64'",
      .assume = "'N/64 == 2'" },
    { "two at least, assumed of the quotient", WS_VERDICT_PROVED,
      "[{'for':'k','count':'min(kt, 2)','do':[SYNC]}]", "[SYNC,SYNC]", .let = ",'kt':'N/64'",
      .assume = "'N/64 >= 2'" },
    { "two at least, three taken", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'min(kt, 2)','do':[SYNC]}]", "[SYNC,SYNC,SYNC]", .let = ",'kt':'N/64'",
      .assume = "'N/64 >= 2'" },
    { "a difference that is assumed", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N - M','do':[SYNC]}]",
      "[SYNC,{'for':'k','count':'N - M - 1','do':[SYNC]}]", .assume = "'M < N'" },
    { "a difference that is assumed, two taken", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N - M','do':[SYNC]}]",
      "[SYNC,SYNC,{'for':'k','count':'N - M - 2','do':[SYNC]}]", .assume = "'M < N'" },
    { "an order that is assumed", WS_VERDICT_PROVED, "[SYNC]", "[{'if':'N >= M','then':[SYNC]}]",
      .assume = "'M <= N'" },
    { "an order that is not assumed", WS_VERDICT_REFUTED, "[{'if':'N > M','then':[SYNC]}]",
      "[SYNC]", .assume = "'M <= N'" },
    { "a multiple of 256 in fours", WS_VERDICT_PROVED, "[{'for':'k','count':'kt','do':[SYNC]}]",
      "[{'for':'k','count':'N/256','do':[SYNC,SYNC,SYNC,SYNC]}]", .let = ",'kt':'N/64'",
      .assume = "'N % 256 == 0'" },
    { "a multiple of 128 in fours", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N/256','do':[SYNC,SYNC,SYNC,SYNC]}]",
      "[{'for':'k','count':'kt','do':[SYNC]}]", .let = ",'kt':'N/64'", .assume = "'N % 128 == 0'" },
    { "rounds of what is left", WS_VERDICT_PROVED, "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N/4','do':[SYNC,SYNC,SYNC,SYNC]},{'for':'k','count':'N % "
      "4','do':[SYNC]}]" },
    { "rounds of what is left, said otherwise", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N/4','do':[SYNC,SYNC,SYNC,SYNC]},{'for':'k','count':'N - "
      "N/4*4','do':[SYNC]}]" },
    { "rounds of too much that is left", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC]}]",
      "[{'for':'k','count':'N/4','do':[SYNC,SYNC,SYNC,SYNC]},{'for':'k','count':'N % "
      "8','do':[SYNC]}]" },
    { "pairs of rounds", WS_VERDICT_PROVED, "[{'for':'k','count':'2*N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,SYNC]}]" },
    { "pairs of rounds and one", WS_VERDICT_PROVED, "[{'for':'k','count':'2*N + 1','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,SYNC]},SYNC]" },
    { "pairs of rounds, one more", WS_VERDICT_REFUTED, "[{'for':'k','count':'2*N','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[SYNC,SYNC]},SYNC]" },
    { "pairs and threes", WS_VERDICT_PROVED, "[{'for':'k','count':'3*N','do':[SYNC,SYNC]}]",
      "[{'for':'k','count':'2*N','do':[SYNC,SYNC,SYNC]}]" },
    { "two and three times a name", WS_VERDICT_REFUTED, "[{'for':'k','count':'2*N','do':[SYNC]}]",
      "[{'for':'k','count':'3*N','do':[SYNC]}]" },
    { "above, equal, below", WS_VERDICT_PROVED,
      "[{'if':'N > M','then':[SYNC],'else':[{'if':'N == M','then':[SYNC,SYNC],'else':[]}]}]",
      "[{'if':'N == M','then':[SYNC,SYNC]},{'if':'M < N','then':[SYNC]}]" },
    { "above, equal, not above", WS_VERDICT_REFUTED,
      "[{'if':'N > M','then':[SYNC],'else':[{'if':'N == M','then':[SYNC,SYNC],'else':[]}]}]",
      "[{'if':'N == M','then':[SYNC,SYNC]},{'if':'M <= N','then':[SYNC]}]" },
    { "not below", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'if':'!(e < f - 3)','then':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[{'if':'f - 3 <= e','then':[SYNC]}]}]", .tiles = TRUE },
    { "not below, and above", WS_VERDICT_REFUTED,
      "[{'for':'t','over':'tiles','do':[{'if':'f - 2 < e + M','then':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[{'if':'!(f - 2 > e + M)','then':[SYNC]}]}]",
      .tiles = TRUE },
    { "an index and a difference", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k < N - M','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k + M < N','then':[SYNC]}]}]" },
    { "an index and a difference, one more", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k < N - M','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k + M <= N','then':[SYNC]}]}]" },
    { "columns of an index and a difference", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[SYNC,{'if':'k*64 < N - M','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[SYNC,{'if':'N > 64*k + M','then':[SYNC]}]}]" },
    { "a let of a name as a count", WS_VERDICT_PROVED,
      "[{'let':'h','be':'N/2'},{'for':'k','count':'h','do':[SYNC]}]",
      "[{'for':'k','count':'N/2','do':[SYNC]}]" },
    { "a let of a name, rounded otherwise", WS_VERDICT_REFUTED,
      "[{'let':'h','be':'N/2'},{'for':'k','count':'h','do':[SYNC]}]",
      "[{'for':'k','count':'cdiv(N, 2)','do':[SYNC]}]" },
    { "a let of a let", WS_VERDICT_PROVED,
      "[{'let':'h','be':'N/2'},{'let':'g','be':'h + 1'},{'for':'k','count':'g','do':[SYNC]}]",
      "[{'for':'k','count':'N/2 + 1','do':[SYNC]}]" },
    { "a let of the index", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'let':'h','be':'N - "
      "k'},{'for':'j','count':'h','do':[SYNC]}]},{'for':'k','count':'M','do':[SYNC]}]",
      "[{'for':'k','count':'N','do':[{'for':'j','count':'N - "
      "k','do':[SYNC]}]},{'for':'k','count':'M','do':[SYNC]}]" },
    { "a let of a condition", WS_VERDICT_PROVED,
      "[{'for':'k','count':'N','do':[{'let':'last','be':'k == N - "
      "1'},{'if':'!last','then':[],'else':[SYNC]}]}]",
      "[{'if':'N > 0','then':[SYNC]}]" },
    { "a let of a counter that goes on", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'N','do':[{'let':'h','be':'x + N'},{'advance':'x'},{'if':'h > N + "
      "3','then':[SYNC]}]}]",
      "[{'for':'k','count':'N','do':[{'if':'k > 3','then':[SYNC]}]}]",
      .counters = "{'name':'x','start':0}" },
    { "a let of the tile and its number", WS_VERDICT_PROVED,
      "[{'for':'t','over':'tiles','do':[{'let':'h','be':'t + "
      "f'},{'for':'j','count':'h','do':[SYNC]}]}]",
      "[{'for':'t','over':'tiles','do':[{'for':'j','count':'t + f','do':[SYNC]}]}]",
      .tiles = TRUE },
    { "a name and what it stands for", WS_VERDICT_PROVED, "[{'for':'k','count':'kt','do':[SYNC]}]",
      "[{'for':'k','count':'N/64','do':[SYNC]}]", .let = ",'kt':'N/64'" },
    { "a name and more than it stands for", WS_VERDICT_REFUTED,
      "[{'for':'k','count':'kt','do':[SYNC]}]", "[{'for':'k','count':'(N + 1)/64','do':[SYNC]}]",
      .let = ",'kt':'N/64'" },
    { "rounds of a quotient by what may be 0", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'64/M','do':[SYNC]}]", "[{'for':'k','count':'64/M','do':[SYNC]}]" },
    { "rounds of a quotient by what is not 0", WS_VERDICT_PROVED,
      "[{'for':'k','count':'64/M','do':[SYNC]}]", "[{'for':'k','count':'64/M','do':[SYNC]}]",
      .assume = "'M >= 1'" },
    { "rounds of a quotient where it has one", WS_VERDICT_PROVED,
      "[{'if':'M > 0','then':[{'for':'k','count':'64/M','do':[SYNC]}]}]",
      "[{'if':'M > 0','then':[{'for':'k','count':'64/M','do':[SYNC]}]}]" },
    { "rounds of a quotient where it has none", WS_VERDICT_OUTSIDE,
      "[{'if':'M >= 0','then':[{'for':'k','count':'64/M','do':[SYNC]}]}]",
      "[{'if':'M >= 0','then':[{'for':'k','count':'64/M','do':[SYNC]}]}]" },
    { "a choice of a quotient where it has one", WS_VERDICT_PROVED,
      "[{'for':'k','count':'select(M > 0, N/M, 0)','do':[SYNC]}]",
      "[{'for':'k','count':'select(M > 0, N/M, 0)','do':[SYNC]}]" },
    { "a choice of a quotient where it has none", WS_VERDICT_OUTSIDE,
      "[{'for':'k','count':'select(M > 0, 0, N/M)','do':[SYNC]}]",
      "[{'for':'k','count':'select(M > 0, 0, N/M)','do':[SYNC]}]" },
    { "a condition of a remainder by what may be 0", WS_VERDICT_OUTSIDE,
      "[{'if':'M % N == 1','then':[SYNC]}]", "[{'if':'M % N == 1','then':[SYNC]}]" },
    { "a remainder within the rounds of what it is of", WS_VERDICT_PROVED,
      "[{'for':'k','count':'M','do':[{'if':'(N % M) == 1','then':[SYNC]}]}]",
      "[{'for':'k','count':'M','do':[{'if':'(N % M) == 1','then':[SYNC]}]}]" },
};

static char *replaced(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) parts = g_strsplit(text, from, -1);
    return g_strjoinv(to, parts);
}

/* A group whose SYNC is: wait for `wait`, arrive on `arrive`. */
static void add_group(GString *t, const Row *row, const char *name, const char *body,
                      const char *wait, const char *arrive)
{
    g_autofree char *sync = g_strdup_printf("{'wait':'%s','use':'c%s'},{'arrive':'%s','use':'c%s'},"
                                            "{'advance':'c%s'}",
                                            wait, name, arrive, name, name);
    g_autofree char *steps = replaced(body, "SYNC", sync);
    g_string_append_printf(t,
                           "{'name':'%s','role':'worker','warps':1,'counters':[{'name':'c%s',"
                           "'start':0}%s%s],'body':%s}",
                           name, name, row->counters ? "," : "", row->counters ? row->counters : "",
                           steps);
}

static char *design_of(const Row *row)
{
    GString *t = g_string_new("{'warpstave':1,'name':'control','target':'sm_90a',");
    if (row->cluster)
        g_string_append_printf(t, "'cluster':%u,", row->cluster);
    g_string_append_printf(t, "'sizes':{'N':4,'M':4,'Q':64},'let':{'d':'M - N'%s},",
                           row->let ? row->let : "");
    g_string_append_printf(t, "'assume':[%s],", row->assume ? row->assume : "");
    g_string_append(t, ""
                       "'tensors':[{'name':'L','dtype':'i32','shape':['Q'],"
                       "'data':'integers(-8, 12)'},"
                       "{'name':'X','dtype':'bf16','shape':[64,64]}],"
                       "'tiles':{'axes':{'tm':'Q'},");
    g_string_append_printf(t, "'launch':'%s','let':{'e':'L[tm]','f':'max(0, e)'}},",
                           row->tiles ? "persistent" : "single");
    g_string_append(t, "'barriers':[{'name':'go','arrivals':1},{'name':'back','arrivals':1,"
                       "'init':'ready'},{'name':'never'}],'groups':[");
    add_group(t, row, "a", row->a, "back", "go");
    g_string_append_c(t, ',');
    add_group(t, row, "b", row->b, "go", "back");
    g_string_append(t, "]}");
    return g_strdelimit(g_string_free(t, FALSE), "'", '"');
}

static void verdict_of(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = design_of(row);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "control", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *before = ws_findings_print(findings, "control");
    g_test_message("%s\n%s", text, before);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *words = ws_verdict_text(v);
    g_test_message("%s", words);
    g_assert_cmpstr(ws_verdict_word(v->kind), ==, ws_verdict_word(row->verdict));
    if (v->kind == WS_VERDICT_OUTSIDE)
        g_assert_nonnull(v->reason);
}

/* Four slots for tiles, two of which are ever full: in tile 5 the slot of tile 4 is taken. Nothing
 * races; the number in it is an old one. */
static void an_old_tile(void)
{
    static const Edit edit[MAX_EDITS] = {
        { "\"name\": \"next\", \"dtype\": \"i32\", \"tile\": [1], \"stages\": 2",
          "\"name\": \"next\", \"dtype\": \"i32\", \"tile\": [1], \"stages\": 4" },
        { "\"take\": \"tiles\", \"from\": \"next\", \"use\": \"tile\"",
          "\"take\": \"tiles\", \"from\": \"next\", \"use\": \"tile - (tile == 5)\"" },
    };
    for (guint n = 0; n < 2; n++) { /* four slots are right */
        const Edit some[MAX_EDITS] = { edit[0], n ? edit[1] : (Edit){ NULL, NULL } };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p =
            edited_program("moves/gemm-dynamic.wstave", some, NULL, 0, findings);
        g_assert_nonnull(p);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_autofree char *words = ws_verdict_text(v);
        g_test_message("%s", words);
        g_assert_cmpint(v->kind, ==, n ? WS_VERDICT_REFUTED : WS_VERDICT_PROVED);
    }
}

/* Groups of no tiles where N < 100. */
static void grouped_by_nothing(void)
{
    static const char *const order[] = { "grouped(tm, N/100)", "grouped(tm, max(1, N/100))" };
    for (guint n = 0; n < 2; n++) {
        const Edit edit[MAX_EDITS] = { { "grouped(tm, 8)", order[n] } };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = edited_program("gemm-pingpong.wstave", edit, NULL, 0, findings);
        g_assert_nonnull(p);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_assert_cmpint(v->kind, ==, n ? WS_VERDICT_PROVED : WS_VERDICT_OUTSIDE);
        g_assert_true(n || strstr(v->reason, "grouped"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("/control/%s", rows[i].title);
        g_test_add_data_func(name, &rows[i], verdict_of);
    }
    g_test_add_func("/control/an old tile", an_old_tile);
    g_test_add_func("/control/grouped by nothing", grouped_by_nothing);
    return g_test_run();
}
