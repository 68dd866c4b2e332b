#include <kandinsky/error.hpp>

namespace kandinsky {

void Error::raise() const {
    throw Error(*this);
}

}  // namespace kandinsky
