#pragma once

#include <nanobind/nanobind.h>

namespace halfword {

/// Add what training does with whole tables of queries to the module.
void bind_tables(nanobind::module_& module);

}  // namespace halfword
