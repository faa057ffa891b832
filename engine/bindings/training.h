#pragma once

#include <nanobind/nanobind.h>

namespace halfword {

/// Add what training needs of the engine to the module.
void bind_training(nanobind::module_& module);

}  // namespace halfword
