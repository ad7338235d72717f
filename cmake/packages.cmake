# The agent that runs where nothing is installed.
stepscope_link_in(stepscope-agent)
target_link_options(stepscope-server PRIVATE -Wl,--as-needed)

add_executable(stepscope-agent-portable EXCLUDE_FROM_ALL agent/app/main.cpp)
target_link_libraries(stepscope-agent-portable PRIVATE agent_app)
target_compile_definitions(stepscope-agent-portable PRIVATE STEPSCOPE_VERSION="${PROJECT_VERSION}")
set_target_properties(stepscope-agent-portable PROPERTIES STEPSCOPE_PORTABLE ON)
stepscope_link_in(stepscope-agent-portable)
