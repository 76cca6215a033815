# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# The installed package: library, headers, command, and the files by which CMake and pkg-config find them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/polyhop)
install(TARGETS polyhop EXPORT polyhopTargets FILE_SET HEADERS)
install(EXPORT polyhopTargets NAMESPACE polyhop:: DESTINATION ${package_dir})
if(TARGET polyhop_mpi)
  install(TARGETS polyhop_mpi EXPORT polyhopMpiTargets FILE_SET HEADERS)
  install(EXPORT polyhopMpiTargets NAMESPACE polyhop:: DESTINATION ${package_dir})
endif()
if(TARGET polyhop_app)
  install(TARGETS polyhop_command EXPORT polyhopCommandTargets FILE_SET HEADERS)
  install(EXPORT polyhopCommandTargets NAMESPACE polyhop:: DESTINATION ${package_dir})
  install(TARGETS polyhop_app)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/polyhop.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  # Completions, printed by the command itself, where each shell looks for them. Another machine's command cannot run here.
  if(NOT CMAKE_CROSSCOMPILING)
    set(completions ${PROJECT_BINARY_DIR}/completions)
    file(MAKE_DIRECTORY ${completions})
    foreach(shell IN ITEMS bash zsh fish)
      install(CODE "execute_process(COMMAND \"$<TARGET_FILE:polyhop_app>\" completion ${shell}
        OUTPUT_FILE \"${completions}/polyhop.${shell}\" COMMAND_ERROR_IS_FATAL ANY)")
    endforeach()
    install(FILES ${completions}/polyhop.bash
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME polyhop)
    install(FILES ${completions}/polyhop.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _polyhop)
    install(FILES ${completions}/polyhop.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/polyhopConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/polyhopConfig.cmake INSTALL_DESTINATION ${package_dir})
# Below 1.0 a minor version may change names.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/polyhopConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/polyhopConfig.cmake
  ${PROJECT_BINARY_DIR}/package/polyhopConfigVersion.cmake DESTINATION ${package_dir})

# polyhop.pc finds its prefix from its own place, so that an install tree can be moved.
set(prefix_from_pc ${CMAKE_INSTALL_PREFIX})
cmake_path(RELATIVE_PATH prefix_from_pc BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/cmake/polyhop.pc.in ${PROJECT_BINARY_DIR}/package/polyhop.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/polyhop.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
