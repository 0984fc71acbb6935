// The packaged libsystemc asks for an sc_main(), whether anybody calls it or not; a program that binds all symbols at once does
// not start without. It has a library of its own because libhsakmt.so.1 exports nothing but the runtime's interface.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char* /*argv*/[]) { return 1; }
