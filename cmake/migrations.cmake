# The SQL files become part of server_store.
file(GLOB migrations CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/migrations/*.sql
     ${CMAKE_SOURCE_DIR}/migrations/citus/*.sql)
set(migrations_source ${CMAKE_BINARY_DIR}/migrations.cpp)
add_custom_command(
  OUTPUT ${migrations_source}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_SOURCE_DIR}/migrations -DOUTPUT=${migrations_source}
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_migrations.cmake
  DEPENDS ${migrations} ${CMAKE_SOURCE_DIR}/cmake/embed_migrations.cmake
  COMMENT "Embedding migrations"
  VERBATIM)
target_sources(server_store PRIVATE ${migrations_source})
