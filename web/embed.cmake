# The web UI inside the server: library web_files, which is StaticFiles() of static_file_table.h.
# npm runs only when a source of web/ is newer than what was generated.

find_program(STEPSCOPE_NPM npm)
find_program(STEPSCOPE_NODE node)

if(STEPSCOPE_WEB AND STEPSCOPE_NPM AND STEPSCOPE_NODE)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*)
  set(web_output ${CMAKE_BINARY_DIR}/web)
  add_custom_command(
    OUTPUT ${web_output}/static_files.cpp
    COMMAND ${CMAKE_SOURCE_DIR}/web/tools/build.sh ${web_output}
    DEPENDS ${web_sources}
            ${CMAKE_SOURCE_DIR}/web/index.html
            ${CMAKE_SOURCE_DIR}/web/package.json
            ${CMAKE_SOURCE_DIR}/web/package-lock.json
            ${CMAKE_SOURCE_DIR}/web/vite.config.ts
            ${CMAKE_SOURCE_DIR}/web/tools/build.sh
            ${CMAKE_SOURCE_DIR}/web/tools/embed.mjs
    COMMENT "Building the web UI"
    VERBATIM)
  add_library(web_files STATIC ${web_output}/static_files.cpp)
else()
  message(STATUS "Without the web UI: the server shows a plain page (npm missing or STEPSCOPE_WEB=OFF)")
  add_library(web_files STATIC ${CMAKE_SOURCE_DIR}/web/plain_page.cpp)
endif()
target_include_directories(web_files PRIVATE ${CMAKE_SOURCE_DIR})
# The table is used by server/api and knows nothing of it but its header.
target_link_libraries(server_api INTERFACE web_files)
