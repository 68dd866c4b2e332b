#include <cstdio>
#include <kandinsky/error.hpp>
#include <kandinsky/partition.hpp>

// Lists the methods, and catches an error that was thrown inside the library.
int main() {
    for (const kandinsky::Method* method : kandinsky::methods()) std::puts(method->name.c_str());
    try {
        (void)kandinsky::method("no such method");
    } catch (const kandinsky::Error& error) {
        return error.kind() == kandinsky::ErrorKind::usage ? 0 : 1;
    }
    return 1;
}
