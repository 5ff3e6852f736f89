# Writes recipes into a source file, so that the binary needs no files at run time:
#   cmake -DOUTPUT=builtin_data.cpp "-DINPUTS=a.toml b.toml" -P LimbEmbed.cmake
string(REPLACE " " ";" inputs "${INPUTS}")
set(text "#include \"limb/model/core/builtin_data.hpp\"\n\nnamespace limb {\nnamespace {\n\n")
string(APPEND text "constexpr BuiltinRecipe kRecipes[] = {\n")
foreach(input ${inputs})
  get_filename_component(name ${input} NAME_WE)
  file(READ ${input} recipe)
  string(APPEND text "    {\"${name}\", R\"recipe(${recipe})recipe\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\n")
string(APPEND text "std::span<const BuiltinRecipe> builtin_recipes() { return kRecipes; }\n\n")
string(APPEND text "}  // namespace limb\n")
file(WRITE ${OUTPUT} "${text}")
