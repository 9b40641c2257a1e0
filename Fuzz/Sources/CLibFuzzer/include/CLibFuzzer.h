#ifndef CLARUS_LIBFUZZER_H
#define CLARUS_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

// What libFuzzer offers to programs that have a `main` of their own.

/// Runs the fuzzer with the command line's options; `run` is called for every input. Returns the program's exit code.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));

/// Changes an input of `size` bytes in a buffer of `capacity` and returns its new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

#endif
