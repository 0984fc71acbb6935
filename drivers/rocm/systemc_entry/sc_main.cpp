// Defines sc_main(), to which the packaged libsystemc refers although it is never called: a program that binds all symbols at
// load time does not start without it. It is in a separate library because libhsakmt.so.1 exports only the runtime's interface.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char* /*argv*/[]) { return 1; }
