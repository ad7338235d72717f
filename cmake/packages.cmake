# The packages that `cpack` makes of a build: a .deb of each program, and a tarball of the agent. scripts/package does
# it all.
stepscope_link_in(stepscope-agent)
target_link_options(stepscope-server PRIVATE -Wl,--as-needed)

add_executable(stepscope-agent-portable EXCLUDE_FROM_ALL agent/app/commands/main.cpp)
target_link_libraries(stepscope-agent-portable PRIVATE agent_app)
target_compile_definitions(stepscope-agent-portable PRIVATE STEPSCOPE_VERSION="${PROJECT_VERSION}")
set_target_properties(stepscope-agent-portable PROPERTIES STEPSCOPE_PORTABLE ON)
stepscope_link_in(stepscope-agent-portable)

# The licences' texts, which the libraries that are linked in ask for.
function(stepscope_copyright file)
  set(text "")
  file(READ LICENSE text)
  foreach(package ${ARGN})
    if(EXISTS /usr/share/doc/${package}/copyright)
      file(READ /usr/share/doc/${package}/copyright more)
      string(APPEND text "\n---- linked in: ${package}\n\n${more}")
    endif()
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/${file} "${text}")
endfunction()
string(REGEX MATCH "^[0-9]+" compiler ${CMAKE_CXX_COMPILER_VERSION})
set(linked_in libstdc++-${compiler}-dev libzstd-dev libfmt-dev libspdlog-dev nlohmann-json3-dev)
stepscope_copyright(copyright/debian ${linked_in})
stepscope_copyright(copyright/portable ${linked_in} libssl-dev)

# Pages in the form for a package, beside each other in build/pages/<package>. `beside` names the package's files beside
# its pages. A link to anything else becomes its text, a missing picture is removed.
function(stepscope_pages package beside)
  file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/pages/${package})
  set(names "")
  foreach(page ${ARGN})
    get_filename_component(name ${page} NAME)
    if(page STREQUAL "python/README.md")
      set(name python.md)
    endif()
    list(APPEND names ${name})
  endforeach()
  foreach(page name IN ZIP_LISTS ARGN names)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    file(READ ${page} text)
    # The README of the source and the index of decisions are in no package: README.md is the map of docs there.
    string(REGEX REPLACE "\\]\\((\\.\\./|decisions/)+README\\.md" "](left out" text "${text}")
    string(REGEX REPLACE "\\]\\((\\.\\./)*python/README\\.md" "](python.md" text "${text}")
    string(REGEX REPLACE "\\]\\((\\.\\./)*((docs|decisions)/)?" "](" text "${text}")
    foreach(kept ${names} ${beside} http "#")
      string(REPLACE "](${kept}" "](@${kept}" text "${text}")
    endforeach()
    string(REGEX REPLACE "!\\[[^]]*\\]\\([^@)][^)]*\\)" "" text "${text}")
    string(REGEX REPLACE "\\[([^]]*)\\]\\([^@)][^)]*\\)" "\\1" text "${text}")
    string(REPLACE "](@" "](" text "${text}")
    file(WRITE ${CMAKE_BINARY_DIR}/pages/${package}/${name} "${text}")
  endforeach()
endfunction()
set(agent_pages docs/agent.md docs/agent-transcript.md docs/packages.md docs/slurm.md docs/kubernetes.md docs/access.md docs/tls.md
                docs/decisions/0019-spool.md python/README.md)
file(GLOB server_pages RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.md)
foreach(decision 0008-citus 0009-full-disk 0011-folded-rollups 0019-spool 0047-samples-of-one-job)
  list(APPEND server_pages docs/decisions/${decision}.md)
endforeach()
stepscope_pages(agent "" ${agent_pages})
stepscope_pages(server "rules/;pictures/;analysis.ipynb;openapi.yaml" ${server_pages} python/README.md)
install(TARGETS stepscope-agent DESTINATION bin COMPONENT agent)
install(FILES docker/agent.toml DESTINATION /etc/stepscope COMPONENT agent)
install(FILES docker/systemd/stepscope-agent.service docker/systemd/stepscope-agent@.service
        DESTINATION lib/systemd/system COMPONENT agent)
install(DIRECTORY ${CMAKE_BINARY_DIR}/pages/agent/ DESTINATION share/doc/stepscope-agent COMPONENT agent)
install(PROGRAMS docker/slurm/prolog.sh docker/slurm/epilog.sh DESTINATION share/doc/stepscope-agent/slurm COMPONENT agent)
install(FILES docker/kubernetes/stepscope-agent.yaml DESTINATION share/doc/stepscope-agent COMPONENT agent)
install(FILES ${CMAKE_BINARY_DIR}/copyright/debian DESTINATION share/doc/stepscope-agent RENAME copyright COMPONENT agent)

# Python files that the agent loads into the Python processes of its command.
foreach(component agent portable)
  install(FILES python/_stepscope_imports.py python/_stepscope_start.py DESTINATION share/stepscope/python COMPONENT ${component})
  install(DIRECTORY python/stepscope DESTINATION share/stepscope/python COMPONENT ${component} FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
  if(TARGET stepscope_native)
    install(TARGETS stepscope_native LIBRARY DESTINATION share/stepscope/python/stepscope COMPONENT ${component})
  endif()
endforeach()

install(TARGETS stepscope-server DESTINATION bin COMPONENT server)
install(FILES docker/systemd/stepscope-server.service DESTINATION lib/systemd/system COMPONENT server)
install(DIRECTORY ${CMAKE_BINARY_DIR}/pages/server/ docs/rules DESTINATION share/doc/stepscope-server COMPONENT server)
install(FILES docs/analysis.ipynb openapi.yaml DESTINATION share/doc/stepscope-server COMPONENT server)
file(GLOB pictures CONFIGURE_DEPENDS docs/pictures/*.png)
install(FILES ${pictures} DESTINATION share/doc/stepscope-server/pictures COMPONENT server)
install(FILES ${CMAKE_BINARY_DIR}/copyright/debian DESTINATION share/doc/stepscope-server RENAME copyright COMPONENT server)

install(PROGRAMS $<TARGET_FILE:stepscope-agent-portable> DESTINATION bin RENAME stepscope-agent COMPONENT portable)
install(FILES docker/agent.toml docker/systemd/stepscope-agent.service docker/systemd/stepscope-agent@.service DESTINATION etc COMPONENT portable)
install(PROGRAMS docker/slurm/prolog.sh docker/slurm/epilog.sh DESTINATION slurm COMPONENT portable)
install(DIRECTORY ${CMAKE_BINARY_DIR}/pages/agent/ DESTINATION doc COMPONENT portable)
install(FILES docker/kubernetes/stepscope-agent.yaml DESTINATION doc COMPONENT portable)
install(FILES ${CMAKE_BINARY_DIR}/copyright/portable DESTINATION doc RENAME copyright COMPONENT portable)

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # cpack shall not build the tests
set(CPACK_PACKAGE_NAME stepscope)
set(CPACK_PACKAGE_VENDOR Stepscope)
set(CPACK_PACKAGE_CONTACT "Stepscope <stepscope@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/generators.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(package AGENT SERVER)
  string(TOLOWER ${package} name)
  set(CPACK_DEBIAN_${package}_PACKAGE_NAME stepscope-${name})
  set(CPACK_DEBIAN_${package}_PACKAGE_SECTION admin)
  file(GLOB control ${CMAKE_SOURCE_DIR}/docker/debian/${name}/*)
  set(CPACK_DEBIAN_${package}_PACKAGE_CONTROL_EXTRA ${control})
endforeach()
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS passwd)
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS "postgresql (>= 14)")
set(CPACK_DEBIAN_AGENT_DESCRIPTION "tells why a training run is slow: the part on each training node
 Samples the node, its GPUs and its training processes, and pushes what it saw to a Stepscope service.")
set(CPACK_DEBIAN_SERVER_DESCRIPTION "tells why a training run is slow: the service
 Keeps what the agents saw in PostgreSQL, judges it by rules, and shows it on a web page and over REST.")

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_PORTABLE_FILE_NAME stepscope-agent-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)

add_custom_target(packages
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CPACK_PACKAGE_DIRECTORY}
  COMMAND ${CMAKE_CPACK_COMMAND}
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  DEPENDS stepscope-agent stepscope-server stepscope-agent-portable $<TARGET_NAME_IF_EXISTS:stepscope_native>)
