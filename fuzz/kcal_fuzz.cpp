// Reads any bytes as a calibrator. Checksums are corrected first, because an attacker would correct them too.
#include <kandinsky/kcal.hpp>
#include <kandinsky/reference.hpp>

#include "harness.hpp"
#include "zip_repair.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace kandinsky;
    fuzz::set_input(fuzz::as_bytes(fuzz::with_right_checksums({reinterpret_cast<const char*>(data), size})));
    Calibrator calibrator;
    if (fuzz::result_or_error([&] { calibrator = load(fuzz::kInput); })) fuzz::check_calibrator(calibrator);
    (void)fuzz::result_or_error([] { (void)load_reference(fuzz::kInput); });
    return 0;
}
