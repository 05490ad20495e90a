# find_package(broadphase) gives the targets broadphase::broadphase (shared) and broadphase::static.
get_filename_component(_broadphase_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)

if(NOT TARGET broadphase::broadphase)
    add_library(broadphase::broadphase SHARED IMPORTED)
    set_target_properties(broadphase::broadphase PROPERTIES
        IMPORTED_LOCATION "${_broadphase_prefix}/lib/libbroadphase.so"
        INTERFACE_INCLUDE_DIRECTORIES "${_broadphase_prefix}/include")
    add_library(broadphase::static STATIC IMPORTED)
    set_target_properties(broadphase::static PROPERTIES
        IMPORTED_LOCATION "${_broadphase_prefix}/lib/libbroadphase.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_broadphase_prefix}/include"
        INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
set(broadphase_FOUND TRUE)
