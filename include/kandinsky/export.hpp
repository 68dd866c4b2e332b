#pragma once

// The names that the shared library exports: `namespace KANDINSKY_API kandinsky` opens the public interface.
// All other symbols are hidden.
#define KANDINSKY_API [[gnu::visibility("default")]]
