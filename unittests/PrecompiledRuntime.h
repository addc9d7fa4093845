// Beside lib/Runtime/Precompiled.h, for the unit tests of the runtime.
#include "Precompiled.h"
#include <gtest/gtest.h>
