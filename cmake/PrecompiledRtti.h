// Beside Precompiled.h, for what is compiled with RTTI: commands and unit tests.
#include "Precompiled.h"
#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
