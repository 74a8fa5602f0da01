/* Faults of the catalogue that were bugs of real kernels, and what mends them there: the change
 * that the authors of those kernels made, said in the words of the design. Names of barriers that
 * are new are those that a fix gives them. */
#define RING_WAIT "{ \"wait\": \"full\", \"use\": \"k.total\" }"

static const Author authors[] = {
    /* the parity follows the ring */
    { "B05-parity-toggles-every-round.wstave",
      { { "{ \"wait\": \"full\", \"slot\": \"k % S\", \"phase\": \"k % 2\" }", RING_WAIT } } },
    { "B07-constant-parity.wstave",
      { { "{ \"wait\": \"full\", \"slot\": \"k % S\", \"phase\": 0 }", RING_WAIT } } },
    { "B08-use-restarts-with-the-tile.wstave",
      { { "{ \"wait\": \"full\", \"use\": \"k\" }", RING_WAIT } } },
    { "B10-parity-of-another-cadence.wstave",
      { { "{ \"wait\": \"full\", \"use\": \"tile.total\" }", RING_WAIT } } },
    { "B13-stale-slot.wstave",
      { { "{ \"wait\": \"full\", \"slot\": 0, \"phase\": \"k/S\" }", RING_WAIT } } },
    { "B16-counter-skips-an-empty-tile.wstave", { { "\"max(1, n)\"", "\"n\"" } } },
    /* counts and bytes are what comes */
    { "B25-count-of-zero.wstave", { { ", \"arrivals\": \"32/128\"", "" } } },
    { "B28-arrival-without-expect.wstave", { { "\"bytes\": 0", "\"bytes\": 8192" } } },
    { "B29-expect-without-arrival.wstave", { { "\"count\": 0, ", "" } } },
    { "B31-own-half-expected-only.wstave", { { "\"bytes\": 4096", "\"bytes\": 8192" } } },
    { "B32-bytes-of-another-type.wstave", { { "\"bytes\": 16384", "\"bytes\": 8192" } } },
    /* what is asynchronous, and fences */
    { "B38-release-before-mma-wait.wstave",
      { { "{ \"arrive\": \"empty\", \"use\": \"k.total\" },\n          { \"mma_wait\": 0 }",
          "{ \"mma_wait\": 0 },\n          { \"arrive\": \"empty\", \"use\": \"k.total\" }" } } },
    { "B43-missing-mma-fence.wstave", { { "{ \"mma\"", "{ \"fence\": \"mma\" }, { \"mma\"" } } },
    { "B50-other-group-still-reads.wstave", { { ", \"when\": \"replica == 0\"", "" } } },
    { "B52-generic-producer-arrives-first.wstave",
      { { "{ \"arrive\": \"full\", \"by\": \"all\", \"use\": \"k.total\" },\n", "" },
        { "{ \"write\": \"v\", \"to\": \"a\", \"use\": \"k.total\" }",
          "{ \"write\": \"v\", \"to\": \"a\", \"use\": \"k.total\" },\n"
          "{ \"arrive\": \"full\", \"by\": \"all\", \"use\": \"k.total\" }" } } },
    { "B53-epilogue-over-a-ring-in-use.wstave",
      { { "\"init\": \"ready\" }",
          "\"init\": \"ready\" }, { \"name\": \"meet\", \"kind\": \"named\" }" },
        { "{ \"write\": \"acc\"", "{ \"sync\": \"meet\" }, { \"write\": \"acc\"" } } },
    { "B56-no-fence-before-the-store.wstave",
      { { "{ \"sync\": \"group\" }", "{ \"fence\": \"async\" }, { \"sync\": \"group\" }" } } },
    { "B88-next-tile-loads-over-this-one.wstave",
      { { "{ \"name\": \"empty\", \"slots\": \"S\", \"init\": \"ready\" }",
          "{ \"name\": \"empty\", \"slots\": \"S\", \"init\": \"ready\" }, "
          "{ \"name\": \"q_free\", \"init\": \"ready\" }" },
        { "{ \"load\": \"A\", \"at\": [0, 0]",
          "{ \"wait\": \"q_free\", \"use\": \"tile.total\" }, { \"load\": \"A\", \"at\": [0, 0]" },
        { "{ \"write\": \"acc\"",
          "{ \"arrive\": \"q_free\", \"use\": \"tile.total\" }, { \"write\": \"acc\"" } } },
    /* named barriers */
    { "B67-threads-not-a-multiple-of-32.wstave", { { ", \"threads\": 48", "" } } },
    { "B71-one-id-two-purposes.wstave",
      { { "{ \"name\": \"y\", \"kind\": \"named\", \"hw_id\": 3 }",
          "{ \"name\": \"y\", \"kind\": \"named\" }" } } },
    { "B73-sync-of-all-met-by-some.wstave",
      { { "{ \"name\": \"two\", \"role\": \"worker\", \"warps\": 4,\n      \"body\": [",
          "{ \"name\": \"two\", \"role\": \"worker\", \"warps\": 4,\n      \"body\": [ { \"sync\": "
          "\"cta\" }, " } } },
    { "B74-no-barrier-between-write-and-read.wstave",
      { { "  \"groups\"",
          "  \"barriers\": [ { \"name\": \"meet\", \"kind\": \"named\" } ],\n  \"groups\"" },
        { "\"to\": \"sm\" }", "\"to\": \"sm\" }, { \"sync\": \"meet\" }" },
        { "{ \"read\": \"v\"", "{ \"sync\": \"meet\" }, { \"read\": \"v\"" } } },
    /* what a role does where there is nothing to do */
    { "B82-empty-range-not-signalled.wstave",
      { { "\"to\": \"c\", \"when\": \"N > 0\"", "\"to\": \"c\"" },
        { "\"use\": 0, \"when\": \"N > 0\"", "\"use\": 0" } } },
    { "B83-one-role-leaves-out-empty-tiles.wstave",
      { { "{ \"name\": \"last\", \"role\": \"consumer\", \"warps\": 4,\n",
          "{ \"name\": \"last\", \"role\": \"consumer\", \"warps\": 4,\n"
          "\"counters\": [ { \"name\": \"turn\" } ],\n" },
        { "{ \"wait\": \"done\", \"use\": \"tile.total\" },\n",
          "{ \"if\": \"n > 0\", \"then\": [ { \"wait\": \"done\", \"use\": \"turn\" },\n" },
        { "{ \"arrive\": \"free\", \"use\": \"tile.total\" }",
          "{ \"arrive\": \"free\", \"use\": \"turn\" }, { \"advance\": \"turn\" } ] }" } } },
    { "B85-equal-for-not-above.wstave", { { "\"lo != hi\"", "\"lo < hi\"" } } },
    { "B86-tail-on-a-ring-of-others.wstave",
      { { "        { \"for\": \"j\", \"count\": \"S\", \"do\": [\n"
          "          { \"wait\": \"full\", \"use\": \"N + j\" }\n        ] },\n",
          "" } } },
    /* clusters, registers */
    { "B91-slots-freed-in-the-own-CTA-only.wstave",
      { { "{ \"arrive\": \"empty\",", "{ \"arrive\": \"empty\", \"cta\": \"all\"," } } },
    { "B92-dead-peer.wstave", { { ", \"when\": \"cta == 0\"", "" } } },
    { "B98-register-pool-exceeded.wstave",
      { { ", \"registers\": 80", "" }, { ", \"registers\": 224", "" } } },
};
