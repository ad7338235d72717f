# Writes migrations/*.sql and migrations/citus/*.sql into a C++ source: cmake -DFOLDER=... -DOUTPUT=... -P embed_migrations.cmake
# A file's name is its number and its name: 0001_initial.sql.
function(read_rows folder result)
  file(GLOB files ${folder}/*.sql)
  list(SORT files)
  set(rows "")
  foreach(path ${files})
    get_filename_component(stem ${path} NAME_WE)
    if(NOT stem MATCHES "^([0-9][0-9][0-9][0-9])_(.+)$")
      message(FATAL_ERROR "${path}: must be named like 0001_initial.sql")
    endif()
    math(EXPR version "1${CMAKE_MATCH_1} - 10000")
    set(name ${CMAKE_MATCH_2})
    file(READ ${path} text)
    if(text MATCHES "\\)SQL\"")
      message(FATAL_ERROR "${path}: holds the end mark of a raw string")
    endif()
    string(APPEND rows "    {${version}, \"${name}\", R\"SQL(${text})SQL\"},\n")
  endforeach()
  set(${result} "${rows}" PARENT_SCOPE)
endfunction()

read_rows(${FOLDER} rows)
read_rows(${FOLDER}/citus citus_rows)
set(source "// Made from migrations/ by cmake/embed_migrations.cmake.\n
#include \"server/store/schema/migrations.h\"\n
namespace stepscope {
namespace {\n
constexpr Migration kMigrations[] = {
${rows}};\n
constexpr Migration kCitusMigrations[] = {
${citus_rows}};\n
}  // namespace\n
std::span<const Migration> Migrations() {
  return kMigrations;
}\n
std::span<const Migration> CitusMigrations() {
  return kCitusMigrations;
}\n
}  // namespace stepscope\n")
file(WRITE ${OUTPUT} "${source}")
