#include "score/visit_sums.hpp"

#include <algorithm>

namespace kandinsky {

namespace {
template <class T>
void sum_all(Communicator& comm, const std::vector<std::span<T>>& spans) {
    if (spans.empty()) return;
    if (spans.size() == 1) return comm.sum(spans.front());
    std::vector<T> all;
    for (const std::span<T> one : spans) all.insert(all.end(), one.begin(), one.end());
    comm.sum(std::span(all));
    const T* from = all.data();
    for (const std::span<T> one : spans) {
        std::copy_n(from, one.size(), one.begin());
        from += one.size();
    }
}
}  // namespace

State VisitSums::state() const {
    State all = own_;
    for (const std::span<std::uint32_t> one : narrow_) all.push_back(std::as_writable_bytes(one));
    for (const std::span<std::uint64_t> one : wide_) all.push_back(std::as_writable_bytes(one));
    return all;
}

void VisitSums::sum(Communicator& comm) const {
    if (comm.size() == 1) return;
    sum_all(comm, narrow_);
    sum_all(comm, wide_);
}

}  // namespace kandinsky
