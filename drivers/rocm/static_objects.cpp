// Nothing static of this library is ever destroyed.
//
// Many static objects (instruction tables, for example) are made when they are first used, by the simulation thread; exit()
// destroys those before it finalizes libraries. But the simulation thread runs until this library is finalized, because the
// program's and the runtime's own destructors still use the GPUs. So the library is linked with --wrap=__cxa_atexit, and
// destructors of static objects are registered here instead of there.
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*);  // NOLINT(bugprone-reserved-identifier)

extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }  // NOLINT(bugprone-reserved-identifier)
