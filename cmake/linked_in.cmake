# Libraries that are linked into the agent, so that it needs nothing but libc and the system's OpenSSL, which the system
# keeps up to date. stepscope-agent-portable has OpenSSL in it as well, for systems with another version or none.
find_library(zstd_archive libzstd.a REQUIRED)
find_library(ssl_archive libssl.a REQUIRED)
find_library(crypto_archive libcrypto.a REQUIRED)

# fmt and spdlog come as shared libraries, which would bring the C++ library along. Two files that use their
# functions compile them instead; --as-needed then drops the libraries.
set_source_files_properties(core/base/text.cpp PROPERTIES COMPILE_DEFINITIONS FMT_HEADER_ONLY SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
set_source_files_properties(core/base/log.cpp PROPERTIES COMPILE_DEFINITIONS FMT_HEADER_ONLY COMPILE_OPTIONS -USPDLOG_COMPILED_LIB
                            SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

# Shared or archives, by a property of the program that is linked.
function(stepscope_openssl name shared archives)
  set(portable $<BOOL:$<TARGET_PROPERTY:STEPSCOPE_PORTABLE>>)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE $<$<NOT:${portable}>:${shared}>)
  foreach(archive ${archives})
    target_link_libraries(${name} INTERFACE $<${portable}:${archive}>)
  endforeach()
endfunction()
stepscope_openssl(openssl_ssl OpenSSL::SSL "${ssl_archive};${crypto_archive}")
stepscope_openssl(openssl_crypto OpenSSL::Crypto "${crypto_archive}")

function(stepscope_link_in program)
  # Drops unused sections of the archives: all of libstdc++.a would ask for a newer libc than the agent needs.
  target_link_options(${program} PRIVATE -Wl,--as-needed -Wl,--gc-sections)
  if(NOT STEPSCOPE_SANITIZE)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
