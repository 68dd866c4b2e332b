#pragma once

// Marks what the shared library exports: the names that are declared in `namespace KANDINSKY_API kandinsky`.
// All other symbols are hidden.
#define KANDINSKY_API [[gnu::visibility("default")]]
