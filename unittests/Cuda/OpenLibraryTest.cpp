// Libraries of a GPU's vendor are found where people have them, and what is missing is said with how to get it. The C library's
// mathematics stands for one.
#include "Cuda/OpenLibrary.h"
#include "Failure.h"
#include "Said.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace xlc::runtime;
using namespace xlc::test;
namespace fs = std::filesystem;

namespace {

constexpr LibraryFiles mathematics{"libm", {"libm.so.99", "libm.so.6"}, "it comes with the C library"};
constexpr LibraryFiles wheel{"a wheel", {"libxlc-wheel.so.2", "libxlc-wheel.so.1"}, "pip install wheel"};

/// A virtual environment of Python that is active as long as this lives.
class Environment {
public:
  Environment() {
    static int count = 0; // the linker knows again what it opened at the same path
    root = fs::temp_directory_path() / ("xlc-cuda-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    fs::create_directories(folder());
    setenv("VIRTUAL_ENV", root.c_str(), 1);
  }
  ~Environment() {
    unsetenv("VIRTUAL_ENV");
    fs::remove_all(root);
  }
  fs::path folder() const { return root / "lib/python3.11/site-packages/nvidia/wheel/lib"; }

private:
  fs::path root;
};

TEST(OpenLibrary, TakesTheNewestVersionThatIsThere) {
  OpenedLibrary library(mathematics);
  double (*cosine)(double) = nullptr;
  library.find(cosine, "cos");
  EXPECT_EQ(cosine(0), 1);
  EXPECT_NE(library.path().find("libm.so.6"), std::string::npos) << library.path();
}

TEST(OpenLibrary, SaysWhichFunctionIsMissing) {
  OpenedLibrary library(mathematics);
  void (*none)() = nullptr;
  std::string said = messageOf<Rejected>([&] { library.find(none, "cosineOfNothing"); });
  EXPECT_EQ(said.find("error: libm has no function 'cosineOfNothing' in /"), 0u) << said;
  EXPECT_NE(said.find("libm.so.6: it comes with the C library"), std::string::npos) << said;
}

TEST(OpenLibrary, SaysWhatWasLookedForAndHowToGetIt) {
  EXPECT_EQ(messageOf<Rejected>([] { OpenedLibrary library(wheel); }),
            "error: a wheel cannot be opened: no libxlc-wheel.so.2 or libxlc-wheel.so.1 was found: pip install wheel");
}

TEST(OpenLibrary, FindsTheWheelsOfAVirtualEnvironment) {
  fs::path original = OpenedLibrary(mathematics).path();
  Environment environment;
  fs::create_symlink(original, environment.folder() / "libxlc-wheel.so.1");
  EXPECT_EQ(listBesideLinker("libxlc-wheel.so.1"), std::vector{(environment.folder() / "libxlc-wheel.so.1").string()});
  OpenedLibrary library(wheel);
  double (*cosine)(double) = nullptr;
  library.find(cosine, "cos");
  EXPECT_EQ(cosine(0), 1);
}

TEST(OpenLibrary, SaysWhyAFileThatIsThereIsNotOpened) {
  Environment environment;
  std::ofstream(environment.folder() / "libxlc-wheel.so.1") << "not a library";
  std::string said = messageOf<Rejected>([] { OpenedLibrary library(wheel); });
  EXPECT_NE(said.find("lib/libxlc-wheel.so.1: "), std::string::npos) << said;
}

TEST(OpenLibrary, SaysWhichLibraryALibraryLacks) {
  Environment environment;
  fs::create_symlink(XLC_NEEDY_LIBRARY, environment.folder() / "libxlc-wheel.so.1");
  std::string said = messageOf<Rejected>([] { OpenedLibrary library(wheel); });
  EXPECT_EQ(said.find("error: a wheel cannot be opened: libxlc-needed.so: cannot open shared object file"), 0u) << said;
}

/// Even where the dynamic linker would find another.
TEST(OpenLibrary, LooksInAFolderThatIsGivenAndNowhereElse) {
  fs::path folder = fs::path(OpenedLibrary(mathematics).path()).parent_path();
  EXPECT_EQ(OpenedLibrary(mathematics, folder).path(), (folder / "libm.so.6").string());
  Environment empty;
  std::string said = messageOf<Rejected>([&] { OpenedLibrary library(mathematics, empty.folder()); });
  EXPECT_NE(said.find((empty.folder() / "libm.so.99").string()), std::string::npos) << said;
}

} // namespace
