"""One CTA: agents that take turns, mbarriers with their phase bit, transfers that end when the schedule
likes, and who knows what to be over (vector clocks). What goes wrong is raised as `Broken`.

An agent is a partition: its warps are taken to be in step. `Know` is what happened before a point in
time: a clock for every agent, a bit for every transfer, and the same once more for what a fence between
the proxies had in view."""
import random
from values import NotModelled, Said, Tile, Wrong


class Broken(Wrong):
    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Know:
    __slots__ = ("clock", "bits", "fclock", "fbits")

    def __init__(self, n):
        self.clock, self.bits, self.fclock, self.fbits = [0] * n, 0, [0] * n, 0

    def copy(self):
        k = Know(0)
        k.clock, k.bits, k.fclock, k.fbits = self.clock[:], self.bits, self.fclock[:], self.fbits
        return k

    def join(self, other):
        self.clock = [max(a, b) for a, b in zip(self.clock, other.clock)]
        self.fclock = [max(a, b) for a, b in zip(self.fclock, other.fclock)]
        self.bits |= other.bits
        self.fbits |= other.fbits


class Agent:
    def __init__(self, machine, number, name, warps):
        self.number, self.name, self.warps = number, name, warps
        self.know = Know(machine.most)
        self.know.clock[number] = 1
        self.task, self.until, self.over, self.result = None, None, False, None
        self.products, self.stores, self.copies, self.open = [], [], [], []
        self.deferred = None

    def released(self):
        """What this agent hands on; what it does next is not part of it."""
        k = self.know.copy()
        self.know.clock[self.number] += 1
        return k


class Barrier:
    def __init__(self, machine, name, count):
        if not 1 <= count < 1 << 20:
            raise Broken("count", f"{name} is initialised with {count}")
        self.machine, self.name, self.count = machine, name, count
        self.pending, self.tx, self.phase = count, 0, 0
        self.now, self.done = Know(machine.most), Know(machine.most)

    def settle(self):
        if self.pending == 0 and self.tx == 0:
            self.phase += 1
            self.pending = self.count
            self.done.join(self.now)
            self.now = Know(self.machine.most)

    def arrive(self, count, know):
        if count < 1 or count > self.pending:
            raise Broken("count", f"{count} arrive on {self.name}, which awaits {self.pending}")
        self.now.join(know)
        self.pending -= count
        self.settle()

    def expect(self, size, know, count=1):
        self.tx += size
        self.arrive(count, know)

    def passed(self, parity):
        return self.phase & 1 != parity


class Named:
    def __init__(self, machine, number):
        self.machine, self.number, self.there, self.threads, self.turn = machine, number, 0, None, 0
        self.now, self.done = Know(machine.most), Know(machine.most)

    def arrive(self, mine, threads, know):
        if self.threads not in (None, threads):
            raise Broken("count", f"barrier {self.number} is {threads} threads wide, and {self.threads}")
        if threads % 32 or self.there + mine > threads:
            raise Broken("count", f"{self.there + mine} of {threads} threads at barrier {self.number}")
        self.threads = threads
        self.there += mine
        self.now.join(know)
        if self.there == threads:
            self.turn, self.there, self.threads = self.turn + 1, 0, None
            self.done.join(self.now)
            self.now = Know(self.machine.most)


class Transfer:
    def __init__(self, bit, what, ends):
        self.bit, self.what, self.ends = bit, what, ends


class Access:
    __slots__ = ("region", "write", "agent", "clock", "bit", "engine", "what")

    def __init__(self, region, write, agent, clock, bit, engine, what):
        self.region, self.write, self.agent, self.clock = region, write, agent, clock
        self.bit, self.engine, self.what = bit, engine, what


class Machine:
    """`schedule`: (kind, seed), see `pick`. Agents are made before they run: `most` is how many there
    may ever be."""
    most = 12
    limit = 40000

    def __init__(self, schedule, program=0, programs=1, data=0):
        self.kind, seed = schedule
        self.rng = random.Random(f"{schedule}")
        self.program, self.programs, self.data = program, programs, data
        self.agents, self.flying, self.next_bit = [], [], 0
        self.barriers, self.named, self.accesses, self.values = {}, {}, {}, {}
        self.agent, self.last, self.steps = None, 0, 0
        self.counters, self.allocated = {}, 0
        self.order = list(range(self.most))
        if self.kind.startswith("order"):
            random.Random(seed).shuffle(self.order)
        Tile.machine = self

    # --- agents ------------------------------------------------------------------------------

    def start(self, name, warps, task, parent=None):
        if len(self.agents) >= self.most:
            raise NotModelled("more partitions than the machine has")
        agent = Agent(self, len(self.agents), name, warps)
        if parent:
            agent.know.join(parent.released())
        agent.task = task
        self.agents.append(agent)
        return agent

    def specialize(self, tasks):
        """A generator for the calling agent: runs (name, warps, task) beside each other, till all end."""
        me = self.agent
        children = [self.start(name, warps, task, me) for name, warps, task in tasks]
        yield lambda: all(c.over for c in children)
        for c in children:
            me.know.join(c.know)
            me.products += c.products
            me.stores += c.stores
            me.copies += c.copies + c.open
        return children[0].result

    def run(self, name, warps, task):
        """Runs until all is over; raises what goes wrong."""
        self.start(name, warps, task)
        while not self.agents[0].over:
            self.steps += 1
            if self.steps > self.limit:
                raise Broken("endless", f"no end after {self.limit} steps")
            able = [a for a in self.agents if not a.over and (a.until is None or a.until())]
            if not able and not self.flying:
                stuck = [f"{a.name} at {a.deferred or '?'}" for a in self.agents if not a.over][1:]
                raise Broken("hang", "; ".join(stuck) or "the kernel waits")
            which = self.pick(able)
            if isinstance(which, Transfer):
                self.flying.remove(which)
                which.ends()
                continue
            self.agent, self.last, which.until = which, which.number, None
            try:
                which.until = next(which.task)
            except StopIteration as end:
                which.over, which.result = True, end.value
        self.ended()

    def pick(self, able):
        """early, late: transfers end as soon, or as late as they can, agents in turn; order-early,
        order-late: an agent goes on as long as it can, in some order of agents; random."""
        if self.kind == "random":
            if self.flying and (not able or self.rng.random() < 0.15):
                return self.rng.choice(self.flying)
            same = [a for a in able if a.number == self.last]
            return same[0] if same and self.rng.random() < 0.7 else self.rng.choice(able)
        if self.flying and (self.kind.endswith("early") or not able):
            return self.flying[-1] if self.kind.startswith("order") else self.flying[0]
        if self.kind.startswith("order"):
            return min(able, key=lambda a: self.order[a.number])
        return min(able, key=lambda a: (a.number - self.last - 1) % self.most)

    def ended(self):
        known = self.agents[0].know.bits
        for name in ("products", "stores"):
            for bit, what in getattr(self.agents[0], name):
                if not known >> bit & 1:
                    raise Broken("exit", f"the kernel ends while {what} is in flight")
        for t in self.flying:
            raise Broken("exit", f"the kernel ends while {t.what} is in flight")

    # --- transfers ---------------------------------------------------------------------------

    def transfer(self, what, ends=None):
        bit = self.next_bit
        self.next_bit += 1
        if ends:
            self.flying.append(Transfer(bit, what, lambda: ends(bit)))
        return bit

    def retire(self, queue, left):
        """All but the last `left` of an agent's groups are known to be over."""
        mine = getattr(self.agent, queue)
        if left < 0:
            raise Broken("count", f"a wait for {left}")
        while len(mine) > left:
            bit, _ = mine.pop(0)
            for b in bit if isinstance(bit, list) else [bit]:
                self.agent.know.bits |= 1 << b

    def value_read(self, tile):
        for bit in tile.flying:
            if not self.agent.know.bits >> bit & 1:
                raise Broken("early", f"{self.agent.name} reads a value that a product still writes")

    # --- shared memory -----------------------------------------------------------------------

    def touch(self, region, write, what, engine, bit=None):
        """An access by the agent whose turn it is: its own, or of a transfer that it issued (`bit`).
        `engine`: by the async proxy."""
        me, know = self.agent, self.agent.know
        there = self.accesses.setdefault(region.alloc, [])
        filled, keep = False, []
        # Behind a partition's own stores the compiler puts a fence; behind cp.async it is a policy.
        plain = [o for o in there if o.write and not o.engine and o.bit is None and region.meets(o.region)]
        if engine and not write and any(o.agent == me.number for o in plain):
            self.fence()
        for old in there:
            if not region.meets(old.region):
                keep.append(old)
                continue
            filled |= old.write
            before = know.bits >> old.bit & 1 if old.bit is not None else know.clock[old.agent] >= old.clock
            if (write or old.write) and not before:
                raise Broken("race", f"{me.name}: {what} beside {self.agents[old.agent].name}: {old.what}")
            if engine and not write and old in plain and know.fclock[old.agent] < old.clock:
                raise Broken("fence", f"{me.name}: {what} behind {old.what} without a fence")
            if before and region.covers(old.region) and (write or not old.write) and not \
                    (not write and old.write):
                continue
            keep.append(old)
        if not write and not filled:
            raise Broken("empty", f"{me.name}: {what}, where nothing was written")
        keep.append(Access(region, write, me.number, know.clock[me.number], bit, engine, what))
        self.accesses[region.alloc] = keep

    def fence(self):
        k = self.agent.know
        k.fclock, k.fbits = k.clock[:], k.bits
        k.clock[self.agent.number] += 1

    # --- barriers ----------------------------------------------------------------------------

    def initialise(self, place, name, count):
        if place in self.barriers:
            raise Broken("count", f"{name} is initialised twice")
        self.barriers[place] = Barrier(self, name, count)

    def barrier(self, place, name):
        if place not in self.barriers:
            raise Broken("count", f"{name} was not initialised")
        return self.barriers[place]

    def wait(self, barrier, parity):
        me = self.agent
        if parity not in (0, 1):
            raise Broken("parity", f"a wait of parity {parity} at {barrier.name}")
        me.deferred = f"{barrier.name}, parity {parity} (phase {barrier.phase})"
        yield lambda: barrier.passed(parity)
        me.know.join(barrier.done)

    def sync(self, number, threads, wait):
        me = self.agent
        bar = self.named.setdefault(number, Named(self, number))
        turn = bar.turn
        bar.arrive(me.warps * 32, threads, me.released())
        if wait:
            me.deferred = f"barrier {number}"
            yield lambda: bar.turn > turn
            me.know.join(bar.done)
