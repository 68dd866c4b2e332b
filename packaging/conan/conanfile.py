"""The C++ library as a Conan package, from the source distribution (`make sdist`): scripts/recipes.py puts both into one folder.

Dependencies come from Conan, or with `-o "kandinsky/*:system_libraries=True"` from the system (scripts/packages.txt names
Debian's packages). Calibrators are read and written; the command, folders of images and networks are not part of it.
"""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir, unzip

REQUIRED = ["onetbb/2021.12.0", "highway/1.2.0", "fmt/11.0.2", "nlohmann_json/3.11.3", "zlib/1.3.1", "boost/1.86.0"]


class KandinskyConan(ConanFile):
    name = "kandinsky"
    description = "Spatially calibrated conformal prediction sets for image segmentation"
    license = "MIT"
    topics = ("conformal-prediction", "segmentation", "calibration", "uncertainty")
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "system_libraries": [True, False]}
    default_options = {"shared": False, "fPIC": True, "system_libraries": False, "boost/*:header_only": True}
    exports_sources = "kandinsky-*.tar.gz"
    package_type = "library"

    def set_version(self):
        (archive,) = Path(self.recipe_folder).glob("kandinsky-*.tar.gz")
        self.version = self.version or archive.name[len("kandinsky-") : -len(".tar.gz")]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        if not self.options.system_libraries:
            for one in REQUIRED:
                self.requires(one)

    def source(self):
        unzip(self, str(Path(self.export_sources_folder) / f"kandinsky-{self.version}.tar.gz"), strip_root=True)

    def generate(self):
        chain = CMakeToolchain(self)
        for part in ("TESTS", "CLI", "PYTHON"):
            chain.cache_variables[f"KANDINSKY_BUILD_{part}"] = False
        chain.cache_variables["KANDINSKY_WEB"] = "OFF"
        for name in ("NIFTI", "PNG", "JPEG", "COCO"):
            chain.cache_variables[f"KANDINSKY_WITH_{name}"] = "OFF"
        chain.generate()
        deps = CMakeDeps(self)
        # Conan names the package highway; its own CMake files, and Debian's, name it hwy.
        deps.set_property("highway", "cmake_file_name", "hwy")
        deps.set_property("highway::hwy", "cmake_target_name", "hwy::hwy")
        deps.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="kandinsky")

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        CMake(self).install()
        rmdir(self, str(Path(self.package_folder) / "share"))
        if not self.options.system_libraries:
            rmdir(self, str(Path(self.package_folder) / "lib" / "cmake"))

    def package_info(self):
        self.cpp_info.libs = ["kandinsky"]
        if self.options.system_libraries:
            # The library's own CMake package is used, because it knows the dependencies of a static library.
            self.cpp_info.set_property("cmake_find_mode", "none")
            self.cpp_info.builddirs = [str(Path("lib") / "cmake" / "kandinsky")]
        else:
            # The library's own CMake package does not know the names of Conan's libraries, so CMakeDeps writes a package.
            self.cpp_info.set_property("cmake_target_name", "kandinsky::kandinsky")
            self.cpp_info.system_libs = ["dl", "m", "pthread"]
