"""A second cache, written from the procedure alone and with no regard for speed: every
question is answered by looking at all nodes. It shares no code with kvlab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile


@dataclass(eq=False)
class Seg:
    """A stretch of tokens in the tree."""

    tokens: list[int]
    parent: Seg | None
    children: list[Seg] = field(default_factory=list)
    device: bool = False
    host: bool = False
    lock: int = 0
    hits: int = 0
    access: int = 0
    created: int = 0

    def up(self) -> Iterator[Seg]:
        """Yield the segment and its ancestors, the root left out."""
        here = self
        while here.parent is not None:
            yield here
            here = here.parent


class Model:
    """Serves prompts one by one; counts tokens as the procedure names them."""

    def __init__(
        self,
        pool: int,
        host: int | None,
        page: int,
        policy: str,
        write_policy: str = "write_through",
        *,
        unit: bool = False,
        engine_room: bool = False,
    ) -> None:
        self.page, self.policy, self.write_policy = page, policy, write_policy
        self.unit, self.engine_room = unit, engine_room and page > 1
        self.two_tiers = host is not None
        self.free, self.host_free = pool // page * page, host or 0
        self.root = Seg([], None, device=True, host=True, lock=1)
        self.clock = 0
        self.acks: list[Seg] = []
        self.waiting: list[Seg] = []
        self.evicted = self.lost = self.backed_up = self.host_evicted = 0

    # --- one prompt

    def serve(self, prompt: list[int]) -> tuple[int, int, int]:
        """Return tokens hit on device, beyond it on host, and loaded back."""
        whole = self.cut(len(prompt))
        path = self.walk(prompt[: self.cut(len(prompt) - (not self.unit))])
        hit = sum(len(seg.tokens) for seg in path if seg.device)
        beyond = [seg for seg in path if not seg.device]
        on_host = sum(len(seg.tokens) for seg in beyond)
        device = [seg for seg in path if seg.device]
        locked = self.locked(device[-1] if device else self.root)
        loaded = 0
        if on_host >= 10 and self.make_room(on_host, on_host):
            self.free -= on_host
            loaded = on_host
            for seg in beyond:
                seg.device = True
            self.unlock(locked)
            locked = self.locked(path[-1])
        done = hit + loaded
        self.place(prompt, whole, done)
        self.unlock(locked)
        for seg in self.acks:
            self.unlock(list(seg.up()))
        self.acks.clear()
        return hit, on_host, loaded

    def place(self, prompt: list[int], whole: int, done: int) -> None:
        need = taken = max(whole - done, 0)
        if self.engine_room:
            need = len(prompt) - done + self.page
            taken = -(-(len(prompt) - done) // self.page) * self.page
        self.make_room(need, taken)
        assert self.free >= taken, "the model's pool is too small"
        self.free -= taken
        known = self.insert(prompt[:whole])
        self.free += max(known - done, 0)
        self.free += taken - max(whole - done, 0)

    def make_room(self, ask: int, enough: int) -> bool:
        if self.free < ask:
            self.evict(ask)
        return self.free >= enough

    # --- the tree

    def cut(self, size: int) -> int:
        return size // self.page * self.page

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def walk(self, key: list[int]) -> list[Seg]:
        here, path, stamp = self.root, [], self.tick()
        while key:
            first = key[: self.page]
            below = [s for s in here.children if s.tokens[: self.page] == first]
            if not below:
                break
            (here,) = below
            here.access = self.tick() if self.two_tiers else stamp
            pairs = zip(here.tokens, key, strict=False)
            equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            if equal < len(here.tokens):
                path.append(self.split(here, self.cut(equal)))
                break
            path.append(here)
            key = key[equal:]
        return path

    def split(self, seg: Seg, at: int) -> Seg:
        upper = Seg(
            seg.tokens[:at], seg.parent, [seg], seg.device, seg.host, seg.lock,
            seg.hits, self.tick(), self.tick(),
        )  # fmt: skip
        seg.parent.children[seg.parent.children.index(seg)] = upper
        seg.tokens, seg.parent = seg.tokens[at:], upper
        return upper

    def insert(self, key: list[int]) -> int:
        path, known = self.walk(key), 0
        for seg in path:
            if seg.device:
                known += len(seg.tokens)
                self.hit(seg)
            seg.device = True
        rest = key[sum(len(seg.tokens) for seg in path) :]
        if rest:
            parent = path[-1] if path else self.root
            leaf = Seg(rest, parent, access=self.tick(), created=self.tick())
            leaf.device = True
            parent.children.append(leaf)
            self.hit(leaf)
        return known

    def hit(self, seg: Seg) -> None:
        if self.two_tiers and self.write_policy == "write_back":
            return
        seg.hits += 1
        enough = 1 if self.write_policy == "write_through" else 2
        if not self.two_tiers or seg.host or seg.hits < enough or not seg.parent.host:
            return
        if self.write(seg):
            self.locked(seg)
            self.acks.append(seg)

    def locked(self, seg: Seg) -> list[Seg]:
        path = list(seg.up())
        for above in path:
            above.lock += 1
        return path

    def unlock(self, path: list[Seg]) -> None:
        """A path that was split since it was locked has more segments now."""
        for above in path[0].up() if path else ():
            above.lock -= 1

    # --- eviction

    def segs(self) -> Iterator[Seg]:
        todo = list(self.root.children)
        while todo:
            seg = todo.pop()
            yield seg
            todo += seg.children

    def coldest(self, leaves: list[Seg]) -> Seg | None:
        keys = {
            "lru": lambda s: (s.access,),
            "lfu": lambda s: (s.hits, s.access),
            "fifo": lambda s: (s.created,),
            "slru": lambda s: (s.hits >= 2, s.access),
        }
        return min(leaves, key=keys[self.policy], default=None)

    def evict(self, ask: int) -> None:
        freed, stuck = 0, []
        while freed < ask:
            leaves = [
                s
                for s in self.segs()
                if s.device and not s.lock and s not in self.waiting and s not in stuck
                and all(not c.device or c in self.waiting for c in s.children)
            ]  # fmt: skip
            seg = self.coldest(leaves)
            if seg is None:
                break
            size = len(seg.tokens)
            if seg.host:
                seg.device, self.free = False, self.free + size
            elif not self.two_tiers or self.write_policy != "write_back":
                seg.parent.children.remove(seg)
                self.free, self.lost = self.free + size, self.lost + size
            elif self.write(seg):
                self.waiting.append(seg)
            else:
                stuck.append(seg)
                continue
            freed, self.evicted = freed + size, self.evicted + size
        for seg in self.waiting:
            seg.device, self.free = False, self.free + len(seg.tokens)
        self.waiting.clear()

    def write(self, seg: Seg) -> bool:
        size = len(seg.tokens)
        if self.host_free < size:
            self.evict_host(size)
        if self.host_free < size:
            return False
        self.host_free -= size
        self.backed_up += size
        seg.host = True
        return True

    def evict_host(self, ask: int) -> None:
        freed = 0
        while freed < ask:
            leaves = [
                s
                for s in self.segs()
                if not s.device and not s.lock and not any(c.host for c in s.children)
            ]
            seg = self.coldest(leaves)
            if seg is None:
                break
            seg.parent.children.remove(seg)
            freed += len(seg.tokens)
            self.host_free += len(seg.tokens)
            self.host_evicted += len(seg.tokens)
            self.lost += len(seg.tokens)

    # --- what remains

    def lines(self) -> list[tuple[int, ...]]:
        found = []
        for seg in self.segs():
            start = sum(len(above.tokens) for above in seg.up()) - len(seg.tokens)
            found.append(
                (
                    seg.tokens[0], start, len(seg.tokens), int(seg.device),
                    int(seg.host), seg.hits,
                )
            )  # fmt: skip
        return sorted(found)
