#include "cli/process/last_words.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <kandinsky/error.hpp>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

namespace kandinsky::cli {

namespace {
constexpr std::string_view kName = "kandinsky: ";

[[noreturn]] void on_terminate() noexcept {
    try {
        if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
        ::_exit(out_of_memory());
    } catch (const std::exception& error) {
        if (is_refusal(error)) {
            complain(error.what());
            ::_exit(static_cast<int>(ErrorKind::file));
        }
    } catch (...) {  // as any fault of this program: its core is worth keeping
    }
    std::abort();
}
}  // namespace

void complain(std::string_view text) noexcept {
    // One call, so that lines of several programs do not mix; all of it, since it is short.
    char newline = '\n';
    iovec parts[] = {{const_cast<char*>(kName.data()), kName.size()},
                     {const_cast<char*>(text.data()), text.size()},
                     {&newline, 1}};
    (void)!::writev(STDERR_FILENO, parts, 3);
}

bool is_refusal(const std::exception& error) noexcept {
    return typeid(error) == typeid(std::runtime_error) ||
           dynamic_cast<const std::system_error*>(&error) != nullptr;
}

int out_of_memory() noexcept {
    complain("out of memory; use fewer images at a time, lower --memory, or close other programs");
    return static_cast<int>(ErrorKind::file);
}

void survive_terminate() noexcept {
    std::set_terminate(on_terminate);
}

}  // namespace kandinsky::cli
