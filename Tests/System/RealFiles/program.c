/* A program with the properties that cause differences between files: sections with gaps between
 * them, variables with initial values, and registers at distant addresses that the linker fills. */
extern const unsigned char table[];
static int counter = 0x12345678;
static char name[21] = "otaflash";
static int zero[64];

__attribute__((section(".rodata.table"), aligned(32))) const unsigned char table[37] = {1, 2, 3};

int start(void) {
  zero[name[1] & 63] += counter + table[zero[0] & 31];
  return zero[3];
}

__attribute__((section(".vectors"), used)) void *const vectors[4] = {
    (void *)0x20010000, (void *)start, (void *)start, (void *)start};

#ifdef WITH_UICR
__attribute__((section(".uicr"), used)) const unsigned uicr[2] = {0x000F8000, 0x000FE000};
#endif
