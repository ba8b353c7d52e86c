"""Small Cortex-M programs, each of which is built several times, as versions of one firmware that differ
like releases.

A program consists of modules of C that are generated from a seed: state machines, parsers, tables, texts,
and calls between them. A version specifies the seed of each module and its changes, so that a change is as
local as a developer's change, and moves as much code. Unchanged modules are compiled once.
"""
import hashlib
import pathlib
import random
import subprocess

COMPILER = "arm-none-eabi-gcc"
FLAGS = ["-mthumb", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-w"]
LINKER_SCRIPT = """
ENTRY(reset)
SECTIONS {
  . = %d;
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); }
  .data : { *(.data*) }
  .bss (NOLOAD) : { *(.bss*) *(COMMON) }
  /DISCARD/ : { *(.ARM*) *(.comment*) }
}
"""
WORDS = ("adc battery beacon bond boot buffer cable channel clock crc device enable error event fault "
         "flash gain gpio handle heater idle image index level light link lock motor packet pair page "
         "phase power pulse queue radio relay reset sample scan sensor slot sleep state status timer "
         "tone uart update usb valve version wake watch window").split()


class Module:
    """One source file; `edits` are applied to the generated code: (function, kind)."""

    def __init__(self, name, seed, functions, edits=()):
        self.name, self.seed, self.functions, self.edits = name, seed, functions, tuple(edits)

    def edited(self, *edits):
        return Module(self.name, self.seed, self.functions, self.edits + edits)

    def source(self, others):
        draw = random.Random(self.seed)
        text = ["typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;",
                "typedef struct { u32 a, b; u16 c; u8 d[9]; struct node *next; } node;",
                f"static node nodes_{self.name}[24]; extern volatile u32 port[64];"]
        for other in others:
            for i in range(0, other.functions, 5):
                text.append(f"u32 {other.name}_{i}(u32 x, node *n, const u8 *p);")
        edits = dict(self.edits)
        table = [draw.getrandbits(16) for _ in range(draw.randint(16, 120))]
        if "table" in edits:
            table[len(table) // 2] ^= 0x55
        text.append(f"const u16 table_{self.name}[] = {{{','.join(map(str, table))}}};")
        for i in range(self.functions):
            one = random.Random(draw.getrandbits(64))
            text.append(self.function(i, one, others, edits.get(i)))
            if edits.get(i) == "added":
                text.append(self.function(f"{i}x", random.Random(self.seed * 1000 + i), others, None))
        return "\n".join(text)

    def function(self, number, draw, others, edit):
        lines = [f"u32 {self.name}_{number}(u32 x, node *n, const u8 *p) {{",
                 f"  u32 y = {draw.getrandbits(draw.choice((6, 8, 12, 32)))}u;"]
        body = [self.statement(draw, number, others, 0) for _ in range(draw.randint(3, 9))]
        if edit == "constant":
            body.append(f"  y += {len(self.name) * 77 + 1}u;")
        if edit == "branch":
            body.insert(1, "  if (x > 77u && n->c != 3) { y ^= n->b; port[5] = y; return y + 1; }")
        return "\n".join(lines + body + ["  return y;", "}"])

    def statement(self, draw, number, others, depth):
        kind = draw.randrange(11)
        a, b = draw.randrange(32), draw.randrange(1, 255)
        if depth < 2 and kind == 0:
            inner = " ".join(self.statement(draw, number, others, depth + 1) for _ in range(2))
            return f"  if (({draw.choice(('x', 'y', 'n->a', 'p[%d]' % a))} & {b}) == {b % 7}) {{ {inner} }}"
        if depth < 2 and kind == 1:
            inner = self.statement(draw, number, others, depth + 1)
            return f"  for (u32 i = 0; i < {a + 2}; i++) {{ y = y * {b} + p[i]; {inner} }}"
        if kind == 2:
            cases = " ".join(f"case {draw.randrange(40) * 8 + c}: y += n->d[{c}]; x ^= {draw.getrandbits(9)};"
                             + (" break;" if draw.random() < .7 else "") for c in range(draw.randint(3, 8)))
            return f"  switch (x) {{ {cases} default: y ^= x; }}"
        if kind in (3, 4) and others:
            other = draw.choice(others)
            callee = draw.randrange(0, other.functions, 5)
            return f"  y ^= {other.name}_{callee}(y, n, p + {a % 9});"
        if kind == 5:
            words = " ".join(draw.sample(WORDS, draw.randint(2, 5)))
            return f'  {{ const char *t = "{words}: %u"; y += t[x & 15]; port[{a % 9}] = (u32)t; }}'
        if kind == 6:
            return f"  port[{a}] = (port[{(a * 7) % 64}] & ~{b}u) | (y << {b % 13});"
        if kind == 7:
            return f"  nodes_{self.name}[{a % 24}].{draw.choice('ab')} += y >> {b % 17};"
        if kind == 8:
            return f"  y += table_{self.name}[(x + {b}) % 16] * {draw.choice((3, 10, 100, 1000))};"
        if kind == 9:
            return f"  if (n->next) {{ n->c = y; n->d[{a % 9}] = x >> {b % 9}; }} else return {b};"
        return f"  x = (x << {b % 15 + 1}) ^ (y >> {a % 11}) ^ {draw.getrandbits(7)};"


class Firmware:
    """The modules and the other differences between builds."""

    def __init__(self, modules, version="1.0.0", cpu="cortex-m4", level="-Os", address=0x8000):
        self.modules, self.version, self.cpu = modules, version, cpu
        self.level, self.address = level, address

    def with_(self, **changes):
        fields = {"modules": self.modules, "version": self.version, "cpu": self.cpu,
                  "level": self.level, "address": self.address}
        return Firmware(**{**fields, **changes})

    def build(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        objects = [self.compile(folder, self.entry())]
        for i, module in enumerate(self.modules):
            others = self.modules[max(0, i - 3):i]
            objects.append(self.compile(folder, module.source(others)))
        script = folder / f"{self.address:x}.ld"
        script.write_text(LINKER_SCRIPT % self.address)
        program, image = folder / "program.elf", folder / "program.bin"
        subprocess.run([COMPILER, f"-mcpu={self.cpu}", "-mthumb", "-nostdlib", "-T", script, *objects,
                        "-lgcc", "-o", program], check=True)
        subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", "-j", ".data",
                        program, image], check=True)
        return image.read_bytes()

    def compile(self, folder, source):
        flags = [f"-mcpu={self.cpu}", self.level, *FLAGS]
        name = hashlib.sha256("\n".join([source, *flags]).encode()).hexdigest()[:16]
        target = folder / f"{name}.o"
        if not target.exists():
            subprocess.run([COMPILER, *flags, "-x", "c", "-c", "-", "-o", target],
                           input=source.encode(), check=True)
        return target

    def entry(self):
        calls = "\n".join(
            f"extern u32 {m.name}_{i}(u32, void *, const void *); "
            for m in self.modules for i in range(m.functions))
        table = ",".join(f"(void *){m.name}_{i}" for m in self.modules for i in range(m.functions))
        return f"""
typedef unsigned int u32;
volatile u32 port[64];
const char version[] = "version {self.version} built by {hashlib.md5(self.version.encode()).hexdigest()}";
{calls}
void *const calls[] = {{{table}}};
void reset(void) {{
  for (u32 i = 0;; i++) port[i & 63] = ((u32 (*)(u32, void *, const void *))calls[i % (sizeof calls / 4)])(i, 0, version);
}}
__attribute__((section(".vectors"), used)) void *const vectors[16] = {{(void *)0x20010000, (void *)reset}};
"""


def modules(seed, count, functions):
    draw = random.Random(seed)
    return [Module(f"{draw.choice(WORDS)}{i}", draw.getrandbits(48), functions) for i in range(count)]


def large():
    """Returns two releases of half a MiB, for measuring time."""
    first = modules(7, 20, 150)
    second = [m.edited((3, "constant"), (40, "branch")) if i % 5 == 2 else m
              for i, m in enumerate(first)]
    second.insert(9, Module("fresh", 99, 70))
    return Firmware(first), Firmware(second, "1.1.0")


def versions():
    """Returns pairs of firmware by name."""
    small = Firmware(modules(1, 10, 60))
    m = small.modules

    def changed(i, *edits):
        return m[:i] + [m[i].edited(*edits)] + m[i + 1:]

    fresh = Module("fresh", 77, 60)
    several = [x.edited((7, "constant"), (20, "branch"), (33, "added")) if i % 3 == 0 else x
               for i, x in enumerate(m)]
    return {
        "version string": (small, small.with_(version="1.0.1")),
        "a constant": (small, small.with_(modules=changed(4, (7, "constant")), version="1.0.1")),
        "a table": (small, small.with_(modules=changed(4, ("table", 1)), version="1.0.1")),
        "a branch at the start": (small, small.with_(modules=changed(0, (2, "branch")))),
        "a branch at the end": (small, small.with_(modules=changed(9, (50, "branch")))),
        "an additional function": (small, small.with_(modules=changed(5, (30, "added")))),
        "edits in a third of the modules": (small, small.with_(modules=several, version="1.1.0")),
        "an additional module": (small, small.with_(modules=m[:6] + [fresh] + m[6:], version="1.1.0")),
        "a removed module": (small, small.with_(modules=m[:4] + m[5:], version="1.1.0")),
        "modules in another order": (small, small.with_(modules=m[5:] + m[:5])),
        "another start address": (small, small.with_(address=0x10000)),
        "compiled with `-O2`": (small, small.with_(level="-O2")),
        "compiled for a Cortex-M0+": (small, small.with_(cpu="cortex-m0plus")),
        "unrelated program": (small, Firmware(modules(500, 10, 60), "9.0.0")),
    }
