/* The header has the layout of layout.h: compiled as C and as C++, nothing to run. */
#include <broadphase.h>

#ifdef __cplusplus
#define LAYOUT(type, size, alignment) static_assert(sizeof(type) == size && alignof(type) == alignment, #type);
#else
#define LAYOUT(type, size, alignment) _Static_assert(sizeof(type) == size && _Alignof(type) == alignment, #type);
#endif
#include "layout.h"

int main(void) { return 0; }
