// Nothing: the headers that are precompiled for tests (cmake/LacunaTest.cmake) need a program that they belong to.
int main() { return 0; }
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }
