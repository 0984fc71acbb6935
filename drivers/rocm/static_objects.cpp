// Prevents the destruction of this library's static objects.
//
// Many static objects (instruction tables, for example) are created at their first use on the simulation thread, and exit()
// destroys these before it finalizes libraries. But the simulation thread runs until this library is finalized, because the
// program's and the runtime's own destructors still use the GPUs. So the library is linked with --wrap=__cxa_atexit, and the
// function below, which replaces the registration of destructors, ignores them.
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*);  // NOLINT(bugprone-reserved-identifier)

extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }  // NOLINT(bugprone-reserved-identifier)
