// Headers that many files of the runtime include, parsed once.
#include "Plan_generated.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
