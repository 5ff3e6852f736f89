#pragma once

/// Front header of the module: every public header, and nothing else.
#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/algebra/polynomial.hpp"
#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/derive/derivation.hpp"
#include "limb/symbolic/derive/operational_space_inertia.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"
#include "limb/symbolic/derive/robot.hpp"
#include "limb/symbolic/derive/write_function.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"
#include "limb/symbolic/typeset/document.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"
