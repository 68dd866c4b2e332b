"""Public headers hold what users call and nothing else."""

import symbols
from tree_test import TEXTS

HEADERS = {path: text for path, text in TEXTS.items() if path.startswith("include/kandinsky/")}


def test_every_public_symbol_has_a_user():
    users = symbols.users_of(symbols.public_symbols(HEADERS), TEXTS)
    assert len(users) > 150
    alone = sorted(name for name, those in users.items() if not those)
    assert alone == [], "only the library's own code uses them: move them to src/"


HEADER = """#pragma once
namespace KANDINSKY_API kandinsky {
struct Hidden;  // declared only
/// A class of Comment.
class Used {
  public:
    [[nodiscard]] Held held() const { return held_; }
  private:
    Private held_;
};
struct Held { int n = 0; };
struct Private {};
enum class Kind { one, two };
inline constexpr int kLimit = 3;
using Names = int;
[[nodiscard]] inline int twice(int n) {
    return 2 * n;
}
template <class T>
[[nodiscard]] T lonely(const T* first);
}  // namespace kandinsky
"""


def test_symbols_of_every_kind_are_found():
    found = symbols.public_symbols({"include/kandinsky/a.hpp": HEADER})
    assert set(found) == {"Used", "Held", "Private", "Kind", "kLimit", "Names", "twice", "lonely"}


def test_users_are_found_through_what_they_use_but_not_through_private_members():
    found = symbols.public_symbols({"include/kandinsky/a.hpp": HEADER})
    users = symbols.users_of(found, {"docs/a.md": "A `Used` and Kind.", "src/core/a.cpp": "lonely(); kLimit;",
                                     "src/cli/main.cpp": "// Names\nint main() { return twice(1); }"})
    assert users["Used"] == {"docs/a.md"} and users["Held"] == {"Used"} and users["twice"] == {"src/cli/main.cpp"}
    assert [name for name, those in users.items() if not those] == ["Private", "kLimit", "Names", "lonely"]
