#pragma once

#include <kandinsky/outline.hpp>
#include <string>

#include "cli/process/terminal.hpp"
#include "io/file/atomic_file.hpp"

namespace kandinsky::cli {

/// The output folders; empty: none.
struct OutlineFolders {
    std::string files;     ///< a file per case, in the input's form
    std::string pictures;  ///< a picture per case and class
};

/// Writes the outlines of all cases into folders and, unless `array` is null, into a uint8 array. If the
/// input is an array, the rows are its images: [N,K,H,W]. If the input is a folder, the rows are the cases,
/// which must have one size: [N,K,H,W], or [N,K,D,H,W] for volumes.
void write_outlines(const OutlineFolders& folders, const OutlineRule& rule, const CaseSource& cases,
                    const Calibrator* calibrator, AtomicFile* array, TerminalProgress& progress);

}  // namespace kandinsky::cli
