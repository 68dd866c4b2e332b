#pragma once

#include <pthread.h>

#include <memory>
#include <new>
#include <vector>

namespace kandinsky {

/// A buffer that a thread keeps between calls, one for each `Purpose` (a type defined at the place of use).
/// A thread's first call makes it with `least` elements. It replaces thread_local objects: without memory to
/// register their destructors, glibc aborts the program, but this function throws std::bad_alloc.
template <class T, class Purpose>
[[nodiscard]] std::vector<T>& thread_buffer(std::size_t least = 0) {
    static const pthread_key_t key = [] {
        pthread_key_t made{};
        if (::pthread_key_create(&made, [](void* old) { delete static_cast<std::vector<T>*>(old); }) != 0)
            throw std::bad_alloc();
        return made;
    }();
    if (void* const kept = ::pthread_getspecific(key)) return *static_cast<std::vector<T>*>(kept);
    auto fresh = std::make_unique<std::vector<T>>(least);
    if (::pthread_setspecific(key, fresh.get()) != 0) throw std::bad_alloc();
    return *fresh.release();
}

}  // namespace kandinsky
