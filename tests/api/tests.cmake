# Sees what a program outside the project sees: the public headers and, where it is built, the shared library.
set(api_library kandinsky)
